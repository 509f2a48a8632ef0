"""Requests of the Agent API (section "Request Models"): a parser of JSON into one record."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.demo import requests
from playground.demo.failures import FailureError
from playground.demo.requests import MAX_TEXT
from playground.demo.responses import Document

#: Messages, and functions, of a request that are read.
_MAX_ENTRIES = 100
_MAX_ID = 100


class InvalidRequestError(Exception):
    """An invalid request; `detail` is the body of its 422 response."""

    def __init__(self, kind: str, location: Sequence[str | int], message: str) -> None:
        self.detail: list[Document] = [{"type": kind, "loc": ["body", *location], "msg": message}]
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A validated request."""

    session: str
    #: The last text of the user; "" for a request with outputs or approvals only.
    text: str
    stream: bool = True
    #: The functions that the caller offers.
    functions: Sequence[Mapping[str, Any]] = ()
    #: The outputs of functions, by the id of their call.
    outputs: Mapping[str, str] = field(default_factory=dict)
    #: Decisions about calls that need approval, by the id of the approval request.
    approvals: Mapping[str, bool] = field(default_factory=dict)


def read_request(body: bytes) -> ParsedRequest:
    """Read a request from its body. Raise `InvalidRequestError`."""
    try:
        document = requests.read_json(body)
    except FailureError as failure:
        raise InvalidRequestError("json_invalid", (), failure.message) from None
    stream = document.get("stream", True)
    if not isinstance(stream, bool):
        raise InvalidRequestError("bool_type", ("stream",), "Input should be true or false")
    messages = _messages(document)
    _check_parameters(document)
    text = _text(messages)
    outputs, approvals = dict(_outputs(messages)), dict(_approvals(messages))
    if not (text or outputs or approvals):
        location = ("input", len(messages) - 1, "content")
        raise InvalidRequestError(
            "missing", location, "Text, a function output or an approval is required"
        )
    return ParsedRequest(
        _session(document), text, stream, tuple(_functions(document)), outputs, approvals
    )


def _messages(document: Document) -> list[Document]:
    if "input" not in document:
        raise InvalidRequestError("missing", ("input",), "Field required")
    found = document["input"]
    if not isinstance(found, list):
        raise InvalidRequestError("list_type", ("input",), "Input should be a list of messages")
    for number, message in enumerate(found):
        if not isinstance(message, dict):
            raise InvalidRequestError("dict_type", ("input", number), "Input should be an object")
    return found[-_MAX_ENTRIES:]


def _check_parameters(document: Document) -> None:
    """Check the one range of the specification, and the parameters that this agent uses."""
    number = document.get("n")
    if number is not None and (type(number) is not int or not 1 <= number <= 5):
        raise InvalidRequestError("range", ("n",), "Input should be an integer from 1 to 5")
    if not isinstance(document.get("tools", []), list | None):
        raise InvalidRequestError("list_type", ("tools",), "Input should be a list of tools")
    session = document.get("session_id")
    if session is not None and not isinstance(session, str):
        raise InvalidRequestError("string_type", ("session_id",), "Input should be a string")


def _session(document: Document) -> str:
    """Return the session id of the request, or a new one."""
    given = document.get("session_id")
    if given and len(given) > _MAX_ID:
        raise InvalidRequestError("too_long", ("session_id",), f"At most {_MAX_ID} characters")
    return given or f"session_{secrets.token_hex(8)}"


def _text(messages: Sequence[Document]) -> str:
    """Return the text of the last user message. Raise `InvalidRequestError` if it is too long."""
    for number, message in reversed(list(enumerate(messages))):
        texts = [part["text"] for part in _parts(message) if isinstance(part.get("text"), str)]
        if message.get("role", "user") != "user" or not texts:
            continue
        text = "\n".join(texts).strip()
        if len(text) > MAX_TEXT:
            location = ("input", number, "content")
            raise InvalidRequestError("too_long", location, f"At most {MAX_TEXT:,} characters")
        return text
    return ""


def _functions(document: Document) -> Iterator[Mapping[str, Any]]:
    for tool in (document.get("tools") or [])[:_MAX_ENTRIES]:
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            yield function


def _outputs(messages: Sequence[Document]) -> Iterator[tuple[str, str]]:
    for data in _data(messages, "function_call_output"):
        if isinstance(call := data.get("call_id"), str):
            output = data.get("output")
            yield call, output if isinstance(output, str) else json.dumps(output)


def _approvals(messages: Sequence[Document]) -> Iterator[tuple[str, bool]]:
    for data in _data(messages, "mcp_approval_response"):
        if isinstance(approval := data.get("approval_request_id"), str):
            yield approval, data.get("approve") is True


def _data(messages: Sequence[Document], kind: str) -> Iterator[Document]:
    """Yield the data of the messages of a type."""
    for message in messages:
        if message.get("type") == kind:
            yield from (
                part["data"] for part in _parts(message) if isinstance(part.get("data"), dict)
            )


def _parts(message: Document) -> list[Document]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
