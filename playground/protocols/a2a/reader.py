"""Reader of the results of an A2A agent, of both versions, as events.

A result is a message, or a task and its updates: the complete task, its status, and pieces of its
artifacts. A task that is polled again has all of its artifacts again, so the reader remembers
which have had events. Total: any JSON value is read.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from playground.protocols import lenient
from playground.protocols.events import (
    Completed,
    Constraints,
    Content,
    Elicitation,
    EntryRef,
    Event,
    Failure,
    Log,
    Message,
    Note,
    Outcome,
    Progress,
    Promise,
    Question,
    Result,
    Status,
    Text,
    Unknown,
)
from playground.protocols.jsonrpc import Error
from playground.protocols.media import media_of
from playground.protocols.nlweb.reader import NLWebReader

# --- states of a task -------------------------------------------------------------------------
#
# 0.3 writes `input-required`, 1.0 `TASK_STATE_INPUT_REQUIRED`. A final state is never left; a task
# that waits for the user continues after the answer.


class TaskPhase(enum.Enum):
    """Meaning of a state for the client."""

    #: The agent works on the task: poll again.
    OPEN = "open"
    #: The agent waits for the user.
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    #: A state that no version has, or none at all.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TaskState:
    """One row: a state in the spelling of 0.3, and its meaning."""

    name: str
    phase: TaskPhase
    #: The text for a status without a message.
    sentence: str


_ROWS = (
    TaskState("submitted", TaskPhase.OPEN, "The agent accepted the task."),
    TaskState("working", TaskPhase.OPEN, "The agent is working on the task."),
    TaskState("input-required", TaskPhase.WAITING, "The agent needs more input to continue."),
    TaskState(
        "auth-required",
        TaskPhase.WAITING,
        "The agent requires authorization outside of A2A. If you trust it, follow its "
        "instructions, then confirm here. Do not enter passwords or tokens in this form.",
    ),
    TaskState("completed", TaskPhase.DONE, "The task is completed."),
    TaskState("failed", TaskPhase.FAILED, "The task failed."),
    TaskState("rejected", TaskPhase.FAILED, "The agent rejected the task."),
    TaskState("canceled", TaskPhase.FAILED, "The task was cancelled."),
)

STATES: Mapping[str, TaskState] = MappingProxyType({row.name: row for row in _ROWS})
_ALIASES = {"cancelled": "canceled"}


def get_task_state(value: Any) -> TaskState:
    """Return the row of a state as an agent writes it; a new row for an unknown state."""
    if not isinstance(value, str):
        return TaskState("", TaskPhase.UNKNOWN, "The task has no state.")
    name = value.strip().lower().removeprefix("task_state_").replace("_", "-")
    row = STATES.get(_ALIASES.get(name, name))
    return row or TaskState(
        value[:80],
        TaskPhase.UNKNOWN,
        f"The task state “{value[:80]}” is not defined by A2A.",
    )


# --- parts of a message or an artifact --------------------------------------------------------

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


def read_parts(seq: int, parts: Iterable[Any]) -> list[Event]:
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
        events = NLWebReader("0.55").document(seq, value)
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


# --- a task that waits for the user -----------------------------------------------------------

#: The id of the one question if the agent states in words what it needs.
ANSWER = "answer"
KIND = "a2a"


def elicitation_of(
    seq: int, state: TaskState, message: Any, task: str, context: str
) -> Elicitation:
    """Return the elicitation of a task in a state in which it waits.

    A2A has no forms: question and answer are text. If the agent sends an elicitation of NLWeb
    as data, that is the form, and the answers are sent as data.
    """
    text = "\n\n".join(filter(None, (message_text(message), _explained(state))))
    resume = {"kind": KIND, "taskId": task, "contextId": context}
    form = _form(seq, message)
    if form is not None:
        return Elicitation(
            seq, form.text or text, form.questions, message, {**resume, "as": "data"}
        )
    question = Question(ANSWER, "Your answer", "free_text", constraints=Constraints(required=True))
    return Elicitation(seq, text or state.sentence, (question,), message, {**resume, "as": "text"})


def resume_of(
    pending: Mapping[str, Any], answers: Mapping[str, Any], message_id: str
) -> dict[str, Any]:
    """Return the `Target.resume` of `answers` by question id.

    `pending` is the `resume` of the elicitation; `message_id` is unique to the message.
    """
    ids = {name: pending.get(name, "") for name in ("taskId", "contextId")}
    answer: Any = dict(answers)
    if pending.get("as") == "text":
        answer = str(answers.get(ANSWER, ""))
    return {"kind": KIND, **ids, "messageId": message_id, "answer": answer}


def _explained(state: TaskState) -> str:
    return state.sentence if state.name == "auth-required" else ""


def _form(seq: int, message: Any) -> Elicitation | None:
    """Return the NLWeb elicitation in the data of a message, None without one."""
    for part in parts_of(message):
        value = part.get("data") if isinstance(part, Mapping) else None
        if isinstance(value, dict) and "elicitation" in value:
            for event in NLWebReader("0.55").document(seq, value):
                if isinstance(event, Elicitation) and event.questions:
                    return event
    return None


# --- artifacts --------------------------------------------------------------------------------
#
# They are received complete, in pieces, or repeatedly. The text of an artifact that is received in
# pieces is a message that grows; a complete one is text.

#: Artifacts of a run that are remembered; others have events each time they are received.
MAX_ARTIFACTS = 1_000
_NO_OBJECT = "The artifact is not an object."


@dataclass(slots=True)
class _KnownArtifact:
    """The parts of one artifact that have had events."""

    id: str = ""
    texts: list[str] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    #: The entry of the message whose text grows; None if there is none.
    ref: EntryRef | None = None
    is_open: bool = False

    @property
    def is_new(self) -> bool:
        """Return whether no part has had events."""
        return not self.texts and not self.others

    def add(self, found: list[Any]) -> None:
        for part in found:
            text = text_of(part)
            if text is None:
                self.others.append(part)
            else:
                self.texts.append(text)


class Artifacts:
    """Artifacts of one task, as far as they have had events."""

    def __init__(self) -> None:
        self._known: dict[str, _KnownArtifact] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def chunk(self, ref: EntryRef, update: Mapping[str, Any]) -> list[Event]:
        """Return the events of an update: an artifact or a piece of one; `ref` is its entry."""
        seq, artifact = ref[0], update.get("artifact")
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        known, is_last = self._find(artifact), update.get("lastChunk") is True
        if not known.is_new and update.get("append") is not True:
            # Sent again: only parts that have had no events.
            return [*self.complete(seq, artifact), *self._closed(seq, known, is_last)]
        stray = known.is_new and update.get("append") is True
        begun = list(self._begin(ref, known, artifact, is_last))
        events = [*begun, *_pieces(seq, known, artifact)]
        return [*events, *self._closed(seq, known, is_last), *([_stray(seq, known)] * stray)]

    def complete(self, seq: int, artifact: Any) -> list[Event]:
        """Return the events of the parts of a complete artifact that have had none."""
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        found, known, fresh = parts_of(artifact), self._find(artifact), _KnownArtifact()
        fresh.add(found)
        before, now = "".join(known.texts), "".join(fresh.texts)
        is_new = known.is_new
        goes_on = now.startswith(before) and known.others == fresh.others[: len(known.others)]
        new = fresh.others[len(known.others) :] if goes_on else fresh.others
        if is_new or (known.ref is None and not goes_on):
            events = read_parts(seq, found)
        else:
            rest = now[len(before) :] if goes_on else now
            events = [*_text(seq, known, rest, artifact, not goes_on), *read_parts(seq, new)]
        known.texts, known.others = [now] if now else [], fresh.others
        return events

    def close(self, seq: int, status: str) -> list[Event]:
        open_ = [each for each in self._known.values() if each.is_open]
        return [event for each in open_ for event in self._closed(seq, each, True, status)]

    def _begin(
        self, ref: EntryRef, known: _KnownArtifact, artifact: Mapping[str, Any], is_last: bool
    ) -> Iterator[Event]:
        """Yield the message whose text grows, if more of a new artifact may follow."""
        has_text = any(text_of(part) is not None for part in parts_of(artifact))
        if known.ref is not None or is_last or not has_text or known.texts:
            return
        known.ref, known.is_open = ref, True
        name = artifact.get("name")
        role = name[:80] if isinstance(name, str) and name else "Artifact"
        yield Message(ref[0], known.id, "message", role, "in_progress", artifact)

    def _closed(
        self, seq: int, known: _KnownArtifact, is_last: bool, status: str = "completed"
    ) -> list[Event]:
        if not is_last or not known.is_open:
            return []
        known.is_open = False
        return [Status(seq, "message", known.id, status, known.ref)]

    def _find(self, artifact: Mapping[str, Any]) -> _KnownArtifact:
        name = artifact.get("artifactId")
        name = lenient.text(name)
        if name not in self._known and len(self._known) >= MAX_ARTIFACTS:
            return _KnownArtifact(name)
        return self._known.setdefault(name, _KnownArtifact(name))


def _pieces(seq: int, known: _KnownArtifact, artifact: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of the parts of a chunk; texts continue the message."""
    for part in parts_of(artifact):
        text = text_of(part)
        if text is None:
            yield from read_parts(seq, [part])
        else:
            yield from _text(seq, known, text, part)
        known.add([part])


def _text(
    seq: int, known: _KnownArtifact, text: str, raw: Any, replaces: bool = False
) -> Iterator[Event]:
    if not text:
        return
    if known.ref is None:
        yield Text(seq, text, delta=bool(known.texts), raw=raw)
    else:
        yield Content(seq, known.ref, known.id, 0, "text", text, not replaces, raw=raw)


def _stray(seq: int, known: _KnownArtifact) -> Note:
    remark = "This appends to an artifact that was never started."
    return Note(seq, "artifact", {"remark": remark, "artifactId": known.id})


# --- results ----------------------------------------------------------------------------------

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
        return read_parts(seq, parts_of(body))

    def _task(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("id"), body.get("contextId"))
        found = body.get("artifacts")
        listed = found[:MAX_PARTS] if isinstance(found, list) else []
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
            parts = [{"text": text}] if text else []
            return self._status(seq, {"state": body["status"], "message": {"parts": parts}})
        # There is nothing to poll for.
        sentence = text or get_task_state(body["status"]).sentence
        return [Text(seq, f"{sentence} (no task id)", kind=str(body["status"]), raw=body)]

    def _artifact_update(self, seq: int, body: Mapping[str, Any]) -> list[Event]:
        self._remember(body.get("taskId"), body.get("contextId"))
        self._outcome = Outcome.ANSWER
        return self._artifacts.chunk((seq, self._number), body)

    # Status

    def _status(self, seq: int, status: Any) -> list[Event]:
        status = lenient.members(status)
        state = get_task_state(status.get("state"))
        message = status.get("message")
        text = message_text(message)
        if state == self._state and text == self._text:
            return []  # Polled again without any change.
        self._state, self._text = state, text
        if state.phase is TaskPhase.OPEN:
            progress = Progress(seq, None, message=text or state.sentence, raw=status)
            others = [part for part in parts_of(message) if text_of(part) is None]
            return [progress, *read_parts(seq, others)]
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
        return [*read_parts(seq, parts_of(message)), Completed(seq)]

    def _last_message(self, seq: int, task: Mapping[str, Any]) -> list[Event]:
        """Return the events of the agent's last message, for a task without results."""
        status, history = task.get("status"), task.get("history")
        if isinstance(status, Mapping) and parts_of(status.get("message")):
            return []
        for message in reversed(lenient.items(history)):
            if isinstance(message, Mapping) and message.get("role") in ("agent", "ROLE_AGENT"):
                return read_parts(seq, parts_of(message))
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
    if not isinstance(value, Mapping):
        return False
    return get_task_state(value.get("status")).phase is TaskPhase.OPEN


def _mentions_push(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    body = _kind_of(value)[1] or value
    holders = (value, body, lenient.members(body.get("metadata")))
    if any(not _PUSH_MEMBERS.isdisjoint(each) for each in holders):
        return True
    status = body.get("status")
    message = status.get("message") if isinstance(status, Mapping) else body.get("message")
    text = message if isinstance(message, str) else message_text(message)
    return bool(_PUSH_TEXT.search(text))
