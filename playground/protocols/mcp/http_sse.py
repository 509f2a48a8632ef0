"""The HTTP+SSE transport of MCP 2024-11-05: recognized and named, not supported.

Its server answers GET with an event stream whose first event, `endpoint`, names the URL for
messages. Streamable HTTP has replaced it (2025-03-26); that version says how a client finds out.
"""

from __future__ import annotations

from collections.abc import Sequence

from playground.protocols import sse

#: Statuses of the response to `initialize` after which the specification wants GET to be tried.
STATUSES = (400, 404, 405)

ENDPOINT = "endpoint"
CAUSE = (
    "The server uses the HTTP+SSE transport of MCP 2024-11-05, which the playground does not "
    "support."
)
FIX = (
    "Use the server’s URL for streamable HTTP, often ending in /mcp; a server that has none needs "
    "an update."
)


def is_endpoint(blocks: Sequence[sse.Block]) -> bool:
    """Return whether the first event of a stream is the one that names the URL for messages."""
    first = next((block for block in blocks if not block.is_comment), None)
    return first is not None and sse.parse(first.data).event == ENDPOINT
