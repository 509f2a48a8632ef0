"""Tasks: their data, their progress by the clock, and their storage.

Nothing runs in the background: the artifact of a task is known when it begins, and its progress
follows from the clock, in every process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from playground.demo import state_store

#: `{"text": …}` or `{"data": …}`.
Part = Mapping[str, Any]
_AREA = "a2a-task"
#: Seconds after which a task is lost.
_LIFETIME = 86_400.0
ENDED = frozenset({"completed", "failed", "rejected", "canceled"})

now = time.time


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """A message of the user or the agent."""

    #: user or agent.
    role: str
    parts: Sequence[Part]
    id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class TaskWork:
    """The work on a task: an artifact, piece by piece, and its final state."""

    message: str
    #: The name of the artifact.
    artifact: str
    pieces: Sequence[Sequence[Part]]
    state: str = "completed"
    final_message: str = ""
    #: Duration in seconds.
    seconds: float = 0.0
    artifact_id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class Task:
    """A task with its history and its work."""

    id: str
    context: str
    skill: str
    history: Sequence[TaskMessage]
    state: str = "submitted"
    #: The message of the agent in this state.
    message: str = ""
    #: Time of the last change of state, in seconds since the epoch.
    since: float = field(default_factory=lambda: now())
    work: TaskWork | None = None

    @property
    def request_text(self) -> str:
        """Return the text of all messages of the task."""
        texts = [str(p["text"]) for m in self.history for p in m.parts if "text" in p]
        return "\n".join(texts)

    @property
    def timestamp(self) -> str:
        """Return the time of the last change of state in the format of the protocol."""
        return f"{datetime.fromtimestamp(self.since, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"

    def moved(self, state: str, message: str = "", work: TaskWork | None = None) -> Task:
        """Return the task in another state, from now on."""
        return replace(self, state=state, message=message, since=now(), work=work or self.work)

    def current(self) -> Task:
        """Return the task in its present state: finished if its duration is over."""
        if self.state == "working" and self.work and now() >= self.since + self.work.seconds:
            return self.ended()
        return self

    def ended(self) -> Task:
        if self.work is None:
            return self
        return self.moved(self.work.state, self.work.final_message)

    @property
    def artifacts(self) -> Sequence[tuple[str, str, Sequence[Part]]]:
        """Return (id, name, parts) of the artifacts, which a finished task has."""
        if self.work is None or self.state not in ENDED - {"canceled"} or not self.work.pieces:
            return []
        parts = [part for piece in self.work.pieces for part in piece]
        return [(self.work.artifact_id, self.work.artifact, parts)]


async def save(task: Task) -> None:
    await state_store.save(_AREA, task.id, asdict(task))


async def find(task_id: str) -> Task | None:
    """Return the task of an id in its present state; None if there is none."""
    stored = await state_store.load(_AREA, task_id, _LIFETIME)
    if stored is None:
        return None
    work = TaskWork(**stored["work"]) if stored["work"] else None
    history = [TaskMessage(**message) for message in stored["history"]]
    return Task(**{**stored, "work": work, "history": history}).current()
