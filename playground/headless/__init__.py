"""The playground without a page, for the management commands.

============  ====================================================================
`agents`      agents as the command line names them
`arguments`   what several commands take
`lines`       frames and events as lines of text or JSON
`speech`      messages as text that grows
`printer`     prints them while they come
`dialogue`    a request, the answers to what the agent asks, and the promise it makes
============  ====================================================================
"""
