"""Steps of a call as an HTTP reply: JSON, or a stream where something goes before the result."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping

from django.http.response import HttpResponseBase

from playground.demo import rpc
from playground.demo.http import event_stream, json_response
from playground.demo.responses import Document, encode
from playground.demo.rpc import INTERNAL_ERROR, RpcError

logger = logging.getLogger("playground.demo")

#: Messages for the caller, the reply last.
Messages = AsyncIterator[Document]


async def deliver(
    message_id: str | int | None,
    messages: Messages,
    statuses: Mapping[int, int],
    headers: Mapping[str, str],
) -> HttpResponseBase:
    """JSON if the first message is the reply already, else server-sent events.

    `statuses` are the HTTP statuses of error codes: as JSON, a reply can still have one.
    """
    first = await _next(message_id, messages)
    if "method" not in first:
        code = first.get("error", {}).get("code")
        return json_response(first, statuses.get(code, 200), headers)
    return event_stream(_events(message_id, first, messages), headers=headers)


async def _events(
    message_id: str | int | None, first: Document, rest: Messages
) -> AsyncIterator[bytes]:
    message = first
    yield _event(message)
    while "method" in message:
        message = await _next(message_id, rest)
        yield _event(message)


async def _next(message_id: str | int | None, messages: Messages) -> Document:
    """The next message; whatever goes wrong becomes the reply."""
    try:
        return await anext(messages)
    except RpcError as failed:
        return rpc.error(message_id, failed)
    except Exception:
        logger.exception("The demo agent could not answer over MCP")
        return rpc.error(message_id, RpcError(INTERNAL_ERROR, "Something went wrong here."))


def _event(message: Document) -> bytes:
    # Lines end as those of other MCP servers do.
    return b"event: message\r\ndata: " + encode(message) + b"\r\n\r\n"
