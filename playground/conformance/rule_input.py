"""Input of the rules: frames, request and earlier responses of a run, and locations in its JSON."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from playground.protocols.frames import Frame
from playground.protocols.json_pointer import descend, keys_of, pointer_of
from playground.protocols.response import Response, last_response_frames


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


#: The most levels of nesting of JSON that is read.
MAX_DEPTH = 100
#: The most messages, items and actions of a response that are checked, and objects and arrays in
#: them.
MAX_PARTS = 50_000
MAX_NODES = 1_000_000
#: States of a run that was stopped, so that its last response may be incomplete. A transfer that
#: broke off has no END frame; one with an END frame was complete, also in a truncated run.
_INCOMPLETE_STATES = frozenset({"cancelled", "interrupted", "refused"})


class Location(NamedTuple):
    """A value, the number of its frame, and the JSON pointer to it."""

    seq: int
    pointer: str
    value: Any


@dataclass(frozen=True)
class RuleInput:
    """The arguments of `playground.conformance.run_rules`."""

    frames: tuple[Frame, ...]
    request: Any
    version: str
    operation: str = "ask"
    state: str = "completed"
    earlier: EarlierResponses = NOTHING_EARLIER

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the members of the request; empty if it is no object."""
        return self.request if isinstance(self.request, Mapping) else {}

    @property
    def was_stopped(self) -> bool:
        return self.state in _INCOMPLETE_STATES

    @cached_property
    def response(self) -> Response:
        """Return the last response of the run."""
        return Response(last_response_frames(self.frames), MAX_DEPTH)


def resolve_prefix(value: Any, pointer: str) -> str:
    """Return a pointer as far as it leads through `value`, plus the first step that is missing."""
    keys: list[str] = []
    for key in keys_of(pointer):
        try:
            inner = descend(value, key)
        except LookupError:
            return pointer_of([*keys, key] if isinstance(value, dict) else keys)
        keys.append(key)
        value = inner
    return pointer_of(keys)
