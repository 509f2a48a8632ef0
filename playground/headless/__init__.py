"""The playground without a page, for the management commands.

============  ====================================================================
`lines`       frames and events as lines of text or JSON
`speech`      messages as text that grows
`printer`     prints them while they come
`dialogue`    a request, the answers to what the agent asks, and the promise it makes
============  ====================================================================
"""
