"""Template tags and filters.

============  =====================================================
`markdown`    filters that render Markdown
`pictures`    pictures that agents name
`playground`  icons, and the URLs of scripts and style sheets
============  =====================================================
"""
