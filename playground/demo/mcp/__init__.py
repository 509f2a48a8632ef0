"""The demo agent as an MCP server over streamable HTTP, in both generations of MCP.

================  =======================================================================
`views`           `/demo/mcp`: an endpoint for both generations, and one for each of them
`versions`        supported versions of MCP, name and instructions of the server
`request_checks`  checks of origin, method and headers
`stateful`        generation up to 2025-11-25
`sessions`        sessions of the stateful generation, and the elicitations in them
`stateless`       generation of 2026-07-28
`tools`           the tools, and what a call of each does
`responses`       a response as JSON or as a stream
================  =======================================================================
"""
