"""Results of a collection run: verdicts and their counts, checks, steps, and the whole run.

The page, its live progress, the reports and the command take their labels from here, so that
they agree. All values are plain and frozen; texts are as untrusted as they were received.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

#: Verdicts of a step, as in `playground.models.Step.Verdict`.
MET, UNMET, UNSENT, STOPPED, SKIPPED = "met", "unmet", "unsent", "stopped", "skipped"
RUNNING, WAITING = "running", "waiting"
#: Verdicts of finished steps; stopped and skipped ones did not finish.
DONE = (MET, UNMET, UNSENT)
#: Verdicts that count against the collection.
BAD = (UNMET, UNSENT)
#: Verdicts that are final, and those that are not.
ENDED = (*DONE, STOPPED, SKIPPED)
OPEN = (WAITING, RUNNING)
#: Labels within a sentence.
WORDS = {
    MET: "passed",
    UNMET: "failed",
    UNSENT: "not sent",
    STOPPED: "stopped",
    SKIPPED: "skipped",
    RUNNING: "running",
    WAITING: "waiting",
}


def verdict_label(verdict: str) -> str:
    """Return the label of a verdict with a capital; an unknown one counts as waiting."""
    return WORDS.get(verdict, WORDS[WAITING]).capitalize()


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """The number of requests by verdict."""

    #: The number of all requests.
    steps: int
    #: By verdict; those of zero may be missing.
    counts: Mapping[str, int]

    def of(self, *verdicts: str) -> int:
        return sum(self.counts.get(verdict, 0) for verdict in verdicts)

    @property
    def done(self) -> int:
        return self.of(*DONE)

    @property
    def bad(self) -> int:
        """Return the number of requests that count against the collection."""
        return self.of(*BAD)

    @property
    def all_met(self) -> bool:
        """Return whether every request was sent and passed."""
        return self.of(MET) == self.steps

    @property
    def figures(self) -> list[tuple[str, str, int]]:
        """Return (verdict, label, count) of final verdicts: met, not met, and others if any."""
        return [
            (verdict, verdict_label(verdict), self.of(verdict))
            for verdict in ENDED
            if verdict in (MET, UNMET) or self.of(verdict)
        ]

    @property
    def summary(self) -> str:
        """Return the counts on one line: `3 of 5 requests done, 2 passed, 1 failed, 2 skipped`."""
        noun = "request" if self.steps == 1 else "requests"
        counted = [f"{self.done:,} of {self.steps:,} {noun} done", f"{self.of(MET):,} {WORDS[MET]}"]
        counted += [
            f"{count:,} {WORDS[verdict]}"
            for verdict, _, count in self.figures
            if verdict != MET and count
        ]
        return ", ".join(counted)

    def parts(self, whole: int) -> Iterator[tuple[str, float, float]]:
        """Yield the parts of a bar of `whole` units: verdict, start and length."""
        at = 0.0
        for verdict in (*ENDED, RUNNING):
            length = whole * self.of(verdict) / max(1, self.steps)
            if length:
                yield verdict, round(at, 3), round(length, 3)
            at += length


#: Why a collection run did not complete, by its state: those of
#: `playground.models.CollectionRun.State` except completed.
_ENDINGS = {
    "running": "The run has not ended yet",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted because the playground stopped",
}


def end_reason(state: str, counts: VerdictCounts) -> str:
    """Return why a run in this state did not complete, as a sentence; "" if it did."""
    if state not in _ENDINGS:
        return ""
    noun = "request" if counts.steps == 1 else "requests"
    return f"{_ENDINGS[state]}. {counts.of(MET):,} of {counts.steps:,} {noun} passed."


def status_label(state: str, counts: VerdictCounts) -> str:
    """Return the status of a run in one or two words."""
    if state != "completed":
        return state.capitalize()
    return "All passed" if counts.all_met else "Failed"


# The run, its steps and their checks. The fields are the members of the JSON report.


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one expectation, as a step stores it."""

    #: The expectation as it was written.
    expectation: Any = None
    #: None if the expectation could not be evaluated, which counts as failed.
    met: bool | None = None
    #: The expected value as text: "the status is 200".
    wanted: str = ""
    #: The actual value as text, or the reason why the expectation could not be evaluated.
    actual: str = ""
    #: The actual value as JSON; None if there is no value to show.
    value: Any = None

    @property
    def sentence(self) -> str:
        if self.met is None:
            return f"{self.wanted}: inconclusive. {self.actual}"
        return f"{self.wanted}; actual: {self.actual}"


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one request in one iteration."""

    #: Counted from 1 over all iterations.
    number: int
    iteration: int
    #: "" for a request outside of folders.
    folder: str
    name: str
    verdict: str
    #: Why the request was not sent or not started; "" otherwise.
    reason: str = ""
    #: Why its run did not complete, as the run's problem states it: a refused connection, an
    #: exceeded limit; "" if it completed or the reason is unknown.
    problem: str = ""
    #: Milliseconds; None if the request was not sent.
    took_ms: float | None = None
    #: Of the run: key, agent's name, state, outcome and HTTP status.
    run: str = ""
    agent: str = ""
    state: str = ""
    outcome: str = ""
    status: int | None = None
    checks: Sequence[CheckResult] = ()

    @property
    def unmet(self) -> list[CheckResult]:
        return [each for each in self.checks if not each.met]

    @property
    def is_bad(self) -> bool:
        """Return whether the step counts against the collection."""
        return self.verdict in BAD

    @property
    def has_no_response(self) -> bool:
        return self.verdict == UNMET and self.status is None and bool(self.problem)

    @property
    def verdict_label(self) -> str:
        return verdict_label(self.verdict)

    @property
    def duration(self) -> str:
        return duration(self.took_ms)


@dataclass(frozen=True)
class CollectionRunReport:
    """A collection run as reports see it."""

    name: str
    steps: Sequence[StepResult]
    #: `running`, `completed`, `stopped` or `interrupted`.
    state: str = "completed"
    #: ISO 8601 in UTC.
    started_at: str = ""
    #: Milliseconds from the start to the end, or to now.
    took_ms: float = 0.0
    environment: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def counts(self) -> VerdictCounts:
        return VerdictCounts(len(self.steps), Counter(step.verdict for step in self.steps))

    @cached_property
    def checks(self) -> int:
        return sum(len(step.checks) for step in self.steps)

    @cached_property
    def checks_unmet(self) -> int:
        return sum(len(step.unmet) for step in self.steps)

    @property
    def checks_met(self) -> int:
        return self.checks - self.checks_unmet

    @property
    def all_met(self) -> bool:
        """Return whether every request was sent and every check passed."""
        return self.state == "completed" and self.counts.all_met

    @property
    def status_label(self) -> str:
        return status_label(self.state, self.counts)

    @property
    def ending(self) -> str:
        """Return why the run did not complete, as a sentence; "" if it did."""
        return end_reason(self.state, self.counts)

    @property
    def duration(self) -> str:
        return duration(self.took_ms)

    @cached_property
    def has_iterations(self) -> bool:
        return any(step.iteration > 1 for step in self.steps)

    def by_folder(self) -> list[tuple[str, list[StepResult]]]:
        """Return the steps by folder, in the order of first occurrence."""
        found: dict[str, list[StepResult]] = {}
        for step in self.steps:
            found.setdefault(step.folder, []).append(step)
        return list(found.items())


def duration(milliseconds: float | None) -> str:
    """Return a time as text: 84 ms, 1.2 s, 3 min 05 s; "" for None."""
    if milliseconds is None:
        return ""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{int(milliseconds // 60_000)} min {int(milliseconds % 60_000 // 1000):02d} s"
