"""Lenient reader of Agent API responses, whole or streamed, as events.

A stream is a sequence of objects that name their own kind: `response`, `message` or `content`
(section "Protocol Flow"); a whole response is the last of them alone. Deviations from the
specification are read as well; finding them is the task of the conformance report. Total: any
input yields events, and nothing raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import error_documents, json_decoder, lenient, sse, unreadable
from playground.protocols.agent_api import versions
from playground.protocols.agent_api.constants import FAILED_STATUSES
from playground.protocols.agent_api.messages import Messages, identifier
from playground.protocols.agent_api.outcome import OutcomeReader
from playground.protocols.agent_api.parts import first_text
from playground.protocols.events import Event, Failure, Note, Outcome, Status, Text, Unknown

#: Statuses of a task that an agent has accepted, in answers that are none of the Agent API.
_ACCEPTED = frozenset({"submitted", "accepted", "pending", "queued"})

Payload = Mapping[str, Any]
_Read = Callable[[list[Event], int, Payload], None]


class AgentAPIReader:
    """Reads one response. See `playground.protocols.exchange.Reader`."""

    def __init__(self, version: str) -> None:
        """Raises `ValueError` for an unknown version."""
        self._label = versions.get_version(version).label
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
        task = first_text(payload, "task_id", "taskId", "id")
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
