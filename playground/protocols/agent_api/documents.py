"""A response as one document, put together from its events: the same for a stream.

The shape is that of the response object of the specification, complete:

`id`, `status`, `session_id`, `usage`, ...
              the members of the response, what came later over what came before
`output`      the messages in the order in which they began: `id`, `type`, `role`, `status` and
              what else they carry, and `content`, the parts in the order of their `index`, each
              whole: `{"type": "text", "text": "…"}`, `{"type": "data", "data": {…}}`
`error`       the failure: `code` and `message`; left out where there was none

Members that are null are left out, and so is what says how a part travelled (`object`,
`sequence_number`, `delta`, `index`, `msg_id`). A reply that is nothing of the kind is the JSON
or the text that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.protocols.agent_api import parts
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Failure,
    Message,
    Status,
    ToolCall,
    ToolOutput,
    Unknown,
)

_ENVELOPE = frozenset(
    {"object", "sequence_number", "delta", "index", "msg_id", "output", "content"}
)
#: The member that holds what a part is, by its type; others hold several members.
_MEMBERS = {"text": "text", "image": "image_url", "data": "data", "refusal": "refusal"}
_MEMBERS |= {"video": "video_url"}


class _Message:
    """One message, as far as it has come."""

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        #: The pieces of each part, by its place and type.
        self.parts: dict[tuple[int, str], list[Any]] = {}

    def to_json(self) -> dict[str, Any]:
        """The message with its parts whole."""
        content = [
            _part(kind, parts.join(pieces)) for (_, kind), pieces in sorted(self.parts.items())
        ]
        return {**self.members, "content": content}


class ResponseAssembler:
    """Takes in the events of one response."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        #: By where their entries are, in the order in which they began.
        self._messages: dict[EntryRef, _Message] = {}
        self._error: dict[str, Any] = {}
        self._unknown: list[Any] = []

    def add(self, events: Iterable[Event]) -> None:
        """Take in what one frame says: all of its events, because messages go by their places."""
        for part, event in enumerate(events):
            self._take(event, part)

    def _take(self, event: Event, part: int) -> None:
        match event:
            case Content():
                self._content(event)
            case Message():
                message = self._message((event.seq, part))
                named = {"id": event.id, "type": event.type, "role": event.role}
                _merge(message.members, {**named, "status": event.status})
                _merge(message.members, event.raw)
            case Status(object="response"):
                _merge(self._response, event.raw)
                _merge(self._response, {"id": event.id, "status": event.status})
            case Status(object="message", message_ref=home) if home is not None:
                _merge(self._message(home).members, event.raw)
                _merge(self._message(home).members, {"status": event.status})
            case Failure(code=code, message=text):
                self._error = {"code": code, "message": text}
            case ToolCall() | ToolOutput():
                pass  # What it says stands in a part of its message.
            case Unknown(data=data):
                self._unknown.append(data)

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """The document of what was taken in; None where nothing was."""
        if not (self._response or self._messages or self._error):
            return self._unknown[0] if self._unknown else None
        output = [message.to_json() for message in self._messages.values()]
        error = {name: value for name, value in self._error.items() if value}
        # An error that the response got over is none of its own.
        failed = {"error": error} if error and outcome == "failure" else {}
        return {**failed, **self._response, "output": output}

    def _message(self, home: EntryRef) -> _Message:
        return self._messages.setdefault(home, _Message())

    def _content(self, event: Content) -> None:
        message = self._message(event.message_ref)
        pieces = message.parts.setdefault((event.index, event.kind), [])
        if event.value is None:
            return
        if not event.delta:
            pieces.clear()
        pieces.append(event.value)


def _merge(members: dict[str, Any], payload: Any) -> None:
    """What says something in `payload` takes the place of what was said before."""
    if isinstance(payload, Mapping):
        members.update(
            (name, value)
            for name, value in payload.items()
            if name not in _ENVELOPE and value is not None and value != ""
        )


def _part(kind: str, value: Any) -> dict[str, Any]:
    if kind in _MEMBERS or not isinstance(value, Mapping):
        return {"type": kind, _MEMBERS.get(kind, "value"): value}
    return {**value, "type": kind}
