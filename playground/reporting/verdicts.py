"""What became of the requests of a collection run: the verdicts, their words, and their counts.

The page, its live progress, the reports and the command all take their words from here, so that
they tell the same things apart in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

#: Verdicts of a step, as `playground.models.Step.Verdict` has them.
MET, UNMET, UNSENT, STOPPED, SKIPPED = "met", "unmet", "unsent", "stopped", "skipped"
RUNNING, WAITING = "running", "waiting"
#: Those that came to an end of their own. One that was stopped under way, and one that was never
#: begun, did not.
DONE = (MET, UNMET, UNSENT)
#: Those that speak against the collection.
BAD = (UNMET, UNSENT)
#: Those that may still become anything.
OPEN = (WAITING, RUNNING)
#: The words, as they stand within a sentence.
WORDS = {
    MET: "met",
    UNMET: "not met",
    UNSENT: "not sent",
    STOPPED: "stopped",
    SKIPPED: "skipped",
    RUNNING: "running",
    WAITING: "waiting",
}


def verdict_label(verdict: str) -> str:
    """A verdict as a word that stands alone; whatever is unknown has not begun."""
    return WORDS.get(verdict, WORDS[WAITING]).capitalize()


@dataclass(frozen=True, slots=True)
class VerdictCounts:
    """How many requests have come to which verdict."""

    #: All that are to be sent.
    steps: int
    #: By verdict; one that nothing has come to may be missing.
    counts: Mapping[str, int]

    def of(self, *verdicts: str) -> int:
        """How many have come to one of these."""
        return sum(self.counts.get(verdict, 0) for verdict in verdicts)

    @property
    def done(self) -> int:
        """How many came to an end of their own."""
        return self.of(*DONE)

    @property
    def bad(self) -> int:
        """How many speak against the collection."""
        return self.of(*BAD)

    @property
    def all_met(self) -> bool:
        """Whether every one of them was sent and got what is expected."""
        return self.of(MET) == self.steps

    @property
    def figures(self) -> list[tuple[str, str, int]]:
        """Verdict, word and count, for those that ended: met and not met always, others if any."""
        ended = (MET, UNMET, UNSENT, STOPPED, SKIPPED)
        return [
            (verdict, verdict_label(verdict), self.of(verdict))
            for verdict in ended
            if verdict in (MET, UNMET) or self.of(verdict)
        ]

    @property
    def summary(self) -> str:
        """All of it in one line: `3 of 5 requests done, 2 met, 1 not met, 2 skipped`."""
        noun = "request" if self.steps == 1 else "requests"
        counted = [f"{self.done:,} of {self.steps:,} {noun} done", f"{self.of(MET):,} {WORDS[MET]}"]
        counted += [
            f"{count:,} {WORDS[verdict]}"
            for verdict, _, count in self.figures
            if verdict != MET and count
        ]
        return ", ".join(counted)

    def parts(self, whole: int) -> Iterator[tuple[str, float, float]]:
        """The parts of a bar that is `whole` units long: verdict, start and length."""
        at = 0.0
        for verdict in (MET, UNMET, UNSENT, STOPPED, SKIPPED, RUNNING):
            length = whole * self.of(verdict) / max(1, self.steps)
            if length:
                yield verdict, round(at, 3), round(length, 3)
            at += length


#: What kept a collection run from its end, by its state: those of
#: `playground.models.CollectionRun.State` but for the one that came to it.
_ENDINGS = {
    "running": "The run has not ended yet",
    "stopped": "The run was stopped before its end",
    "interrupted": "The run was interrupted: the playground went down",
}


def end_reason(state: str, tally: VerdictCounts) -> str:
    """What kept a run in this state from its end, as a sentence; "" for one that came to it."""
    if state not in _ENDINGS:
        return ""
    noun = "request" if tally.steps == 1 else "requests"
    return f"{_ENDINGS[state]}. {tally.of(MET):,} of {tally.steps:,} {noun} met."
