"""The generation up to 2025-11-25: a handshake, a session, questions in the stream."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import requests, rpc
from playground.demo.http import json_response
from playground.demo.mcp import request_checks, sessions, tools
from playground.demo.mcp.responses import deliver
from playground.demo.mcp.steps import LEVELS, Call, Done, Notification, text_result
from playground.demo.mcp.tool_runner import perform
from playground.demo.responses import Document
from playground.demo.rpc import INVALID_PARAMS, METHOD_NOT_FOUND, JsonRpcMessage, RpcError

SESSION = "Mcp-Session-Id"


async def respond(request: HttpRequest, message: JsonRpcMessage) -> HttpResponseBase:
    """The reply to one message of this generation. Raises `RpcError` before it has begun."""
    if message.method == "initialize":
        return await _initialize(message)
    key = request.headers.get(SESSION)
    if not key:
        return request_checks.error_response(400, "Bad request: no session. Begin with initialize.")
    state = await sessions.session(key)
    if state is None:
        return request_checks.error_response(
            404, "Session not found: it has ended or was never begun."
        )
    headers = {SESSION: key}
    if not message.is_request:
        if not message.method and isinstance(message.id, str):
            # Refused with an error, a question counts as dismissed.
            await sessions.answered(key, message.id, message.result or {"action": "cancel"})
        return HttpResponse(status=202, content_type="application/json", headers=headers)
    if message.method == "tools/call":
        call = _call(request, message, state)
        return await deliver(message.id, _messages(message, call, key), {}, headers)
    result = await _simple(message, key, state)
    return json_response(rpc.result(message.id, result), headers=headers)


async def end(request: HttpRequest) -> HttpResponse:
    """The reply to `DELETE`: the session is over."""
    key = request.headers.get(SESSION, "")
    if not key:
        return request_checks.error_response(400, "Bad request: name the session to end.")
    if not await sessions.close(key):
        return request_checks.error_response(
            404, "Session not found: it has ended or was never begun."
        )
    return HttpResponse(status=200, content_type="application/json")


async def _initialize(message: JsonRpcMessage) -> HttpResponse:
    wanted = message.params.get("protocolVersion")
    if not isinstance(wanted, str):
        raise RpcError(INVALID_PARAMS, "initialize names a protocolVersion.")
    version = (
        wanted
        if wanted in request_checks.STATEFUL_VERSIONS
        else request_checks.STATEFUL_VERSIONS[-1]
    )
    capabilities = message.params.get("capabilities")
    can_ask = isinstance(capabilities, dict) and isinstance(capabilities.get("elicitation"), dict)
    key = await sessions.open_session({"version": version, "can_ask": can_ask, "level": "info"})
    result = {
        "protocolVersion": version,
        "capabilities": {"logging": {}, "tools": {"listChanged": False}},
        "serverInfo": request_checks.SERVER,
        "instructions": request_checks.INSTRUCTIONS,
    }
    return json_response(rpc.result(message.id, result), headers={SESSION: key})


async def _simple(message: JsonRpcMessage, key: str, state: Mapping[str, Any]) -> Document:
    """The result of a call that is answered at once. Raises `RpcError`."""
    if message.method == "ping":
        return {}
    if message.method == "tools/list":
        return tools.page(message.params.get("cursor"))
    if message.method == "logging/setLevel":
        level = message.params.get("level")
        if level not in LEVELS:
            raise RpcError(
                INVALID_PARAMS, f"There is no such level; there are {', '.join(LEVELS)}."
            )
        await sessions.update(key, {**state, "level": level})
        return {}
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")


def _call(request: HttpRequest, message: JsonRpcMessage, state: Mapping[str, Any]) -> Call:
    return Call(
        request,
        **called(request, message),
        level=str(state["level"]),
        can_ask=bool(state["can_ask"]),
        lists=state["version"] >= "2025-11-25",
    )


def called(request: HttpRequest, message: JsonRpcMessage) -> dict[str, Any]:
    """What the params of `tools/call` say in both generations. Raises `RpcError`."""
    name, arguments = message.params.get("name"), message.params.get("arguments")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, "tools/call names a tool.")
    if arguments is not None and not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments must be an object.")
    meta = message.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return {
        "tool": name,
        "arguments": arguments or {},
        "pace": requests.read_pace(request.GET.get("pace")),
        "token": token if rpc.is_id(token) else None,
    }


async def _messages(message: JsonRpcMessage, call: Call, key: str) -> AsyncIterator[Document]:
    """What goes to the caller: notices, at most one question, and the result."""
    async for step in perform(call):
        if isinstance(step, Notification):
            yield rpc.notification(step.method, step.params)
        elif isinstance(step, Done):
            yield rpc.result(message.id, step.result)
        else:
            number = await sessions.ask(key)
            asked = rpc.notification("elicitation/create", step.params)
            yield {**asked, "id": number}
            if (answer := await sessions.answer(key, number)) is None:
                waited = f"Nobody answered within {sessions.PATIENCE:g} seconds."
                yield rpc.result(message.id, text_result(waited, failed=True).result)
                return
            async for later in _messages(message, replace(call, answer=answer), key):
                yield later
