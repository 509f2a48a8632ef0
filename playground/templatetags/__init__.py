"""Template tags and filters.

============  =====================================================
`markdown`    filters that render Markdown
`playground`  icons, and the URLs of scripts and style sheets
============  =====================================================
"""
