"""JSON values: whether two are equal, what type one is, and how it is told."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from playground.expectations.step_limit import StepLimit
from playground.protocols.text import shorten

#: What `is` can ask for.
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
#: Characters of a value in words.
MAX_TOLD = 200
#: Members and elements of one value in it that are written out, and how deep.
_MAX_MEMBERS, _MAX_DEPTH = 20, 6
#: Values in a value that are written out, and characters in all of them together.
_MAX_PARTS, _MAX_CHARACTERS = 200, 4_000
#: Bits of a whole number that is written out.
_MAX_BITS = 256
#: Characters that are compared for one step.
_PER_STEP = 1_000


def same(left: Any, right: Any, budget: StepLimit) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, true and 1 are not.

    The order of members means nothing, that of elements does (RFC 9535 section 2.3.5.2.2).
    Raises `TooMuchError` for more than the budget is enough for.
    """
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if not _same_names(one, other, budget):
                return False
            waiting += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list) and isinstance(other, list):
            budget.take()
            if len(one) != len(other):
                return False
            budget.take(len(one))
            waiting += zip(one, other, strict=True)
        else:
            budget.take(text_cost(one) if _of_one_length(one, other) else 1)
            if isinstance(one, bool) != isinstance(other, bool) or one != other:
                return False
    return True


def _same_names(one: Mapping[str, Any], other: Mapping[str, Any], budget: StepLimit) -> bool:
    budget.take()
    if len(one) != len(other):
        return False
    budget.take(sum(map(text_cost, one)))
    return one.keys() == other.keys()


def _of_one_length(one: Any, other: Any) -> bool:
    """Texts that are compared: those of two lengths are told apart by that."""
    return isinstance(one, str) and isinstance(other, str) and len(one) == len(other)


def text_cost(text: str) -> int:
    """The steps that it takes to go through a text once."""
    return 1 + len(text) // _PER_STEP


def below(left: Any, right: Any, budget: StepLimit) -> bool:
    """Whether a value is less than another: of texts and of numbers only.

    Raises `TooMuchError` as `same`.
    """
    if isinstance(left, str) and isinstance(right, str):
        budget.take(text_cost(min(left, right, key=len)))
        return left < right
    return type_of(left) == type_of(right) == "number" and bool(left < right)


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


def value_as_text(value: Any) -> str:
    """A value in words: JSON, cut short where it is long."""
    # Every value and every character in it makes the text longer by one or more.
    return shorten(to_json_line(_Cut(MAX_TOLD, MAX_TOLD).of(value, _MAX_DEPTH)), MAX_TOLD)


def to_json_line(value: Any) -> str:
    """A value as JSON on one line. Of what JSON cannot express, the nearest thing."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def truncated_value(value: Any) -> Any:
    """As much of a value as is worth keeping beside a verdict; "…" stands for the rest."""
    return _Cut(_MAX_PARTS, _MAX_CHARACTERS).of(value, _MAX_DEPTH)


def truncated_values(values: Sequence[Any]) -> list[Any]:
    """The same of some values, which share what one of them may take."""
    parts, characters = _MAX_PARTS // len(values), _MAX_CHARACTERS // len(values)
    return [_Cut(parts, characters).of(value, _MAX_DEPTH) for value in values]


class _Cut:
    """What may be kept of a value: so many values in it, and characters in all of them."""

    def __init__(self, parts: int, characters: int) -> None:
        self._parts = parts
        self._characters = characters

    def of(self, value: Any, depth: int) -> Any:
        """As much of a value as there is room for."""
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
        kept = shorten(text, min(MAX_TOLD, max(1, self._characters)))
        self._characters -= len(kept)
        return kept

    def _number(self, value: float) -> Any:
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            return self._text("a number of many digits")
        self._characters -= len(str(value))
        return value

    def _object(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        seen = 0
        for name, inner in islice(value.items(), _MAX_MEMBERS):
            if not self._has_room:
                break
            shown = self._text(str(name))
            kept[shown] = self.of(inner, depth)
            seen += 1
        return kept | ({"…": f"{len(value) - seen} more"} if seen < len(value) else {})

    def _list(self, value: Sequence[Any], depth: int) -> list[Any]:
        kept: list[Any] = []
        for inner in islice(value, _MAX_MEMBERS):
            if not self._has_room:
                break
            kept.append(self.of(inner, depth))
        more = len(value) - len(kept)
        return [*kept, f"… {more} more"] if more else kept
