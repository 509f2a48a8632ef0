"""Expectations of when things came, measured on the times that were recorded with the frames."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from playground.expectations.facts import RunFacts, TimedEvent
from playground.expectations.kind import (
    Evaluation,
    ExpectationField,
    ExpectationType,
    ExpectationValue,
)
from playground.expectations.step_limit import StepLimit

#: What events are called, as in the Events list.
EVENTS = (
    "started", "result", "text", "elicitation", "promise", "failure", "completed", "note",
    "unknown", "message", "content", "status", "tool call", "tool output", "progress", "log",
    "tools",
)  # fmt: skip
_MS = ExpectationField("ms", "milliseconds", "number", default="2000")
#: Events that are named one by one.
_MAX_LISTED = 12


class FirstWithin(ExpectationType):
    """`{"type": "first_within", "ms": n}`: the first event came at most n ms after the start."""

    type, label, fields = "first_within", "First event within", (_MS,)

    def describe(self, wanted: ExpectationValue) -> str:
        """The time."""
        return f"the first event comes within {milliseconds(wanted['ms'])}"

    def evaluate(self, wanted: ExpectationValue, observed: RunFacts, _: StepLimit) -> Evaluation:
        """When it could be read: bytes that begin a reply, and blanks, are no event yet."""
        if not observed.events:
            return Evaluation(False, "no event came")
        at_ms = observed.events[0].at_ms
        return Evaluation(at_ms <= wanted["ms"], milliseconds(at_ms), at_ms)


class CompleteWithin(ExpectationType):
    """`{"type": "complete_within", "ms": n}`: the run completed at most n ms after the start."""

    type, label, fields = "complete_within", "Complete within", (_MS,)

    def describe(self, wanted: ExpectationValue) -> str:
        """The time."""
        return f"the reply is complete within {milliseconds(wanted['ms'])}"

    def evaluate(self, wanted: ExpectationValue, observed: RunFacts, _: StepLimit) -> Evaluation:
        """A run that ended otherwise did not complete, however soon."""
        if observed.state != "completed":
            return Evaluation(False, f"it did not complete: {observed.state}", observed.state)
        if observed.ended_ms is None:
            return Evaluation(None, "When the run ended is not known.")
        return Evaluation(
            observed.ended_ms <= wanted["ms"], milliseconds(observed.ended_ms), observed.ended_ms
        )


class NoGapOver(ExpectationType):
    """`{"type": "no_gap_over", "ms": n}`: once begun, no more than n ms passed without an event.

    From the first event to the second and so on, and from the last one to the end of the run.
    What came before the first one is the business of `first_within`. Heartbeats are no events.
    """

    type, label, fields = "no_gap_over", "No gap over", (_MS,)

    def describe(self, wanted: ExpectationValue) -> str:
        """The time."""
        return f"no gap between events is longer than {milliseconds(wanted['ms'])}"

    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Names the longest gap."""
        events = observed.events
        if not events:
            return Evaluation(False, "no event came")
        budget.take(len(events))
        marks = [each.at_ms for each in events]
        if observed.ended_ms is not None:
            marks.append(max(observed.ended_ms, marks[-1]))
        gaps = [after - before for before, after in pairwise(marks)]
        if not gaps:
            return Evaluation(True, "there is one event only", 0)
        longest = max(gaps)
        at = gaps.index(longest)
        one, other = (_called(events, place) for place in (at, at + 1))
        value = {"ms": round(longest, 3), "from": one, "to": other}
        words = f"{milliseconds(longest)}, from {one} to {other}"
        return Evaluation(longest <= wanted["ms"], words, value)


class Order(ExpectationType):
    """`{"type": "order", "events": ["started", "result", "completed"]}`: they came in this order.

    Other events may stand before, between and after them: the list is a part of what came, in
    the same order. A kind that is listed twice has to come twice.
    """

    type, label = "order", "Order of events"
    fields = (
        ExpectationField("events", "in this order", "words", default="started, result, completed"),
    )

    def describe(self, wanted: ExpectationValue) -> str:
        """The kinds."""
        return f"these events come in this order: {', then '.join(wanted['events'])}"

    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Each is looked for behind the one before it."""
        budget.take(len(observed.events))
        kinds = iter(each.kind for each in observed.events)
        missing = next((kind for kind in wanted["events"] if kind not in kinds), None)
        value = _runs_of([each.kind for each in observed.events])
        words = ", ".join(value[:_MAX_LISTED]) or "no event came"
        words += f", … {len(value) - _MAX_LISTED} more" if len(value) > _MAX_LISTED else ""
        return Evaluation(missing is None, words, value[:_MAX_LISTED])


def _called(events: Sequence[TimedEvent], place: int) -> str:
    return f"event {place + 1} ({events[place].kind})" if place < len(events) else "the end"


def _runs_of(kinds: list[str]) -> list[str]:
    """The kinds in their order, equal neighbours as one: "result × 3"."""
    found: list[list[str]] = []
    for kind in kinds:
        if found and found[-1][0] == kind:
            found[-1].append(kind)
        else:
            found.append([kind])
    return [f"{run[0]} × {len(run):,}" if len(run) > 1 else run[0] for run in found]


def milliseconds(value: float) -> str:
    """A time in words."""
    return f"{value:,.0f} ms" if value >= 10 or value == int(value) else f"{value:.1f} ms"
