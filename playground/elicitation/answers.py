"""Validation of submitted answers against the agent's questions (0.55 section 4.1.3).

Every question requires an answer, except free text, which may stay empty and is then left out;
with `SKIP_UNANSWERED` in the data, no question does. A question with constraints of its own decides
itself whether it requires an answer and which.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.elicitation.constraints import constraint_error
from playground.elicitation.form import ElicitationForm, QuestionField

#: Name of the checkbox to send a partial answer.
SKIP_UNANSWERED = "partial"
#: Key of an error that belongs to no field.
FORM_ERROR_KEY = "form"

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
#: The most characters of a number; Python parses no longer integers.
_LONGEST_NUMBER = 100


@dataclass(frozen=True, slots=True)
class Answers:
    """Values by question id; errors, as sentences, by `QuestionField.name` or `FORM_ERROR_KEY`."""

    values: dict[str, Any]
    errors: dict[str, str]


class _RefusedError(Exception):
    """An invalid answer; the message is for the user."""


def read_answers(form: ElicitationForm, data: Mapping[str, Sequence[str]]) -> Answers:
    """Return the answers in submitted data: names of controls with their values, all strings.

    A value is a string, a list of strings, an int or float, or a bool, by the field's control.
    Names of other forms are ignored; with errors, `values` holds the valid answers.
    """
    partial = any(data.get(SKIP_UNANSWERED, ()))
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in form.fields:
        given = [text for text in data.get(field.name, ()) if text.strip()]
        try:
            if given:
                values[field.id] = _within(field, _READERS[field.control](field, given))
            elif field.is_required and not partial:
                errors[field.name] = _MISSING[field.control]
        except _RefusedError as refusal:
            errors[field.name] = str(refusal)
    # If the binding defines how to answer, an answer without values is valid.
    if not values and not errors and form.resume is None:
        errors[FORM_ERROR_KEY] = "Answer at least one question."
    return Answers(values, errors)


def to_data(form: ElicitationForm, values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return answers by question id as data for `read_answers`.

    For answers from a file, and to fill in a form again. Any JSON value is accepted: it is
    validated by `read_answers`.
    """
    return {
        field.name: [_as_text(value) for value in _listed(values[field.id])]
        for field in form.fields
        if field.id in values
    }


def with_labels(form: ElicitationForm, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers by question id, with the labels of the chosen options for their values."""
    labels = {
        field.id: dict(zip(field.options, field.labels, strict=False)) for field in form.fields
    }

    def labelled(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [labelled(name, each) for each in value]
        return labels.get(name, {}).get(value, value) if isinstance(value, str) else value

    return {name: labelled(name, value) for name, value in values.items()}


def _within(field: QuestionField, value: Any) -> Any:
    if message := constraint_error(field.constraints, value):
        raise _RefusedError(message)
    return value


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _normalized(text: str) -> str:
    """Normalize line ends, which a browser sends as CR LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _chosen_options(field: QuestionField, given: Sequence[str]) -> list[str]:
    """Return the options among the submitted texts, in the form's order."""
    texts = {_normalized(text) for text in given}
    return [option for option in field.options if _normalized(option) in texts]


def _one(given: Sequence[str]) -> str:
    if len(given) > 1:
        raise _RefusedError("Enter exactly one answer.")
    return given[0]


def _radio(field: QuestionField, given: Sequence[str]) -> str:
    chosen = _chosen_options(field, [_one(given)])
    if not chosen:
        raise _RefusedError("This is not one of the options.")
    return chosen[0]


def _checkboxes(field: QuestionField, given: Sequence[str]) -> list[str]:
    chosen = _chosen_options(field, given)
    if {_normalized(text) for text in given} != {_normalized(option) for option in chosen}:
        raise _RefusedError("Some of the choices are not among the options.")
    return chosen


def _text(_field: QuestionField, given: Sequence[str]) -> str:
    return _normalized(_one(given))


def _number(_field: QuestionField, given: Sequence[str]) -> int | float:
    text = _one(given).strip()
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise _RefusedError("Enter a number such as 12 or 2.5.")
    number = int(text) if _INTEGER.fullmatch(text) else float(text)
    if isinstance(number, float) and not math.isfinite(number):
        raise _RefusedError("This number is too large.")
    return number


def _boolean(_field: QuestionField, given: Sequence[str]) -> bool:
    value = _one(given)
    if value not in ("true", "false"):
        raise _RefusedError("Answer yes or no.")
    return value == "true"


_READERS: Mapping[str, Callable[[QuestionField, Sequence[str]], Any]] = {
    "radio": _radio,
    "checkboxes": _checkboxes,
    "text": _text,
    "number": _number,
    "boolean": _boolean,
}
_MISSING: Mapping[str, str] = {
    "text": "Enter an answer.",
    "radio": "Choose one of the options.",
    "checkboxes": "Choose at least one option.",
    "number": "Enter a number.",
    "boolean": "Answer yes or no.",
}
