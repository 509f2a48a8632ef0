"""Events to the things that a reply is made of: results, texts, questions, messages.

What belongs together comes together here, pieces of a text and metadata from several places,
so that it makes no difference how it travelled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import events as ev
from playground.protocols import json_decoder
from playground.protocols.placement import is_summary
from playground.protocols.text import shorten

#: How a thing can be told, the surest first: the same kind of key on both sides is compared.
#: None where a thing has no such key.
Keys = tuple[Hashable | None, ...]

#: Characters of an agent's words in a label.
MAX_LABEL = 80


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """One thing that a reply says."""

    #: `result`, `text`, `question`, `metadata`, ...
    kind: str
    #: What it is called on the page.
    label: str
    value: Any
    keys: Keys
    #: The `index` that a result gives itself; None where it gives none.
    index: int | None = None


@dataclass(slots=True)
class _Message:
    """A message of the Agent API, put together from its pieces."""

    type: str = ""
    role: str = ""
    #: The pieces of each part, by its index and kind.
    parts: dict[tuple[int, str], list[Any]] = field(default_factory=dict)


def response_parts(events: Iterable[ev.Event], outcome: str) -> list[ResponsePart]:
    """The things of one reply, in the order in which they began."""
    gatherer = _Gatherer()
    for event in events:
        gatherer.take(event)
    return [_one("outcome", "Outcome", outcome), *gatherer.things()]


class _Gatherer:
    """Takes in the events of one reply."""

    def __init__(self) -> None:
        self._things: list[ResponsePart] = []
        self._meta: dict[str, Any] = {}
        self._status: str | None = None
        self._messages: dict[str, _Message] = {}
        #: Where each call and each output is among the things, by its message and its name.
        self._tools: dict[tuple[str, ev.EntryRef, str], int] = {}
        #: Pieces of the text that is still coming in, and its kind.
        self._pieces: list[str] = []
        self._kind = ""
        self._takers: Mapping[type[ev.Event], Callable[[Any], None]] = {
            ev.Started: lambda e: self._meta.update(e.meta),
            ev.Completed: lambda e: self._meta.update(e.meta),
            ev.Result: lambda e: self._things.append(_result(e)),
            ev.Text: self._text,
            ev.Elicitation: lambda e: self._things.append(_elicitation(e)),
            ev.Promise: lambda e: self._things.append(_promise(e)),
            ev.Failure: lambda e: self._things.append(_failure(e)),
            ev.Unknown: lambda e: self._things.append(_unknown(e)),
            ev.Note: self._note,
            ev.Message: self._message,
            ev.Content: self._content,
            ev.Status: self._response,
            ev.ToolCall: lambda e: self._tool(e, _tool("tool call", e.name, e.arguments)),
            ev.ToolOutput: lambda e: self._tool(e, _tool("tool output", e.name, e.output)),
        }

    def take(self, event: ev.Event) -> None:
        """Take in one event; those that tell of the way to the answer are passed over."""
        taker = self._takers.get(type(event))
        if taker is None:
            return
        if not isinstance(event, ev.Text):
            self._end_text()
        taker(event)

    def things(self) -> list[ResponsePart]:
        """Everything that was taken in, metadata last."""
        self._end_text()
        found = [*self._things, *self._said()]
        if self._status is not None:
            found.append(_one("status", "Status of the response", self._status))
        # Their summary stands among the texts (NLWeb 0.54 HTTP examples, section 2).
        meta = {name: value for name, value in self._meta.items() if name != "summary"}
        if isinstance(kind := meta.get("response_type"), str):
            meta["response_type"] = kind.lower()
        return [*found, _one("metadata", "Metadata", meta)]

    def _said(self) -> list[ResponsePart]:
        return [_said(each, name) for name, each in self._messages.items() if each.parts]

    def _text(self, event: ev.Text) -> None:
        if not event.delta or event.kind != self._kind:
            self._end_text()
        self._kind = event.kind
        self._pieces.append(event.text)

    def _end_text(self) -> None:
        if self._pieces:
            self._things.append(_words(self._kind, "".join(self._pieces)))
        self._pieces = []

    def _note(self, event: ev.Note) -> None:
        """Metadata that came late, or an address to go to instead; the rest is framing."""
        data = event.data if isinstance(event.data, Mapping) else {}
        if event.name == "_meta" and isinstance(meta := data.get("_meta"), Mapping):
            self._meta.update(meta)
        elif event.name == "redirect":
            self._things.append(_one("redirect", "Redirect", dict(data)))

    def _message(self, event: ev.Message) -> None:
        known = self._messages.setdefault(event.id, _Message())
        known.type, known.role = event.type or known.type, event.role or known.role

    def _content(self, event: ev.Content) -> None:
        parts = self._messages.setdefault(event.msg_id, _Message()).parts
        pieces = parts.setdefault((event.index, event.kind), [])
        if not event.delta and event.value is None:
            return  # It only says that it is complete.
        if not event.delta:
            pieces.clear()
        pieces.append(event.value)

    def _tool(self, event: ev.ToolCall | ev.ToolOutput, thing: ResponsePart) -> None:
        """A call or its output; what comes of it later takes its place."""
        place = self._tools.setdefault(
            (thing.kind, event.message_ref, event.call_id), len(self._things)
        )
        self._things[place : place + 1] = [thing]

    def _response(self, event: ev.Status) -> None:
        if event.object == "response":
            self._status = event.status


def _one(kind: str, label: str, value: Any) -> ResponsePart:
    """Something that a reply has once."""
    return ResponsePart(kind, label, value, (None, None, None, kind))


def _result(event: ev.Result) -> ResponsePart:
    item = event.item
    if is_summary(event):
        return _words("summary", str(item.get("text") or item.get("description") or ""))
    if not isinstance(item, Mapping):
        keys = (None, None, None, type(item).__name__)
        return ResponsePart("result", "Result", item, keys, event.index)
    url, at_id, name = (_name(item.get(key)) for key in ("url", "@id", "name"))
    kind = _type(item)
    named = (name, kind) if name else None
    called = name or url or at_id
    nameless = None if called else ("nameless", kind)
    label = f"{kind or 'Result'} {_quoted(called)}" if called else kind or "Result"
    return ResponsePart("result", label, item, (url, at_id, named, nameless), event.index)


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _type(item: Mapping[str, Any]) -> str:
    kind = item.get("@type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    return kind[:MAX_LABEL] if isinstance(kind, str) else ""


def _words(kind: str, text: str) -> ResponsePart:
    label = "Text" if kind == "text" else kind[:MAX_LABEL].capitalize()
    return ResponsePart("text", label, text, (None, None, None, ("text", kind)))


def _elicitation(event: ev.Elicitation) -> ResponsePart:
    questions = [
        {
            "id": each.id, "text": each.text, "type": each.type,
            "options": list(each.options), "default": each.default,
        }
        for each in event.questions
    ]  # fmt: skip
    value = {"text": event.text, "questions": questions}
    return _one("question", "The agent’s questions", value)


def _promise(event: ev.Promise) -> ResponsePart:
    value = {
        "message": event.message, "promise_token": event.token, "progress": event.progress,
        "estimated_time": event.estimated_time,
    }  # fmt: skip
    return _one("promise", "Promise", value)


def _failure(event: ev.Failure) -> ResponsePart:
    value = {"code": event.code, "message": event.message, "details": event.details}
    return _one("failure", "Failure", value)


def _unknown(event: ev.Unknown) -> ResponsePart:
    label = f"Unknown {_quoted(event.name)}"
    return ResponsePart("unknown", label, event.data, (None, None, None, ("unknown", event.name)))


def _said(message: _Message, name: str) -> ResponsePart:
    content = [
        {"type": kind, "value": _whole(pieces)}
        for (_, kind), pieces in sorted(message.parts.items())
    ]
    what = message.type or "message"
    key = ("message", message.type, message.role)
    value = {
        "role": message.role, "type": message.type, "content": content, "message_id": name,
    }  # fmt: skip
    return ResponsePart("message", what[:MAX_LABEL].capitalize(), value, (None, None, None, key))


def _whole(pieces: list[Any]) -> Any:
    """What the pieces of a part come to: a text, a value, or the values one after another."""
    if len(pieces) > 1 and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces[0] if len(pieces) == 1 else pieces


def _tool(kind: str, name: str, value: Any) -> ResponsePart:
    """A call's arguments or its output; JSON in a string is what it says."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            value = json_decoder.decode(value)
    label = f"{kind.capitalize()} {_quoted(name)}"
    return ResponsePart(kind, label, value, (None, None, None, (kind, name)))


def _quoted(name: Any) -> str:
    """An agent's words as part of a label."""
    return f"“{shorten(name if isinstance(name, str) else '', MAX_LABEL)}”"
