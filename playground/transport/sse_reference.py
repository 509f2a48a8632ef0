"""What a widespread client makes of a recorded stream, to show what it drops."""

from __future__ import annotations

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError


class NotAStreamError(Exception):
    """A standard client refuses the reply for its media type; the text is its own."""


def standard_client(content_type: str, body: bytes) -> list[ServerSentEvent]:
    """The events that httpx-sse reads from `body`, given the reply's `Content-Type`.

    Raises `NotAStreamError` where httpx-sse raises: for anything but `text/event-stream`.
    """
    headers = [(b"Content-Type", content_type.encode("utf-8", "replace"))]
    response = httpx.Response(200, headers=headers, content=body)
    try:
        return list(EventSource(response).iter_sse())
    except SSEError as error:
        raise NotAStreamError(str(error)) from error
