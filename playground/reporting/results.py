"""What a report is made of. Plain values, frozen; text is as untrusted as it came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from playground.reporting.verdicts import BAD, UNMET, VerdictCounts, end_reason, verdict_label


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One expectation and what came of it."""

    #: None where it could not be judged, which counts as not met.
    passed: bool | None
    #: What was expected, in words: "the status is 200".
    expected: str = ""
    #: What there was, in words; where it could not be judged, why.
    actual: str = ""
    #: What there was as JSON; None where there is nothing to show.
    value: Any = None
    #: The expectation as it was written.
    expectation: Any = None

    @property
    def sentence(self) -> str:
        """What is to be said of it."""
        if self.passed is None:
            return f"{self.expected}: could not be judged. {self.actual}"
        return f"{self.expected}; it was: {self.actual}"


@dataclass(frozen=True, slots=True)
class StepResult:
    """One request in one iteration."""

    #: From 1, over all iterations.
    number: int
    iteration: int
    #: "" for a request that is in no folder.
    folder: str
    name: str
    verdict: str
    checks: Sequence[CheckResult] = ()
    #: Why it was not sent, or not begun; "" otherwise.
    reason: str = ""
    #: Why its run did not complete, in the run's own words: a connection that was refused, a limit
    #: that was crossed; "" where it did, and where nobody knows.
    problem: str = ""
    #: Milliseconds; None where it was not sent.
    duration_ms: float | None = None
    #: The run: its key, its agent's name, its state, outcome and HTTP status.
    run: str = ""
    agent: str = ""
    state: str = ""
    outcome: str = ""
    status: int | None = None

    @property
    def unmet(self) -> list[CheckResult]:
        """The expectations that were not met."""
        return [each for each in self.checks if not each.passed]

    @property
    def is_bad(self) -> bool:
        """Whether it speaks against the collection."""
        return self.verdict in BAD

    @property
    def has_no_response(self) -> bool:
        """Whether nothing came back that could be held against what is expected."""
        return self.verdict == UNMET and self.status is None and bool(self.problem)

    @property
    def verdict_label(self) -> str:
        """The verdict in words."""
        return verdict_label(self.verdict)


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of steps and of expectations."""

    tally: VerdictCounts
    checks: int
    checks_failed: int

    @property
    def checks_passed(self) -> int:
        """Expectations that were met."""
        return self.checks - self.checks_failed


@dataclass(frozen=True)
class CollectionRunReport:
    """A collection run."""

    name: str
    steps: Sequence[StepResult]
    #: `running`, `completed`, `stopped` or `interrupted`.
    state: str = "completed"
    #: When it began, ISO 8601 in UTC.
    started_at: str = ""
    #: Milliseconds from the beginning to the end, or to now.
    took_ms: float = 0.0
    environment: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def totals(self) -> Totals:
        """The counts."""
        verdicts = Counter(step.verdict for step in self.steps)
        return Totals(
            tally=VerdictCounts(len(self.steps), verdicts),
            checks=sum(len(step.checks) for step in self.steps),
            checks_failed=sum(len(step.unmet) for step in self.steps),
        )

    @property
    def all_passed(self) -> bool:
        """Whether every request was sent and everything that was expected came."""
        return self.state == "completed" and self.totals.tally.all_met

    @property
    def verdict(self) -> str:
        """How it went, in a word or three."""
        if self.state == "running":
            return "Running"
        if self.state != "completed":
            return self.state.capitalize()
        return "All met" if self.all_passed else "Not all met"

    @property
    def ending(self) -> str:
        """What kept the run from its end, as a sentence; "" where it came to it."""
        return end_reason(self.state, self.totals.tally)

    @cached_property
    def has_iterations(self) -> bool:
        """Whether there was more than one."""
        return any(step.iteration > 1 for step in self.steps)

    def by_folder(self) -> list[tuple[str, list[StepResult]]]:
        """The steps by folder, in the order in which the folders come first."""
        found: dict[str, list[StepResult]] = {}
        for step in self.steps:
            found.setdefault(step.folder, []).append(step)
        return list(found.items())


def duration(milliseconds: float | None) -> str:
    """A time as people read it: 84 ms, 1.2 s, 3 min 05 s; "" for none."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{int(milliseconds // 60_000)} min {int(milliseconds % 60_000 // 1000):02d} s"
