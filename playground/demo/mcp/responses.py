"""HTTP responses: an error, or of a call JSON or a stream if messages precede its result."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import jsonrpc
from playground.demo.http import event_stream, json_response
from playground.demo.jsonrpc import INTERNAL_ERROR, RpcError
from playground.demo.responses import Document, event

logger = logging.getLogger("playground.demo")

#: Messages to the caller, the response last.
Messages = AsyncIterator[Document]


def error_response(status: int, message: str) -> HttpResponse:
    """Return a JSON-RPC error without an id."""
    return json_response(jsonrpc.refusal(message), status)


async def deliver(
    message_id: str | int | None,
    messages: Messages,
    statuses: Mapping[int, int],
    headers: Mapping[str, str],
) -> HttpResponseBase:
    """Return JSON if the first message is the response, else server-sent events.

    `statuses` are the HTTP statuses of error codes, which only a JSON response can have.
    """
    first = await _next(message_id, messages)
    if "method" not in first:
        code = first.get("error", {}).get("code")
        return json_response(first, statuses.get(code, 200), headers)
    return event_stream(_events(message_id, first, messages), headers=headers)


async def _events(
    message_id: str | int | None, first: Document, rest: Messages
) -> AsyncIterator[bytes]:
    # The line ends of other MCP servers.
    yield event("message", first, "\r\n")
    message = first
    while "method" in message:
        message = await _next(message_id, rest)
        yield event("message", message, "\r\n")


async def _next(message_id: str | int | None, messages: Messages) -> Document:
    """Return the next message; an exception becomes an error response."""
    try:
        return await anext(messages)
    except RpcError as failed:
        return jsonrpc.error(message_id, failed)
    except Exception:
        logger.exception("Answering a tool call over MCP failed")
        return jsonrpc.error(message_id, RpcError(INTERNAL_ERROR, "Internal server error."))
