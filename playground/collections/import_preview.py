"""Import preview: the changes of an import in groups by status, a bounded number of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from playground.collections.import_diff import ItemChange

#: Changes of one group that are listed; the others are counted.
MAX_LISTED = 100

#: Status, label and sign of the groups, in the order of the page.
_GROUPS = (
    ("added", "Added", "+"),
    ("changed", "Changed", "~"),
    ("removed", "Removed", "−"),
    ("same", "Unchanged", "="),
    ("kept", "Kept, not in the file", "="),
)


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes with the same status."""

    status: str
    label: str
    sign: str
    count: int
    rows: tuple[ItemChange, ...]

    @property
    def more(self) -> int:
        """Return the number of changes that are not listed."""
        return self.count - len(self.rows)

    @property
    def is_quiet(self) -> bool:
        """Return whether its items stay as they are."""
        return self.status in {"same", "kept"}


def groups_of(changes: Iterable[ItemChange]) -> list[ChangeGroup]:
    """Return the groups that are not empty."""
    found = list(changes)
    groups: list[ChangeGroup] = []
    for status, label, sign in _GROUPS:
        rows = [change for change in found if change.status == status]
        if rows:
            groups.append(ChangeGroup(status, label, sign, len(rows), tuple(rows[:MAX_LISTED])))
    return groups


def summary(changes: Iterable[ItemChange]) -> str:
    """Return the number of changes by status: `2 added, 1 changed`."""
    words = [
        f"{group.count:,} {group.status}" for group in groups_of(changes) if not group.is_quiet
    ]
    return ", ".join(words) or "no changes"
