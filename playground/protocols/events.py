"""Events: what frames mean, in one vocabulary for every protocol and binding.

Frozen and without behaviour. `seq` is the number of the frame that an event was read from;
several events can come from one frame, and a whole JSON reply yields the same events as the
stream of the same answer.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Outcome(enum.StrEnum):
    """What the agent answered. How the transfer went is a run's state, not its outcome."""

    ANSWER = "answer"
    ELICITATION = "elicitation"
    PROMISE = "promise"
    FAILURE = "failure"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    #: Number of the frame that this was read from.
    seq: int


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The agent began to answer and said so: the `_meta` block that came first."""

    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result(Event):
    """One result item."""

    item: Any
    #: Position in the final list as the agent gave it; None where it gave none.
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Text(Event):
    """Text beside the results: content parts, a summary in `_meta`, a progress note."""

    text: str
    #: True for a piece that continues the text before it.
    delta: bool = False
    #: What the agent calls it: `text`, `instruction`, `summary`, ...
    kind: str = "text"
    #: The object the text came in.
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Question:
    """One question of an elicitation, read leniently."""

    id: str
    text: str
    type: str
    options: tuple[str, ...] = ()
    default: Any = None


@dataclass(frozen=True, slots=True)
class Elicitation(Event):
    """The agent asks before it answers."""

    text: str
    questions: tuple[Question, ...] = ()
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Promise(Event):
    """The answer will come later; `token` is what to ask for it with."""

    token: str
    estimated_time: float | None = None
    message: str = ""
    progress: float | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Failure(Event):
    """The agent says no."""

    code: str
    message: str = ""
    details: Any = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Completed(Event):
    """The agent said that its answer is complete."""

    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note(Event):
    """Something that is part of the protocol and carries no answer (0.54's `end` event)."""

    name: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Unknown(Event):
    """Something that could not be read as anything else, kept as it came."""

    #: The event's name, or the media type of a body.
    name: str
    data: Any
    #: Why it could not be read, in words for the reader.
    reason: str = ""
