"""Parsers of what users type: JSON, headers, and integers in a query string or a form.

Those of JSON and headers raise Django's `ValidationError` with a sentence for the user. Forms,
views, imports and commands use them; they know no models.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from django import forms
from django.conf import settings

from playground.base.credentials import is_pair
from playground.protocols import headers as header_rules
from playground.protocols import json_decoder, raw

#: The largest integer that is accepted without a `maximum`.
MAX_INT = 999_999_999

Default = TypeVar("Default")


def parse_document(text: str) -> dict[str, Any]:
    """Return a request document parsed from JSON text.

    Raises `JsonInputError` as `parse_json_value` does, and `ValidationError` for a value that is no
    object.
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


class JsonInputError(forms.ValidationError):
    """A text that is not valid JSON.

    The code is `repeated` for a duplicate name in an object, `deep` for nesting, `number` for a
    number, `unfinished` where the text ends too early, and `syntax` otherwise.
    """

    def __init__(self, text: str, position: int | None, reason: str, code: str) -> None:
        #: Line and column, "" where they are not known.
        self.location = ""
        if position is not None:
            line, column = json_decoder.line_and_column(text, position)
            self.location = f"Line {line:,}, column {column:,}"
        self.reason = reason
        super().__init__(": ".join(filter(None, (self.location, reason))), code=code)


class _DuplicateNameError(ValueError):
    """A name that an object has twice: only one of the members could be sent."""


def parse_json_value(text: str, max_depth: int | None = None) -> Any:
    """Return any JSON value parsed from text, nested up to `max_depth` levels.

    Without `max_depth`, the limit of a response applies. Raises `JsonInputError` with a sentence
    for text that is not valid JSON, or that could not be written as JSON again when it is sent and
    stored.
    """
    deepest = settings.RUN_LIMITS.max_depth if max_depth is None else max_depth
    if json_decoder.exceeds_depth(text, deepest):
        reason = f"The document is nested more than {deepest} levels deep."
        raise JsonInputError(text, json_decoder.too_deep_at(text, deepest), reason, "deep")
    try:
        return json.loads(
            text,
            parse_constant=_refuse_number,
            parse_float=_finite_number,
            object_pairs_hook=_unique_names,
        )
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated") or not text[error.pos :].strip()
        code = "unfinished" if is_cut else "syntax"
        reason = f"{json_decoder.describe_error(error)}."
        raise JsonInputError(text, error.pos, reason, code) from None
    except _DuplicateNameError as error:
        at = json_decoder.duplicate_name_at(text)
        reason = f"Duplicate name “{error}” in an object."
        raise JsonInputError(text, at, reason, "repeated") from None
    except ValueError:
        at = json_decoder.number_at(text)
        raise JsonInputError(text, at, "Not a valid JSON number.", "number") from None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _DuplicateNameError(name)
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
    if not isinstance(rows, list) or not all(map(is_pair, rows)):
        raise forms.ValidationError("Headers must be an array of [name, value] pairs.")
    return [(name.strip(), value.strip()) for name, value in rows if name.strip()]


def check_header(name: str, value: str) -> None:
    """Raise `ValidationError` for a header that cannot be sent."""
    if refusal := header_rules.header_error(name, value):
        raise forms.ValidationError(refusal)


def int_param(
    fields: Mapping[str, str],
    name: str,
    default: Default,
    *,
    minimum: int = 0,
    maximum: int = MAX_INT,
) -> int | Default:
    """Return the integer in the field `name`, or `default` for anything else.

    An integer is written in ASCII digits alone, without sign or spaces, and with no more of them
    than `maximum` has. One outside of `minimum` and `maximum` gives the default, too.
    """
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(maximum))):
        return default
    number = int(text)
    return number if minimum <= number <= maximum else default
