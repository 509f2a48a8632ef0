"""What a widespread client makes of a recorded stream, to show what it drops."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError


def standard_client(content_type: str, body: bytes) -> list[ServerSentEvent]:
    """The events that httpx-sse reads from `body`; none if it does not take it for a stream."""
    headers = {"Content-Type": content_type}
    response = httpx.Response(200, headers=headers, content=body)
    try:
        return list(EventSource(response).iter_sse())
    except SSEError:
        return []
