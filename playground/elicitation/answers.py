"""Validation of submitted answers against the agent's questions (0.55 section 4.1.3).

Every question requires an answer, except free text, which may stay empty and is then left out;
with `SKIP_UNANSWERED` in the data, no question does. A question with constraints of its own decides
itself whether it requires an answer and which.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.elicitation.constraints import constraint_error
from playground.elicitation.controls import CONTROLS, RefusedError
from playground.elicitation.form import ElicitationForm, QuestionField

#: Name of the checkbox to send a partial answer.
SKIP_UNANSWERED = "partial"
#: Key of an error that belongs to no field.
FORM_ERROR_KEY = "form"


@dataclass(frozen=True, slots=True)
class Answers:
    """Values by question id; errors, as sentences, by `QuestionField.name` or `FORM_ERROR_KEY`."""

    values: dict[str, Any]
    errors: dict[str, str]


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
                values[field.id] = _within(
                    field, CONTROLS[field.control].read(field.options, given)
                )
            elif field.is_required and not partial:
                errors[field.name] = CONTROLS[field.control].missing
        except RefusedError as refusal:
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
        raise RefusedError(message)
    return value


def _listed(value: Any) -> Iterable[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
