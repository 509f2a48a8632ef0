"""Requests of the Agent API (section "Request Models"): a parser of JSON into one record."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from playground.demo import requests
from playground.demo.failures import invalid_parameter
from playground.demo.requests import MAX_TEXT
from playground.demo.responses import Document

#: Messages, and functions, of a request that are read.
_MAX_ENTRIES = 100
_MAX_ID = 100

Check = Callable[[Any], bool]


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
    """Read a request from its body. Raise `FailureError`, whose message names the member."""
    document = requests.read_json(body)
    for name, (is_valid, expected) in _PARAMETERS.items():
        _check(document.get(name), name, is_valid, expected)
    messages = _messages(document)
    for number, tool in enumerate(document.get("tools") or []):
        _check_tool(tool, f"tools.{number}")
    text = _text(messages)
    outputs, approvals = dict(_outputs(messages)), dict(_approvals(messages))
    if not (text or outputs or approvals):
        raise invalid_parameter(
            "input", None, "text, output or approval",
            "messages with a text, a function output or an approval",
        )  # fmt: skip
    session = document.get("session_id") or f"session_{secrets.token_hex(8)}"
    stream = document.get("stream") is not False
    return ParsedRequest(session, text, stream, tuple(_functions(document)), outputs, approvals)


def _between(least: float, most: float) -> tuple[Check, str]:
    return (
        lambda value: _is_number(value) and least <= value <= most,
        f"a number from {least:g} to {most:g}",
    )


def _is_number(value: Any) -> bool:
    # In Python, true and false are numbers.
    return isinstance(value, int | float) and not isinstance(value, bool)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value)


def _string(value: Any) -> bool:
    return isinstance(value, str)


#: The checks of the parameters of a request (section 5), with what they expect. The specification
#: limits `n` only; the other ranges are those of other APIs with parameters of these names.
_PARAMETERS: Mapping[str, tuple[Check, str]] = {
    "stream": (lambda value: isinstance(value, bool), "true or false"),
    "model": (_string, "a string"),
    "temperature": _between(0, 2),
    "top_p": _between(0, 1),
    "frequency_penalty": _between(-2, 2),
    "presence_penalty": _between(-2, 2),
    "max_tokens": (lambda value: _integer(value) and value >= 1, "an integer of at least 1"),
    "n": (lambda value: _integer(value) and 1 <= value <= 5, "an integer from 1 to 5"),
    "seed": (_integer, "an integer"),
    "stop": (
        lambda value: _string(value) or (isinstance(value, list) and all(map(_string, value))),
        "a string or a list of strings",
    ),
    "tools": (lambda value: isinstance(value, list), "a list of tools"),
    "session_id": (
        lambda value: _string(value) and len(value) <= _MAX_ID,
        f"a string of at most {_MAX_ID} characters",
    ),
    "response_id": (_string, "a string"),
}  # fmt: skip
#: The member of a content of each type (section 3), with its check.
_CONTENTS: Mapping[str, tuple[str, Check, str]] = {
    "text": ("text", _string, "a string"),
    "image": ("image_url", _string, "a string"),
    "data": ("data", lambda value: isinstance(value, dict), "an object"),
}
_ROLES = ("assistant", "user", "system")


def _check(value: Any, path: str, is_valid: Check, expected: str) -> None:
    """Check a value, which may be absent. Raise `FailureError`."""
    if value is not None and not is_valid(value):
        raise invalid_parameter(path, value, expected, expected)


def _object(value: Any, path: str) -> Document:
    if not isinstance(value, dict):
        raise invalid_parameter(path, value, "an object", "an object")
    return value


def _messages(document: Document) -> list[Document]:
    """Return the messages of the input, checked (sections 3 and 4)."""
    found = document.get("input")
    if not isinstance(found, list) or not found:
        raise invalid_parameter("input", found, "a list of messages", "a list of messages")
    for number, each in enumerate(found):
        path = f"input.{number}"
        message = _object(each, path)
        _check(message.get("type"), f"{path}.type", _string, "a string")
        if (role := message.get("role")) is not None and role not in _ROLES:
            roles = ", ".join(_ROLES)
            raise invalid_parameter(f"{path}.role", role, roles, f"one of: {roles}")
        content = message.get("content")
        _check(content, f"{path}.content", lambda c: isinstance(c, list), "a list of contents")
        for index, part in enumerate(content or []):
            _check_content(part, f"{path}.content.{index}")
    return found[-_MAX_ENTRIES:]


def _check_content(value: Any, path: str) -> None:
    part = _object(value, path)
    if not isinstance(kind := part.get("type"), str) or kind not in _CONTENTS:
        kinds = ", ".join(_CONTENTS)
        raise invalid_parameter(f"{path}.type", kind, kinds, f"one of: {kinds}")
    name, is_valid, expected = _CONTENTS[kind]
    _check(part.get(name), f"{path}.{name}", is_valid, expected)


def _check_tool(value: Any, path: str) -> None:
    """Check a tool (section 2); tools of other types than function may have any members."""
    tool = _object(value, path)
    _check(tool.get("type"), f"{path}.type", _string, "a string")
    if tool.get("function") is None:
        return
    function = _object(tool["function"], f"{path}.function")
    if not _string(name := function.get("name")) or not name:
        raise invalid_parameter(f"{path}.function.name", name, "string", "a string")
    _check(function.get("description"), f"{path}.function.description", _string, "a string")
    if function.get("parameters") is not None:
        _object(function["parameters"], f"{path}.function.parameters")


def _text(messages: Sequence[Document]) -> str:
    """Return the text of the last user message. Raise `FailureError` if it is too long."""
    for message in reversed(messages):
        texts = [part["text"] for part in _parts(message) if isinstance(part.get("text"), str)]
        if message.get("role", "user") != "user" or not texts:
            continue
        text = "\n".join(texts).strip()
        if len(text) > MAX_TEXT:
            expected = f"a text of at most {MAX_TEXT:,} characters"
            raise invalid_parameter("input", None, expected, expected)
        return text
    return ""


def _functions(document: Document) -> Iterator[Mapping[str, Any]]:
    for tool in (document.get("tools") or [])[:_MAX_ENTRIES]:
        if function := tool.get("function"):
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
    return message.get("content") or []
