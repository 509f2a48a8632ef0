"""Tasks: what is known of one, how it goes on with the clock, and where it is kept.

Work on a task is not something going on somewhere: what will come of it is known when it
begins, and how far it has come follows from the clock, in whichever process one looks.
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
#: Seconds after which a task is forgotten.
_LIFETIME = 86_400.0
ENDED = frozenset({"completed", "failed", "rejected", "canceled"})

now = time.time


@dataclass(frozen=True, slots=True)
class TaskMessage:
    """A message, whoever told it."""

    #: user or agent.
    role: str
    parts: Sequence[Part]
    id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class TaskWork:
    """What will come of a task: an artifact, piece by piece, and how it ends."""

    message: str
    #: The name of the artifact.
    artifact: str
    pieces: Sequence[Sequence[Part]]
    state: str = "completed"
    final_message: str = ""
    #: Seconds that it takes.
    seconds: float = 0.0
    artifact_id: str = field(default_factory=lambda: str(uuid4()))


@dataclass(frozen=True, slots=True)
class Task:
    """One task."""

    id: str
    context: str
    skill: str
    history: Sequence[TaskMessage]
    state: str = "submitted"
    #: What the agent says of its state.
    message: str = ""
    #: When it got into its state, in seconds since the epoch.
    since: float = field(default_factory=lambda: now())
    work: TaskWork | None = None

    @property
    def request_text(self) -> str:
        """Everything that the user said for it."""
        texts = [str(p["text"]) for m in self.history for p in m.parts if "text" in p]
        return "\n".join(texts)

    @property
    def timestamp(self) -> str:
        """When it got into its state, as the protocol writes it."""
        return f"{datetime.fromtimestamp(self.since, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"

    def moved(self, state: str, said: str = "", work: TaskWork | None = None) -> Task:
        """The task in another state, from now on."""
        return replace(self, state=state, message=said, since=now(), work=work or self.work)

    def current(self) -> Task:
        """The task as it is now: work whose time is over has ended."""
        if self.state == "working" and self.work and now() >= self.since + self.work.seconds:
            return self.ended()
        return self

    def ended(self) -> Task:
        """The task when its work is done."""
        if self.work is None:
            return self
        return self.moved(self.work.state, self.work.final_message)

    @property
    def artifacts(self) -> Sequence[tuple[str, str, Sequence[Part]]]:
        """(id, name, parts) of what has been made: with the work done, its artifact."""
        if self.work is None or self.state not in ENDED - {"canceled"} or not self.work.pieces:
            return []
        parts = [part for piece in self.work.pieces for part in piece]
        return [(self.work.artifact_id, self.work.artifact, parts)]


async def save(task: Task) -> None:
    """Keep a task."""
    await state_store.save(_AREA, task.id, asdict(task))


async def find(task_id: str) -> Task | None:
    """The task of an id, as it is now; None if there is none."""
    kept = await state_store.load(_AREA, task_id, _LIFETIME)
    if kept is None:
        return None
    work = TaskWork(**kept["work"]) if kept["work"] else None
    history = [TaskMessage(**told) for told in kept["history"]]
    return Task(**{**kept, "work": work, "history": history}).current()
