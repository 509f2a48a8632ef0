"""Differences between a fixture and a stored collection: items added, changed or left alone."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from playground.collections.fixture import COLLECTION, FIELDS, FOLDER, REQUEST, Fields, Fixture
from playground.protocols.diff.json_values import identical
from playground.protocols.text import shorten

#: Limits on the lines of a value that are compared, and on the lines of a diff that are shown.
MAX_LINES, MAX_SHOWN = 2_000, 60

#: Limit on the characters of a line that are shown.
_MAX_WIDTH = 400
_CONTEXT = 2
Status = Literal["added", "changed", "same", "kept", "removed"]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff."""

    #: "-" for a stored line, "+" for its replacement, " " for both, "…" for a gap.
    sign: str
    text: str


@dataclass(frozen=True)
class FieldDifference:
    """A field whose value changes from `old`, which is stored, to `new`."""

    field: str
    old: Any
    new: Any

    @property
    def lines(self) -> list[DiffLine]:
        return self._all_lines[:MAX_SHOWN]

    @property
    def more(self) -> int:
        """Return the number of lines that are not shown."""
        return max(0, len(self._all_lines) - MAX_SHOWN)

    @cached_property
    def _all_lines(self) -> list[DiffLine]:
        """Return all lines, computed on demand: of thousands of changes a page shows few."""
        before, after = _lines(self.old), _lines(self.new)
        if max(len(before), len(after)) > MAX_LINES:
            text = f"too long to compare: {len(before):,} and {len(after):,} lines"
            return [DiffLine("…", text)]
        return list(_unified_diff(before, after))


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A change of the collection itself, of one folder or of one request.

    The status `kept` is of an item that the fixture does not have and that stays, `removed` of one
    that is deleted.
    """

    model: str
    slug: str
    name: str
    status: Status
    differences: tuple[FieldDifference, ...] = ()

    @property
    def kind(self) -> str:
        return {COLLECTION: "collection", FOLDER: "folder"}.get(self.model, "request")


def compare_fixtures(
    before: Fixture | None, after: Fixture, *, missing: Status = "kept"
) -> list[ItemChange]:
    """Return the changes that lead from `before` to `after`, in the order of `after`.

    `before` is None if the collection does not exist. `missing` is the status of items that `after`
    does not have; they come last.
    """
    old = dict(_items(before)) if before is not None else {}
    found: list[ItemChange] = []
    for key, fields in _items(after):
        found.append(_item_change(key, old.pop(key, None), fields))
    return found + [ItemChange(*key, fields["name"], missing) for key, fields in old.items()]


def is_same_item(one: Fields, other: Fields, model: str) -> bool:
    """Return whether two items are equal, down to the order of members and the type of numbers."""
    return not any(True for _ in _different_fields(one, other, model))


def count_by_status(changes: list[ItemChange]) -> Mapping[str, int]:
    found = {"added": 0, "changed": 0, "same": 0, "kept": 0, "removed": 0}
    for change in changes:
        found[change.status] += 1
    return found


def _items(fixture: Fixture) -> Iterator[tuple[tuple[str, str], Fields]]:
    yield (COLLECTION, fixture.slug), fixture.collection
    for slug, folder in fixture.folders.items():
        yield (FOLDER, slug), folder
    for slug, request in fixture.requests.items():
        yield (REQUEST, slug), request


def _item_change(key: tuple[str, str], old: Fields | None, new: Fields) -> ItemChange:
    if old is None:
        return ItemChange(*key, new["name"], "added")
    model = key[0]
    differences = tuple(
        FieldDifference(name, old[name], new[name]) for name in _different_fields(old, new, model)
    )
    return ItemChange(*key, new["name"], "changed" if differences else "same", differences)


def _different_fields(one: Fields, other: Fields, model: str) -> Iterator[str]:
    for name in FIELDS[model]:
        if name in {"collection", "slug"}:
            continue
        if not identical(one[name], other[name]):
            yield name


def _lines(value: Any) -> list[str]:
    if value is None or value in ("", [], {}):
        return []
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return text.split("\n")


def _unified_diff(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    rows = difflib.unified_diff(before, after, n=_CONTEXT, lineterm="")
    for number, row in enumerate(rows):
        if number < 2:
            continue  # The names of the two files.
        if row.startswith("@@"):
            if number > 2:
                yield DiffLine("…", "")
            continue
        text = row[1:]
        yield DiffLine(row[0], shorten(text, _MAX_WIDTH + 1))
