"""What is known of a run, as expectations see it: without frames, without a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: Rules that failed, by their level (`must`, `should`, `info`).
Failed = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event: what it is, in the words of the Events list, and when it came."""

    kind: str
    #: Milliseconds since the request was begun.
    at_ms: float


@dataclass(frozen=True)
class RunFacts:
    """One run that has ended."""

    #: `completed`, `truncated`, `failed`, `refused`, `cancelled` or `interrupted`.
    state: str
    #: `answer`, `elicitation`, `promise`, `failure` or `none`.
    outcome: str
    #: Of the last response, None where there was none.
    status: int | None = None
    #: What the reply calls itself in its metadata, "" where it does not.
    response_type: str = ""
    results: int = 0
    #: The reply as one JSON document, the same for a stream and a whole reply; None for none.
    document: Any = None
    events: tuple[TimedEvent, ...] = ()
    #: Milliseconds from the request to the end of the run, None where that is not known.
    ended_ms: float | None = None
    #: Codes of the failures that the agent told, in order.
    failures: tuple[str, ...] = ()
    #: Asks the rules of the specification: what failed of them, None where there are none for
    #: this kind of reply. Called once, and only where an expectation wants to know.
    run_rules: Callable[[], Failed | None] = field(default=lambda: None, repr=False, compare=False)

    @cached_property
    def findings(self) -> Failed | None:
        """The rules that failed, by level; None where there are no rules for such a reply."""
        return self.run_rules()
