"""Types of expectations: what each of them evaluates, and the table of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from playground.expectations.facts import RunFacts, TimedEvent
from playground.expectations.jsonpath import PathError, Selection, select
from playground.expectations.regex import PatternError, matches
from playground.expectations.step_limit import StepLimit
from playground.expectations.values import (
    MAX_TEXT,
    TYPES,
    is_type,
    same,
    text_cost,
    truncated_value,
    truncated_values,
    value_as_text,
)
from playground.protocols.text import shorten

STATES = ("completed", "truncated", "failed", "refused", "cancelled", "interrupted")
OUTCOMES = ("answer", "elicitation", "promise", "failure", "none")
#: The most values that are listed one by one.
_MAX_LISTED_VALUES = 5
#: The most events that are listed one by one.
_MAX_LISTED_EVENTS = 12
#: An expectation without schema problems.
ExpectationValue = Mapping[str, Any]


class Evaluation(NamedTuple):
    """The result of an evaluation."""

    #: None if the expectation could not be evaluated.
    met: bool | None
    #: The actual value as text, or the reason why the expectation could not be evaluated.
    actual: str
    #: The actual value as JSON.
    value: Any = None


@dataclass(frozen=True, slots=True)
class ExpectationField:
    """One member of an expectation, as a field of a form."""

    name: str
    label: str
    #: `choice`, `flag` (a choice of true and false), `number`, `text`, `path`, `json` or `words`
    #: (a list, one word after another).
    control: str
    #: Choices: [(value, label), ...].
    choices: tuple[tuple[str, str], ...] = ()
    #: The value in a new expectation, and an example to show while the field is empty.
    default: str = ""
    example: str = ""
    #: The words of the operator, if it is one of several members of which an expectation has
    #: exactly one.
    operator: str = ""


class ExpectationType(ABC):
    """One expectation type."""

    #: The `type` of an expectation.
    type: str
    #: The label in a form.
    label: str
    fields: tuple[ExpectationField, ...]

    @abstractmethod
    def describe(self, expectation: ExpectationValue) -> str:
        """Return the expectation as text without a full stop: "the state is completed"."""

    @abstractmethod
    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        """Evaluate the expectation. Raise `StepLimitError` if it needs more steps than are left."""


def same_word(value: str) -> tuple[str, str]:
    """Return a choice whose label is its value."""
    return value, value


# Facts of a run


class FactExpectation(ExpectationType):
    """`{"type": …, "equals": value}`: one fact of the run equals this value."""

    def __init__(self, name: str, label: str, noun: str, field: ExpectationField) -> None:
        self.type, self.label, self.fields = name, label, (field,)
        self._noun = noun

    def describe(self, expectation: ExpectationValue) -> str:
        return f"{self._noun} is {expectation['equals']}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        """Compare the fact; texts in any capitalisation, because agents differ in it."""
        value = getattr(run_facts, self.type)
        limit.take(text_cost(str(value)))
        words = shorten(str(value), MAX_TEXT) if value not in (None, "") else "none"
        if self.type == "outcome" and value == "failure" and run_facts.failure_text:
            words = f"{words} ({shorten(run_facts.failure_text, MAX_TEXT)})"
        return Evaluation(
            _normalized(value) == _normalized(expectation["equals"]), words, truncated_value(value)
        )


def _normalized(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class ResultsExpectation(ExpectationType):
    """`{"type": "results", "min": n, "max": n, "exact": n}`: the number of results.

    At least one of the three; all that are given have to hold.
    """

    type, label = "results", "Number of results"
    fields = (
        ExpectationField("min", "at least", "number", default="1"),
        ExpectationField("max", "at most", "number", example="any"),
        ExpectationField("exact", "exactly", "number", example="any"),
    )

    def describe(self, expectation: ExpectationValue) -> str:
        words = {field.name: field.label for field in self.fields}
        bounds = [
            f"{word} {expectation[name]:,}" for name, word in words.items() if name in expectation
        ]
        return f"the number of results is {' and '.join(bounds)}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit
    ) -> Evaluation:
        count = run_facts.results
        least, most = expectation.get("min", 0), expectation.get("max", count)
        met = least <= count <= most and count == expectation.get("exact", count)
        return Evaluation(met, f"{count:,}", count)


class FailureExpectation(ExpectationType):
    """`{"type": "failure", "code": "…"}`: the agent reported a failure with this code."""

    type, label = "failure", "Failure code"
    fields = (ExpectationField("code", "is", "text", default="NO_RESULTS"),)

    def describe(self, expectation: ExpectationValue) -> str:
        return f"the failure code is {expectation['code']}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        """Look for a failure with the code, in any capitalisation."""
        codes = run_facts.failures
        limit.take(sum(map(text_cost, codes)))
        shown = [shorten(code, MAX_TEXT) or "no code" for code in codes[:5]]
        expected_code = _normalized(expectation["code"])
        met = any(_normalized(code) == expected_code for code in codes)
        return Evaluation(met, ", ".join(shown) or "no failure", truncated_value(list(codes[:5])))


class ConformanceExpectation(ExpectationType):
    """`{"type": "conformance", "level": "must"}`: no rule of that level fails.

    "must": no must rule; "should": neither a must rule nor a should rule.
    """

    type, label = "conformance", "Conformance"
    fields = (
        ExpectationField(
            "level", "with", "choice",
            (("must", "no MUST violations"), ("should", "no MUST or SHOULD violations")),
        ),
    )  # fmt: skip

    def describe(self, expectation: ExpectationValue) -> str:
        levels = "MUST" if expectation["level"] == "must" else "MUST or SHOULD"
        return f"no {levels} violations"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit
    ) -> Evaluation:
        """Run the rules; without rules for the response, the result is open."""
        failed = run_facts.findings
        if failed is None:
            return Evaluation(None, "There are no rules for this protocol and binding.")
        levels = ("must", "should") if expectation["level"] == "should" else ("must",)
        names = [name for level in levels for name in failed.get(level, ())]
        if not names:
            return Evaluation(True, "none", [])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return Evaluation(False, f"{len(names)}: {', '.join(names[:5])}{more}", names)


def _fact_types() -> tuple[FactExpectation, ...]:
    states = ExpectationField("equals", "is", "choice", tuple(map(same_word, STATES)))
    outcomes = ExpectationField("equals", "is", "choice", tuple(map(same_word, OUTCOMES)))
    statuses = ExpectationField("equals", "is", "number", default="200")
    # A response type is one of the outcomes, except "none".
    types = ExpectationField("equals", "is", "text", default="answer")
    return (
        FactExpectation("state", "State", "the state", states),
        FactExpectation("outcome", "Outcome", "the outcome", outcomes),
        FactExpectation("status", "HTTP status", "the HTTP status", statuses),
        FactExpectation("response_type", "Response type", "the response type", types),
    )


# The response document


class JsonExpectation(ExpectationType):
    """`{"type": "json", "path": "$.results[0].name", "equals": …}`: the values at a path.

    ==============  =========================================================================
    `equals: v`     a value is equal to v as JSON: 1 and 1.0 are, true and 1 are not
    `contains: v`   an array has an element that equals v, a text contains v, an object has
                    a member of the name v
    `matches: re`   some part of a text matches a regular expression of RE2; `^` and `$` are
                    the start and the end of the text
    `exists: bool`  the path selects something, or nothing
    `is: type`      a value is a string, number, integer, boolean, null, array or object
    ==============  =========================================================================

    A path can select several values. One that satisfies the operator is enough; with
    `"every": true` all of them have to, and there has to be at least one.
    """

    type, label = "json", "Value in the response"
    fields = (
        ExpectationField("path", "at the path", "path", default="$.results[0].name"),
        ExpectationField(
            "exists", "whether it exists", "flag", (("true", "yes"), ("false", "no")),
            operator="exists",
        ),
        ExpectationField(
            "equals", "the value", "json", example="text, 3 or true", operator="equals"
        ),
        ExpectationField("contains", "the value", "json", example="pasta", operator="contains"),
        ExpectationField("matches", "the pattern", "text", default=".", operator="matches"),
        ExpectationField(
            "is", "the type", "choice", tuple(map(same_word, TYPES)), operator="is of type"
        ),
        ExpectationField(
            "every", "multiple values", "flag",
            (("", "any must match"), ("true", "all must match")),
        ),
    )  # fmt: skip

    def describe(self, expectation: ExpectationValue) -> str:
        operator = operator_of(expectation)
        if operator == "exists":
            return (
                f"{expectation['path']} {'exists' if expectation['exists'] else 'does not exist'}"
            )
        value = expectation[operator]
        words = value if operator in ("matches", "is") else value_as_text(value)
        every = "every value at " if expectation.get("every") else ""
        return f"{every}{expectation['path']} {JSON_OPERATORS[operator]} {words}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        try:
            selection = select(expectation["path"], run_facts.document, limit)
        except PathError as error:
            return Evaluation(None, str(error))
        operator = operator_of(expectation)
        if operator == "exists":
            there = bool(selection.nodes)
            return _evaluation_of_all(there is expectation["exists"], selection)
        if not selection.nodes:
            return Evaluation(False, "no match")
        try:
            return _evaluate_values(expectation, operator, selection, limit)
        except PatternError as error:
            return Evaluation(None, str(error))


def _evaluate_values(
    expectation: ExpectationValue, operator: str, selection: Selection, limit: StepLimit
) -> Evaluation:
    every = bool(expectation.get("every"))
    for value in selection.values:
        if _satisfies(operator, value, expectation[operator], limit) is not every:
            # This value decides: it satisfies the operator if any must match, or fails if all have
            # to.
            shown = value_as_text(value)
            if len(selection.nodes) > 1 or selection.more:
                shown = f"{shown}, one of {selection.count}"
            return Evaluation(not every, shown, truncated_value(value))
    if selection.more:
        return Evaluation(None, f"The path selects {selection.count}.")
    return _evaluation_of_all(every, selection)


def _satisfies(operator: str, value: Any, expected: Any, limit: StepLimit) -> bool:
    if operator == "equals":
        return same(value, expected, limit)
    if operator == "matches":
        return isinstance(value, str) and matches(expected, value, limit)
    if operator == "is":
        return is_type(value, expected)
    return _contains(value, expected, limit)


def _contains(value: Any, expected: Any, limit: StepLimit) -> bool:
    if isinstance(value, list):
        return any(same(each, expected, limit) for each in value)
    if isinstance(value, str):
        limit.take(text_cost(value))
        return isinstance(expected, str) and expected in value
    return isinstance(value, dict) and isinstance(expected, str) and expected in value


def _evaluation_of_all(met: bool, selection: Selection) -> Evaluation:
    """Return an evaluation that depends on all selected values."""
    values = selection.values
    if not values:
        return Evaluation(met, "no match")
    listed = [value_as_text(value) for value in values[:_MAX_LISTED_VALUES]]
    more = ", …" if len(values) > _MAX_LISTED_VALUES else ""
    words = listed[0] if len(values) == 1 else f"{selection.count}: {', '.join(listed)}{more}"
    truncated = truncated_values(values[:_MAX_LISTED_VALUES])
    return Evaluation(met, words, truncated[0] if len(values) == 1 else truncated)


def operator_of(expectation: ExpectationValue) -> str:
    return next(name for name in JSON_OPERATORS if name in expectation)


#: Words by the operators of a `json` expectation.
JSON_OPERATORS = {field.name: field.operator for field in JsonExpectation.fields if field.operator}


# Times and order

_MS = ExpectationField("ms", "milliseconds", "number", default="2000")


class FirstWithin(ExpectationType):
    """`{"type": "first_within", "ms": n}`: the first event at most n ms after the start."""

    type, label, fields = "first_within", "First event within", (_MS,)

    def describe(self, expectation: ExpectationValue) -> str:
        return f"the first event is received within {milliseconds(expectation['ms'])}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit
    ) -> Evaluation:
        """Compare the time of the first event; a partial event or whitespace does not count."""
        if not run_facts.events:
            return Evaluation(False, "no events")
        at_ms = run_facts.events[0].at_ms
        return Evaluation(at_ms <= expectation["ms"], milliseconds(at_ms), at_ms)


class CompleteWithin(ExpectationType):
    """`{"type": "complete_within", "ms": n}`: the run completed at most n ms after the start."""

    type, label, fields = "complete_within", "Complete within", (_MS,)

    def describe(self, expectation: ExpectationValue) -> str:
        return f"the response is complete within {milliseconds(expectation['ms'])}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit
    ) -> Evaluation:
        """Compare the time of completion; a run in any other final state fails."""
        if run_facts.state != "completed":
            return Evaluation(False, f"not completed: {run_facts.state}", run_facts.state)
        if run_facts.ended_ms is None:
            return Evaluation(None, "The end time of the run is unknown.")
        return Evaluation(
            run_facts.ended_ms <= expectation["ms"],
            milliseconds(run_facts.ended_ms),
            run_facts.ended_ms,
        )


class NoGapOver(ExpectationType):
    """`{"type": "no_gap_over", "ms": n}`: no more than n ms without an event, after the first.

    Gaps are measured from event to event, and from the last one to the end of the run. The time
    before the first event is checked by `first_within`. Heartbeats are not events.
    """

    type, label, fields = "no_gap_over", "No gap over", (_MS,)

    def describe(self, expectation: ExpectationValue) -> str:
        return f"no gap between events is longer than {milliseconds(expectation['ms'])}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        events = run_facts.events
        if not events:
            return Evaluation(False, "no events")
        limit.take(len(events))
        marks = [each.at_ms for each in events]
        if run_facts.ended_ms is not None:
            marks.append(max(run_facts.ended_ms, marks[-1]))
        gaps = [after - before for before, after in pairwise(marks)]
        if not gaps:
            return Evaluation(True, "only one event", 0)
        longest = max(gaps)
        at = gaps.index(longest)
        one, other = (_event_label(events, index) for index in (at, at + 1))
        value = {"ms": round(longest, 3), "from": one, "to": other}
        words = f"{milliseconds(longest)}, from {one} to {other}"
        return Evaluation(longest <= expectation["ms"], words, value)


class Order(ExpectationType):
    """`{"type": "order", "events": ["started", "result", "completed"]}`: events in this order.

    The list is a subsequence of the events: others may come before, between and after them. A
    kind that is listed twice has to occur twice.
    """

    type, label = "order", "Order of events"
    fields = (
        ExpectationField("events", "in this order", "words", default="started, result, completed"),
    )

    def describe(self, expectation: ExpectationValue) -> str:
        return f"the events are in this order: {', then '.join(expectation['events'])}"

    def evaluate(
        self, expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
    ) -> Evaluation:
        """Search for each kind after the previous one."""
        limit.take(len(run_facts.events))
        kinds = iter(each.kind for each in run_facts.events)
        missing = next((kind for kind in expectation["events"] if kind not in kinds), None)
        value = _joined_runs([each.kind for each in run_facts.events])
        words = ", ".join(value[:_MAX_LISTED_EVENTS]) or "no events"
        words += (
            f", … {len(value) - _MAX_LISTED_EVENTS} more" if len(value) > _MAX_LISTED_EVENTS else ""
        )
        return Evaluation(missing is None, words, value[:_MAX_LISTED_EVENTS])


def _event_label(events: Sequence[TimedEvent], index: int) -> str:
    return f"event {index + 1} ({events[index].kind})" if index < len(events) else "the end"


def _joined_runs(kinds: list[str]) -> list[str]:
    """Return the kinds in order, with equal neighbours joined: "result × 3"."""
    found: list[list[str]] = []
    for kind in kinds:
        if found and found[-1][0] == kind:
            found[-1].append(kind)
        else:
            found.append([kind])
    return [f"{run[0]} × {len(run):,}" if len(run) > 1 else run[0] for run in found]


def milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 or value == int(value) else f"{value:.1f} ms"


# The table

_ALL_TYPES: tuple[ExpectationType, ...] = (
    *_fact_types(),
    ResultsExpectation(),
    JsonExpectation(),
    FirstWithin(),
    CompleteWithin(),
    NoGapOver(),
    Order(),
    ConformanceExpectation(),
    FailureExpectation(),
)

EXPECTATION_TYPES: Mapping[str, ExpectationType] = {kind.type: kind for kind in _ALL_TYPES}
