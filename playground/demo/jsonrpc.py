"""JSON-RPC 2.0 for MCP and A2A: a reader of messages, and the responses to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo import requests
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, json_response
from playground.demo.responses import Document

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """A failed call; becomes the `error` of its response."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.code = code
        self.message = message
        self.data = data
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    """One message: a request (method and id), a notification (method) or a response (id)."""

    id: str | int | None
    method: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    #: The result of a response; None for an error.
    result: Mapping[str, Any] | None = None

    @property
    def is_request(self) -> bool:
        """Return True if it needs a response."""
        return self.id is not None and bool(self.method)


def read_message(body: bytes) -> JsonRpcMessage:
    """Return the message in `body`. Raise `RpcError`, which is the response."""
    document = _parsed(body)
    method, params = document.get("method", ""), document.get("params")
    if document.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "Not a JSON-RPC 2.0 message.")
    if "id" in document and not is_id(document["id"]):
        raise RpcError(INVALID_REQUEST, "The id must be a string or an integer.")
    if not method and not {"result", "error"} & document.keys():
        raise RpcError(INVALID_REQUEST, "The message has no method, result or error.")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object.")
    found = document.get("result")
    return JsonRpcMessage(
        document.get("id"), method, params or {}, found if isinstance(found, dict) else None
    )


def id_in(body: bytes) -> str | int | None:
    """Return the id of a message that could not be read, or None. Never raise."""
    try:
        found = _parsed(body).get("id")
    except RpcError:
        return None
    return found if is_id(found) else None


def is_id(value: Any) -> bool:
    """Return True if a value can be the id of a request."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def result(message_id: str | int | None, value: Mapping[str, Any]) -> Document:
    return {"jsonrpc": "2.0", "id": message_id, "result": dict(value)}


def error(message_id: str | int | None, failed: RpcError) -> Document:
    body: Document = {"code": failed.code, "message": failed.message}
    if failed.data is not None:
        body["data"] = failed.data
    return {"jsonrpc": "2.0", "id": message_id, "error": body}


def refusal(message: str) -> Document:
    """Return the response to an HTTP request that was refused before its message was read."""
    return error(None, RpcError(INVALID_REQUEST, message))


@endpoint(refusal)
async def not_found(request: HttpRequest, path: str) -> HttpResponseBase:
    """Any other path below that of a protocol over JSON-RPC."""
    return json_response(refusal(f"Unknown path: {path[:80]}."), 404)


def notification(method: str, params: Mapping[str, Any]) -> Document:
    return {"jsonrpc": "2.0", "method": method, "params": dict(params)}


def _parsed(body: bytes) -> Document:
    try:
        document = requests.parse_json(body)
    except FailureError as failure:
        raise RpcError(PARSE_ERROR, f"Parse error: {failure.message}") from None
    if isinstance(document, list):
        raise RpcError(INVALID_REQUEST, "Batches are not supported.")
    if not isinstance(document, dict):
        raise RpcError(INVALID_REQUEST, "The message must be a JSON object.")
    return document
