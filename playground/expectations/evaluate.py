"""Expectations and a run: which of them it meets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.expectations.facts import RunFacts
from playground.expectations.kind import Evaluation
from playground.expectations.paths import PathError, select
from playground.expectations.schema import (
    MAX_CAPTURES,
    MAX_EXPECTATIONS,
    check_captures,
    check_one,
    check_schema,
)
from playground.expectations.step_limit import MAX_ALL_STEPS, StepLimit, StepLimitError
from playground.expectations.table import EXPECTATION_TYPES
from playground.expectations.values import truncated_value, value_as_text
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import pointer_of


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, and what became of it."""

    #: The expectation as it was written.
    expectation: Any
    #: None where it could not be judged, which counts as not met.
    met: bool | None
    #: What was expected, in words.
    expected: str
    #: What there was, in words; where it could not be judged, why.
    actual: str
    #: What there was as JSON, cut short where it is long; None where there is nothing to show.
    value: Any = None

    @property
    def message(self) -> str:
        """All of it in one sentence, for a report of text."""
        if self.met is None:
            return f"Could not be judged: {self.expected}. {self.actual}"
        return f"{'Met' if self.met else 'Not met'}: {self.expected}; it was: {self.actual}"

    def to_json(self) -> dict[str, Any]:
        """The check as a JSON object."""
        return {
            "expectation": self.expectation,
            "met": self.met,
            "wanted": self.expected,
            "actual": self.actual,
            "value": self.value,
            "message": self.message,
        }


def evaluate(expectations: Any, observed: RunFacts) -> list[Check]:
    """One check for each expectation, in order. Never raises, whatever both of them are.

    What is no list of expectations gives one check that could not be judged.
    """
    if not isinstance(expectations, list) or len(expectations) > MAX_EXPECTATIONS:
        reason = check_schema(expectations)[0].message
        return [
            Check(truncated_value(expectations), None, "expectations that can be judged", reason)
        ]
    budget = StepLimit(MAX_ALL_STEPS)
    return [_check(expectation, observed, budget) for expectation in expectations]


def _check(expectation: Any, observed: RunFacts, budget: StepLimit) -> Check:
    if problems := check_one(expectation):
        place = f"{problems[0].pointer}: " if problems[0].pointer else ""
        wanted = f"an expectation that can be judged, not {value_as_text(expectation)}"
        return Check(truncated_value(expectation), None, wanted, f"{place}{problems[0].message}")
    kind = EXPECTATION_TYPES[expectation["type"]]
    share = budget.share()
    granted = share.remaining
    try:
        verdict = kind.evaluate(expectation, observed, share)
    except StepLimitError:
        verdict = Evaluation(None, "It takes too long to find out in this reply.")
    budget.remaining -= granted - max(0, share.remaining)
    return Check(
        expectation, verdict.met, kind.describe(expectation), verdict.actual, verdict.value
    )


def capture(captures: Any, document: Any) -> tuple[dict[str, Any], list[RequestProblem]]:
    """What `captures` ({variable: JSONPath}) take from a reply's document.

    A path takes the first value that it selects. Gives the values by variable, and a problem
    for each path that cannot be read or selects nothing; pointers into `captures`. Never raises.
    """
    values: dict[str, Any] = {}
    problems = check_captures(captures)
    if not isinstance(captures, Mapping) or len(captures) > MAX_CAPTURES:
        return values, problems
    wrong = {problem.pointer for problem in problems}
    budget = StepLimit(MAX_ALL_STEPS)
    for name, path in captures.items():
        pointer = pointer_of([name])
        if pointer in wrong:
            continue
        share = budget.share()
        granted = share.remaining
        try:
            found = select(path, document, share, most=1)
        except PathError as error:
            problems.append(RequestProblem(pointer, str(error), "error"))
        else:
            if found.nodes:
                values[name] = found.nodes[0].value
            else:
                reason = f"Nothing stands at {path}, so {name} has no value."
                problems.append(RequestProblem(pointer, reason, "error"))
        budget.remaining -= granted - max(0, share.remaining)
    return values, problems
