"""The demo agent as an MCP server over streamable HTTP, in both generations of MCP."""
