"""Parsers of the JSON and the headers that users type.

They raise Django's `ValidationError` with a sentence for the user. Forms, views, imports and
commands use them; they know no models.
"""

from __future__ import annotations

import json
import math
from typing import Any

from django import forms
from django.conf import settings

from playground.protocols import headers as header_rules
from playground.protocols import json_decoder, json_errors, raw


def parse_document(text: str) -> dict[str, Any]:
    """Return a request document parsed from JSON text.

    Raises `ValidationError` as `parse_json_value` does, and for a value that is not an object.
    """
    document = parse_json_value(text)
    if not isinstance(document, dict):
        raise forms.ValidationError("The request must be a JSON object.")
    return document


def parse_document_anyway(text: str) -> dict[str, Any]:
    """Return a document as `parse_document` does, or a raw request with the text as its body."""
    try:
        return parse_document(text)
    except forms.ValidationError:
        return {raw.MEMBER: {"body": text}}


def parse_json_value(text: str, max_depth: int | None = None) -> Any:
    """Return any JSON value parsed from text, nested up to `max_depth` levels.

    Without `max_depth`, the limit of a response applies. Raises `ValidationError` with a sentence
    for text that is not valid JSON, or that could not be written as JSON again when it is sent and
    stored. Its code is `repeated` for a duplicate name in an object, `deep` for nesting and
    `number` for a number.
    """
    deepest = settings.RUN_LIMITS.max_depth if max_depth is None else max_depth
    if json_decoder.exceeds_depth(text, deepest):
        at = _position(text, json_errors.too_deep_at(text, deepest))
        message = f"{at}The document is nested more than {deepest} levels deep."
        raise forms.ValidationError(message, code="deep")
    try:
        return json.loads(
            text,
            parse_constant=_refuse_number,
            parse_float=_finite_number,
            object_pairs_hook=_unique_names,
        )
    except json.JSONDecodeError as error:
        message = f"{_position(text, error.pos)}{json_errors.describe_error(error)}."
        raise forms.ValidationError(message) from None
    except ValueError:
        at = _position(text, json_errors.number_at(text))
        message = f"{at}Not a valid JSON number."
        raise forms.ValidationError(message, code="number") from None


def _position(text: str, position: int | None) -> str:
    """Return the beginning of a message about a position; "" where it is not known."""
    if position is None:
        return ""
    line, column = json_errors.line_and_column(text, position)
    return f"Line {line}, column {column}: "


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object from its pairs. Raises `ValidationError` for a duplicate name.

    Of two members of one name, only one could be sent.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            message = f"Duplicate name “{name}” in an object."
            raise forms.ValidationError(message, code="repeated")
        found[name] = value
    return found


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def parse_headers(text: str) -> list[tuple[str, str]]:
    """Return headers parsed from JSON, `[[name, value], ...]`, skipping rows without a name.

    Raises `ValidationError` with a sentence for headers that cannot be sent.
    """
    pairs = parse_header_templates(text)
    for name, value in pairs:
        check_header(name, value)
    return pairs


def parse_header_templates(text: str) -> list[tuple[str, str]]:
    """Return headers as `parse_headers` does, unchecked: `{{name}}` in them has no value yet."""
    try:
        rows = json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise forms.ValidationError("The headers are not valid JSON.") from None
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
        for row in rows
    ):
        raise forms.ValidationError("Headers must be an array of [name, value] pairs.")
    return [(name.strip(), value.strip()) for name, value in rows if name.strip()]


def check_header(name: str, value: str) -> None:
    """Raise `ValidationError` for a header that cannot be sent."""
    if refusal := header_rules.header_error(name, value):
        raise forms.ValidationError(refusal)
