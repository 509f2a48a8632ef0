"""Differences to rows that can be read: what is new, gone, changed or moved, in words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from playground.protocols.diff import Difference
from playground.rendering.words import json_preview

#: Characters of a value that a row of differences shows.
MAX_VALUE = 300
#: Words of a text that are compared one by one.
MAX_WORDS = 200

#: What became of some words of a text, `same`, `gone` or `new`, and the words.
DiffSegment = tuple[str, str]


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One difference."""

    #: `added`, `removed`, `changed` or `moved`.
    change: str
    kind: str
    label: str
    pointer: str
    left: str
    right: str
    #: Why it is to be expected; "" where it is not.
    expected: str = ""
    #: Two texts word by word, where they have some in common: the left and the right one.
    pieces: tuple[list[DiffSegment], list[DiffSegment]] = field(default_factory=lambda: ([], []))


def rows_of(differences: Iterable[Difference]) -> tuple[DifferenceRow, ...]:
    """The rows of a table."""
    return tuple(map(row_of, differences))


def row_of(found: Difference) -> DifferenceRow:
    """The row of one difference."""
    left = "" if found.change == "added" else json_preview(found.left, MAX_VALUE)
    right = "" if found.change == "removed" else json_preview(found.right, MAX_VALUE)
    if found.change == "moved":
        left, right = f"place {found.left}", f"place {found.right}"
    pieces: tuple[list[DiffSegment], list[DiffSegment]] = ([], [])
    if isinstance(found.left, str) and isinstance(found.right, str):
        pieces = word_diff(left, right)
    names = (found.change, found.kind, found.label, found.pointer)
    return DifferenceRow(*names, left, right, found.expected, pieces)


def word_diff(left: str, right: str) -> tuple[list[DiffSegment], list[DiffSegment]]:
    """Two texts in pieces; nothing where they have too little in common, or are too long."""
    ours, theirs = (re.findall(r"\s+|\w+|[^\w\s]", text) for text in (left, right))
    if not 2 < max(len(ours), len(theirs)) <= 2 * MAX_WORDS:
        return [], []
    matcher = difflib.SequenceMatcher(None, ours, theirs, autojunk=False)
    if matcher.ratio() < 0.4:
        return [], []
    found: tuple[list[DiffSegment], list[DiffSegment]] = ([], [])
    for tag, a, b, c, d in matcher.get_opcodes():
        same = tag == "equal"
        for side, words, what in ((0, ours[a:b], "gone"), (1, theirs[c:d], "new")):
            if words:
                found[side].append(("same" if same else what, "".join(words)))
    return found


def counted(count: int, what: str) -> str:
    """`1 difference`, `3 differences`."""
    return f"{count} {what}{'' if count == 1 else 's'}"
