"""Parts of a message or an artifact, of both versions, as events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.protocols import lenient, nlweb
from playground.protocols.events import Elicitation, Event, Promise, Result, Text, Unknown
from playground.protocols.media import media_of

#: Parts of one message or artifact that are read.
MAX_PARTS = 1_000
#: Members of an NLWeb response.
_NLWEB_MEMBERS = frozenset({"results", "error", "content", "answer"})


def parts_of(holder: Any) -> list[Any]:
    """Return the parts of a message or an artifact; none for any other value."""
    found = holder.get("parts") if isinstance(holder, Mapping) else None
    return found[:MAX_PARTS] if isinstance(found, list) else []


def text_of(part: Any) -> str | None:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else None


def message_text(holder: Any) -> str:
    """Return the texts of a message, one per line."""
    return "\n".join(filter(None, (text_of(part) for part in parts_of(holder))))


def read(seq: int, parts: Iterable[Any]) -> list[Event]:
    return [event for part in parts for event in _part(seq, part)]


def _part(seq: int, part: Any) -> list[Event]:
    if (text := text_of(part)) is not None:
        return [Text(seq, text, raw=part)] if text else []
    if not isinstance(part, Mapping):
        return [Unknown(seq, "part", part, "The message part is not an object.")]
    if "data" in part:
        return _data(seq, part["data"])
    if media_of(part) is not None:
        return [Result(seq, part)]
    if file := _file(part):
        return [Result(seq, file)]
    return [Unknown(seq, "part", part, "This part is not text, data or a file.")]


def _data(seq: int, value: Any) -> list[Event]:
    """Return the events of an NLWeb response, or one result for any other value.

    Elicitations and promises of NLWeb cannot be answered over A2A, so they stay data.
    """
    if isinstance(value, dict) and not _NLWEB_MEMBERS.isdisjoint(value) and "_meta" in value:
        events = nlweb.NLWebReader("0.55").document(seq, value)
        if not any(isinstance(event, Elicitation | Promise | Unknown) for event in events):
            return events
    return [Result(seq, value)]


def _file(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a file as a schema.org object with name and URL, or with the size of its content."""
    inner = part.get("file")
    file: Mapping[str, Any] = inner if isinstance(inner, Mapping) else part
    url = lenient.text(file.get("uri") or file.get("url"))
    content = file.get("bytes") or file.get("raw")
    if not url and not isinstance(content, str):
        return None
    found = {
        "@type": "MediaObject",
        "name": lenient.text(file.get("name") or file.get("filename")) or "File",
        "encodingFormat": lenient.text(file.get("mimeType") or file.get("mediaType")),
        "contentUrl": url,
        "contentSize": "" if url else f"{len(str(content)) * 3 // 4:,} bytes",
    }
    return {name: value for name, value in found.items() if value}
