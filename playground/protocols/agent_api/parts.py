"""Parts of a message: the type and the value of each (section "Content Models").

The data of one may be a call of a tool or its output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api.constants import CALLS, OUTPUTS
from playground.protocols.events import EntryRef, Event, ToolCall, ToolOutput

#: The member with the value of a part, by the part's type.
MEMBERS: Mapping[str, str] = {
    "text": "text",
    "image": "image_url",
    "data": "data",
    "refusal": "refusal",
    "video": "video_url",
}
_KINDS = {member: kind for kind, member in MEMBERS.items()}
#: Types whose value is always text: its pieces are joined, and nothing else is passed on.
TEXTUAL = frozenset({"text", "refusal"})
#: Members about the transport of a part, not its value.
_ENVELOPE = frozenset(
    {"object", "status", "error", "type", "index", "delta", "msg_id", "sequence_number"}
)

Payload = Mapping[str, Any]


def kind_of(part: Payload) -> str:
    """Return the type of a part; without a type the one that its members suggest, else ""."""
    kind = part.get("type")
    if type(kind) is str and kind:
        return kind
    return next((_KINDS[name] for name in part if name in _KINDS), "")


def value_of(part: Payload, kind: str) -> Any:
    """Return the value of a part of this type: text, a URL, an object; None for none.

    For a file, audio and unknown types: the members beyond the envelope.
    """
    if member := MEMBERS.get(kind):
        value = part.get(member)
        if value is None or type(value) is str or kind not in TEXTUAL:
            return value
        return canonical(value)
    return {name: value for name, value in part.items() if name not in _ENVELOPE} or None


def first_text(value: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is a text or a number, as text, "" if none is."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return canonical(found)
    return ""


def canonical(value: Any) -> str:
    """Return a JSON value as text that is the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def join(pieces: list[Any]) -> Any:
    """Return one value from its pieces.

    Texts are concatenated, objects joined member by member, lists concatenated; of other values the
    last piece counts. Linear in the size of the pieces.
    """
    if len(pieces) < 2:
        return pieces[0] if pieces else None
    if all(type(piece) is str for piece in pieces):
        return "".join(pieces)
    if all(isinstance(piece, dict) for piece in pieces):
        return _join_objects(pieces)
    if all(type(piece) is list for piece in pieces):
        return [entry for piece in pieces for entry in piece]
    return pieces[-1]


def _join_objects(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    members: dict[str, list[Any]] = {}
    for piece in pieces:
        for name, value in piece.items():
            if value is not None:
                members.setdefault(name, []).append(value)
    return {
        name: values[-1] if name in _NAMES else join(values) for name, values in members.items()
    }


#: Members with names and ids: every piece repeats them completely.
_NAMES = frozenset({"call_id", "id", "name", "server_label", "approval_request_id"})


def index_of(value: Any) -> int | None:
    """Return the index of a part in its message, None if it is not valid."""
    if type(value) is int and 0 <= value < _INDEX_LIMIT:
        return value
    if type(value) is float and value.is_integer() and 0 <= value < _INDEX_LIMIT:
        return int(value)
    return None


#: Numbers from this on are not indexes.
_INDEX_LIMIT = 2**31


# Calls of tools and their outputs

#: Members with the id of the call, by message type: a request for approval has its own id.
_IDS = {
    "mcp_approval_request": ("id", "approval_request_id", "call_id"),
    "mcp_approval_response": ("approval_request_id", "id", "call_id"),
}
_ID = ("call_id", "id", "tool_call_id")


def is_tool(kind: str) -> bool:
    """Return whether messages of this type are tool calls or tool outputs."""
    return kind in CALLS or kind in OUTPUTS


def tool_event(seq: int, message_ref: EntryRef, kind: str, data: Any) -> Event | None:
    """Return the call or the output in the data of a message of type `kind`, None for neither."""
    if not is_tool(kind) or not isinstance(data, Mapping):
        return None
    call_id = first_text(data, *_IDS.get(kind, _ID))
    name = first_text(data, "name")
    if kind in CALLS:
        return ToolCall(seq, message_ref, call_id, name, data.get("arguments"), kind)
    return ToolOutput(seq, message_ref, call_id, name, data.get("output", data), kind)
