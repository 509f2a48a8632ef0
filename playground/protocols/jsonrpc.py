"""JSON-RPC 2.0: messages built and read leniently, and the meaning of error codes.

What MCP and A2A have in common. Building is strict; reading takes any JSON value, makes the
best of it, and names every deviation for the conformance report. Pure and total: no JSON value
makes `read` raise.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from playground.protocols import error_documents
from playground.protocols.problems import CodeExplanation

VERSION = "2.0"

#: Most messages that are read of one array.
MAX_BATCH = 1000
#: Ids of requests and responses: the standard also allows null, for errors without a request.
Id = str | int | float | None

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
#: MCP 2026-07-28: the server supports other versions, which `data.supported` lists.
UNSUPPORTED_PROTOCOL_VERSION = -32022
#: MCP 2025-11-25: the user must open a URL first; `data.elicitations` lists them.
URL_ELICITATION_REQUIRED = -32042


class MessageKind(enum.StrEnum):
    """Kind of a JSON-RPC message."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    #: Not a JSON-RPC message.
    OTHER = "other"


class Deviation(enum.StrEnum):
    """A deviation of a message from the standard (its sections 4 to 6), as a sentence."""

    NOT_AN_OBJECT = "The message is not a JSON object."
    NO_VERSION = 'The message has no "jsonrpc": "2.0".'
    OTHER_VERSION = 'The message\'s "jsonrpc" is not "2.0".'
    NO_ID = "The response has no id, so it can’t be matched to a request."
    ODD_ID = "The id is neither a string nor a number."
    #: Added by the caller, which knows the call that a response belongs to.
    WRONG_ID = "The response id differs from the request id."
    RESULT_AND_ERROR = "The response has both a result and an error."
    METHOD_IN_RESPONSE = "The message has a method in addition to its result or error."
    ODD_METHOD = "The method is not a string."
    ODD_PARAMS = "The params are neither an object nor an array."
    ODD_ERROR = "The error is not an object with a code and a message."
    ODD_CODE = "The error code is not an integer."
    NOTHING = "The object has no method, result or error."
    #: MCP has no batches since 2025-06-18; A2A never had them.
    BATCH = "The message is part of a batch."
    EMPTY_BATCH = "The batch is empty."
    LONG_BATCH = f"Only the first {MAX_BATCH} messages of the batch were read."


@dataclass(frozen=True, slots=True)
class Error:
    """The error of a response, as far as it can be read."""

    #: None if there is none, or if it is not an integer.
    code: int | None
    message: str = ""
    data: Any = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class JsonRpcMessage:
    """One message, read leniently."""

    kind: MessageKind
    #: Verbatim, whatever its type; None if there is none.
    id: Any = None
    method: str = ""
    params: Any = None
    result: Any = None
    #: Set for `MessageKind.ERROR`, and for a result that has an error as well.
    error: Error | None = None
    problems: tuple[Deviation, ...] = ()
    raw: Any = None

    def is_response_to(self, request_id: Id) -> bool:
        """Return whether this is a response to the request with this id; 1 and "1" differ."""
        if self.kind not in (MessageKind.RESULT, MessageKind.ERROR):
            return False
        return type(self.id) is type(request_id) and bool(self.id == request_id)


def request(request_id: Id, method: str, params: Any = None) -> dict[str, Any]:
    """Return a request (section 4), without params if they are None."""
    message = {"jsonrpc": VERSION, "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str) -> dict[str, Any]:
    """Return a notification: a request without a response (section 4.1)."""
    return {"jsonrpc": VERSION, "method": method}


def read(payload: Any) -> JsonRpcMessage:
    """Return a JSON value as one message; an array is none, see `read_all`."""
    if not isinstance(payload, Mapping):
        return JsonRpcMessage(MessageKind.OTHER, problems=(Deviation.NOT_AN_OBJECT,), raw=payload)
    problems: list[Deviation] = []
    version = payload.get("jsonrpc")
    if version != VERSION:
        problems.append(Deviation.NO_VERSION if version is None else Deviation.OTHER_VERSION)
    is_response = payload.get("error") is not None or "result" in payload
    if is_response or ("error" in payload and "method" not in payload):
        return _read_response(payload, problems)
    if "method" in payload:
        return _read_call(payload, problems)
    problems.append(Deviation.NOTHING)
    return JsonRpcMessage(
        MessageKind.OTHER, payload.get("id"), problems=tuple(problems), raw=payload
    )


def read_all(payload: Any) -> list[JsonRpcMessage]:
    """Return the messages of a JSON value: one, or those of a batch (section 6)."""
    if not isinstance(payload, list):
        return [read(payload)]
    if not payload:
        return [JsonRpcMessage(MessageKind.OTHER, problems=(Deviation.EMPTY_BATCH,), raw=payload)]
    extra: tuple[Deviation, ...] = (Deviation.BATCH,)
    if len(payload) > MAX_BATCH:
        extra = (*extra, Deviation.LONG_BATCH)
    return [with_problems(read(each), *extra) for each in payload[:MAX_BATCH]]


def with_problems(message: JsonRpcMessage, *problems: Deviation) -> JsonRpcMessage:
    return replace(message, problems=(*message.problems, *problems))


def _is_invalid_id(value: Any) -> bool:
    return isinstance(value, bool) or not isinstance(value, str | int | float)


def _read_call(payload: Mapping[str, Any], problems: list[Deviation]) -> JsonRpcMessage:
    method, params, own_id = payload["method"], payload.get("params"), payload.get("id")
    if not isinstance(method, str):
        problems.append(Deviation.ODD_METHOD)
        return JsonRpcMessage(
            MessageKind.OTHER, own_id, params=params, problems=tuple(problems), raw=payload
        )
    if params is not None and not isinstance(params, Mapping | list):
        problems.append(Deviation.ODD_PARAMS)
    if "id" in payload and _is_invalid_id(own_id):
        problems.append(Deviation.ODD_ID)
    kind = MessageKind.REQUEST if own_id is not None else MessageKind.NOTIFICATION
    return JsonRpcMessage(kind, own_id, method, params, problems=tuple(problems), raw=payload)


def _read_response(payload: Mapping[str, Any], problems: list[Deviation]) -> JsonRpcMessage:
    own_id, result, given = payload.get("id"), payload.get("result"), payload.get("error")
    # An error may have no id, if none could be read in the request.
    if own_id is None and given is None:
        problems.append(Deviation.NO_ID)
    elif own_id is not None and _is_invalid_id(own_id):
        problems.append(Deviation.ODD_ID)
    if "method" in payload:
        problems.append(Deviation.METHOD_IN_RESPONSE)
    if "result" in payload and given is not None:
        problems.append(Deviation.RESULT_AND_ERROR)
    is_error = given is not None or "result" not in payload
    error = _read_error(given, problems) if is_error else None
    # A result takes precedence over an error beside it, unless it is null.
    kind = MessageKind.RESULT if result is not None or error is None else MessageKind.ERROR
    return JsonRpcMessage(
        kind, own_id, result=result, error=error, problems=tuple(problems), raw=payload
    )


def _read_error(given: Any, deviations: list[Deviation]) -> Error:
    if not isinstance(given, Mapping):
        deviations.append(Deviation.ODD_ERROR)
        return Error(None, error_documents.describe(given).message, raw=given)
    code, message = given.get("code"), given.get("message")
    number = code if isinstance(code, int) and not isinstance(code, bool) else None
    if isinstance(code, float) and code.is_integer():
        number = int(code)
    if number is None:
        deviations.append(Deviation.ODD_CODE if "code" in given else Deviation.ODD_ERROR)
    elif not isinstance(message, str):
        deviations.append(Deviation.ODD_ERROR)
    text = message if isinstance(message, str) else error_documents.describe(given).message
    return Error(number, text, given.get("data"), given)


# Error codes

EXPLAINED: Mapping[int, CodeExplanation] = MappingProxyType(
    {
        PARSE_ERROR: CodeExplanation(
            "The server could not parse the message as JSON.",
            "Check the bytes that were sent, and any proxies in between.",
        ),
        INVALID_REQUEST: CodeExplanation(
            "The message is JSON, but not a request that the server accepts at this point.",
            "Check the session and the protocol version; servers also use this code for them.",
        ),
        METHOD_NOT_FOUND: CodeExplanation(
            "The server does not support this method.",
            "Check that the URL is that of a server for this protocol and version.",
        ),
        INVALID_PARAMS: CodeExplanation(
            "The parameters of the method or tool are invalid.",
            "Check the tool name, and compare the arguments with the schema of the tool.",
        ),
        INTERNAL_ERROR: CodeExplanation(
            "Internal server error.",
            "Send it again; if the error persists, check the server’s log.",
        ),
        -32001: CodeExplanation(
            "MCP servers use this code for timeouts and unknown sessions, A2A agents for unknown "
            "tasks.",
            "Send it again; if the session or task is unknown, start a new one.",
        ),
        -32002: CodeExplanation(
            "MCP: resource not found. A2A: the task can no longer be cancelled.",
            "Check the name or id in the error message.",
        ),
        -32003: CodeExplanation(
            "The A2A agent does not support push notifications.",
            "Remove the push notification settings; the playground polls tasks.",
        ),
        -32004: CodeExplanation(
            "The A2A agent does not support this operation.",
            "Check the capabilities in the agent card.",
        ),
        -32005: CodeExplanation(
            "The A2A agent does not support this content type.",
            "Compare the message parts with the input modes in the agent card.",
        ),
        -32009: CodeExplanation(
            "The A2A agent does not support the requested version.",
            "Use a version that the agent card lists.",
        ),
        -32020: CodeExplanation(
            "Request headers don’t match the body (MCP 2026-07-28).",
            "Remove MCP-Protocol-Version, Mcp-Method and Mcp-Name from the agent’s headers.",
        ),
        -32021: CodeExplanation(
            "The server requires a client capability that the playground does not support.",
            "See the error data; this tool can’t be called from the playground.",
        ),
        UNSUPPORTED_PROTOCOL_VERSION: CodeExplanation(
            "The server does not support the requested MCP version.",
            "The error data lists the supported versions.",
        ),
        URL_ELICITATION_REQUIRED: CodeExplanation(
            "The server requires you to open a URL first.",
            "Open the URL if you trust it, follow the instructions, and send the request again.",
        ),
        -32800: CodeExplanation(
            "The request was cancelled before it completed.",
            "Send it again.",
        ),
    }
)

#: Names of the playground for failures over MCP that have no code of their own.
NAMED: Mapping[str, CodeExplanation] = MappingProxyType(
    {
        "TOOL_ERROR": CodeExplanation(
            "The tool failed.",
            "Read the error message; if it is about the arguments, compare them with the schema.",
        ),
        "INPUT_REQUIRED": CodeExplanation(
            "The server requires input that only a program can provide.",
            "Use a client that can provide it, such as an LLM application, or call another tool.",
        ),
    }
)

_SERVER_ERROR = CodeExplanation(
    "Server-defined error code.",
    "Read the error message and data, or look up the code in the server’s documentation.",
)


def explain_code(code: int) -> CodeExplanation | None:
    """Return the explanation of an error code of the standard, MCP or A2A; None for others."""
    if found := EXPLAINED.get(code):
        return found
    return _SERVER_ERROR if -32099 <= code <= -32000 else None


def code_of(text: str) -> int | None:
    """Return the error code that a text is, None if it is not a number of JSON-RPC's size."""
    digits = text.strip().removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
        return None
    return -int(digits) if text.strip().startswith("-") else int(digits)
