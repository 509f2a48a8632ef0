"""Actions in the results of an NLWeb response, with their locations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.rule_input import MAX_NODES, Location
from playground.protocols.json_pointer import pointer_of


class ActionFinder:
    """Finds actions in items, one item after another, up to a limit over all of them."""

    def __init__(self) -> None:
        self._remaining = MAX_NODES
        #: Whether there was more than the limit.
        self.overflowed = False

    def actions_of(self, item: Location) -> Iterator[Location]:
        """Yield the `actions` members of an item, at any depth except within actions."""
        # A path is a pair of the parent's path and a step: most of them are never written out.
        pending: list[tuple[_Path, Any]] = [((None, item.pointer), item.value)]
        while pending and self._remaining > 0:
            path, value = pending.pop()
            self._remaining -= 1
            if type(value) is list:
                pending += [
                    ((path, at), inner)
                    for at, inner in enumerate(value)
                    if type(inner) is dict or type(inner) is list
                ]
            elif type(value) is dict:
                if "actions" in value:
                    yield Location(item.seq, f"{_full_pointer(path)}/actions", value["actions"])
                pending += [
                    ((path, name), inner)
                    for name, inner in value.items()
                    if (type(inner) is dict or type(inner) is list) and name != "actions"
                ]
        self.overflowed = bool(pending)


#: The parent's path and a step; at the root, None and the pointer to the root.
_Path = tuple[Any, int | str]


def _full_pointer(path: _Path) -> str:
    steps: list[int | str] = []
    above, step = path
    while above is not None:
        steps.append(step)
        above, step = above
    return str(step) + pointer_of(reversed(steps))


def listed_actions(lists: Iterable[Location]) -> Iterator[Location]:
    """Yield the actions in `actions` members; an object instead of an array is one action."""
    for seq, pointer, value in lists:
        if type(value) is list:
            for at, action in enumerate(value):
                yield Location(seq, f"{pointer}/{at}", action)
        elif type(value) is dict:
            yield Location(seq, pointer, value)
