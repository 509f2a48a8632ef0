"""Types of expectations: one row each, with its form, its JSON Schema, its words and its check.

A run is checked by its facts, without frames and without a database.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, NamedTuple

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
from playground.protocols.events import EVENT_LABELS
from playground.protocols.text import shorten

STATES = ("completed", "truncated", "failed", "refused", "cancelled", "interrupted")
OUTCOMES = ("answer", "elicitation", "promise", "failure", "none")
#: The most values and events that are listed one by one.
_MAX_LISTED_VALUES, _MAX_LISTED_EVENTS = 5, 12
#: An expectation without schema problems.
ExpectationValue = Mapping[str, Any]


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
    """One member of an expectation, as a field of a form and in the JSON Schema."""

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
    is_required: bool = True
    #: Its JSON Schema, if it is not that of its control.
    shape: Mapping[str, Any] | None = None

    @property
    def schema(self) -> Any:
        if self.control == "choice":
            return {"enum": [value for value, _ in self.choices]}
        return self.shape or _SHAPES[self.control]


_SHAPES: Mapping[str, Any] = {
    "flag": {"type": "boolean"},
    "number": {"type": "integer", "minimum": 0, "maximum": 1_000_000_000},
    "text": {"type": "string", "minLength": 1, "maxLength": 200},
    "path": {"type": "string", "minLength": 1, "maxLength": 1000},
    "json": True,
    "words": {"type": "array", "minItems": 1, "maxItems": 100, "items": {"enum": [*EVENT_LABELS]}},
}


class ExpectationType(NamedTuple):
    """One expectation type."""

    #: The `type` of an expectation.
    type: str
    #: The label in a form.
    label: str
    #: (expectation) to its text without a full stop: "the state is completed".
    describe: Callable[[ExpectationValue], str]
    #: Raises `StepLimitError` if it needs more steps than are left.
    evaluate: Callable[[ExpectationValue, RunFacts, StepLimit], Evaluation]
    fields: tuple[ExpectationField, ...]

    @property
    def schema(self) -> dict[str, Any]:
        required = [field.name for field in self.fields if field.is_required and not field.operator]
        operators = [{"required": [field.name]} for field in self.fields if field.operator]
        return {
            "type": "object",
            "properties": {
                "type": {"const": self.type},
                **{field.name: field.schema for field in self.fields},
            },
            "required": ["type", *required],
            "additionalProperties": False,
            **({"oneOf": operators} if operators else {}),
            # An expectation whose members are all optional has one of them.
            **({} if required else {"minProperties": 2}),
        }


def _words(*values: str) -> tuple[tuple[str, str], ...]:
    """Return choices whose labels are their values."""
    return tuple(zip(values, values, strict=True))


# Facts of a run


def _fact(expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit) -> Evaluation:
    """Compare one fact of the run; texts in any capitalisation, because agents differ in it."""
    name = expectation["type"]
    value = getattr(run_facts, name)
    limit.take(text_cost(str(value)))
    words = shorten(str(value), MAX_TEXT) if value not in (None, "") else "none"
    if name == "outcome" and value == "failure" and run_facts.failure_text:
        words = f"{words} ({shorten(run_facts.failure_text, MAX_TEXT)})"
    met = _normalized(value) == _normalized(expectation["equals"])
    return Evaluation(met, words, truncated_value(value))


def _normalized(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _describe_results(expectation: ExpectationValue) -> str:
    bounds = (
        f"{field.label} {expectation[field.name]:,}"
        for field in EXPECTATION_TYPES["results"].fields
        if field.name in expectation
    )
    return f"the number of results is {' and '.join(bounds)}"


def _results(expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit) -> Evaluation:
    """All bounds that are given have to hold."""
    count = run_facts.results
    least, most = expectation.get("min", 0), expectation.get("max", count)
    met = least <= count <= most and count == expectation.get("exact", count)
    return Evaluation(met, f"{count:,}", count)


def _failure(expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit) -> Evaluation:
    """Look for a reported failure with the code, in any capitalisation."""
    codes = run_facts.failures
    limit.take(sum(map(text_cost, codes)))
    shown = [shorten(code, MAX_TEXT) or "no code" for code in codes[:5]]
    met = _normalized(expectation["code"]) in map(_normalized, codes)
    return Evaluation(met, ", ".join(shown) or "no failure", truncated_value(list(codes[:5])))


#: Levels of rules by the level of an expectation.
_LEVELS = {"must": ("must",), "should": ("must", "should")}


def _conformance(expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit) -> Evaluation:
    """Run the rules: none of the levels may fail; without rules, the result is open."""
    failed = run_facts.findings
    if failed is None:
        return Evaluation(None, "There are no rules for this protocol and binding.")
    names = [name for level in _LEVELS[expectation["level"]] for name in failed.get(level, ())]
    if not names:
        return Evaluation(True, "none", [])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return Evaluation(False, f"{len(names)}: {', '.join(names[:5])}{more}", names)


# The response document


def _describe_json(expectation: ExpectationValue) -> str:
    operator, path = operator_of(expectation), expectation["path"]
    value = expectation[operator]
    if operator == "exists":
        return f"{path} {'exists' if value else 'does not exist'}"
    words = value if operator in ("matches", "is") else value_as_text(value)
    every = "every value at " if expectation.get("every") else ""
    return f"{every}{path} {JSON_OPERATORS[operator]} {words}"


def _json(expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit) -> Evaluation:
    """Evaluate the values at a path, of which there may be several.

    One that satisfies the operator is enough; with `every` all of them have to, and there has to
    be at least one.
    """
    operator = operator_of(expectation)
    try:
        selection = select(expectation["path"], run_facts.document, limit)
        if operator == "exists":
            return _evaluation_of_all(bool(selection.values) is expectation["exists"], selection)
        if not selection.values:
            return Evaluation(False, "no match")
        return _evaluate_values(expectation, operator, selection, limit)
    except (PathError, PatternError) as error:
        return Evaluation(None, str(error))


def _evaluate_values(
    expectation: ExpectationValue, operator: str, selection: Selection, limit: StepLimit
) -> Evaluation:
    every = bool(expectation.get("every"))
    for value in selection.values:
        if _OPERATORS[operator](value, expectation[operator], limit) is not every:
            # This value decides: it satisfies the operator if any must match, or fails if all have
            # to.
            shown = value_as_text(value)
            if len(selection.values) > 1 or selection.more:
                shown = f"{shown}, one of {selection.count}"
            return Evaluation(not every, shown, truncated_value(value))
    if selection.more:
        return Evaluation(None, f"The path selects {selection.count}.")
    return _evaluation_of_all(every, selection)


def _contains(value: Any, expected: Any, limit: StepLimit) -> bool:
    if isinstance(value, list):
        return any(same(each, expected, limit) for each in value)
    if isinstance(value, str):
        limit.take(text_cost(value))
    return isinstance(value, str | dict) and isinstance(expected, str) and expected in value


#: (value, operand, limit) to whether a value satisfies an operator, but for `exists`.
_OPERATORS: Mapping[str, Callable[[Any, Any, StepLimit], bool]] = {
    "equals": same,
    "contains": _contains,
    "matches": lambda value, pattern, limit: (
        isinstance(value, str) and matches(pattern, value, limit)
    ),
    "is": lambda value, name, _: is_type(value, name),
}


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


# Times and order


def milliseconds(value: float) -> str:
    return f"{value:,.0f} ms" if value >= 10 or value == int(value) else f"{value:.1f} ms"


def _first_within(expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit) -> Evaluation:
    """Compare the time of the first event; a partial event or whitespace does not count."""
    if not run_facts.events:
        return Evaluation(False, "no events")
    at_ms = run_facts.events[0].at_ms
    return Evaluation(at_ms <= expectation["ms"], milliseconds(at_ms), at_ms)


def _complete_within(
    expectation: ExpectationValue, run_facts: RunFacts, _: StepLimit
) -> Evaluation:
    """Compare the time of completion; a run in any other final state fails."""
    ended = run_facts.ended_ms
    if run_facts.state != "completed":
        return Evaluation(False, f"not completed: {run_facts.state}", run_facts.state)
    if ended is None:
        return Evaluation(None, "The end time of the run is unknown.")
    return Evaluation(ended <= expectation["ms"], milliseconds(ended), ended)


def _no_gap_over(
    expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit
) -> Evaluation:
    """Measure from event to event, and from the last one to the end of the run.

    `first_within` is about the time before the first event. Heartbeats are not events.
    """
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


def _event_label(events: Sequence[TimedEvent], index: int) -> str:
    return f"event {index + 1} ({events[index].kind})" if index < len(events) else "the end"


def _order(expectation: ExpectationValue, run_facts: RunFacts, limit: StepLimit) -> Evaluation:
    """Search for each kind after the previous one.

    Other events may come before, between and after them. A kind that is listed twice has to occur
    twice.
    """
    limit.take(len(run_facts.events))
    kinds = [each.kind for each in run_facts.events]
    rest = iter(kinds)
    met = all(kind in rest for kind in expectation["events"])
    # Equal neighbours are joined: "result × 3".
    runs = [(kind, len(list(run))) for kind, run in groupby(kinds)]
    value = [f"{kind} × {count:,}" if count > 1 else kind for kind, count in runs]
    words = ", ".join(value[:_MAX_LISTED_EVENTS]) or "no events"
    left = len(value) - _MAX_LISTED_EVENTS
    words += f", … {left} more" if left > 0 else ""
    return Evaluation(met, words, value[:_MAX_LISTED_EVENTS])


# The table

_MS = ExpectationField(
    "ms", "milliseconds", "number", default="2000",
    shape={"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000},
)  # fmt: skip

_ALL_TYPES = (
    ExpectationType(
        "state", "State", lambda it: f"the state is {it['equals']}", _fact,
        (ExpectationField("equals", "is", "choice", _words(*STATES)),),
    ),
    ExpectationType(
        "outcome", "Outcome", lambda it: f"the outcome is {it['equals']}", _fact,
        (ExpectationField("equals", "is", "choice", _words(*OUTCOMES)),),
    ),
    ExpectationType(
        "status", "HTTP status", lambda it: f"the HTTP status is {it['equals']}", _fact,
        (
            ExpectationField(
                "equals", "is", "number", default="200",
                shape={"type": "integer", "minimum": 100, "maximum": 599},
            ),
        ),
    ),
    ExpectationType(
        "response_type", "Response type", lambda it: f"the response type is {it['equals']}", _fact,
        # A response type is one of the outcomes, except "none".
        (ExpectationField("equals", "is", "text", default="answer"),),
    ),
    ExpectationType(
        "results", "Number of results", _describe_results, _results,
        (
            ExpectationField("min", "at least", "number", default="1", is_required=False),
            ExpectationField("max", "at most", "number", example="any", is_required=False),
            ExpectationField("exact", "exactly", "number", example="any", is_required=False),
        ),
    ),
    ExpectationType(
        "json", "Value in the response", _describe_json, _json,
        (
            ExpectationField("path", "at the path", "path", default="$.results[0].name"),
            ExpectationField(
                "exists", "whether it exists", "flag", (("true", "yes"), ("false", "no")),
                operator="exists",
            ),
            ExpectationField(
                "equals", "the value", "json", example="text, 3 or true", operator="equals"
            ),
            ExpectationField("contains", "the value", "json", example="pasta", operator="contains"),
            ExpectationField(
                "matches", "the pattern", "text", default=".", operator="matches",
                shape={"type": "string", "maxLength": 1000},
            ),
            ExpectationField("is", "the type", "choice", _words(*TYPES), operator="is of type"),
            ExpectationField(
                "every", "multiple values", "flag",
                (("", "any must match"), ("true", "all must match")), is_required=False,
            ),
        ),
    ),
    ExpectationType(
        "first_within", "First event within",
        lambda it: f"the first event is received within {milliseconds(it['ms'])}",
        _first_within, (_MS,),
    ),
    ExpectationType(
        "complete_within", "Complete within",
        lambda it: f"the response is complete within {milliseconds(it['ms'])}",
        _complete_within, (_MS,),
    ),
    ExpectationType(
        "no_gap_over", "No gap over",
        lambda it: f"no gap between events is longer than {milliseconds(it['ms'])}",
        _no_gap_over, (_MS,),
    ),
    ExpectationType(
        "order", "Order of events",
        lambda it: f"the events are in this order: {', then '.join(it['events'])}", _order,
        (
            ExpectationField(
                "events", "in this order", "words", default="started, result, completed"
            ),
        ),
    ),
    ExpectationType(
        "conformance", "Conformance",
        lambda it: f"no {' or '.join(map(str.upper, _LEVELS[it['level']]))} violations",
        _conformance,
        (
            ExpectationField(
                "level", "with", "choice",
                (("must", "no MUST violations"), ("should", "no MUST or SHOULD violations")),
            ),
        ),
    ),
    ExpectationType(
        "failure", "Failure code", lambda it: f"the failure code is {it['code']}", _failure,
        (ExpectationField("code", "is", "text", default="NO_RESULTS"),),
    ),
)  # fmt: skip

EXPECTATION_TYPES: Mapping[str, ExpectationType] = {kind.type: kind for kind in _ALL_TYPES}
#: Words by the operators of a `json` expectation.
JSON_OPERATORS = {
    field.name: field.operator for field in EXPECTATION_TYPES["json"].fields if field.operator
}
