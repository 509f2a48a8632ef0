"""Equality, types and shortened texts of JSON values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from playground.expectations.step_limit import StepLimit
from playground.protocols.text import shorten

#: The types that the operator `is` accepts.
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
#: The most characters of a value as text.
MAX_TEXT = 200
#: The most members or elements of one value that are written, and the most levels of nesting.
_MAX_MEMBERS, _MAX_DEPTH = 20, 6
#: The most values within a value that are written, and the most characters of all of them.
_MAX_PARTS, _MAX_CHARACTERS = 200, 4_000
#: The most bits of an integer that is written.
_MAX_BITS = 256
#: Characters that are compared in one step.
_PER_STEP = 1_000


def same(left: Any, right: Any, limit: StepLimit) -> bool:
    """Return whether two JSON values are equal: 1 and 1.0 are, true and 1 are not.

    The order of members is ignored, that of elements is not (RFC 9535 section 2.3.5.2.2).
    Raise `StepLimitError` if the comparison needs more steps than are left.
    """
    pending = [(left, right)]
    while pending:
        one, other = pending.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if not _same_names(one, other, limit):
                return False
            pending += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            limit.take()
            if len(one) != len(other):
                return False
            limit.take(len(one))
            pending += zip(one, other, strict=True)
        else:
            limit.take(text_cost(one) if _have_same_length(one, other) else 1)
            if isinstance(one, bool) != isinstance(other, bool) or one != other:
                return False
    return True


def _same_names(one: Mapping[str, Any], other: Mapping[str, Any], limit: StepLimit) -> bool:
    limit.take()
    if len(one) != len(other):
        return False
    limit.take(sum(map(text_cost, one)))
    return one.keys() == other.keys()


def _have_same_length(one: Any, other: Any) -> bool:
    """Return whether both are texts of the same length; others differ without a comparison."""
    return isinstance(one, str) and isinstance(other, str) and len(one) == len(other)


def text_cost(text: str) -> int:
    """Return the steps to read a text once."""
    return 1 + len(text) // _PER_STEP


def below(left: Any, right: Any, limit: StepLimit) -> bool:
    """Return whether a value is less than another; only for two texts or two numbers.

    Raise `StepLimitError` as `same`.
    """
    if isinstance(left, str) and isinstance(right, str):
        limit.take(text_cost(min(left, right, key=len)))
        return left < right
    return type_of(left) == type_of(right) == "number" and bool(left < right)


def is_type(value: Any, name: str) -> bool:
    """Return whether a value is of one of `TYPES`. 1.0 is an integer: JSON has one number type."""
    kind = type_of(value)
    if name == "integer":
        return kind == "number" and (isinstance(value, int) or float(value).is_integer())
    return kind == name


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def value_as_text(value: Any) -> str:
    """Return a value as JSON text, truncated if long."""
    # Every value and every character in it adds one character or more to the text.
    return shorten(to_json_line(_Truncator(MAX_TEXT, MAX_TEXT).of(value, _MAX_DEPTH)), MAX_TEXT)


def to_json_line(value: Any) -> str:
    """Return a value as JSON on one line, or the nearest text if JSON cannot express it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def truncated_value(value: Any) -> Any:
    """Return as much of a value as is stored with a check; "…" replaces the rest."""
    return _Truncator(_MAX_PARTS, _MAX_CHARACTERS).of(value, _MAX_DEPTH)


def truncated_values(values: Sequence[Any]) -> list[Any]:
    """Truncate several values, which share the limits of one."""
    parts, characters = _MAX_PARTS // len(values), _MAX_CHARACTERS // len(values)
    return [_Truncator(parts, characters).of(value, _MAX_DEPTH) for value in values]


class _Truncator:
    """Truncates a value to a number of values within it, and of characters in all of them."""

    def __init__(self, parts: int, characters: int) -> None:
        self._parts = parts
        self._characters = characters

    def of(self, value: Any, depth: int) -> Any:
        self._parts -= 1
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        if not isinstance(value, dict | list) or not value:
            return value
        if not depth or not self._has_room:
            return "…"
        if isinstance(value, dict):
            return self._object(value, depth - 1)
        return self._list(value, depth - 1)

    @property
    def _has_room(self) -> bool:
        return self._parts > 0 and self._characters > 0

    def _text(self, text: str) -> str:
        result = shorten(text, min(MAX_TEXT, max(1, self._characters)))
        self._characters -= len(result)
        return result

    def _number(self, value: float) -> Any:
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            return self._text("a very large number")
        self._characters -= len(str(value))
        return value

    def _object(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        written = 0
        for name, inner in islice(value.items(), _MAX_MEMBERS):
            if not self._has_room:
                break
            shown = self._text(str(name))
            result[shown] = self.of(inner, depth)
            written += 1
        return result | ({"…": f"{len(value) - written} more"} if written < len(value) else {})

    def _list(self, value: Sequence[Any], depth: int) -> list[Any]:
        result: list[Any] = []
        for inner in islice(value, _MAX_MEMBERS):
            if not self._has_room:
                break
            result.append(self.of(inner, depth))
        more = len(value) - len(result)
        return [*result, f"… {more} more"] if more else result
