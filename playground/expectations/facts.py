"""Run facts: a run as expectations see it, without frames and without a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: Ids of the rules that failed, by level (`must`, `should`, `info`).
Failed = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """The kind of an event, as in the Events list, and its time."""

    kind: str
    #: Milliseconds since the start of the request.
    at_ms: float


@dataclass(frozen=True)
class RunFacts:
    """The facts about one finished run."""

    #: `completed`, `truncated`, `failed`, `refused`, `cancelled` or `interrupted`.
    state: str
    #: `answer`, `elicitation`, `promise`, `failure` or `none`.
    outcome: str
    #: Of the last response; None without one.
    status: int | None = None
    #: The response type in the metadata, "" without one.
    response_type: str = ""
    results: int = 0
    #: The response document, the same for a stream and a single body; None without a response.
    document: Any = None
    events: tuple[TimedEvent, ...] = ()
    #: Milliseconds from the start of the request to the end of the run; None if unknown.
    ended_ms: float | None = None
    #: Codes of the failures that the agent reported, in order.
    failures: tuple[str, ...] = ()
    #: Code and text of the last of them, "" without one.
    failure_text: str = ""
    #: Run the rules of the specification: the ids of those that failed, or None without rules for
    #: this kind of response. Called at most once, and only if an expectation needs the result.
    run_rules: Callable[[], Failed | None] = field(default=lambda: None, repr=False, compare=False)

    @cached_property
    def findings(self) -> Failed | None:
        """Return the failed rules by level; None without rules for this kind of response."""
        return self.run_rules()
