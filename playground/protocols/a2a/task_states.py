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


def is_open(value: Any) -> bool:
    """Return whether a value is a state in which the agent works on the task."""
    return get_task_state(value).phase is TaskPhase.OPEN


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
