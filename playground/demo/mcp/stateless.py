"""The generation of 2026-07-28: no session; each request says everything about itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import rpc
from playground.demo.http import json_response
from playground.demo.mcp import request_checks, tools
from playground.demo.mcp.headers import plain
from playground.demo.mcp.responses import deliver
from playground.demo.mcp.stateful import called
from playground.demo.mcp.steps import Call, Done, Notification
from playground.demo.mcp.tool_runner import perform
from playground.demo.responses import Document
from playground.demo.rpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JsonRpcMessage,
    RpcError,
)

HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
#: The HTTP statuses of error codes.
STATUSES: Mapping[int, int] = {
    PARSE_ERROR: 400, INVALID_REQUEST: 400, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400, UNSUPPORTED_VERSION: 400,
}  # fmt: skip
_KEY = "io.modelcontextprotocol/"
_VERSION, _CAPABILITIES = f"{_KEY}protocolVersion", f"{_KEY}clientCapabilities"
_LEVEL = f"{_KEY}logLevel"
_QUESTION = "preferences"
#: Seconds in which a question can be answered.
_PATIENCE = 3600


async def respond(request: HttpRequest, message: JsonRpcMessage) -> HttpResponseBase:
    """The reply to one message of this generation. Raises `RpcError` before it has begun."""
    if not message.method:
        raise RpcError(INVALID_REQUEST, "Nothing is asked here that a response could answer.")
    if not message.is_request:
        # Calls are cancelled by closing their connection: no notification means anything.
        return HttpResponse(status=202)
    meta = _checked(request, message)
    if message.method == "tools/call":
        call = _call(request, message, meta)
        return await deliver(message.id, _messages(message, call), STATUSES, {})
    return json_response(rpc.result(message.id, _complete(_simple(message))))


def _checked(request: HttpRequest, message: JsonRpcMessage) -> Mapping[str, Any]:
    """The `_meta` of a request that agrees with its headers. Raises `RpcError`."""
    meta = message.params.get("_meta")
    if not isinstance(meta, dict) or not {_VERSION, _CAPABILITIES} <= meta.keys():
        needed = f"{_VERSION} and {_CAPABILITIES}"
        raise RpcError(INVALID_PARAMS, f"params._meta must have {needed}.")
    told = {"MCP-Protocol-Version": meta[_VERSION], "Mcp-Method": message.method}
    if message.method == "tools/call" and "name" in message.params:
        told["Mcp-Name"] = message.params["name"]
    for name, value in told.items():
        if plain(request.headers.get(name)) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} does not say what the body says.")
    if meta[_VERSION] not in request_checks.STATELESS_VERSIONS:
        data = {"supported": list(request_checks.STATELESS_VERSIONS), "requested": meta[_VERSION]}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return meta


def _simple(message: JsonRpcMessage) -> Document:
    """The result of a call that is answered at once. Raises `RpcError`."""
    if message.method == "server/discover":
        return {
            "supportedVersions": list(request_checks.STATELESS_VERSIONS),
            "capabilities": {"logging": {}, "tools": {"listChanged": False}},
            "instructions": request_checks.INSTRUCTIONS,
            "ttlMs": 0,
            "cacheScope": "private",
        }
    if message.method == "tools/list":
        # The same for everyone, but for how long nobody can say.
        caching = {"ttlMs": 0, "cacheScope": "public"}
        return {**tools.page(message.params.get("cursor")), **caching}
    if message.method == "ping":
        return {}
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")


def _complete(result: Mapping[str, Any], kind: str = "complete") -> Document:
    """A result as this generation marks it."""
    meta = {f"{_KEY}serverInfo": request_checks.SERVER}
    return {**result, "resultType": kind, "_meta": meta}


def _call(request: HttpRequest, message: JsonRpcMessage, meta: Mapping[str, Any]) -> Call:
    capabilities = meta[_CAPABILITIES]
    level = meta.get(_LEVEL)
    return Call(
        request,
        **called(request, message),
        level=level if isinstance(level, str) else "",
        can_ask=isinstance(capabilities, dict)
        and isinstance(capabilities.get("elicitation"), dict),
        answer=_answer(message),
    )


async def _messages(message: JsonRpcMessage, call: Call) -> AsyncIterator[Document]:
    """What goes to the caller: notices and the result, which may be a question."""
    async for step in perform(call):
        if isinstance(step, Notification):
            yield rpc.notification(step.method, step.params)
        elif isinstance(step, Done):
            yield rpc.result(message.id, _complete(step.result))
        else:
            question = {"method": "elicitation/create", "params": step.params}
            state = signing.dumps(_digest(message), salt="demo-mcp")
            result = {"inputRequests": {_QUESTION: question}, "requestState": state}
            yield rpc.result(message.id, _complete(result, "input_required"))


def _answer(message: JsonRpcMessage) -> Mapping[str, Any] | None:
    """What a retry answers to the question; None in a first call. Raises `RpcError`."""
    responses, state = message.params.get("inputResponses"), message.params.get("requestState")
    if responses is None and state is None:
        return None
    try:
        asked = signing.loads(str(state), salt="demo-mcp", max_age=_PATIENCE)
    except signing.BadSignature:
        raise RpcError(INVALID_PARAMS, "The requestState is not ours, or too old.") from None
    if asked != _digest(message):
        raise RpcError(INVALID_PARAMS, "The requestState belongs to another call.")
    answer = responses.get(_QUESTION) if isinstance(responses, dict) else None
    if not isinstance(answer, dict):
        raise RpcError(INVALID_PARAMS, f"inputResponses has no answer to {_QUESTION}.")
    return answer


def _digest(message: JsonRpcMessage) -> str:
    """What a call is about, so that a state is not taken from one call to another."""
    told = [message.params.get("name"), message.params.get("arguments")]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
