"""Requests: build one, and what there is to know of one (section "Request Models")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.protocols.agent_api import versions

Document = Mapping[str, Any]


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    """A request with one user message. Raises `ValueError` for an unknown version."""
    versions.get_version(version)
    return {"input": [user_message(text)], "stream": streaming}


def user_message(text: str) -> dict[str, Any]:
    """A message of the user's with one part of text."""
    return message("message", "user", {"type": "text", "text": text})


def message(kind: str, role: str, *content: Mapping[str, Any]) -> dict[str, Any]:
    """A message of this type and role with these parts, as a request carries it."""
    return {"role": role, "type": kind, "content": [dict(part) for part in content]}


def operation(_: Document) -> str:
    """Nothing: there is one address, and it is the agent's own."""
    return ""


def wants_stream(document: Document) -> bool:
    """Whether a stream is wanted: it is unless the request says otherwise."""
    return document.get("stream") is not False


def text_of_request(document: Any) -> str:
    """What a request says in words: the latest text of the user, or what it answers a call with.

    "" where it has no words.
    """
    found = ""
    for entry in messages_of(document):
        kind = entry.get("type")
        if entry.get("role", "user") == "user" or kind in _SPOKEN:
            found = " ".join(_texts(entry, kind)) or found
    return found


def messages_of(document: Any) -> list[Mapping[str, Any]]:
    """The messages of a request that are objects."""
    entries = document.get("input") if isinstance(document, Mapping) else None
    if isinstance(entries, str):
        return [user_message(entries)]
    return [entry for entry in _list(entries) if isinstance(entry, Mapping)]


def parts_of(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts of a message that are objects; a bare string is one part of text."""
    content = entry.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in _list(content) if isinstance(part, Mapping)]


#: Messages that answer a call, and the member of their data that says what.
_SPOKEN = {"function_call_output": "output", "mcp_approval_response": "approve"}


def _texts(entry: Mapping[str, Any], kind: Any) -> Iterator[str]:
    for part in parts_of(entry):
        data = part.get("data")
        if isinstance(text := part.get("text"), str) and text.strip():
            yield text.strip()
        elif isinstance(data, Mapping) and isinstance(kind, str) and kind in _SPOKEN:
            yield _answer(data.get(_SPOKEN[kind]))


def _answer(value: Any) -> str:
    if isinstance(value, bool):
        return "Approved" if value else "Refused"
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
