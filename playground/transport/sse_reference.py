"""Events that a standard SSE client reads from a recorded stream, to show what it drops."""

from __future__ import annotations

from playground.transport.http_library import EventSource, Response, ServerSentEvent, SSEError


class NotAStreamError(Exception):
    """A response whose media type a standard client rejects; the message is the client's."""


def standard_client(content_type: str, body: bytes) -> list[ServerSentEvent]:
    """Return the events that httpx-sse reads from `body` with the response's `Content-Type`.

    Raise `NotAStreamError` if httpx-sse raises: for anything but `text/event-stream`.
    """
    headers = [(b"Content-Type", content_type.encode("utf-8", "replace"))]
    response = Response(200, headers=headers, content=body)
    try:
        return list(EventSource(response).iter_sse())
    except SSEError as error:
        raise NotAStreamError(str(error)) from error
