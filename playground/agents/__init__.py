"""Agents: list, form, tools over MCP, and the connection doctor."""
