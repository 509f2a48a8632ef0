"""Types of JSON values, for the conditions and messages of rules."""

from __future__ import annotations

import math
from typing import Any

_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def type_with_article(value: Any) -> str:
    return _NAMES.get(type(value), "something else")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; 1.0 is one, as JSON has one number type."""
    return type(value) is int or (type(value) is float and value.is_integer())


def is_nonempty_text(value: Any) -> bool:
    """Return whether a value is a string with more than whitespace."""
    return isinstance(value, str) and bool(value.strip())
