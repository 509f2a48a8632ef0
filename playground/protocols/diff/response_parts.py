"""Parts of a response, from its events: results, texts, questions, messages.

Pieces of a text and metadata from several places are put together, so that a stream and a
document with the same content have the same parts.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.protocols import events as ev
from playground.protocols import json_decoder
from playground.protocols.events import is_summary
from playground.protocols.text import shorten

#: Keys that identify a part, the most specific first: keys at the same position are compared.
#: None where a part has no such key.
Keys = tuple[Hashable | None, ...]

#: Most characters of an agent's text in a label.
MAX_LABEL = 80


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """One part of a response."""

    #: `result`, `text`, `question`, `metadata`, ...
    kind: str
    #: Label for users.
    label: str
    value: Any
    keys: Keys
    #: The `index` of a result, None if it has none.
    index: int | None = None


@dataclass(slots=True)
class _Message:
    """A message of the Agent API, put together from its pieces."""

    type: str = ""
    role: str = ""
    #: The pieces of each part, by its index and kind.
    parts: dict[tuple[int, str], list[Any]] = field(default_factory=dict)


def response_parts(events: Iterable[ev.Event], outcome: str) -> list[ResponsePart]:
    """Return the parts of one response, in the order in which they began."""
    collector = _PartCollector()
    for event in events:
        collector.add(event)
    return _numbered([_single_part("outcome", "Outcome", outcome), *collector.parts()])


def _numbered(parts: list[ResponsePart]) -> list[ResponsePart]:
    """Return the parts with different labels: of several with one label each has a number."""
    counts = Counter(part.label for part in parts)
    seen: Counter[str] = Counter()
    numbered = []
    for part in parts:
        if counts[part.label] > 1:
            seen[part.label] += 1
            numbered.append(replace(part, label=f"{part.label} ({seen[part.label]})"))
        else:
            numbered.append(part)
    return numbered


class _PartCollector:
    """Collects the parts of one response from its events."""

    def __init__(self) -> None:
        self._parts: list[ResponsePart] = []
        self._meta: dict[str, Any] = {}
        self._status: str | None = None
        self._messages: dict[str, _Message] = {}
        #: Positions of calls and outputs among the parts, by kind, message and call id.
        self._tools: dict[tuple[str, ev.EntryRef, str], int] = {}
        #: Names of the called tools by call id: an output may have only that.
        self._called: dict[str, str] = {}
        #: Pieces of the incomplete text, and its kind.
        self._pieces: list[str] = []
        self._kind = ""
        self._readers: Mapping[type[ev.Event], Callable[[Any], None]] = {
            ev.Started: lambda e: self._meta.update(e.meta),
            ev.Completed: lambda e: self._meta.update(e.meta),
            ev.Result: lambda e: self._parts.append(_result(e)),
            ev.Text: self._text,
            ev.Elicitation: lambda e: self._parts.append(_elicitation(e)),
            ev.Promise: lambda e: self._parts.append(_promise(e)),
            ev.Failure: lambda e: self._parts.append(_failure(e)),
            ev.Unknown: lambda e: self._parts.append(_unknown(e)),
            ev.Note: self._note,
            ev.Message: self._message,
            ev.Content: self._content,
            ev.Status: self._response,
            ev.ToolCall: self._tool_call,
            ev.ToolOutput: self._tool_output,
        }

    def add(self, event: ev.Event) -> None:
        """Add one event; those about progress and transport are ignored."""
        reader = self._readers.get(type(event))
        if reader is None:
            return
        if not isinstance(event, ev.Text):
            self._end_text()
        reader(event)

    def parts(self) -> list[ResponsePart]:
        """Return everything that was added, metadata last."""
        self._end_text()
        found = list(self._parts)
        found += [_message_part(each, name) for name, each in self._messages.items() if each.parts]
        if self._status is not None:
            found.append(_single_part("status", "Status of the response", self._status))
        # Its summary is one of the texts (NLWeb 0.54 HTTP examples, section 2).
        meta = {name: value for name, value in self._meta.items() if name != "summary"}
        if isinstance(kind := meta.get("response_type"), str):
            meta["response_type"] = kind.lower()
        return [*found, _single_part("metadata", "Metadata", meta)]

    def _text(self, event: ev.Text) -> None:
        if not event.delta or event.kind != self._kind:
            self._end_text()
        self._kind = event.kind
        self._pieces.append(event.text)

    def _end_text(self) -> None:
        if self._pieces:
            self._parts.append(_text_part(self._kind, "".join(self._pieces)))
        self._pieces = []

    def _note(self, event: ev.Note) -> None:
        """Add late metadata or a redirect; the other notes are framing."""
        data = event.data if isinstance(event.data, Mapping) else {}
        if event.name == "_meta" and isinstance(meta := data.get("_meta"), Mapping):
            self._meta.update(meta)
        elif event.name == "redirect":
            self._parts.append(_single_part("redirect", "Redirect", dict(data)))

    def _message(self, event: ev.Message) -> None:
        known = self._messages.setdefault(event.id, _Message())
        known.type, known.role = event.type or known.type, event.role or known.role

    def _content(self, event: ev.Content) -> None:
        parts = self._messages.setdefault(event.msg_id, _Message()).parts
        pieces = parts.setdefault((event.index, event.kind), [])
        if not event.delta and event.value is None:
            return  # It only completes the content.
        if not event.delta:
            pieces.clear()
        pieces.append(event.value)

    def _tool_call(self, event: ev.ToolCall) -> None:
        if event.name and event.call_id:
            self._called[event.call_id] = event.name
        self._tool(event, _tool("tool call", event.name, event.arguments))

    def _tool_output(self, event: ev.ToolOutput) -> None:
        name = event.name or self._called.get(event.call_id, "")
        self._tool(event, _tool("tool output", name, event.output))

    def _tool(self, event: ev.ToolCall | ev.ToolOutput, part: ResponsePart) -> None:
        """Add a call or its output, which replaces an earlier version of it."""
        index = self._tools.setdefault(
            (part.kind, event.message_ref, event.call_id), len(self._parts)
        )
        self._parts[index : index + 1] = [part]

    def _response(self, event: ev.Status) -> None:
        if event.object == "response":
            self._status = event.status


def _single_part(kind: str, label: str, value: Any) -> ResponsePart:
    """Return a part that a response has once."""
    return ResponsePart(kind, label, value, (kind,))


def _result(event: ev.Result) -> ResponsePart:
    item = event.item
    if is_summary(event):
        return _text_part("summary", str(item.get("text") or item.get("description") or ""))
    if not isinstance(item, Mapping):
        keys = (None, None, None, type(item).__name__)
        return ResponsePart("result", "Result", item, keys, event.index)
    url, at_id, name = (_name(item.get(key)) for key in ("url", "@id", "name"))
    kind = _type(item)
    named = (name, kind) if name else None
    label_name = name or url or at_id
    nameless = None if label_name else ("nameless", kind)
    label = _named_label(kind or "Result", label_name)
    return ResponsePart("result", label, item, (url, at_id, named, nameless), event.index)


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _type(item: Mapping[str, Any]) -> str:
    kind = item.get("@type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    return kind[:MAX_LABEL] if isinstance(kind, str) else ""


def _text_part(kind: str, text: str) -> ResponsePart:
    label = "Text" if kind == "text" else kind[:MAX_LABEL].capitalize()
    return ResponsePart("text", label, text, (kind,))


def _elicitation(event: ev.Elicitation) -> ResponsePart:
    questions = [
        {
            "id": each.id, "text": each.text, "type": each.type,
            "options": list(each.options), "default": each.default,
        }
        for each in event.questions
    ]  # fmt: skip
    value = {"text": event.text, "questions": questions}
    return _single_part("question", "The agent’s questions", value)


def _promise(event: ev.Promise) -> ResponsePart:
    value = {
        "message": event.message, "promise_token": event.token, "progress": event.progress,
        "estimated_time": event.estimated_time,
    }  # fmt: skip
    return _single_part("promise", "Promise", value)


def _failure(event: ev.Failure) -> ResponsePart:
    value = {"code": event.code, "message": event.message, "details": event.details}
    return _single_part("failure", "Failure", value)


def _unknown(event: ev.Unknown) -> ResponsePart:
    label = _named_label("Unknown", event.name)
    return ResponsePart("unknown", label, event.data, (event.name,))


def _message_part(message: _Message, name: str) -> ResponsePart:
    content = [
        {"type": kind, "value": _join(pieces)}
        for (_, kind), pieces in sorted(message.parts.items())
    ]
    name_of_type = message.type or "message"
    key = (message.type, message.role)
    value = {
        "role": message.role, "type": message.type, "content": content, "message_id": name,
    }  # fmt: skip
    return ResponsePart("message", name_of_type[:MAX_LABEL].capitalize(), value, (key,))


def _join(pieces: list[Any]) -> Any:
    """Return the pieces of a part as one: a text, a value, or a list of the values."""
    if len(pieces) > 1 and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces[0] if len(pieces) == 1 else pieces


def _tool(kind: str, name: str, value: Any) -> ResponsePart:
    """Return a call's arguments or its output as a part; JSON in a string is decoded."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            value = json_decoder.decode(value)
    label = _named_label(kind.capitalize(), name)
    return ResponsePart(kind, label, value, (name,))


def _named_label(kind: str, name: Any) -> str:
    """Return a label with the name that the agent gave; without one only the kind."""
    return f"{kind} “{shorten(name, MAX_LABEL)}”" if isinstance(name, str) and name else kind
