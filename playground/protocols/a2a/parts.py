"""The parts of a message or an artifact, of both versions, as events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.protocols import nlweb
from playground.protocols.events import Elicitation, Event, Promise, Result, Text, Unknown

#: Parts of one message or artifact that are read.
MAX_PARTS = 1_000
_REPLY = frozenset({"results", "error", "content", "answer"})


def parts_of(holder: Any) -> list[Any]:
    """The parts of a message or an artifact, whatever stands there."""
    found = holder.get("parts") if isinstance(holder, Mapping) else None
    return found[:MAX_PARTS] if isinstance(found, list) else []


def text_of(part: Any) -> str | None:
    """The text of a part, None for what is none."""
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def message_text(holder: Any) -> str:
    """The texts of a message, one below the other."""
    return "\n".join(filter(None, (text_of(part) for part in parts_of(holder))))


def read(seq: int, parts: Iterable[Any]) -> list[Event]:
    """The events of some parts."""
    return [event for part in parts for event in _part(seq, part)]


def data_of(part: Any) -> Any:
    """The JSON value of a part, None for what has none."""
    return part.get("data") if isinstance(part, Mapping) else None


def _part(seq: int, part: Any) -> list[Event]:
    if (text := text_of(part)) is not None:
        return [Text(seq, text, raw=part)] if text else []
    if not isinstance(part, Mapping):
        return [Unknown(seq, "part", part, "A part of a message is an object.")]
    if "data" in part:
        return _data(seq, part["data"])
    if file := _file(part):
        return [Result(seq, file)]
    return [Unknown(seq, "part", part, "This part is neither text nor data nor a file.")]


def _data(seq: int, value: Any) -> list[Event]:
    """A reply of NLWeb as what it says, anything else as one result.

    Questions and promises of NLWeb have no way back here, so they are shown as data.
    """
    if isinstance(value, dict) and not _REPLY.isdisjoint(value) and "_meta" in value:
        events = nlweb.NLWebReader("0.55").document(seq, value)
        if not any(isinstance(event, Elicitation | Promise | Unknown) for event in events):
            return events
    return [Result(seq, value)]


def _file(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """A file as a thing with a name and an address; of one that came along, its size."""
    inner = part.get("file")
    file: Mapping[str, Any] = inner if isinstance(inner, Mapping) else part
    address = _text(file.get("uri") or file.get("url"))
    content = file.get("bytes") or file.get("raw")
    if not address and not isinstance(content, str):
        return None
    found = {
        "@type": "MediaObject",
        "name": _text(file.get("name") or file.get("filename")) or "File",
        "encodingFormat": _text(file.get("mimeType") or file.get("mediaType")),
        "contentUrl": address,
        "contentSize": "" if address else f"{len(str(content)) * 3 // 4:,} bytes",
    }
    return {name: value for name, value in found.items() if value}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
