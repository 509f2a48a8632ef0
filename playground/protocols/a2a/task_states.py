"""States of a task, of both versions, as one table.

0.3 writes `input-required`, 1.0 `TASK_STATE_INPUT_REQUIRED`. A final state is never left; a task
that waits for the user continues after the answer.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


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
    TaskState("submitted", TaskPhase.OPEN, "The agent has taken the task."),
    TaskState("working", TaskPhase.OPEN, "The agent is working on the task."),
    TaskState(
        "input-required", TaskPhase.WAITING, "The agent needs to know more before it goes on."
    ),
    TaskState(
        "auth-required",
        TaskPhase.WAITING,
        "The agent wants somebody to authorise it, which happens outside of A2A. Do what it asks"
        " for if you trust it, then say so here; do not type a password or a token into this form.",
    ),
    TaskState("completed", TaskPhase.DONE, "The task is done."),
    TaskState("failed", TaskPhase.FAILED, "The agent could not do the task."),
    TaskState("rejected", TaskPhase.FAILED, "The agent does not take the task."),
    TaskState("canceled", TaskPhase.FAILED, "The task was cancelled."),
)

STATES: Mapping[str, TaskState] = MappingProxyType({row.name: row for row in _ROWS})
_ALIASES = {"cancelled": "canceled"}


def get_task_state(value: Any) -> TaskState:
    """Return the row of a state as an agent writes it; a new row for an unknown state."""
    if not isinstance(value, str):
        return TaskState("", TaskPhase.UNKNOWN, "The agent does not say what state the task is in.")
    name = value.strip().lower().removeprefix("task_state_").replace("_", "-")
    row = STATES.get(_ALIASES.get(name, name))
    return row or TaskState(
        value[:80],
        TaskPhase.UNKNOWN,
        f"The agent says that the task is “{value[:80]}”, which no version of A2A has.",
    )
