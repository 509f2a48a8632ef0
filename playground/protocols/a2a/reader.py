"""Reader of the results of an A2A agent, of both versions, as events.

A result is a message, or a task and its updates: the complete task, its status, and pieces of its
artifacts. A task that is polled again has all of its artifacts again, so the reader remembers
which have had events. Total: any JSON value is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import lenient
from playground.protocols.a2a import parts, task_states
from playground.protocols.a2a.artifacts import Artifacts
from playground.protocols.a2a.input_required import elicitation_of
from playground.protocols.a2a.task_states import TaskPhase, TaskState
from playground.protocols.events import (
    Completed,
    Event,
    Failure,
    Log,
    Outcome,
    Progress,
    Text,
    Unknown,
)
from playground.protocols.jsonrpc import Error

#: The kind of a result by its one member (1.0) or by its `kind` (0.3).
_KINDS = {
    "message": "message",
    "task": "task",
    "statusUpdate": "status",
    "status-update": "status",
    "artifactUpdate": "artifact",
    "artifact-update": "artifact",
}
#: Members of a result by which an agent says that it sends push notifications.
_PUSH_MEMBERS = frozenset(
    {"pushNotification", "pushNotificationConfig", "taskPushNotificationConfig"}
)
_PUSH_TEXT = re.compile(r"push[ -]?notif|webhook", re.IGNORECASE)
#: Members with the id of a task in an object that is none of A2A.
_TASK_IDS = ("taskId", "task_id")
#: The status of an artifact that was still open when its task stopped.
_CLOSED_STATUS = {TaskPhase.FAILED: "failed"}


class A2AReader:
    """Reader of the results of one run's calls."""

    def __init__(self) -> None:
        self._artifacts = Artifacts()
        self._outcome = Outcome.NONE
        self._state: TaskState | None = None
        #: The text of the latest status.
        self._text = ""
        #: Whether the task has ended without its artifacts, which a stream may leave out.
        self.lacks_artifacts = False
        #: Whether the agent says in a result that it sends push notifications.
        self.mentions_push = False
        #: The number of events that the frame has before the present result.
        self._number = 0
        #: The ids of the task and of the context that it belongs to.
        self.task = self.context = ""
        self._readers: Mapping[str, Callable[[int, Mapping[str, Any]], list[Event]]] = {
            "message": self._message,
            "task": self._task,
            "status": self._status_update,
            "artifact": self._artifact_update,
            "submitted": self._submitted,
        }

    @property
    def outcome(self) -> Outcome:
        return self._outcome

    @property
    def is_open(self) -> bool:
        """Return whether there is a task that the agent still works on."""
        return bool(self.task) and self._state is not None and self._state.phase is TaskPhase.OPEN

    @property
    def _is_done(self) -> bool:
        return self._state is not None and self._state.phase is TaskPhase.DONE

    def result(self, seq: int, value: Any, number: int = 0) -> list[Event]:
        """Return the events of one result, which has `number` events before it in the frame."""
        self._number = number
        self.mentions_push = self.mentions_push or _mentions_push(value)
        kind, body = _kind_of(value)
        if body is None:
            return [Unknown(seq, "result", value, "This is not a message or a task.")]
        if reason := self._other_task(kind, body):
            return [Unknown(seq, kind, body, reason)]
        return self._readers[kind](seq, body)

    def error(self, seq: int, error: Error) -> list[Event]:
        """Return the failure of a JSON-RPC error; a warning if the task has ended before."""
        if self.lacks_artifacts:
            cause = f"{error.code}, {error.message}" if error.message else f"{error.code}"
            return [Log(seq, "warning", f"Reading the artifacts failed: {cause}", "task")]
        code = "JSON-RPC error" if error.code is None else str(error.code)
        return self.failed(Failure(seq, code, error.message, error.data, error.raw))

    def failed(self, failure: Failure) -> list[Event]:
        """Return a failure that is the outcome."""
        self._outcome = Outcome.FAILURE
        return [failure]

    # Results by kind

    def _message(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        self._outcome = Outcome.ANSWER
        return parts.read(seq, parts.parts_of(body))

    def _task(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("id"), body.get("contextId"))
        found = body.get("artifacts")
        listed = found[: parts.MAX_PARTS] if isinstance(found, list) else []
        events = [event for each in listed for event in self._artifacts.complete(seq, each)]
        events += self._status(seq, body.get("status"))
        if self._is_done and not self._artifacts:
            events = [*self._last_message(seq, body), *events]
        has_nothing = all(isinstance(each, Completed) for each in events)
        self.lacks_artifacts = self._is_done and not self._artifacts and has_nothing
        return events

    def _status_update(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        events = self._status(seq, body.get("status"))
        self.lacks_artifacts = self._is_done and not self._artifacts
        return events

    def _submitted(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        """Return the events of a state alone, with the id of a task or without one."""
        text = lenient.text(body.get("message"))
        names = _TASK_IDS if "jsonrpc" in body else (*_TASK_IDS, "id")
        task = next((body[name] for name in names if isinstance(body.get(name), str)), "")
        if task:
            self._remember(task, body.get("contextId"))
            parts_ = [{"text": text}] if text else []
            return self._status(seq, {"state": body["status"], "message": {"parts": parts_}})
        # There is nothing to poll for.
        sentence = text or task_states.get_task_state(body["status"]).sentence
        return [Text(seq, f"{sentence} (no task id)", kind=str(body["status"]), raw=body)]

    def _artifact_update(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        self._outcome = Outcome.ANSWER
        return self._artifacts.chunk((seq, self._number), body)

    # Status

    def _status(self, seq: int, status: Any) -> list[Event]:
        status = lenient.members(status)
        state = task_states.get_task_state(status.get("state"))
        message = status.get("message")
        text = parts.message_text(message)
        if state == self._state and text == self._text:
            return []  # Polled again without any change.
        self._state, self._text = state, text
        if state.phase is TaskPhase.OPEN:
            progress = Progress(seq, None, message=text or state.sentence, raw=status)
            others = [part for part in parts.parts_of(message) if parts.text_of(part) is None]
            return [progress, *parts.read(seq, others)]
        ended = self._artifacts.close(seq, _CLOSED_STATUS.get(state.phase, "completed"))
        return [*self._settled(seq, state, message, status), *ended]

    def _settled(self, seq: int, state: TaskState, message: Any, status: Any) -> list[Event]:
        """Return the events of a state in which the agent does no more for now."""
        if state.phase is TaskPhase.WAITING:
            self._outcome = Outcome.ELICITATION
            return [elicitation_of(seq, state, message, self.task, self.context)]
        if state.phase is TaskPhase.FAILED:
            self._outcome = Outcome.FAILURE
            code = f"TASK_{state.name.upper()}"
            return [Failure(seq, code, self._text or state.sentence, raw=status)]
        if state.phase is TaskPhase.UNKNOWN:
            return [Unknown(seq, "status", status, state.sentence)]
        self._outcome = Outcome.ANSWER
        return [*parts.read(seq, parts.parts_of(message)), Completed(seq)]

    def _last_message(self, seq: int, task: Mapping[str, Any]) -> list[Event]:
        """Return the events of the agent's last message, for a task without results."""
        status, history = task.get("status"), task.get("history")
        if isinstance(status, Mapping) and parts.parts_of(status.get("message")):
            return []
        for message in reversed(lenient.items(history)):
            if isinstance(message, Mapping) and message.get("role") in ("agent", "ROLE_AGENT"):
                return parts.read(seq, parts.parts_of(message))
        return []

    # Ids

    def _remember(self, task: Any, context: Any) -> None:
        self.task = self.task or lenient.text(task)
        self.context = self.context or lenient.text(context)

    def _other_task(self, kind: str, body: Mapping[str, Any]) -> str:
        """Return why a result is not about the task of this run, "" if it is."""
        task = body.get("id") if kind == "task" else body.get("taskId")
        if not self.task or not isinstance(task, str) or not task or task == self.task:
            return ""
        return f"This is for task {task[:80]}, but the task of this run is {self.task[:80]}."


def _kind_of(value: Any) -> tuple[str, Mapping[str, Any] | None]:
    """Return the kind of a result and its body; None for neither a message nor a task."""
    if not isinstance(value, Mapping):
        return "", None
    kind = value.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind], value
    for name, known in _KINDS.items():
        if isinstance(inner := value.get(name), Mapping):
            return known, inner
    if isinstance(value.get("artifact"), Mapping):
        return "artifact", value  # Older versions have no `kind`.
    if isinstance(value.get("status"), Mapping) and {"id", "taskId"} & {*value}:
        # Also the result of GetTask in 1.0, which has no member of that name.
        return "task" if "id" in value else "status", value
    if isinstance(value.get("parts"), list):
        return "message", value
    if is_submitted(value):
        return "submitted", value
    return "", None


def is_submitted(value: Any) -> bool:
    """Return whether an object only says that a task was accepted: `{"status": "submitted"}`."""
    return isinstance(value, Mapping) and task_states.is_open(value.get("status"))


def _mentions_push(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    body = _kind_of(value)[1] or value
    holders = (value, body, lenient.members(body.get("metadata")))
    if any(not _PUSH_MEMBERS.isdisjoint(each) for each in holders):
        return True
    status = body.get("status")
    message = status.get("message") if isinstance(status, Mapping) else body.get("message")
    text = message if isinstance(message, str) else parts.message_text(message)
    return bool(_PUSH_TEXT.search(text))
