"""Constraints on answers, as text and as a check.

NLWeb's questions have none; those of MCP have, in a small subset of JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from playground.protocols.events import Constraints

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


def describe_constraints(control: str, constraints: Constraints | None) -> str:
    """Return the constraints as a sentence for the user; "" if there is nothing to say."""
    if constraints is None:
        return ""
    if control == "number":
        sentence = _number(constraints)
    elif control == "checkboxes":
        sentence = _count(constraints)
    elif control == "text":
        sentence = _text(constraints)
    else:
        sentence = ""
    if constraints.required:
        return f"{sentence}." if sentence else ""
    return f"{sentence}; optional." if sentence else "Optional."


def constraint_error(constraints: Constraints | None, value: Any) -> str | None:
    """Return why an answer violates the constraints, as a sentence; None if it does not."""
    if constraints is None:
        return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        if constraints.integer and not float(value).is_integer():
            return "Enter a whole number."
        wanted = _number(constraints)
        sentence = f"Enter {wanted[:1].lower()}{wanted[1:]}."
        return None if _is_within(constraints, value) else sentence
    if isinstance(value, list):
        wanted = _between(constraints.minimum, constraints.maximum, "option", "options")
        return None if _is_within(constraints, len(value)) else f"Choose {wanted}."
    return _text_error(constraints, value) if isinstance(value, str) else None


def _text_error(constraints: Constraints, value: str) -> str | None:
    shortest, longest = constraints.min_length or 0, constraints.max_length
    if len(value) < shortest or (longest is not None and len(value) > longest):
        return f"Enter {_between(constraints.min_length, longest, 'character', 'characters')}."
    known = _FORMATS.get(constraints.format)
    return f"Enter {known[0]}." if known and not known[1](value.strip()) else None


def _is_within(constraints: Constraints, value: float) -> bool:
    if constraints.minimum is not None and value < constraints.minimum:
        return False
    return constraints.maximum is None or value <= constraints.maximum


def _number(constraints: Constraints) -> str:
    kind = "A whole number" if constraints.integer else "A number"
    limits = _range(constraints.minimum, constraints.maximum)
    return f"{kind} {limits}" if limits else kind if constraints.integer else ""


def _count(constraints: Constraints) -> str:
    if constraints.minimum is None and constraints.maximum is None:
        return ""
    return _between(constraints.minimum, constraints.maximum, "option", "options").capitalize()


def _text(constraints: Constraints) -> str:
    known = _FORMATS.get(constraints.format)
    sentence = [known[0]] if known else []
    if constraints.min_length or constraints.max_length is not None:
        sentence.append(
            _between(constraints.min_length, constraints.max_length, "character", "characters")
        )
    text = " of ".join(sentence)
    return text[:1].upper() + text[1:]


def _range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"from {least:g} to {most:g}"
    if least is not None:
        return f"of at least {least:g}"
    return "" if most is None else f"of at most {most:g}"


def _between(least: float | None, most: float | None, one: str, many: str) -> str:
    if least and most is not None:
        return f"{least:g} to {most:g} {many}" if least != most else _with_unit(least, one, many)
    if least:
        return f"at least {_with_unit(least, one, many)}"
    return f"at most {_with_unit(most or 0, one, many)}"


def _with_unit(number: float, one: str, many: str) -> str:
    return f"{number:g} {one if number == 1 else many}"


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and " " not in text


def _is_parsed_by(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return fits


#: (name with its article, function that checks a text) by the formats of MCP.
_FORMATS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an email address", lambda text: bool(_EMAIL.fullmatch(text))),
    "uri": ("a URL such as https://example.com/", _is_uri),
    "date": ("a date such as 2026-11-21", _is_parsed_by(date.fromisoformat)),
    "date-time": (
        "a date and time such as 2026-11-21T18:30:00Z",
        _is_parsed_by(datetime.fromisoformat),
    ),
}
