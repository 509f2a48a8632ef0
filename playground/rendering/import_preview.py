"""The changes of an import as a page lists them: by what happens, a bounded number of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from playground.library.comparing import ItemChange

#: Things of one kind that are listed; the rest is counted.
MAX_LISTED = 100

#: What happens, in the order of the page, with its word and its sign.
_GROUPS = (
    ("added", "Added", "+"),
    ("changed", "Changed", "~"),
    ("removed", "Removed", "−"),
    ("same", "Left alone, as it is the same", "="),
    ("kept", "Left alone, as the file says nothing of it", "="),
)


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Things that the same happens to."""

    status: str
    label: str
    sign: str
    count: int
    rows: tuple[ItemChange, ...]

    @property
    def more(self) -> int:
        """How many are not listed."""
        return self.count - len(self.rows)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing happens to them."""
        return self.status in {"same", "kept"}


def groups_of(changes: Iterable[ItemChange]) -> list[ChangeGroup]:
    """The groups that there are; none for a status that nothing has."""
    found = list(changes)
    groups: list[ChangeGroup] = []
    for status, label, sign in _GROUPS:
        rows = [change for change in found if change.status == status]
        if rows:
            groups.append(ChangeGroup(status, label, sign, len(rows), tuple(rows[:MAX_LISTED])))
    return groups


def summary(changes: Iterable[ItemChange]) -> str:
    """The changes in a sentence without its full stop: `2 added, 1 changed`."""
    words = [
        f"{group.count:,} {group.status}" for group in groups_of(changes) if not group.is_quiet
    ]
    return ", ".join(words) or "nothing changed"
