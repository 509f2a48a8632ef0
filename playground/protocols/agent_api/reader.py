"""Lenient reader of Agent API responses, whole or streamed, as events.

A stream is a sequence of objects that name their own kind: `response`, `message` or `content`
(section "Protocol Flow"); a whole response is the last of them alone. Deviations from the
specification are read as well; finding them is the task of the conformance report. Total: any
input yields events, and nothing raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from playground.protocols import error_documents, json_decoder, lenient, sse, unreadable
from playground.protocols.agent_api import parts
from playground.protocols.agent_api.constants import CLIENT_CALLS, FAILED_STATUSES
from playground.protocols.agent_api.messages import Messages, identifier
from playground.protocols.agent_api.requests import get_version
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Failure,
    Message,
    Note,
    Outcome,
    Status,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
)

# --- outcome ----------------------------------------------------------------------------------

#: Most pending calls that are stored; more do not change the outcome.
_MAX_PENDING = 1_000


class OutcomeReader:
    """Reads the outcome of one response from its events."""

    def __init__(self) -> None:
        self.failed = False
        #: Code and message of the latest failure, None if there was none.
        self.failure: tuple[str, str] | None = None
        self._status = ""
        self._has_content = False
        self._pending: set[str] = set()

    @property
    def outcome(self) -> Outcome:
        completed = self._status == "completed"
        # The agent recovered from an error: it continued and completed.
        recovered = completed and self._has_content
        if self._status in FAILED_STATUSES or (self.failed and not recovered):
            return Outcome.FAILURE
        if self._pending:
            # A function call or an approval that only the client can give: a question to the user.
            return Outcome.ELICITATION
        return Outcome.ANSWER if self._has_content or completed else Outcome.NONE

    def event(self, event: Event) -> None:
        kind = type(event)
        if kind is Content:
            self._has_content = True
        elif kind is Failure:
            self.failed = True
            self.failure = event.code, event.message  # type: ignore[attr-defined]
        elif isinstance(event, Status):
            if event.object == "response":
                self._status = event.status
        elif isinstance(event, ToolCall):
            if event.kind in CLIENT_CALLS and len(self._pending) < _MAX_PENDING:
                self._pending.add(event.call_id)
        elif isinstance(event, ToolOutput):
            self._pending.discard(event.call_id)


# --- reader -----------------------------------------------------------------------------------

#: Statuses of a task that an agent has accepted, in answers that are none of the Agent API.
_ACCEPTED = frozenset({"submitted", "accepted", "pending", "queued"})

Payload = Mapping[str, Any]
_Read = Callable[[list[Event], int, Payload], None]


class AgentAPIReader:
    """Reads one response. See `playground.protocols.exchange.Reader`."""

    def __init__(self, version: str) -> None:
        """Raises `ValueError` for an unknown version."""
        self._label = get_version(version).label
        self._outcome = OutcomeReader()
        self._messages = Messages()
        self._session: dict[str, Any] = {}
        #: The latest frame and its events: messages are identified by their position in it.
        self._frame: tuple[int, list[Event]] = (0, [])
        self._objects: Mapping[Any, _Read] = {
            "content": self._messages.content,
            "message": self._messages.message,
            "response": self._response,
        }

    @property
    def outcome(self) -> Outcome:
        return self._outcome.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Return the ids of the conversation and its latest response, None if there are none."""
        return dict(self._session) or None

    def end(self) -> None:
        """Do nothing: a response has a status of its own."""

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a whole response: a response object, or a list of stream objects."""
        found = self._found(seq)
        start = len(found)
        for part in payload if isinstance(payload, list) and payload else [payload]:
            self._object(found, seq, part)
        return self._with_outcome(found[start:])

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the events of one stream message: its data determine its kind, not its name."""
        found = self._found(seq)
        start = len(found)
        payload, reason = json_decoder.read_event(data)
        is_object = type(payload) is dict and "object" in payload
        if data.strip() == sse.DONE:
            found.append(Note(seq, "done", data))
        elif name in error_documents.EVENTS and data.strip() and not is_object:
            found.append(error_documents.failure(seq, data if reason else payload))
        elif reason:
            found.append(Unknown(seq, name or "message", data.strip() and data, reason))
        else:
            self._object(found, seq, payload)
        return self._with_outcome(found[start:])

    def _found(self, seq: int) -> list[Event]:
        """Return the events of this frame so far; several messages can be in one."""
        if self._frame[0] != seq:
            self._frame = seq, []
        return self._frame[1]

    # Objects by name

    def _object(self, found: list[Event], seq: int, payload: Any) -> None:
        if type(payload) is not dict:
            reason = "The data is JSON, but not an object."
            found.append(Unknown(seq, "message", payload, reason))
            return
        name = payload.get("object")
        read = self._objects.get(name) if type(name) is str else self._guess(payload)
        if read:
            read(found, seq, payload)
        elif payload.get("error") is not None:
            self._error(found, seq, payload)
        else:
            label = name if isinstance(name, str) else "message"
            reason = f"The {self._label} does not define this type of object."
            found.append(Unknown(seq, label, payload, reason))

    def _guess(self, payload: Payload) -> _Read | None:
        """Return the reader of an object that does not name its kind."""
        if unreadable.foreign_protocol(payload):
            return None
        members = self._kind_members()
        found = next((read for name, read in members if payload.get(name) is not None), None)
        says_error = payload.get("error") is not None or payload.get("detail") is not None
        if found in (None, self._error) and not says_error and _is_accepted(payload):
            return self._submitted
        return found

    def _kind_members(self) -> tuple[tuple[str, _Read], ...]:
        """Return the members that identify the kind of an object, the most specific first."""
        return (
            ("output", self._response),
            ("msg_id", self._messages.content),
            ("error", self._error),
            ("detail", self._error),
            ("response", self._wrapped),
            ("role", self._messages.message),
            ("content", self._messages.message),
            ("text", self._messages.content),
            ("image_url", self._messages.content),
            ("code", self._error),
            ("data", self._messages.content),
            ("message", self._error),
        )

    def _response(self, found: list[Event], seq: int, payload: Payload) -> None:
        status = lenient.text(payload.get("status"))
        name = identifier(payload.get("id"))
        self._remember(name, payload)
        output = payload.get("output")
        if isinstance(output, list):
            self._messages.output(found, seq, output)
        elif output is not None:
            reason = "output is not an array of messages."
            found.append(Unknown(seq, "output", output, reason))
        error = payload.get("error")
        if error is not None:
            self._fail(found, error_documents.failure(seq, error, payload))
        elif status in FAILED_STATUSES and not self._outcome.failed:
            self._fail(found, Failure(seq, status, raw=payload))
        # A document without a status is complete unless it has an error.
        if not status and isinstance(output, list) and error is None:
            status = "completed"
        found.append(Status(seq, "response", name, status, usage=payload.get("usage"), raw=payload))

    def _wrapped(self, found: list[Event], seq: int, payload: Payload) -> None:
        inner = payload["response"]
        if isinstance(inner, dict) and inner.get("object", "response") == "response":
            self._response(found, seq, inner)
        else:
            reason = f"The {self._label} does not define this object."
            found.append(Unknown(seq, "message", payload, reason))

    def _error(self, found: list[Event], seq: int, payload: Payload) -> None:
        found.append(error_documents.failure(seq, payload))

    def _submitted(self, found: list[Event], seq: int, payload: Payload) -> None:
        """Read what a background endpoint of an agent says: that it has accepted a task."""
        text = lenient.text(payload.get("message")) or "The agent accepted the task."
        task = parts.first_text(payload, "task_id", "taskId", "id")
        label = f"task {task}" if task else "no task id"
        found.append(Text(seq, f"{text} ({label})", kind=payload["status"], raw=payload))

    # Common to all objects

    def _remember(self, name: str, payload: Payload) -> None:
        session = identifier(payload.get("session_id"))
        self._session |= {"session_id": session} if session else {}
        self._session |= {"response_id": name} if name else {}

    def _fail(self, found: list[Event], failure: Any) -> None:
        """Add an error of the response, unless the response or a message just had the same."""
        known = [(event.code, event.message) for event in found if isinstance(event, Failure)]
        if (failure.code, failure.message) not in (self._outcome.failure, *known):
            found.append(failure)

    def _with_outcome(self, found: list[Event]) -> list[Event]:
        for event in found:
            self._outcome.event(event)
        return found


def _is_accepted(payload: Payload) -> bool:
    return lenient.text(payload.get("status")).lower() in _ACCEPTED


# --- the response as one document -------------------------------------------------------------

_ENVELOPE = frozenset(
    {"object", "sequence_number", "delta", "index", "msg_id", "output", "content"}
)


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
    """Puts the events of one response together into one document: the same for a stream.

    The shape is that of the response object of the specification, complete:

    `id`, `status`, `session_id`, `usage`, ...
                the members of the response, later values replace earlier ones
    `output`    the messages in the order in which they began: `id`, `type`, `role`, `status` and
                their other members, and `content`, the parts in the order of their `index`, each
                whole: `{"type": "text", "text": "…"}`, `{"type": "data", "data": {…}}`
    `error`     the failure: `code` and `message`; omitted if there was none

    Members that are null are omitted, and so are those of the transport (`object`,
    `sequence_number`, `delta`, `index`, `msg_id`). A response that is not one of the Agent API is
    the JSON or the text that it is.
    """

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
    if kind in parts.MEMBERS or not isinstance(value, Mapping):
        return {"type": kind, parts.MEMBERS.get(kind, "value"): value}
    return {**value, "type": kind}
