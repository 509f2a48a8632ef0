"""Evaluation of expectations on a run, and captures from its response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.expectations.expectation_types import EXPECTATION_TYPES, Evaluation, RunFacts
from playground.expectations.jsonpath import PathError, select
from playground.expectations.schema import (
    MAX_CAPTURES,
    MAX_EXPECTATIONS,
    check_captures,
    check_one,
    check_schema,
)
from playground.expectations.step_limit import StepLimit, StepLimitError
from playground.expectations.values import truncated_value, value_as_text
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import pointer_of


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one expectation."""

    #: The expectation as it was written.
    expectation: Any
    #: None if the expectation could not be evaluated, which counts as failed.
    met: bool | None
    #: The expected value as text.
    expected: str
    #: The actual value as text, or the reason why the expectation could not be evaluated.
    actual: str
    #: The actual value as JSON, truncated if long; None if there is no value to show.
    value: Any = None

    @property
    def message(self) -> str:
        """Return the whole check as one sentence, for a text report."""
        if self.met is None:
            return f"Inconclusive: {self.expected}. {self.actual}"
        return f"{'Passed' if self.met else 'Failed'}: {self.expected}; actual: {self.actual}"

    def to_json(self) -> dict[str, Any]:
        return {
            "expectation": self.expectation,
            "met": self.met,
            "wanted": self.expected,
            "actual": self.actual,
            "value": self.value,
            "message": self.message,
        }


def evaluate(expectations: Any, run_facts: RunFacts, limit: StepLimit | None = None) -> list[Check]:
    """Return one check for each expectation, in order. Never raise, whatever the arguments are.

    Anything but a list of expectations results in one check that could not be evaluated. `limit` is
    for what else is evaluated of the same request.
    """
    if not isinstance(expectations, list) or len(expectations) > MAX_EXPECTATIONS:
        reason = check_schema(expectations)[0].message
        return [Check(truncated_value(expectations), None, "valid expectations", reason)]
    limit = limit or StepLimit()
    return [_check(expectation, run_facts, limit) for expectation in expectations]


def _check(expectation: Any, run_facts: RunFacts, limit: StepLimit) -> Check:
    if problems := check_one(expectation):
        location = f"{problems[0].pointer}: " if problems[0].pointer else ""
        expected = f"a valid expectation, not {value_as_text(expectation)}"
        return Check(
            truncated_value(expectation), None, expected, f"{location}{problems[0].message}"
        )
    expectation_type = EXPECTATION_TYPES[expectation["type"]]
    try:
        with limit.share() as share:
            evaluation = expectation_type.evaluate(expectation, run_facts, share)
    except StepLimitError:
        evaluation = Evaluation(None, "The evaluation of this response takes too long.")
    return Check(
        expectation,
        evaluation.met,
        expectation_type.describe(expectation),
        evaluation.actual,
        evaluation.value,
    )


def capture(
    captures: Any, document: Any, limit: StepLimit | None = None
) -> tuple[dict[str, Any], list[RequestProblem]]:
    """Return the values that `captures` ({variable: JSONPath}) take from a response document.

    A path captures the first value that it selects. The result is the values by variable, and a
    problem for each path that is invalid or selects nothing, with pointers into `captures`. `limit`
    is as for `evaluate`. Never raise.
    """
    values: dict[str, Any] = {}
    problems = check_captures(captures)
    if not isinstance(captures, Mapping) or len(captures) > MAX_CAPTURES:
        return values, problems
    invalid = {problem.pointer for problem in problems}
    limit = limit or StepLimit()
    for name, path in captures.items():
        pointer = pointer_of([name])
        if pointer in invalid:
            continue
        try:
            with limit.share() as share:
                selection = select(path, document, share, most=1)
        except PathError as error:
            problems.append(RequestProblem(pointer, str(error), "error"))
        else:
            if selection.values:
                values[name] = selection.values[0]
            else:
                reason = f"No match for {path}; {name} was not captured."
                problems.append(RequestProblem(pointer, reason, "error"))
    return values, problems
