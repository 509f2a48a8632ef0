"""What an answer has to be where its question says so: in words, and as a check.

NLWeb's questions say nothing of the kind; those of MCP do, by a small part of JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from playground.protocols.events import Constraints

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


def describe_constraints(control: str, bounds: Constraints | None) -> str:
    """The bounds as a sentence for whoever answers; "" where there are none to speak of."""
    if bounds is None:
        return ""
    if control == "number":
        said = _number(bounds)
    elif control == "checkboxes":
        said = _count(bounds)
    elif control == "text":
        said = _text(bounds)
    else:
        said = ""
    if bounds.required:
        return f"{said}." if said else ""
    return f"{said}; may be left out." if said else "May be left out."


def constraint_error(bounds: Constraints | None, value: Any) -> str | None:
    """Why an answer is out of bounds, as a sentence; None if it is not."""
    if bounds is None:
        return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _refused_number(bounds, value)
    if isinstance(value, list):
        wanted = _between(bounds.minimum, bounds.maximum, "option", "options")
        return None if _is_within(bounds, len(value)) else f"Choose {wanted}."
    return _refused_text(bounds, value) if isinstance(value, str) else None


def _refused_number(bounds: Constraints, value: float) -> str | None:
    if bounds.integer and not float(value).is_integer():
        return "Give a whole number."
    return None if _is_within(bounds, value) else f"Give {_lower(_number(bounds))}."


def _refused_text(bounds: Constraints, value: str) -> str | None:
    shortest, longest = bounds.min_length or 0, bounds.max_length
    if len(value) < shortest or (longest is not None and len(value) > longest):
        return f"Give {_between(bounds.min_length, longest, 'character', 'characters')}."
    known = _FORMATS.get(bounds.format)
    return f"Give {known[0]}." if known and not known[1](value.strip()) else None


def _is_within(bounds: Constraints, value: float) -> bool:
    if bounds.minimum is not None and value < bounds.minimum:
        return False
    return bounds.maximum is None or value <= bounds.maximum


def _number(bounds: Constraints) -> str:
    kind = "A whole number" if bounds.integer else "A number"
    limits = _range(bounds.minimum, bounds.maximum)
    return f"{kind} {limits}" if limits else kind if bounds.integer else ""


def _count(bounds: Constraints) -> str:
    if bounds.minimum is None and bounds.maximum is None:
        return ""
    return _between(bounds.minimum, bounds.maximum, "option", "options").capitalize()


def _text(bounds: Constraints) -> str:
    known = _FORMATS.get(bounds.format)
    said = [known[0]] if known else []
    if bounds.min_length or bounds.max_length is not None:
        said.append(_between(bounds.min_length, bounds.max_length, "character", "characters"))
    text = " of ".join(said)
    return text[:1].upper() + text[1:]


def _range(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"from {least:g} to {most:g}"
    if least is not None:
        return f"of at least {least:g}"
    return "" if most is None else f"of at most {most:g}"


def _between(least: float | None, most: float | None, one: str, many: str) -> str:
    if least and most is not None:
        return f"{least:g} to {most:g} {many}" if least != most else _counted(least, one, many)
    if least:
        return f"at least {_counted(least, one, many)}"
    return f"at most {_counted(most or 0, one, many)}"


def _counted(number: float, one: str, many: str) -> str:
    return f"{number:g} {one if number == 1 else many}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and " " not in text


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return fits


#: (what it is, with its article, and whether a text is one) by the formats that MCP knows.
_FORMATS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "email": ("an e-mail address", lambda text: bool(_EMAIL.fullmatch(text))),
    "uri": ("an address like https://example.com/", _is_uri),
    "date": ("a date like 2026-11-21", _parses(date.fromisoformat)),
    "date-time": ("a time like 2026-11-21T18:30:00Z", _parses(datetime.fromisoformat)),
}
