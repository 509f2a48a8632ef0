"""Expectations of one fact about a run: its state, outcome, status, type, results, failure."""

from __future__ import annotations

from typing import Any

from playground.expectations.facts import RunFacts
from playground.expectations.kind import (
    Evaluation,
    ExpectationField,
    ExpectationType,
    ExpectationValue,
    same_word,
)
from playground.expectations.step_limit import StepLimit
from playground.expectations.values import MAX_TOLD, text_cost, truncated_value
from playground.protocols.text import shorten

STATES = ("completed", "truncated", "failed", "refused", "cancelled", "interrupted")
OUTCOMES = ("answer", "elicitation", "promise", "failure", "none")


class FactExpectation(ExpectationType):
    """`{"type": …, "equals": value}`: one fact of the run is this value."""

    def __init__(self, name: str, label: str, noun: str, field: ExpectationField) -> None:
        self.type, self.label, self.fields = name, label, (field,)
        self._noun = noun

    def describe(self, wanted: ExpectationValue) -> str:
        """The fact and its value."""
        return f"{self._noun} is {wanted['equals']}"

    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Equality; of words in any capitalisation, because agents write them as they like."""
        value = getattr(observed, self.type)
        budget.take(text_cost(str(value)))
        words = shorten(str(value), MAX_TOLD) if value not in (None, "") else "there is none"
        return Evaluation(_plain(value) == _plain(wanted["equals"]), words, truncated_value(value))


def _plain(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


class ResultsExpectation(ExpectationType):
    """`{"type": "results", "min": n, "max": n, "exact": n}`: how many results there are.

    One of the three or more; all that are there have to hold.
    """

    type, label = "results", "Number of results"
    fields = (
        ExpectationField("min", "at least", "number", default="1"),
        ExpectationField("max", "at most", "number", example="any"),
        ExpectationField("exact", "exactly", "number", example="any"),
    )

    def describe(self, wanted: ExpectationValue) -> str:
        """The bounds, in words."""
        words = {field.name: field.label for field in self.fields}
        bounds = [f"{word} {wanted[name]:,}" for name, word in words.items() if name in wanted]
        return f"the number of results is {' and '.join(bounds)}"

    def evaluate(self, wanted: ExpectationValue, observed: RunFacts, _: StepLimit) -> Evaluation:
        """Every bound that is there holds."""
        count = observed.results
        least, most = wanted.get("min", 0), wanted.get("max", count)
        met = least <= count <= most and count == wanted.get("exact", count)
        return Evaluation(met, f"{count:,}", count)


class FailureExpectation(ExpectationType):
    """`{"type": "failure", "code": "…"}`: the agent told a failure of this code."""

    type, label = "failure", "Failure code"
    fields = (ExpectationField("code", "is", "text", default="NO_RESULTS"),)

    def describe(self, wanted: ExpectationValue) -> str:
        """The code."""
        return f"the agent fails with the code {wanted['code']}"

    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Some failure has the code, in any capitalisation."""
        codes = observed.failures
        budget.take(sum(map(text_cost, codes)))
        shown = [shorten(code, MAX_TOLD) or "one without a code" for code in codes[:5]]
        sought = _plain(wanted["code"])
        met = any(_plain(code) == sought for code in codes)
        return Evaluation(met, ", ".join(shown) or "no failure", truncated_value(list(codes[:5])))


class ConformanceExpectation(ExpectationType):
    """`{"type": "conformance", "level": "must"}`: no rule of that level fails.

    "must": no rule that binds an agent; "should": neither those nor the recommendations.
    """

    type, label = "conformance", "Conformance"
    fields = (
        ExpectationField(
            "level", "with", "choice",
            (("must", "every must rule"), ("should", "every must and should rule")),
        ),
    )  # fmt: skip

    def describe(self, wanted: ExpectationValue) -> str:
        """The level."""
        rules = "must rule" if wanted["level"] == "must" else "must or should rule"
        return f"no {rules} of the specification fails"

    def evaluate(self, wanted: ExpectationValue, observed: RunFacts, _: StepLimit) -> Evaluation:
        """Asks the rules; where there are none, it cannot be judged."""
        failed = observed.findings
        if failed is None:
            return Evaluation(
                None, "There are no rules for a reply of this protocol over this way."
            )
        levels = ("must", "should") if wanted["level"] == "should" else ("must",)
        names = [name for level in levels for name in failed.get(level, ())]
        if not names:
            return Evaluation(True, "none fails", [])
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        return Evaluation(False, f"{len(names)}: {', '.join(names[:5])}{more}", names)


def facts() -> tuple[FactExpectation, ...]:
    """The expectations of one fact each."""
    states = ExpectationField("equals", "is", "choice", tuple(map(same_word, STATES)))
    outcomes = ExpectationField("equals", "is", "choice", tuple(map(same_word, OUTCOMES)))
    statuses = ExpectationField("equals", "is", "number", default="200")
    # A reply that says what it is says one of the outcomes, but for "none".
    types = ExpectationField("equals", "is", "text", default="answer")
    return (
        FactExpectation("state", "State", "the state", states),
        FactExpectation("outcome", "Outcome", "the outcome", outcomes),
        FactExpectation("status", "HTTP status", "the HTTP status", statuses),
        FactExpectation("response_type", "Response type", "the response type", types),
    )
