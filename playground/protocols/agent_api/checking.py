"""What is wrong with a request before it is sent (sections "Request Models", "Message Model").

Errors are what no agent could read as a request; everything else that departs from the
specification is a warning, because exploring that is what the playground is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from playground.protocols.agent_api import constants, versions
from playground.protocols.agent_api.parameters import PARAMETERS
from playground.protocols.agent_api.requests import parts_of
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import pointer_of

Document = Mapping[str, Any]
Problems = Iterator[RequestProblem]

_SECTIONS = frozenset({"input", "stream", "tools", *PARAMETERS})
#: Messages, parts and tools that are looked at: a request has no limit of its own.
_MOST = 1_000


def validate_request(document: Any, version: str) -> list[RequestProblem]:
    """What is wrong with a request, errors first. Raises `ValueError` for an unknown version."""
    versions.get_version(version)
    if not isinstance(document, Mapping):
        return [RequestProblem("", "The request must be a JSON object.", "error")]
    problems = [
        *_check_input(document),
        *_check_parameters(document),
        *_check_tools(document),
        *_check_names(document),
    ]
    return sorted(problems, key=lambda problem: problem.level != "error")


def _check_input(document: Document) -> Problems:
    entries = document.get("input")
    if not isinstance(entries, list):
        yield RequestProblem("/input", "The input must be a list of messages.", "error")
        return
    if not entries:
        yield RequestProblem("/input", "The input needs a message.", "error")
        return
    for number, entry in enumerate(entries[:_MOST]):
        pointer = f"/input/{number}"
        if isinstance(entry, Mapping):
            yield from _check_message(entry, pointer)
        else:
            yield RequestProblem(pointer, "A message must be a JSON object.", "error")
    if not any(_says_something(entry) for entry in entries):
        where = f"/input/{len(entries) - 1}/content"
        yield RequestProblem(where, "The message needs a text.", "error")


def _says_something(entry: Any) -> bool:
    if not isinstance(entry, Mapping):
        return False
    for part in parts_of(entry):
        text = part.get("text")
        if isinstance(text, str) and text.strip():
            return True
        if part.get("type") != "text" and len(part) > 1:
            return True
    return False


def _check_message(entry: Mapping[str, Any], pointer: str) -> Problems:
    role, kind = entry.get("role"), entry.get("type", "message")
    if role is None:
        yield RequestProblem(f"{pointer}/role", "The message does not say who speaks.")
    elif role not in (*constants.ROLES, *constants.EXTRA_ROLES):
        known = ", ".join(constants.ROLES)
        yield RequestProblem(f"{pointer}/role", f"The Agent API defines the roles {known}.")
    if kind not in (*constants.MESSAGE_TYPES, *constants.DIALECT_MESSAGE_TYPES):
        yield RequestProblem(f"{pointer}/type", "The Agent API defines no such type of message.")
    content = entry.get("content")
    if not isinstance(content, list):
        yield RequestProblem(f"{pointer}/content", "The content must be a list of parts.")
        return
    for number, part in enumerate(content[:_MOST]):
        where = f"{pointer}/content/{number}"
        if isinstance(part, Mapping):
            yield from _check_part(part, where)
            yield from _check_data(kind, part, where)
        else:
            yield RequestProblem(where, "A part must be a JSON object.")


def _check_part(part: Mapping[str, Any], pointer: str) -> Problems:
    kind = part.get("type")
    if isinstance(kind, str) and kind in _PART_MEMBERS:
        name, fits, wanted = _PART_MEMBERS[kind]
        if not fits(part.get(name)):
            yield RequestProblem(f"{pointer}/{name}", f"A part of type {kind} needs {wanted}.")
    elif kind not in constants.DIALECT_CONTENT_TYPES:
        known = ", ".join(constants.CONTENT_TYPES)
        yield RequestProblem(f"{pointer}/type", f"The Agent API defines the types {known}.")


def _check_data(kind: Any, part: Mapping[str, Any], pointer: str) -> Problems:
    """A call, its output and an approval have data of their own (section "Tool Definitions")."""
    data = part.get("data")
    if not isinstance(kind, str) or kind not in _DATA_MEMBERS:
        return
    if not isinstance(data, Mapping):
        yield RequestProblem(f"{pointer}/type", f"A {kind} carries a part of type data.")
        return
    for name, (fits, wanted) in _DATA_MEMBERS[kind].items():
        if not fits(data.get(name)):
            yield RequestProblem(f"{pointer}/data/{name}", f"A {kind} has {name}: {wanted}.")


def _check_parameters(document: Document) -> Problems:
    if not isinstance(document.get("stream", True), bool):
        yield RequestProblem("/stream", "The Agent API defines stream as true or false.")
    for name, parameter in PARAMETERS.items():
        value = document.get(name)
        if value is not None and not parameter.fits(value):
            yield RequestProblem(f"/{name}", f"{name} is {parameter.expected}.")


def _check_tools(document: Document) -> Problems:
    tools = document.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        yield RequestProblem("/tools", "The tools must be a list.")
        return
    for number, tool in enumerate(tools[:_MOST]):
        yield from _check_tool(tool, f"/tools/{number}")


def _check_tool(tool: Any, pointer: str) -> Problems:
    if not isinstance(tool, Mapping):
        yield RequestProblem(pointer, "A tool must be a JSON object.")
        return
    if tool.get("type") != "function":
        yield RequestProblem(f"{pointer}/type", "The only type of tool so far is function.")
        return
    function = tool.get("function")
    if not isinstance(function, Mapping):
        yield RequestProblem(f"{pointer}/function", "The tool needs a function, a JSON object.")
        return
    for name in ("name", "description"):
        if not _is_filled(function.get(name)):
            yield RequestProblem(f"{pointer}/function/{name}", f"The function needs a {name}.")
    yield from _check_schema(function.get("parameters"), f"{pointer}/function/parameters")


def _check_schema(schema: Any, pointer: str) -> Problems:
    if not isinstance(schema, Mapping):
        yield RequestProblem(pointer, "The parameters must be a JSON Schema, an object.")
        return
    if schema.get("type") != "object":
        yield RequestProblem(f"{pointer}/type", "The type of the parameters is object.")
    if not isinstance(schema.get("properties", {}), Mapping):
        yield RequestProblem(f"{pointer}/properties", "The properties must be a JSON object.")
    required = schema.get("required")
    named = isinstance(required, list) and all(isinstance(name, str) for name in required)
    if required is not None and not named:
        yield RequestProblem(f"{pointer}/required", "This must be an array of names.")


def _check_names(document: Document) -> Problems:
    for name in document:
        if name not in _SECTIONS:
            yield RequestProblem(pointer_of([name]), f"The Agent API defines no member {name}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


_Fits = Callable[[Any], bool]

#: By type of part: the member that holds what it is, and what that has to be.
_PART_MEMBERS: Mapping[str, tuple[str, _Fits, str]] = {
    "text": ("text", _is_text, "a text"),
    "image": ("image_url", _is_filled, "an image_url"),
    "data": ("data", _is_object, "data, a JSON object"),
}
_TEXT: tuple[_Fits, str] = (_is_text, "a string")
#: By type of message: the members of its data.
_DATA_MEMBERS: Mapping[str, Mapping[str, tuple[_Fits, str]]] = {
    "function_call": {"call_id": _TEXT, "name": _TEXT, "arguments": _TEXT},
    "function_call_output": {"call_id": (_is_filled, "that of the call"), "output": _TEXT},
    "mcp_approval_response": {
        "approval_request_id": (_is_filled, "the id of the request"),
        "approve": (_is_flag, "true or false"),
    },
}
