"""Requests of the Agent API: build one, follow one up, and validate one.

Sections "Request Models" and "Message Model". The agent stores a conversation under `session_id`
(section "Best Practices"), so a request contains only what is new. Everything here is total: a
request of any shape is accepted, and no argument is changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from playground.protocols import lenient, schema_check
from playground.protocols.events import ToolCall
from playground.protocols.exchange import RequestProblem, Version

VERSIONS: tuple[Version, ...] = (Version("1", "Agent API", MappingProxyType({})),)

_BY_NAME = {version.name: version for version in VERSIONS}


def get_version(name: str) -> Version:
    """Raises `ValueError` for a version that is not in the table."""
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(_BY_NAME)
        raise ValueError(f"Unknown Agent API version {name!r}. Supported: {known}.") from None


Document = Mapping[str, Any]

#: Members of a request that identify its conversation, in the order of sending.
SESSION = ("session_id", "response_id")


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    """Raises `ValueError` for an unknown version."""
    get_version(version)
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


def wants_stream(document: Document) -> bool:
    """Return whether the request prefers a stream: true by default."""
    return document.get("stream") is not False


def messages_of(document: Any) -> list[Mapping[str, Any]]:
    """Return the messages of a request that are objects."""
    entries = lenient.members(document).get("input")
    if isinstance(entries, str):
        return [user_message(entries)]
    return [entry for entry in lenient.items(entries) if isinstance(entry, Mapping)]


def parts_of(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the parts of a message that are objects; a bare string is one part of text."""
    content = entry.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in lenient.items(content) if isinstance(part, Mapping)]


def text_of_request(document: Any) -> str:
    """Return the text of a request: the user's latest text or answer to a call, "" for none."""
    found = ""
    for entry in messages_of(document):
        kind = lenient.text(entry.get("type"))
        if entry.get("role", "user") == "user" or kind in _RESPONSE_MEMBERS:
            found = " ".join(_texts(entry, kind)) or found
    return found


#: Types of messages that answer a call, and the member of their data with the answer.
_RESPONSE_MEMBERS = {"function_call_output": "output", "mcp_approval_response": "approve"}


def _texts(entry: Mapping[str, Any], kind: str) -> Iterator[str]:
    for part in parts_of(entry):
        data = part.get("data")
        if text := lenient.text(part.get("text")).strip():
            yield text
        elif isinstance(data, Mapping) and kind in _RESPONSE_MEMBERS:
            yield _answer(data.get(_RESPONSE_MEMBERS[kind]))


def _answer(value: Any) -> str:
    if isinstance(value, bool):
        return "Approved" if value else "Denied"
    return lenient.text(value)


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
    document = lenient.members(request)
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
    sent = _session_members(lenient.members(request))
    return {**sent, **_session_members(returned or {})} or None


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
    is a warning, because exploring deviations is the purpose of the playground. Of the ranges of
    parameters, the specification gives that of `n`; the others are those that models accept.
    Raises `ValueError` for an unknown version.
    """
    get_version(version)
    validation = schema_check.Validation()
    validation.check(document, schema_check.load("agent-api", version, "request"))
    if isinstance(document, Mapping):
        _check_data(document, validation)
        _check_text(document, validation)
    return sorted(validation.problems, key=lambda problem: problem.level != "error")


def _check_text(document: Document, validation: schema_check.Validation) -> None:
    entries = lenient.items(document.get("input"))
    if entries and not any(map(_has_content, messages_of(document))):
        where = f"/input/{len(entries) - 1}/content"
        validation.report(where, "The message requires text.", "error")


def _has_content(entry: Mapping[str, Any]) -> bool:
    for part in parts_of(entry):
        if lenient.text(part.get("text")).strip():
            return True
        if part.get("type") != "text" and len(part) > 1:
            return True
    return False


def _check_data(document: Document, validation: schema_check.Validation) -> None:
    """Check the data of calls, outputs and approvals (section "Tool Definitions")."""
    entries = lenient.items(document.get("input"))
    for number, entry in enumerate(entries[: schema_check.MAX_VALUES]):
        kind = lenient.text(lenient.members(entry).get("type"))
        if kind not in _DATA:
            continue
        parts = lenient.items(entry.get("content"))
        for at, part in enumerate(parts[: validation.values_left]):
            if not isinstance(part, Mapping):
                continue
            where, data = f"/input/{number}/content/{at}", part.get("data")
            if isinstance(data, Mapping):
                validation.check(data, _DATA[kind], f"{where}/data")
            else:
                validation.report(
                    f"{where}/type", f"A message of type {kind} requires a part of type data."
                )


def _id(sentence: str) -> schema_check.Schema:
    return {"type": "string", "x-missing": sentence}


_STRING = {"type": "string"}
_CALL_ID = _id("A function_call_output requires call_id: the id of the call.")
_REQUEST_ID = _id("An mcp_approval_response requires approval_request_id: the id of the request.")
#: By type of message, the checker of its data. The specification leaves those of approvals open.
_DATA: Mapping[str, schema_check.Checker] = {
    kind: schema_check.compiled({"properties": members, "required": [*members]})
    for kind, members in (
        ("function_call", {"call_id": _STRING, "name": _STRING, "arguments": _STRING}),
        ("function_call_output", {"call_id": _CALL_ID, "output": _STRING}),
        (
            "mcp_approval_response",
            {"approval_request_id": _REQUEST_ID, "approve": {"type": "boolean"}},
        ),
    )
}
