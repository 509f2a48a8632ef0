"""Stateful generation of MCP, up to 2025-11-25: handshake, session, elicitation in the stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import jsonrpc
from playground.demo.http import json_response
from playground.demo.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, JsonRpcMessage, RpcError
from playground.demo.mcp import sessions, tools
from playground.demo.mcp.request_checks import error_response
from playground.demo.mcp.responses import deliver
from playground.demo.mcp.tools import (
    LEVELS,
    Call,
    Done,
    Notification,
    call_params,
    perform,
    text_result,
)
from playground.demo.mcp.versions import INSTRUCTIONS, SERVER, STATEFUL_VERSIONS
from playground.demo.responses import Document

SESSION = "Mcp-Session-Id"
_UNKNOWN_SESSION = "Session not found: it has ended or never existed."


async def respond(request: HttpRequest, message: JsonRpcMessage) -> HttpResponseBase:
    """Return the response to one message. Raise `RpcError` before the response has begun."""
    if message.method == "initialize":
        return await _initialize(message)
    key = request.headers.get(SESSION)
    if not key:
        return error_response(400, "Bad request: no session. Send initialize first.")
    state = await sessions.session(key)
    if state is None:
        return error_response(404, _UNKNOWN_SESSION)
    headers = {SESSION: key}
    if not message.is_request:
        if not message.method and isinstance(message.id, str):
            # An error in response to an elicitation dismisses it.
            await sessions.store_answer(key, message.id, message.result or {"action": "cancel"})
        return HttpResponse(status=202, content_type="application/json", headers=headers)
    if message.method == "tools/call":
        call = _call(request, message, state)
        return await deliver(message.id, _messages(message, call, key), {}, headers)
    result = await _result(message, key, state)
    return json_response(jsonrpc.result(message.id, result), headers=headers)


async def end(request: HttpRequest) -> HttpResponse:
    """End the session and return the response to `DELETE`."""
    key = request.headers.get(SESSION, "")
    if not key:
        return error_response(400, f"Bad request: the {SESSION} header is missing.")
    if not await sessions.close(key):
        return error_response(404, _UNKNOWN_SESSION)
    return HttpResponse(status=200, content_type="application/json")


async def _initialize(message: JsonRpcMessage) -> HttpResponse:
    requested = message.params.get("protocolVersion")
    if not isinstance(requested, str):
        raise RpcError(INVALID_PARAMS, "initialize requires a protocolVersion.")
    version = requested if requested in STATEFUL_VERSIONS else STATEFUL_VERSIONS[-1]
    capabilities = message.params.get("capabilities")
    can_elicit = isinstance(capabilities, dict) and isinstance(
        capabilities.get("elicitation"), dict
    )
    key = await sessions.open_session({"version": version, "can_ask": can_elicit, "level": "info"})
    result = {
        "protocolVersion": version,
        "capabilities": {"logging": {}, "tools": {"listChanged": False}},
        "serverInfo": SERVER,
        "instructions": INSTRUCTIONS,
    }
    return json_response(jsonrpc.result(message.id, result), headers={SESSION: key})


async def _result(message: JsonRpcMessage, key: str, state: Mapping[str, Any]) -> Document:
    """Return the result of a request without a stream. Raise `RpcError`."""
    if message.method == "ping":
        return {}
    if message.method == "tools/list":
        return tools.page(message.params.get("cursor"))
    if message.method == "logging/setLevel":
        level = message.params.get("level")
        if level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"Unknown level. Levels: {', '.join(LEVELS)}.")
        await sessions.update(key, {**state, "level": level})
        return {}
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")


def _call(request: HttpRequest, message: JsonRpcMessage, state: Mapping[str, Any]) -> Call:
    return Call(
        request,
        **call_params(request, message),
        level=str(state["level"]),
        can_elicit=bool(state["can_ask"]),
        allows_lists=state["version"] >= "2025-11-25",
    )


async def _messages(message: JsonRpcMessage, call: Call, key: str) -> AsyncIterator[Document]:
    """Yield the messages to the caller: notifications, at most one elicitation, the result."""
    async for step in perform(call):
        if isinstance(step, Notification):
            yield jsonrpc.notification(step.method, step.params)
        elif isinstance(step, Done):
            yield jsonrpc.result(message.id, step.result)
        else:
            request_id = await sessions.ask(key)
            elicitation = jsonrpc.notification("elicitation/create", step.params)
            yield {**elicitation, "id": request_id}
            if (answer := await sessions.wait_for_answer(key, request_id)) is None:
                text = f"No answer within {sessions.PATIENCE:g} seconds."
                yield jsonrpc.result(message.id, text_result(text, failed=True).result)
                return
            async for later in _messages(message, replace(call, answer=answer), key):
                yield later
