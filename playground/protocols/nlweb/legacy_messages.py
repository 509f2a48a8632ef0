"""The older public server's dialect: unnamed messages told apart by `message_type`.

It has no `_meta`, sends results in batches and narrates its work in many small notes. The
table below is all that is known of it; a type that is not in it becomes a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import sse
from playground.protocols.events import Completed, Elicitation, Event, Failure, Note, Text
from playground.protocols.nlweb.content import Payload, first_text, results

MASK = "••••••"

#: Members of an `api_key` message that are no secret.
_PUBLIC = frozenset({"message_type", "query_id", "key_name", "name", "provider"})

_LINE = re.compile(rb"[^\r\n]+")
#: A member with a string, which may be cut off: name and quote are group 1.
_MEMBER = rb'("(?:%b)"\s*:\s*")(?:[^"\\]|\\.)*+'
_SURE_KEY = re.compile(_MEMBER % b"key_value|api_key", re.DOTALL)
_NAMED_KEY = re.compile(_MEMBER % b"key_value|api_key|key", re.DOTALL)


def read(seq: int, payload: Payload) -> list[Event]:
    """The events of a message whose `message_type` is a string."""
    name: str = payload["message_type"]
    reader = _TYPES.get(name)
    return reader(seq, payload) if reader else [Note(seq, name, payload)]


def masked(payload: Mapping[str, Any]) -> dict[str, Any]:
    """An `api_key` message without its keys."""
    return {name: value if name in _PUBLIC else MASK for name, value in payload.items()}


def mask_block(block: bytes) -> bytes:
    """Bytes of a reply with the keys of `api_key` messages masked.

    `block` is a block of an event stream, a JSON document, or a piece of either. Whatever
    holds no such message comes back as it is, byte for byte: for the recorder, so that a key
    that a server sends by mistake is never stored. In bytes that do not parse, what looks
    like the value of a key is masked; a piece that begins within a key cannot be told.
    """
    if b"api_key" not in block and b"key_value" not in block:
        return block
    is_document = block.lstrip()[:1] in (b"{", b"[")
    try:
        payload = json.loads(block if is_document else sse.parse(block).data)
        hidden = _hide(payload)
        if hidden == payload:
            return block
    except (ValueError, RecursionError):
        return _mask_pieces(block)
    text = json.dumps(hidden, ensure_ascii=True).encode()
    if is_document:
        return text
    others = [line for line in _LINE.findall(block) if not line.startswith(b"data")]
    end = block[len(block.rstrip(b"\r\n")) :]
    return b"\n".join((*others, b"data: " + text)) + end


def _hide(value: Any) -> Any:
    """`value` with the keys of all `api_key` messages in it masked."""
    if isinstance(value, dict):
        if value.get("message_type") == "api_key":
            return masked(value)
        return {name: _hide(inner) for name, inner in value.items()}
    return [_hide(inner) for inner in value] if isinstance(value, list) else value


def _mask_pieces(data: bytes) -> bytes:
    """`data`, which is no JSON, with every string that is called a key masked."""
    # `key` is a common name: it means a secret only beside the name of the message.
    names = _NAMED_KEY if b'"api_key"' in data else _SURE_KEY
    shown = names.sub(rb"\1" + MASK.encode(), data)
    return data if shown == data else shown


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
