"""What an A2A agent answers, of both versions, as events.

A reply is a message, or a task and what becomes of it: as a whole (`task`), its status and
pieces of its artifacts. A task that is looked at again has all of its artifacts again, so the
reader keeps in mind what has been shown. Total: any JSON value is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols.a2a import parts, task_states
from playground.protocols.a2a.artifacts import Artifacts
from playground.protocols.a2a.input_required import elicitation_of
from playground.protocols.a2a.task_states import TaskPhase, TaskState
from playground.protocols.events import (
    Completed,
    Event,
    Failure,
    Outcome,
    Progress,
    Unknown,
)
from playground.protocols.jsonrpc import Error

#: What a result is, by the one member that 1.0 has and by the `kind` that 0.3 has.
_KINDS = {
    "message": "message",
    "task": "task",
    "statusUpdate": "status",
    "status-update": "status",
    "artifactUpdate": "artifact",
    "artifact-update": "artifact",
}


#: How an artifact ends that was still growing when its task stopped.
_CLOSED = {TaskPhase.FAILED: "failed"}


class A2AReader:
    """Reads the results of the calls of one run."""

    def __init__(self) -> None:
        self._artifacts = Artifacts()
        self._outcome = Outcome.NONE
        self._state: TaskState | None = None
        self._said = ""
        self._at = 0
        #: The task that the reply is about, and the context that it belongs to.
        self.task = self.context = ""
        self._readers: Mapping[str, Callable[[int, Mapping[str, Any]], list[Event]]] = {
            "message": self._message,
            "task": self._task,
            "status": self._status_update,
            "artifact": self._artifact_update,
        }

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        return self._outcome

    @property
    def is_open(self) -> bool:
        """Whether there is a task that the agent is still at."""
        return bool(self.task) and self._state is not None and self._state.phase is TaskPhase.OPEN

    def result(self, seq: int, value: Any, at: int = 0) -> list[Event]:
        """The events of one result; `at` are the events that the frame has before it."""
        self._at = at
        kind, body = _kind_of(value)
        if body is None:
            return [Unknown(seq, "result", value, "This is neither a message nor a task.")]
        if stranger := self._stranger(kind, body):
            return [Unknown(seq, kind, body, stranger)]
        return self._readers[kind](seq, body)

    def error(self, seq: int, error: Error) -> list[Event]:
        """The failure that a JSON-RPC error is; its code is explained where it is shown."""
        self._outcome = Outcome.FAILURE
        code = "JSON-RPC error" if error.code is None else str(error.code)
        return [Failure(seq, code, error.message, error.data, error.raw)]

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
        if self._state and self._state.phase is TaskPhase.DONE and not self._artifacts:
            events = [*self._last_words(seq, body), *events]
        return events

    def _status_update(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        return self._status(seq, body.get("status"))

    def _artifact_update(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        self._outcome = Outcome.ANSWER
        return self._artifacts.chunk((seq, self._at), body)

    # Status

    def _status(self, seq: int, status: Any) -> list[Event]:
        status = status if isinstance(status, Mapping) else {}
        state = task_states.get_task_state(status.get("state"))
        message = status.get("message")
        words = parts.message_text(message)
        if state == self._state and words == self._said:
            return []  # Looked at again, and nothing is new.
        self._state, self._said = state, words
        if state.phase is TaskPhase.OPEN:
            return self._working(seq, message, words or state.sentence, status)
        ended = self._artifacts.close(seq, _CLOSED.get(state.phase, "completed"))
        return [*self._settled(seq, state, message, status), *ended]

    def _settled(self, seq: int, state: TaskState, message: Any, status: Any) -> list[Event]:
        """A state in which the agent does no more for now."""
        if state.phase is TaskPhase.ASKS:
            self._outcome = Outcome.ELICITATION
            return [elicitation_of(seq, state, message, self.task, self.context)]
        if state.phase is TaskPhase.FAILED:
            self._outcome = Outcome.FAILURE
            code = f"TASK_{state.name.upper()}"
            return [Failure(seq, code, self._said or state.sentence, raw=status)]
        if state.phase is TaskPhase.UNKNOWN:
            return [Unknown(seq, "status", status, state.sentence)]
        self._outcome = Outcome.ANSWER
        return [*parts.read(seq, parts.parts_of(message)), Completed(seq)]

    def _working(self, seq: int, message: Any, words: str, status: Any) -> list[Event]:
        others = [part for part in parts.parts_of(message) if parts.text_of(part) is None]
        return [Progress(seq, None, message=words, raw=status), *parts.read(seq, others)]

    def _last_words(self, seq: int, task: Mapping[str, Any]) -> list[Event]:
        """What the agent said last of a task that is done and has nothing else to show."""
        status, history = task.get("status"), task.get("history")
        if isinstance(status, Mapping) and parts.parts_of(status.get("message")):
            return []
        for message in reversed(history if isinstance(history, list) else []):
            if isinstance(message, Mapping) and message.get("role") in ("agent", "ROLE_AGENT"):
                return parts.read(seq, parts.parts_of(message))
        return []

    # Whose it is

    def _remember(self, task: Any, context: Any) -> None:
        self.task = self.task or (task if isinstance(task, str) else "")
        self.context = self.context or (context if isinstance(context, str) else "")

    def _stranger(self, kind: str, body: Mapping[str, Any]) -> str:
        """Why a result is not about the task of this run, "" if it is."""
        task = body.get("id") if kind == "task" else body.get("taskId")
        if not self.task or not isinstance(task, str) or not task or task == self.task:
            return ""
        return f"This is about the task {task[:80]}, and the task of this run is {self.task[:80]}."


def _kind_of(value: Any) -> tuple[str, Mapping[str, Any] | None]:
    """What a result is and its body; None for neither a message nor a task."""
    if not isinstance(value, Mapping):
        return "", None
    kind = value.get("kind")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind], value
    for name, known in _KINDS.items():
        if isinstance(inner := value.get(name), Mapping):
            return known, inner
    if isinstance(value.get("status"), Mapping) and "id" in value:
        return "task", value  # The reply to GetTask in 1.0, which needs no name.
    if isinstance(value.get("parts"), list):
        return "message", value
    return "", None
