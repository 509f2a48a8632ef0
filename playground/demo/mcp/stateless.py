"""Stateless generation of MCP, 2026-07-28: no session, each request is complete in itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import jsonrpc
from playground.demo.http import json_response
from playground.demo.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    JsonRpcMessage,
    RpcError,
)
from playground.demo.mcp import tools
from playground.demo.mcp.responses import deliver
from playground.demo.mcp.tools import (
    INSTRUCTIONS,
    SERVER,
    Call,
    Done,
    Notification,
    call_params,
    perform,
)
from playground.demo.responses import Document

#: Versions without a session.
STATELESS_VERSIONS = ("2026-07-28",)
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
#: A header value in base64 (since 2026-07-28).
_ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=", re.ASCII)


async def respond(request: HttpRequest, message: JsonRpcMessage) -> HttpResponseBase:
    """Return the response to one message. Raise `RpcError` before the response has begun."""
    if not message.method:
        raise RpcError(INVALID_REQUEST, "Unexpected response: this server sends no requests.")
    if not message.is_request:
        # Calls are cancelled by closing their connection: notifications are ignored.
        return HttpResponse(status=202)
    meta = _checked_meta(request, message)
    if message.method == "tools/call":
        call = _call(request, message, meta)
        return await deliver(message.id, _messages(message, call), STATUSES, {})
    return json_response(jsonrpc.result(message.id, _complete(_result(message))))


def _checked_meta(request: HttpRequest, message: JsonRpcMessage) -> Mapping[str, Any]:
    """Return the `_meta` of a request, which agrees with its headers. Raise `RpcError`."""
    meta = message.params.get("_meta")
    if not isinstance(meta, dict) or not {_VERSION, _CAPABILITIES} <= meta.keys():
        needed = f"{_VERSION} and {_CAPABILITIES}"
        raise RpcError(INVALID_PARAMS, f"params._meta must include {needed}.")
    expected = {"MCP-Protocol-Version": meta[_VERSION], "Mcp-Method": message.method}
    if message.method == "tools/call" and "name" in message.params:
        expected["Mcp-Name"] = message.params["name"]
    for name, value in expected.items():
        if decode_header(request.headers.get(name)) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {name} does not match the body.")
    if meta[_VERSION] not in STATELESS_VERSIONS:
        data = {"supported": list(STATELESS_VERSIONS), "requested": meta[_VERSION]}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    return meta


def _result(message: JsonRpcMessage) -> Document:
    """Return the result of a request without a stream. Raise `RpcError`."""
    if message.method == "server/discover":
        return {
            "supportedVersions": list(STATELESS_VERSIONS),
            "capabilities": {"logging": {}, "tools": {"listChanged": False}},
            "instructions": INSTRUCTIONS,
            "ttlMs": 0,
            "cacheScope": "private",
        }
    if message.method == "tools/list":
        # The same for everyone; a new version of the demo may change it at any time.
        caching = {"ttlMs": 0, "cacheScope": "public"}
        return {**tools.page(message.params.get("cursor")), **caching}
    if message.method == "ping":
        return {}
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method[:80]}")


def _complete(result: Mapping[str, Any], kind: str = "complete") -> Document:
    """Return a result with its type and the name of the server."""
    meta = {f"{_KEY}serverInfo": SERVER}
    return {**result, "resultType": kind, "_meta": meta}


def _call(request: HttpRequest, message: JsonRpcMessage, meta: Mapping[str, Any]) -> Call:
    capabilities = meta[_CAPABILITIES]
    level = meta.get(_LEVEL)
    return Call(
        request,
        **call_params(request, message),
        level=level if isinstance(level, str) else "",
        can_elicit=isinstance(capabilities, dict)
        and isinstance(capabilities.get("elicitation"), dict),
        answer=_answer(message),
    )


async def _messages(message: JsonRpcMessage, call: Call) -> AsyncIterator[Document]:
    """Yield the messages to the caller: notifications and the result or an elicitation."""
    async for step in perform(call):
        if isinstance(step, Notification):
            yield jsonrpc.notification(step.method, step.params)
        elif isinstance(step, Done):
            yield jsonrpc.result(message.id, _complete(step.result))
        else:
            question = {"method": "elicitation/create", "params": step.params}
            state = signing.dumps(_digest(message), salt="demo-mcp")
            result = {"inputRequests": {_QUESTION: question}, "requestState": state}
            yield jsonrpc.result(message.id, _complete(result, "input_required"))


def _answer(message: JsonRpcMessage) -> Mapping[str, Any] | None:
    """Return the answer in a retry; None in a first call. Raise `RpcError`."""
    responses, state = message.params.get("inputResponses"), message.params.get("requestState")
    if responses is None and state is None:
        return None
    try:
        digest = signing.loads(str(state), salt="demo-mcp", max_age=_PATIENCE)
    except signing.BadSignature:
        raise RpcError(INVALID_PARAMS, "The requestState is invalid or has expired.") from None
    if digest != _digest(message):
        raise RpcError(INVALID_PARAMS, "The requestState belongs to another call.")
    answer = responses.get(_QUESTION) if isinstance(responses, dict) else None
    if not isinstance(answer, dict):
        raise RpcError(INVALID_PARAMS, f"inputResponses must include an answer to {_QUESTION}.")
    return answer


def _digest(message: JsonRpcMessage) -> str:
    """Return a digest of a call, which binds a `requestState` to it."""
    call = [message.params.get("name"), message.params.get("arguments")]
    return hashlib.sha256(json.dumps(call, sort_keys=True).encode()).hexdigest()


def decode_header(value: str | None) -> str | None:
    """Return the value of a header, decoded if it is in base64; None if it is invalid."""
    if value is None or not (match := _ENCODED.fullmatch(value)):
        return value
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
