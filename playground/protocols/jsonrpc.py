"""JSON-RPC 2.0: messages built, and read leniently.

What MCP and A2A have in common. Building is strict; reading takes whatever came, makes the
best of it, and names every deviation, so that the conformance report can speak of it. Pure and
total: no JSON value makes `read` raise. What the error codes mean is in `rpc_codes`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

VERSION = "2.0"

#: Messages that are read of one array; what is beyond is a flood, not a batch.
MAX_BATCH = 1000
#: Ids that an agent may give: the standard also allows null, for errors without a request.
Id = str | int | float | None


class MessageKind(enum.StrEnum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: No message of JSON-RPC at all.
    OTHER = "other"


class Deviation(enum.StrEnum):
    """Where a message departs from the standard (its sections 4 to 6)."""

    NOT_AN_OBJECT = "not-an-object"
    NO_VERSION = "no-version"
    OTHER_VERSION = "other-version"
    NO_ID = "no-id"
    ODD_ID = "odd-id"
    #: Given by whoever knows which call a response belongs to.
    WRONG_ID = "wrong-id"
    RESULT_AND_ERROR = "result-and-error"
    METHOD_IN_RESPONSE = "method-in-response"
    ODD_METHOD = "odd-method"
    ODD_PARAMS = "odd-params"
    ODD_ERROR = "odd-error"
    ODD_CODE = "odd-code"
    NOTHING = "nothing"
    #: MCP has no batches since 2025-06-18; A2A never had them.
    BATCH = "batch"
    EMPTY_BATCH = "empty-batch"
    LONG_BATCH = "long-batch"


#: Each deviation as a sentence about the message.
SENTENCES: Mapping[Deviation, str] = MappingProxyType(
    {
        Deviation.NOT_AN_OBJECT: "A JSON-RPC message is a JSON object, and this is none.",
        Deviation.NO_VERSION: 'The message lacks "jsonrpc": "2.0".',
        Deviation.OTHER_VERSION: 'The message\'s "jsonrpc" is not "2.0".',
        Deviation.NO_ID: "The response has no id, so nothing says which call it answers.",
        Deviation.ODD_ID: "The id is neither a string nor a number.",
        Deviation.WRONG_ID: "The response's id is not that of the call.",
        Deviation.RESULT_AND_ERROR: "The response has a result and an error at once.",
        Deviation.METHOD_IN_RESPONSE: "The message has a method beside its result or error.",
        Deviation.ODD_METHOD: "The method is not a string.",
        Deviation.ODD_PARAMS: "The params are neither an object nor an array.",
        Deviation.ODD_ERROR: "The error is not an object with a code and a message.",
        Deviation.ODD_CODE: "The error's code is not a whole number.",
        Deviation.NOTHING: "The object has neither a method nor a result nor an error.",
        Deviation.BATCH: "The message is one of an array of messages.",
        Deviation.EMPTY_BATCH: "The array holds no message.",
        Deviation.LONG_BATCH: f"Only the first {MAX_BATCH} messages of the array were read.",
    }
)


@dataclass(frozen=True, slots=True)
class Error:
    """The error of a response, as far as it can be read."""

    #: None where there is none, or none that is a whole number.
    code: int | None
    message: str = ""
    data: Any = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    """One message, read leniently."""

    kind: MessageKind
    #: As it came, whatever its type; None where there is none.
    id: Any = None
    method: str = ""
    params: Any = None
    result: Any = None
    #: Set for `Kind.ERROR`, and for a result that came with an error all the same.
    error: Error | None = None
    problems: tuple[Deviation, ...] = ()
    raw: Any = None

    def is_response_to(self, request_id: Id) -> bool:
        """Whether this is a response to the request with this id; 1 and "1" are not the same."""
        if self.kind not in (MessageKind.RESULT, MessageKind.ERROR):
            return False
        return type(self.id) is type(request_id) and bool(self.id == request_id)


def request(request_id: Id, method: str, params: Any = None) -> dict[str, Any]:
    """A request (section 4); without params where they are None."""
    message = {"jsonrpc": VERSION, "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: Any = None) -> dict[str, Any]:
    """A request that wants no response (section 4.1)."""
    message = {"jsonrpc": VERSION, "method": method}
    return message if params is None else {**message, "params": params}


def response(request_id: Id, result: Any) -> dict[str, Any]:
    """The response to a request that went well (section 5)."""
    return {"jsonrpc": VERSION, "id": request_id, "result": result}


def error_response(request_id: Id, code: int, message: str) -> dict[str, Any]:
    """The response to a request that did not (section 5.1)."""
    return {"jsonrpc": VERSION, "id": request_id, "error": {"code": code, "message": message}}


def read(payload: Any) -> JsonRpcMessage:
    """What a JSON value is as a message. An array is none: see `read_all`."""
    if not isinstance(payload, Mapping):
        return JsonRpcMessage(MessageKind.OTHER, problems=(Deviation.NOT_AN_OBJECT,), raw=payload)
    problems = _check_version(payload)
    if payload.get("error") is not None or "result" in payload:
        return _response(payload, problems)
    if "method" in payload:
        return _call(payload, problems)
    if "error" in payload:
        return _response(payload, problems)
    return JsonRpcMessage(
        MessageKind.OTHER, payload.get("id"), problems=(*problems, Deviation.NOTHING), raw=payload
    )


def read_all(payload: Any) -> list[JsonRpcMessage]:
    """The messages of a JSON value: one, or those of a batch (section 6)."""
    if not isinstance(payload, list):
        return [read(payload)]
    if not payload:
        return [JsonRpcMessage(MessageKind.OTHER, problems=(Deviation.EMPTY_BATCH,), raw=payload)]
    extra: tuple[Deviation, ...] = (Deviation.BATCH,)
    if len(payload) > MAX_BATCH:
        extra = (*extra, Deviation.LONG_BATCH)
    return [with_problems(read(each), *extra) for each in payload[:MAX_BATCH]]


def with_problems(message: JsonRpcMessage, *problems: Deviation) -> JsonRpcMessage:
    """The message with further deviations."""
    return JsonRpcMessage(
        message.kind,
        message.id,
        message.method,
        message.params,
        message.result,
        message.error,
        (*message.problems, *problems),
        message.raw,
    )


# Reading


def _check_version(payload: Mapping[str, Any]) -> tuple[Deviation, ...]:
    version = payload.get("jsonrpc")
    if version == VERSION:
        return ()
    return (Deviation.NO_VERSION if version is None else Deviation.OTHER_VERSION,)


def _is_odd(value: Any) -> bool:
    return isinstance(value, bool) or not isinstance(value, str | int | float)


def _call(payload: Mapping[str, Any], problems: tuple[Deviation, ...]) -> JsonRpcMessage:
    found = list(problems)
    method, params, own_id = payload["method"], payload.get("params"), payload.get("id")
    if not isinstance(method, str):
        found.append(Deviation.ODD_METHOD)
        return JsonRpcMessage(
            MessageKind.OTHER, own_id, params=params, problems=tuple(found), raw=payload
        )
    if params is not None and not isinstance(params, Mapping | list):
        found.append(Deviation.ODD_PARAMS)
    if "id" in payload and _is_odd(own_id):
        found.append(Deviation.ODD_ID)
    kind = MessageKind.REQUEST if own_id is not None else MessageKind.NOTIFICATION
    return JsonRpcMessage(kind, own_id, method, params, problems=tuple(found), raw=payload)


def _response(payload: Mapping[str, Any], problems: tuple[Deviation, ...]) -> JsonRpcMessage:
    found = list(problems)
    own_id, given = payload.get("id"), payload.get("error")
    if own_id is None:
        # An error may have no id: the request was too broken to find one in it.
        if given is None:
            found.append(Deviation.NO_ID)
    elif _is_odd(own_id):
        found.append(Deviation.ODD_ID)
    if "method" in payload:
        found.append(Deviation.METHOD_IN_RESPONSE)
    if "result" in payload and given is not None:
        found.append(Deviation.RESULT_AND_ERROR)
    error = None
    if given is not None or "result" not in payload:
        error = _error(given, found)
    # A result says more than an error beside it, unless it says nothing.
    kind = (
        MessageKind.RESULT
        if payload.get("result") is not None or error is None
        else MessageKind.ERROR
    )
    return JsonRpcMessage(
        kind, own_id, result=payload.get("result"), error=error, problems=tuple(found), raw=payload
    )


def _error(given: Any, found: list[Deviation]) -> Error:
    if not isinstance(given, Mapping):
        found.append(Deviation.ODD_ERROR)
        return Error(None, given if isinstance(given, str) else "", raw=given)
    code, message = given.get("code"), given.get("message")
    whole = code if isinstance(code, int) and not isinstance(code, bool) else None
    if isinstance(code, float) and code.is_integer():
        whole = int(code)
    if whole is None:
        found.append(Deviation.ODD_CODE if "code" in given else Deviation.ODD_ERROR)
    elif not isinstance(message, str):
        found.append(Deviation.ODD_ERROR)
    return Error(whole, message if isinstance(message, str) else "", given.get("data"), given)
