"""Versions of MCP that the server supports, and its name and instructions in all of them."""

from __future__ import annotations

#: With a handshake and a session, oldest first.
STATEFUL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Without a session.
STATELESS_VERSIONS = ("2026-07-28",)
SERVER = {"name": "nlweb-demo", "title": "NLWeb demo agent", "version": "1.0"}
INSTRUCTIONS = (
    "Use the tool ask to search recipes, restaurants, cookware, films and articles, and await to"
    " get the answer to a promise. The other tools manage a shopping cart and scale recipes."
)
