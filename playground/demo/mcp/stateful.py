"""Stateful generation of MCP, up to 2025-11-25: handshake, session, elicitation in the stream."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import jsonrpc, state_store
from playground.demo.http import json_response
from playground.demo.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, JsonRpcMessage, RpcError
from playground.demo.mcp import tools
from playground.demo.mcp.responses import deliver, error_response
from playground.demo.mcp.tools import (
    INSTRUCTIONS,
    LEVELS,
    SERVER,
    Call,
    Done,
    Notification,
    call_params,
    perform,
    text_result,
)
from playground.demo.responses import Document

#: Versions with a handshake and a session, oldest first.
STATEFUL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
SESSION = "Mcp-Session-Id"
#: Areas of the state store.
_SESSIONS, _QUESTIONS = "mcp-session", "mcp-question"
#: Seconds without a request after which a session expires.
LIFETIME = 3600.0
#: Seconds to wait for an answer, and between two polls of the database.
PATIENCE = 120.0
_POLL_INTERVAL = 0.2
_UNKNOWN_SESSION = "Session not found: it has ended or never existed."


async def respond(request: HttpRequest, message: JsonRpcMessage) -> HttpResponseBase:
    """Return the response to one message. Raise `RpcError` before the response has begun."""
    if message.method == "initialize":
        return await _initialize(message)
    key = request.headers.get(SESSION)
    if not key:
        return error_response(400, "Bad request: no session. Send initialize first.")
    state = await state_store.load(_SESSIONS, key, LIFETIME)
    if state is None:
        return error_response(404, _UNKNOWN_SESSION)
    await state_store.touch(_SESSIONS, key)
    headers = {SESSION: key}
    if not message.is_request:
        if not message.method and isinstance(message.id, str):
            # An error in response to an elicitation dismisses it.
            await store_answer(key, message.id, message.result or {"action": "cancel"})
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
    if not await state_store.delete(_SESSIONS, key):
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
    key = secrets.token_hex(16)
    state = {"version": version, "can_ask": can_elicit, "level": "info"}
    await state_store.save(_SESSIONS, key, state)
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
        await state_store.save(_SESSIONS, key, {**state, "level": level})
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
            request_id = await ask_caller(key)
            elicitation = jsonrpc.notification("elicitation/create", step.params)
            yield {**elicitation, "id": request_id}
            if (answer := await wait_for_answer(key, request_id)) is None:
                text = f"No answer within {PATIENCE:g} seconds."
                yield jsonrpc.result(message.id, text_result(text, failed=True).result)
                return
            async for later in _messages(message, replace(call, answer=answer), key):
                yield later


# Elicitations of a session, which are stored until their answer comes


async def ask_caller(key: str) -> str:
    """Store an open question of a session and return the id of its request."""
    request_id = f"ask-{secrets.token_hex(6)}"
    await state_store.save(_QUESTIONS, f"{key}:{request_id}", {})
    return request_id


async def store_answer(key: str, request_id: str, answer: Mapping[str, Any]) -> None:
    """Store the answer to an open question; drop any other answer."""
    if await state_store.load(_QUESTIONS, f"{key}:{request_id}", PATIENCE) == {}:
        await state_store.save(_QUESTIONS, f"{key}:{request_id}", {"answer": dict(answer)})


async def wait_for_answer(key: str, request_id: str) -> Document | None:
    """Wait for the answer to a question, which may reach another process; None without one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = await state_store.load(_QUESTIONS, f"{key}:{request_id}", 2 * PATIENCE)
        if found is None:
            break
        if "answer" in found:
            await state_store.delete(_QUESTIONS, f"{key}:{request_id}")
            answer: Document = found["answer"]
            return answer
        await asyncio.sleep(_POLL_INTERVAL)
    await state_store.delete(_QUESTIONS, f"{key}:{request_id}")
    return None
