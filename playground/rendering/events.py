"""Events tab: frames as rows with number, time, kind and text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import events as ev
from playground.protocols.events import event_label
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.media import content_media, media_of
from playground.protocols.problems import Problem
from playground.protocols.text import shorten
from playground.rendering.cards import card_of
from playground.rendering.formatting import milliseconds, size, value_text
from playground.rendering.media import media_line
from playground.rendering.progress import progress_text

#: Characters of the text of a row.
MAX_LINE = 160
#: Labels of the frame kinds that are not simply their name in lower case.
_FRAME_LABELS = {
    "call": "request",
    "open": "connected",
    "head": "response headers",
    "event": "SSE event",
    "tail": "incomplete event",
}


def kind_label(kind: str) -> str:
    """Return the label of an event kind or frame kind, the same in every tab."""
    return _FRAME_LABELS.get(kind, kind)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A row of the Events tab."""

    seq: int
    at: str
    #: Event kind or frame kind, which chooses colour and shape.
    kind: str
    text: str
    size: str
    index: int | None = None

    @property
    def label(self) -> str:
        """Return the label of its kind."""
        return kind_label(self.kind)


def rows_of(readings: Iterable[tuple[Frame, Sequence[ev.Event]]]) -> list[EventRow]:
    """Return a row for each frame with its events."""
    return [row_of(frame, events) for frame, events in readings]


def row_of(frame: Frame, events: Sequence[ev.Event]) -> EventRow:
    """Return the row of a frame: that of its first event, if it has any."""
    kind, text = frame.kind.name.lower(), _frame_text(frame)
    index = None
    if events:
        first = events[0]
        kind, text = event_label(first), event_text(first)
        index = first.index if isinstance(first, ev.Result) else None
        if len(events) > 1:
            text = f"{text}  + {len(events) - 1} more"
    shown = shorten(text, MAX_LINE)
    bytes_text = size(len(frame.data)) if frame.data else ""
    return EventRow(frame.seq, milliseconds(frame.at_ms), kind, shown, bytes_text, index)


def event_text(event: ev.Event) -> str:
    """Return an event in one line."""
    match event:
        case ev.Result(item=item):
            if media := media_of(item):
                return media_line(media)
            card = card_of(item)
            return f"{card.kind} · {card.title or card.text}"
        case ev.Promise(token=token, message=message):
            return message or token
        case ev.Failure(code=code, message=message, details=details):
            is_said = details is None or (message and not isinstance(details, str))
            more = "" if is_said else value_text(details, MAX_LINE)
            around = event.json_rpc and f"JSON-RPC error {event.json_rpc}"
            return " · ".join(filter(None, (code, message, more, around)))
        case ev.Started(meta=meta) | ev.Completed(meta=meta):
            return value_text(dict(meta), MAX_LINE)
        case ev.Note(name=name, data=data):
            return f"{name} · {value_text(data, MAX_LINE)}"
        case ev.Unknown(name=name, reason=reason):
            return f"{name} · {reason}" if reason else name
        case _:
            return _message_text(event)


def _message_text(event: ev.Event) -> str:
    """Return an event of an Agent API message in one line."""
    match event:
        case ev.Message(type=kind, role=role, status=status):
            return " · ".join(filter(None, (kind, role, status)))
        case ev.Content(kind=kind, value=value, index=index, delta=delta):
            if (media := content_media(kind, value)) and media.has_data:
                return f"{kind} {index} · {media_line(media)}"
            is_delta = delta and isinstance(value, str)
            content = f"+ “{value[:MAX_LINE]}”" if is_delta else value_text(value, MAX_LINE)
            return f"{kind} {index} · {content}"
        case ev.Status(object=name, status=status):
            return f"{name} · {status}"
        case ev.ToolCall(name=name, arguments=value) | ev.ToolOutput(name=name, output=value):
            return f"{name} · {value_text(value, MAX_LINE)}"
        case _:
            return _notification_text(event)


def _notification_text(event: ev.Event) -> str:
    """Return a notification before the answer (progress, log, tools) in one line."""
    match event:
        case ev.Progress():
            return progress_text(event)
        case ev.Log(level=level, logger=logger, data=data):
            return " · ".join(filter(None, (level, logger, value_text(data, MAX_LINE))))
        case ev.Tools(tools=tools, more=more):
            names = [tool.get("name") for tool in tools if isinstance(tool, Mapping)]
            return f"{value_text(names, MAX_LINE)}{' and more' if more else ''}"
        case _:
            return getattr(event, "text", "")


def _frame_text(frame: Frame) -> str:
    match frame.kind:
        case FrameKind.ERROR:
            return Problem.from_bytes(frame.data).cause
        case FrameKind.OPEN:
            return _open_text(frame.data)
        case FrameKind.END:
            return "Response body complete"
        case _:
            lines = frame.data.decode("utf-8", "replace").strip().splitlines()
            return lines[0] if lines else ""


def _open_text(data: bytes) -> str:
    facts: dict[str, Any] = json.loads(data)
    tls = facts.get("tls")
    text = f"connected to {facts.get('peer', '')}{f' over {tls}' if tls else ''}"
    return f"{text}, connection reused" if facts.get("reused") else text


def payload_of(event: ev.Event) -> Any:
    """Return the payload of an event for its JSON view; None if it has none."""
    match event:
        case ev.Result(item=item, index=index):
            return item if index is None else {"index": index, "item": item}
        case ev.Started(meta=meta) | ev.Completed(meta=meta):
            return dict(meta)
        case ev.Note(data=data) | ev.Unknown(data=data):
            return data
        case ev.Log(level=level, logger=logger, data=data):
            return {"level": level, "logger": logger, "data": data}
        case ev.Tools(tools=tools):
            return list(tools)
        case ev.ToolCall(call_id=call, name=name, arguments=value, kind=kind):
            return {"type": kind, "call_id": call, "name": name, "arguments": value}
        case ev.ToolOutput(call_id=call, name=name, output=value, kind=kind):
            return {"type": kind, "call_id": call, "name": name, "output": value}
        case _:
            return getattr(event, "raw", None)
