"""Parts of an NLWeb response with their locations: metadata, results, questions, errors, …

Finds the same parts as the lenient reader (`playground.protocols.nlweb.reader`), with the JSON
pointers that events do not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.rule_input import MAX_NODES, MAX_PARTS, Location
from playground.protocols.json_pointer import pointer_of
from playground.protocols.nlweb.content import PARTS
from playground.protocols.response import Message as DecodedPayload

__all__ = ["MAX_PARTS", "DecodedPayload", "Location"]


#: Names of events that are a part of a response by themselves, with or without a member for it.
_BARE_PARTS = {
    "error": "error",
    "failure": "error",
    "elicitation": "elicitation",
    "promise": "promise",
}
#: Names of events whose members can be parts of a response.
_WITH_PARTS = {None, "message", "results", "answer", "start", "result", "complete", *_BARE_PARTS}
#: Members that hold results.
RESULTS = ("results", "structuredData", "structured_data")
#: Members with results in messages of the older public server.
_TYPED_RESULTS = ("results", "content", "items")
#: Members of a message named `result` that is not an item itself.
_NOT_ITEM_MEMBERS = frozenset({*PARTS, "message_type"})


def meta_of(message: DecodedPayload) -> Location | None:
    """Return the metadata block, of any type: `_meta`, or else `meta`."""
    for name in ("_meta", "meta"):
        if name in message.members:
            return Location(message.seq, f"/{name}", message.members[name])
    return None


def parts_of(message: DecodedPayload) -> Iterator[tuple[str, Location]]:
    """Yield the content members of a message by name; null members are ignored."""
    members = message.members
    if message.name not in _WITH_PARTS or isinstance(members.get("message_type"), str):
        return
    for name in PARTS:
        if members.get(name) is not None:
            yield name, Location(message.seq, f"/{name}", members[name])
    bare_part = _BARE_PARTS.get(message.name or "")
    if bare_part and message.readable and bare_part not in members and "_meta" not in members:
        yield bare_part, Location(message.seq, "", message.payload)


def items_of(message: DecodedPayload) -> Iterator[Location]:
    if message.name not in _WITH_PARTS or not message.readable:
        return
    members, seq = message.members, message.seq
    if "item" in members and not message.document:
        yield Location(seq, "/item", members["item"])
    elif message.name == "result" and members.keys().isdisjoint(_NOT_ITEM_MEMBERS):
        yield Location(seq, "", message.payload)
    for name in _TYPED_RESULTS if "message_type" in members else RESULTS:
        if isinstance(found := members.get(name), list):
            for at, item in enumerate(found):
                yield Location(seq, f"/{name}/{at}", item)


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
