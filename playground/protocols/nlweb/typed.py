"""The older public server's dialect: unnamed messages told apart by `message_type`.

It has no `_meta`, sends results in batches and narrates its work in many small notes. The
table below is all that is known of it; a type that is not in it becomes a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import sse
from playground.protocols.events import Completed, Elicitation, Event, Failure, Note, Text
from playground.protocols.nlweb.content import Payload, first_text, results

MASK = "••••••"

#: Members of an `api_key` message that are no secret.
_PUBLIC = frozenset({"message_type", "query_id", "key_name", "name", "provider"})


def read(seq: int, payload: Payload) -> list[Event]:
    """The events of a message whose `message_type` is a string."""
    name: str = payload["message_type"]
    reader = _TYPES.get(name)
    return reader(seq, payload) if reader else [Note(seq, name, payload)]


def masked(payload: Mapping[str, Any]) -> dict[str, Any]:
    """An `api_key` message without its keys."""
    return {name: value if name in _PUBLIC else MASK for name, value in payload.items()}


def mask_block(block: bytes) -> bytes:
    """A block of an event stream with the keys of an `api_key` message masked.

    Every other block comes back as it is, byte for byte: for the recorder, so that a key
    that a server sends by mistake is never stored.
    """
    if b"api_key" not in block:
        return block
    try:
        payload = json.loads(sse.parse(block).data)
    except (ValueError, RecursionError):
        return block
    if not isinstance(payload, dict) or payload.get("message_type") != "api_key":
        return block
    return b"data: " + json.dumps(masked(payload), ensure_ascii=True).encode() + b"\n\n"


def _batch(seq: int, payload: Payload) -> list[Event]:
    for name in ("results", "content", "items"):
        if name in payload:
            return results(seq, payload[name])
    return []


def _summary(seq: int, payload: Payload) -> list[Event]:
    text = first_text(payload, "content", "text", "summary", "message")
    return [Text(seq, text, kind="summary", raw=payload)]


def _answer(seq: int, payload: Payload) -> list[Event]:
    text = first_text(payload, "answer", "content", "text")
    return [Text(seq, text, kind="nlws", raw=payload), *results(seq, payload.get("items"))]


def _question(seq: int, payload: Payload) -> list[Event]:
    return [Elicitation(seq, first_text(payload, "content", "text", "message"), raw=payload)]


def _error(seq: int, payload: Payload) -> list[Event]:
    error = payload.get("error")
    inner = error if isinstance(error, dict) else payload
    message = first_text(inner, "message", "content", "error", "text")
    return [Failure(seq, first_text(inner, "code"), message, inner.get("details"), payload)]


_TYPES: dict[str, Callable[[int, Payload], list[Event]]] = {
    "result_batch": _batch,
    "result": _batch,
    "summary": _summary,
    "nlws": _answer,
    "ask_user": _question,
    "error": _error,
    "complete": lambda seq, payload: [Completed(seq, payload)],
    "api_key": lambda seq, payload: [Note(seq, "api_key", masked(payload))],
}
