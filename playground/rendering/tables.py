"""Any JSON value as rows of a table: a place in it, and what stands there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.rendering.words import value_text

#: Rows that are shown, and levels that are taken apart.
MAX_ROWS, MAX_DEPTH = 40, 4


@dataclass(frozen=True, slots=True)
class ValueTable:
    """The rows, and whether there would be more."""

    #: (where it stands, what stands there).
    rows: list[tuple[str, str]]
    more: bool = False


def table_of(value: Any) -> ValueTable | None:
    """The table of a JSON value; None for what says nothing."""
    rows = list(islice(_rows("", value, MAX_DEPTH), MAX_ROWS + 1))
    return ValueTable(rows[:MAX_ROWS], len(rows) > MAX_ROWS) if rows else None


def _rows(place: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if value is None or value == {} or value == []:
        if place:
            yield place, "null" if value is None else "empty"
    elif depth and isinstance(value, dict):
        for name, member in value.items():
            yield from _rows(_joined(place, name[:60]), member, depth - 1)
    elif depth and isinstance(value, list):
        yield from _list_rows(place, value, depth)
    else:
        yield place, value_text(value)


def _list_rows(place: str, value: list[Any], depth: int) -> Iterator[tuple[str, str]]:
    if not any(isinstance(part, dict | list) for part in value):
        yield place, value_text(value)
        return
    for number, part in enumerate(value, 1):
        yield from _rows(_joined(place, str(number)), part, depth - 1)


def _joined(place: str, name: str) -> str:
    return f"{place} › {name}" if place else name
