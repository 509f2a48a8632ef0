"""Assembler of an Agent API response as one document: the same for a stream.

The shape is that of the response object of the specification, complete:

`id`, `status`, `session_id`, `usage`, ...
              the members of the response, later values replace earlier ones
`output`      the messages in the order in which they began: `id`, `type`, `role`, `status` and
              their other members, and `content`, the parts in the order of their `index`, each
              whole: `{"type": "text", "text": "…"}`, `{"type": "data", "data": {…}}`
`error`       the failure: `code` and `message`; omitted if there was none

Members that are null are omitted, and so are those of the transport (`object`,
`sequence_number`, `delta`, `index`, `msg_id`). A response that is not one of the Agent API is the
JSON or the text that it is.
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
#: The member with the value of a part, by its type; other types have several members.
_MEMBERS = {"text": "text", "image": "image_url", "data": "data", "refusal": "refusal"}
_MEMBERS |= {"video": "video_url"}


class _Message:
    """One message, as far as it was received."""

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}
        #: The pieces of each part, by its index and type.
        self.parts: dict[tuple[int, str], list[Any]] = {}

    def to_json(self) -> dict[str, Any]:
        """Return the message with its parts joined."""
        content = [
            _part(kind, parts.join(pieces)) for (_, kind), pieces in sorted(self.parts.items())
        ]
        return {**self.members, "content": content}


class ResponseAssembler:
    """Puts the events of one response together into one document."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        #: By entry, in the order in which they began.
        self._messages: dict[EntryRef, _Message] = {}
        self._error: dict[str, Any] = {}
        self._unknown: list[Any] = []

    def add(self, events: Iterable[Event]) -> None:
        """Add the events of one frame: all of them, because their positions identify messages."""
        for part, event in enumerate(events):
            self._add(event, part)

    def _add(self, event: Event, part: int) -> None:
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
            case Status(object="message", message_ref=ref) if ref is not None:
                _merge(self._message(ref).members, event.raw)
                _merge(self._message(ref).members, {"status": event.status})
            case Failure(code=code, message=text):
                self._error = {"code": code, "message": text}
            case ToolCall() | ToolOutput():
                pass  # It is in a part of its message.
            case Unknown(data=data):
                self._unknown.append(data)

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """Return the document of the events that were added, None if there were none."""
        if not (self._response or self._messages or self._error):
            return self._unknown[0] if self._unknown else None
        output = [message.to_json() for message in self._messages.values()]
        error = {name: value for name, value in self._error.items() if value}
        # An error from which the response recovered is not its error.
        failed = {"error": error} if error and outcome == "failure" else {}
        return {**failed, **self._response, "output": output}

    def _message(self, ref: EntryRef) -> _Message:
        return self._messages.setdefault(ref, _Message())

    def _content(self, event: Content) -> None:
        message = self._message(event.message_ref)
        pieces = message.parts.setdefault((event.index, event.kind), [])
        if event.value is None:
            return
        if not event.delta:
            pieces.clear()
        pieces.append(event.value)


def _merge(members: dict[str, Any], payload: Any) -> None:
    """Update members with those of `payload` that are neither null nor empty."""
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
