"""What a fixture would add, change and leave alone, and how what is changed differs."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from playground.library.shape import COLLECTION, FIELDS, FOLDER, REQUEST, Fields, Fixture
from playground.protocols.json_diff import identical
from playground.protocols.text import shorten

Status = Literal["added", "changed", "same", "kept", "removed"]

#: Lines of a value that are compared, and lines of a difference that are shown.
MAX_LINES, MAX_SHOWN = 2_000, 60
#: Characters of a line that are shown.
_WIDTH = 400
_AROUND = 2


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference."""

    #: "-" for what is there, "+" for what comes in its place, " " for both, "…" for a gap.
    sign: str
    text: str


@dataclass(frozen=True)
class FieldDifference:
    """A field that has another value: `old` is there, and `new` comes in its place."""

    field: str
    old: Any
    new: Any

    @property
    def lines(self) -> list[DiffLine]:
        """The lines that are shown."""
        return self._found[:MAX_SHOWN]

    @property
    def more(self) -> int:
        """How many lines are not shown."""
        return max(0, len(self._found) - MAX_SHOWN)

    @cached_property
    def _found(self) -> list[DiffLine]:
        """All lines, once somebody looks at them: of thousands of changes a page lists few."""
        before, after = _lines(self.old), _lines(self.new)
        if max(len(before), len(after)) > MAX_LINES:
            said = f"too long to be compared here: {len(before):,} and {len(after):,} lines"
            return [DiffLine("…", said)]
        return list(_unified(before, after))


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What happens to the collection itself, to one folder or to one request.

    `kept` is what the fixture does not have and stays all the same, `removed` what goes.
    """

    model: str
    slug: str
    name: str
    status: Status
    differences: tuple[FieldDifference, ...] = ()

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return {COLLECTION: "collection", FOLDER: "folder"}.get(self.model, "request")


def compare_fixtures(
    before: Fixture | None, after: Fixture, *, missing: Status = "kept"
) -> list[ItemChange]:
    """The changes that lead from `before` to `after`, in the order of `after`.

    `before` is None where there is no such collection. `missing` is what becomes of things that
    `after` does not have; they come last.
    """
    old = dict(_things(before)) if before is not None else {}
    found: list[ItemChange] = []
    for key, fields in _things(after):
        found.append(_change(key, old.pop(key, None), fields))
    # A part says nothing of the collection that it goes into.
    found += [
        ItemChange(*key, fields["name"], missing)
        for key, fields in old.items()
        if key[0] != COLLECTION
    ]
    return found


def is_same_item(one: Fields, other: Fields, model: str) -> bool:
    """Whether two items say the same, down to the order of members and the kind of numbers."""
    return not any(True for _ in _differing(one, other, model))


def _things(fixture: Fixture) -> Iterator[tuple[tuple[str, str], Fields]]:
    if fixture.collection is not None:
        yield (COLLECTION, fixture.slug), fixture.collection
    for slug, folder in fixture.folders.items():
        yield (FOLDER, slug), folder
    for slug, request in fixture.requests.items():
        yield (REQUEST, slug), request


def _change(key: tuple[str, str], old: Fields | None, new: Fields) -> ItemChange:
    if old is None:
        return ItemChange(*key, new["name"], "added")
    model = key[0]
    differences = tuple(
        FieldDifference(name, old[name], new[name]) for name in _differing(old, new, model)
    )
    return ItemChange(*key, new["name"], "changed" if differences else "same", differences)


def _differing(one: Fields, other: Fields, model: str) -> Iterator[str]:
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


def _unified(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    rows = difflib.unified_diff(before, after, n=_AROUND, lineterm="")
    for number, row in enumerate(rows):
        if number < 2:
            continue  # The names of two files.
        if row.startswith("@@"):
            if number > 2:
                yield DiffLine("…", "")
            continue
        text = row[1:]
        yield DiffLine(row[0], shorten(text, _WIDTH + 1))


def count(changes: list[ItemChange]) -> Mapping[str, int]:
    """How many there are of each status."""
    found = {"added": 0, "changed": 0, "same": 0, "kept": 0, "removed": 0}
    for change in changes:
        found[change.status] += 1
    return found
