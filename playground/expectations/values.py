"""JSON values: whether two are equal, what type one is, and how it is told."""

from __future__ import annotations

import json
import math
from typing import Any

from playground.expectations.budget import Budget

#: What `is` can ask for.
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
#: Characters of a value in words.
MAX_TOLD = 200
#: Members and elements of a value that are written out, and how deep.
_MAX_PARTS, _MAX_DEPTH = 20, 6


def same(left: Any, right: Any, budget: Budget) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, true and 1 are not.

    The order of members means nothing, that of elements does (RFC 9535 section 2.3.5.2.2).
    Raises `TooMuchError` for more than the budget is enough for.
    """
    waiting = [(left, right)]
    while waiting:
        budget.spend()
        one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            budget.spend(len(one))
            waiting += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            budget.spend(len(one))
            waiting += zip(one, other, strict=True)
        elif isinstance(one, bool) != isinstance(other, bool) or one != other:
            return False
    return True


def is_type(value: Any, name: str) -> bool:
    """Whether a value is of one of `TYPES`. 1.0 is an integer: JSON does not tell it from 1."""
    kind = type_of(value)
    if name == "integer":
        return kind == "number" and (isinstance(value, int) or float(value).is_integer())
    return kind == name


def type_of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def told(value: Any) -> str:
    """A value in words: JSON, cut short where it is long."""
    text = written(cut(value))
    return text if len(text) <= MAX_TOLD else text[: MAX_TOLD - 1] + "…"


def written(value: Any) -> str:
    """A value as JSON on one line. Of what JSON cannot express, the nearest thing."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def cut(value: Any, depth: int = _MAX_DEPTH) -> Any:
    """As much of a value as is worth keeping beside a verdict; "…" stands for the rest."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TOLD else value[: MAX_TOLD - 1] + "…"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "a number of many digits"
    if isinstance(value, dict | list) and value and not depth:
        return "…"
    if isinstance(value, dict):
        kept = dict(list(value.items())[:_MAX_PARTS]) if len(value) > _MAX_PARTS else value
        more = {"…": f"{len(value) - _MAX_PARTS} more"} if len(value) > _MAX_PARTS else {}
        return {cut(str(name)): cut(inner, depth - 1) for name, inner in kept.items()} | more
    if isinstance(value, list):
        more_elements = [f"… {len(value) - _MAX_PARTS} more"] if len(value) > _MAX_PARTS else []
        return [cut(inner, depth - 1) for inner in value[:_MAX_PARTS]] + more_elements
    return value
