"""Earlier responses of a conversation, for rules over several runs."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class TaskEnd(enum.StrEnum):
    """How a task ended, according to an earlier response."""

    ANSWERED = "answered"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class EarlierResponses:
    """The facts in earlier responses that a response has to agree with. Hashable."""

    #: The progress reported for the same promise, oldest first.
    progress: tuple[float, ...] = ()
    #: The end of the task of the same promise; None while it runs, and where it failed.
    task_end: TaskEnd | None = None
    #: The names of the members of the latest session context.
    session_names: frozenset[str] = frozenset()


#: No earlier responses.
NOTHING_EARLIER = EarlierResponses()
