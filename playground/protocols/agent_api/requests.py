"""Requests of the Agent API: build one, follow one up, and validate one.

Sections "Request Models" and "Message Model". The agent stores a conversation under `session_id`
(section "Best Practices"), so a request contains only what is new. Everything here is total: a
request of any shape is accepted, and no argument is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from playground.protocols.agent_api import constants, versions
from playground.protocols.agent_api.parameters import PARAMETERS
from playground.protocols.events import ToolCall
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import pointer_of

Document = Mapping[str, Any]
Problems = Iterator[RequestProblem]

#: Members of a request that identify its conversation, in the order of sending.
SESSION = ("session_id", "response_id")

_SECTIONS = frozenset({"input", "stream", "tools", *PARAMETERS})
#: Most messages, parts and tools that are checked: a request has no limit of its own.
_MAX_ENTRIES = 1_000


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    """Raises `ValueError` for an unknown version."""
    versions.get_version(version)
    return {"input": [user_message(text)], "stream": streaming}


def user_message(text: str) -> dict[str, Any]:
    return message("message", "user", {"type": "text", "text": text})


def message(kind: str, role: str, *content: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": role, "type": kind, "content": [dict(part) for part in content]}


def with_own_ids(document: Document, own_id: str, *, with_user: bool) -> dict[str, Any]:
    """Return a first request with a session id of its own, and perhaps a user id.

    Some agents key running work by both (AgentScope Runtime): two first requests without them at
    once collide. A request that names a session or a response, even as null, is not changed.
    """
    if any(name in document for name in SESSION):
        return dict(document)
    user = {"user_id": document.get("user_id", own_id)} if with_user else {}
    return {**document, "session_id": own_id, **user}


def operation(_: Document) -> str:
    """Return "": the Agent API has one URL, that of the agent."""
    return ""


def wants_stream(document: Document) -> bool:
    """Return whether the request prefers a stream: true by default."""
    return document.get("stream") is not False


def messages_of(document: Any) -> list[Mapping[str, Any]]:
    """Return the messages of a request that are objects."""
    entries = document.get("input") if isinstance(document, Mapping) else None
    if isinstance(entries, str):
        return [user_message(entries)]
    return [entry for entry in _list(entries) if isinstance(entry, Mapping)]


def parts_of(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of a message that are objects; a bare string is one part of text."""
    content = entry.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in _list(content) if isinstance(part, Mapping)]


def text_of_request(document: Any) -> str:
    """Return the text of a request: the user's latest text or answer to a call, "" for none."""
    found = ""
    for entry in messages_of(document):
        kind = entry.get("type")
        if entry.get("role", "user") == "user" or kind in _RESPONSE_MEMBERS:
            found = " ".join(_texts(entry, kind)) or found
    return found


#: Types of messages that answer a call, and the member of their data with the answer.
_RESPONSE_MEMBERS = {"function_call_output": "output", "mcp_approval_response": "approve"}


def _texts(entry: Mapping[str, Any], kind: Any) -> Iterator[str]:
    for part in parts_of(entry):
        data = part.get("data")
        if isinstance(text := part.get("text"), str) and text.strip():
            yield text.strip()
        elif isinstance(data, Mapping) and isinstance(kind, str) and kind in _RESPONSE_MEMBERS:
            yield _answer(data.get(_RESPONSE_MEMBERS[kind]))


def _answer(value: Any) -> str:
    if isinstance(value, bool):
        return "Approved" if value else "Denied"
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# The next request of a conversation


def follow_up_document(
    request: Any,
    *,
    prev: Sequence[str] = (),
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the document of the turn after `request`: a new message of the user.

    Model, parameters and tools stay. `session_context` holds `session_id` and `response_id`,
    as `session_context()` returns them; None omits both. `prev` is not needed: the session has it.
    """
    del prev
    return with_input(request, [user_message(text)], session_context)


def with_input(
    request: Any, messages: Sequence[Mapping[str, Any]], session_context: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the document that follows `request` with these messages as its input.

    A response may leave several calls to its client: the outputs of all of them go into one
    document, one message each (sections "Function Call Output" and "MCP Approval").
    """
    document = request if isinstance(request, Mapping) else {}
    kept = {name: value for name, value in document.items() if name not in ("input", *SESSION)}
    return {
        "input": [dict(entry) for entry in messages],
        **kept,
        **_session_members(session_context or {}),
    }


def session_context(request: Any, returned: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the ids of the conversation after a turn, None if there are none.

    They come from the request, and from what was returned for it.
    """
    sent = _session_members(request) if isinstance(request, Mapping) else {}
    return {**sent, **(_session_members(returned) if returned else {})} or None


def with_session_context(
    request: Mapping[str, Any], session_context: Mapping[str, Any]
) -> dict[str, Any]:
    return {**request, **_session_members(session_context)}


def output_message(call: ToolCall, output: str) -> dict[str, Any]:
    """Return the message with the output of a function (section "Function Call Output")."""
    data = {"call_id": call.call_id, "output": output}
    return message("function_call_output", "user", {"type": "data", "data": data})


def approval_message(request: ToolCall, approve: bool, reason: str = "") -> dict[str, Any]:
    """Return the message that approves or denies a call; an empty reason is not sent.

    The specification names the type and not its members; these are the ones that agents use.
    """
    data: dict[str, Any] = {"approval_request_id": request.call_id, "approve": approve}
    if reason:
        data["reason"] = reason
    return message("mcp_approval_response", "user", {"type": "data", "data": data})


def _session_members(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in SESSION if value.get(name) is not None}


# Validation


def validate_request(document: Any, version: str) -> list[RequestProblem]:
    """Return the validation problems of a request, errors first.

    Errors are problems that no agent could handle; every other deviation from the specification
    is a warning, because exploring deviations is the purpose of the playground. Raises
    `ValueError` for an unknown version.
    """
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
        yield RequestProblem("/input", "The input must be an array of messages.", "error")
        return
    if not entries:
        yield RequestProblem("/input", "The input requires a message.", "error")
        return
    for number, entry in enumerate(entries[:_MAX_ENTRIES]):
        pointer = f"/input/{number}"
        if isinstance(entry, Mapping):
            yield from _check_message(entry, pointer)
        else:
            yield RequestProblem(pointer, "A message must be a JSON object.", "error")
    if not any(_has_content(entry) for entry in entries):
        where = f"/input/{len(entries) - 1}/content"
        yield RequestProblem(where, "The message requires text.", "error")


def _has_content(entry: Any) -> bool:
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
        yield RequestProblem(f"{pointer}/role", "The message has no role.")
    elif role not in (*constants.ROLES, *constants.EXTRA_ROLES):
        known = ", ".join(constants.ROLES)
        yield RequestProblem(f"{pointer}/role", f"The Agent API defines the roles {known}.")
    if kind not in (*constants.MESSAGE_TYPES, *constants.EXTRA_MESSAGE_TYPES):
        yield RequestProblem(f"{pointer}/type", "The Agent API does not define this message type.")
    content = entry.get("content")
    if not isinstance(content, list):
        yield RequestProblem(f"{pointer}/content", "The content must be an array of parts.")
        return
    for number, part in enumerate(content[:_MAX_ENTRIES]):
        where = f"{pointer}/content/{number}"
        if isinstance(part, Mapping):
            yield from _check_part(part, where)
            yield from _check_data(kind, part, where)
        else:
            yield RequestProblem(where, "A part must be a JSON object.")


def _check_part(part: Mapping[str, Any], pointer: str) -> Problems:
    kind = part.get("type")
    if isinstance(kind, str) and kind in _PART_MEMBERS:
        name, fits, expected = _PART_MEMBERS[kind]
        if not fits(part.get(name)):
            yield RequestProblem(f"{pointer}/{name}", f"A part of type {kind} requires {expected}.")
    elif kind not in constants.EXTRA_CONTENT_TYPES:
        known = ", ".join(constants.CONTENT_TYPES)
        yield RequestProblem(f"{pointer}/type", f"The Agent API defines the types {known}.")


def _check_data(kind: Any, part: Mapping[str, Any], pointer: str) -> Problems:
    """Check the data of a call, its output or an approval (section "Tool Definitions")."""
    data = part.get("data")
    if not isinstance(kind, str) or kind not in _DATA_MEMBERS:
        return
    if not isinstance(data, Mapping):
        yield RequestProblem(f"{pointer}/type", f"A {kind} requires a part of type data.")
        return
    for name, (fits, expected) in _DATA_MEMBERS[kind].items():
        if not fits(data.get(name)):
            yield RequestProblem(f"{pointer}/data/{name}", f"A {kind} requires {name}: {expected}.")


def _check_parameters(document: Document) -> Problems:
    if not isinstance(document.get("stream", True), bool):
        yield RequestProblem("/stream", "The Agent API defines stream as true or false.")
    for name, parameter in PARAMETERS.items():
        value = document.get(name)
        if value is not None and not parameter.fits(value):
            yield RequestProblem(f"/{name}", f"{name} must be {parameter.expected}.")


def _check_tools(document: Document) -> Problems:
    tools = document.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list):
        yield RequestProblem("/tools", "The tools must be an array.")
        return
    for number, tool in enumerate(tools[:_MAX_ENTRIES]):
        yield from _check_tool(tool, f"/tools/{number}")


def _check_tool(tool: Any, pointer: str) -> Problems:
    if not isinstance(tool, Mapping):
        yield RequestProblem(pointer, "A tool must be a JSON object.")
        return
    if tool.get("type") != "function":
        yield RequestProblem(f"{pointer}/type", "The only defined tool type is function.")
        return
    function = tool.get("function")
    if not isinstance(function, Mapping):
        yield RequestProblem(f"{pointer}/function", "The tool requires function, a JSON object.")
        return
    for name in ("name", "description"):
        if not _is_nonempty_text(function.get(name)):
            yield RequestProblem(f"{pointer}/function/{name}", f"The function requires a {name}.")
    yield from _check_schema(function.get("parameters"), f"{pointer}/function/parameters")


def _check_schema(schema: Any, pointer: str) -> Problems:
    if not isinstance(schema, Mapping):
        yield RequestProblem(pointer, "The parameters must be a JSON Schema object.")
        return
    if schema.get("type") != "object":
        yield RequestProblem(f"{pointer}/type", "The type of the parameters must be object.")
    if not isinstance(schema.get("properties", {}), Mapping):
        yield RequestProblem(f"{pointer}/properties", "The properties must be a JSON object.")
    required = schema.get("required")
    named = isinstance(required, list) and all(isinstance(name, str) for name in required)
    if required is not None and not named:
        yield RequestProblem(f"{pointer}/required", "This must be an array of strings.")


def _check_names(document: Document) -> Problems:
    for name in document:
        if name not in _SECTIONS:
            yield RequestProblem(pointer_of([name]), f"The Agent API does not define {name}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_nonempty_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


_Fits = Callable[[Any], bool]

#: By type of part: the member with its value, a check of the value, and the expected value.
_PART_MEMBERS: Mapping[str, tuple[str, _Fits, str]] = {
    "text": ("text", _is_text, "text"),
    "image": ("image_url", _is_nonempty_text, "an image_url"),
    "data": ("data", _is_object, "data, a JSON object"),
}
_TEXT: tuple[_Fits, str] = (_is_text, "a string")
#: By type of message: the members of its data, with a check and the expected value.
_DATA_MEMBERS: Mapping[str, Mapping[str, tuple[_Fits, str]]] = {
    "function_call": {"call_id": _TEXT, "name": _TEXT, "arguments": _TEXT},
    "function_call_output": {"call_id": (_is_nonempty_text, "the id of the call"), "output": _TEXT},
    "mcp_approval_response": {
        "approval_request_id": (_is_nonempty_text, "the id of the request"),
        "approve": (_is_flag, "true or false"),
    },
}
