"""The expectation of what the reply says: `json`, with a path into its document."""

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
from playground.expectations.paths import PathError, Selection, select
from playground.expectations.regex import PatternError, matches
from playground.expectations.step_limit import StepLimit
from playground.expectations.values import (
    TYPES,
    is_type,
    same,
    text_cost,
    truncated_value,
    truncated_values,
    value_as_text,
)

#: What can be asked of the values at a path; an expectation asks for exactly one of them.
OPERATORS = {
    "exists": "exists",
    "equals": "equals",
    "contains": "contains",
    "matches": "matches",
    "is": "is of the type",
}
#: Values that are named one by one.
_MAX_LISTED = 5


class JsonExpectation(ExpectationType):
    """`{"type": "json", "path": "$.results[0].name", "equals": …}`: what stands at a path.

    ==============  =========================================================================
    `equals: v`     a value is equal to v as JSON: 1 and 1.0 are, true and 1 are not
    `contains: v`   an array has an element that equals v, a text has v in it, an object has
                    a member of the name v
    `matches: re`   some part of a text matches a regular expression of RE2; `^` and `$` stand
                    for the start and the end of the text
    `exists: bool`  the path selects something, or nothing
    `is: type`      a value is a string, number, integer, boolean, null, array or object
    ==============  =========================================================================

    A path can select several values. One that meets it is enough; with `"every": true` all of
    them have to, and there has to be one.
    """

    type, label = "json", "Value in the reply"
    fields = (
        ExpectationField("path", "at the path", "path", default="$.results[0].name"),
        ExpectationField(
            "exists", "whether it exists", "flag", (("true", "yes"), ("false", "no")), operand=True
        ),
        ExpectationField("equals", "the value", "json", example="a text, 3 or true", operand=True),
        ExpectationField("contains", "the value", "json", example="pasta", operand=True),
        ExpectationField("matches", "the pattern", "text", default=".", operand=True),
        ExpectationField("is", "the type", "choice", tuple(map(same_word, TYPES)), operand=True),
        ExpectationField(
            "every", "of several values", "flag",
            (("", "one is enough"), ("true", "every one has to")),
        ),
    )  # fmt: skip

    def describe(self, wanted: ExpectationValue) -> str:
        """The path, what is asked of it, and the value."""
        operator = operator_of(wanted)
        if operator == "exists":
            return f"{wanted['path']} {'exists' if wanted['exists'] else 'does not exist'}"
        value = wanted[operator]
        words = value if operator in ("matches", "is") else value_as_text(value)
        every = "every value at " if wanted.get("every") else ""
        return f"{every}{wanted['path']} {OPERATORS[operator]} {words}"

    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Looks the path up in the reply's document."""
        try:
            selection = select(wanted["path"], observed.document, budget)
        except PathError as error:
            return Evaluation(None, str(error))
        operator = operator_of(wanted)
        if operator == "exists":
            there = bool(selection.nodes)
            return _verdict(there is wanted["exists"], selection)
        if not selection.nodes:
            return Evaluation(False, "nothing stands at this path")
        try:
            return _judged(wanted, operator, selection, budget)
        except PatternError as error:
            return Evaluation(None, str(error))


def _judged(
    wanted: ExpectationValue, operator: str, selection: Selection, budget: StepLimit
) -> Evaluation:
    every = bool(wanted.get("every"))
    for value in selection.values:
        if _meets(operator, value, wanted[operator], budget) is not every:
            # The one that decides: it meets what one is enough for, or fails what all have to.
            shown = _of_several(value_as_text(value), selection)
            return Evaluation(not every, shown, truncated_value(value))
    if selection.more:
        return Evaluation(None, f"The path selects {selection.count}.")
    return _verdict(every, selection)


def _meets(operator: str, value: Any, wanted: Any, budget: StepLimit) -> bool:
    if operator == "equals":
        return same(value, wanted, budget)
    if operator == "matches":
        return isinstance(value, str) and matches(wanted, value, budget)
    if operator == "is":
        return is_type(value, wanted)
    return _contains(value, wanted, budget)


def _contains(value: Any, wanted: Any, budget: StepLimit) -> bool:
    if isinstance(value, list):
        return any(same(each, wanted, budget) for each in value)
    if isinstance(value, str):
        budget.take(text_cost(value))
        return isinstance(wanted, str) and wanted in value
    return isinstance(value, dict) and isinstance(wanted, str) and wanted in value


def _verdict(met: bool, selection: Selection) -> Evaluation:
    """A verdict that all selected values have a part in."""
    values = selection.values
    if not values:
        return Evaluation(met, "nothing stands at this path")
    listed = [value_as_text(value) for value in values[:_MAX_LISTED]]
    more = ", …" if len(values) > _MAX_LISTED else ""
    words = listed[0] if len(values) == 1 else f"{selection.count}: {', '.join(listed)}{more}"
    kept = truncated_values(values[:_MAX_LISTED])
    return Evaluation(met, words, kept[0] if len(values) == 1 else kept)


def _of_several(words: str, selection: Selection) -> str:
    one = len(selection.nodes) == 1 and not selection.more
    return words if one else f"{words}, one of {selection.count}"


def operator_of(wanted: ExpectationValue) -> str:
    """What a `json` expectation asks for."""
    return next(name for name in OPERATORS if name in wanted)
