"""Where the parts of a reply stand: metadata, results, questions, promises and errors.

The same places as the lenient reader's (`playground.protocols.nlweb.reader`), with the JSON
pointers that events do not carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from playground.protocols.json_pointer import descend, keys_of, pointer_of
from playground.protocols.nlweb.content import PARTS


class Location(NamedTuple):
    """A value and where it stands."""

    seq: int
    pointer: str
    value: Any


class DecodedPayload(NamedTuple):
    """One whole reply, or one message of a stream."""

    #: The frame that the reader's events of it carry: of a document, the one that ended it.
    seq: int
    #: Name of the event; None for a document and where a stream gives none.
    name: str | None
    #: The decoded JSON; None where it could not be read.
    payload: Any
    #: The data as they came where they could not be read, else "".
    text: str = ""
    #: Why it could not be read; "" where it could.
    why: str = ""
    #: Whether it is a whole reply.
    document: bool = False
    #: Whether the stream ended without the blank line that ends a message.
    unfinished: bool = False

    @property
    def readable(self) -> bool:
        """Whether the payload is JSON that was read."""
        return not self.why

    @property
    def members(self) -> dict[str, Any]:
        """The payload's members; empty where it is no object."""
        return self.payload if isinstance(self.payload, dict) else {}


#: Items and actions of a reply that are looked at, and objects and arrays within them.
MAX_PARTS = 50_000
MAX_NODES = 1_000_000

#: Names of events that are a part of a reply by themselves, with or without a member of it.
_BARE = {"error": "error", "failure": "error", "elicitation": "elicitation", "promise": "promise"}
#: Names of events whose members can be parts of a reply.
_OPEN = {None, "message", "results", "answer", "start", "result", "complete", *_BARE}
#: Members that hold results.
RESULTS = ("results", "structuredData", "structured_data")
#: What else a message of the older public server calls its results.
_TYPED_RESULTS = ("results", "content", "items")
#: Members of a message called `result` that is not an item itself.
_NO_ITEM = frozenset({*PARTS, "message_type"})


def cut(value: Any, pointer: str) -> str:
    """As much of a pointer as leads through `value`, and the one step beyond that is missing."""
    keys: list[str] = []
    for key in keys_of(pointer):
        try:
            inner = descend(value, key)
        except LookupError:
            return pointer_of([*keys, key] if isinstance(value, dict) else keys)
        keys.append(key)
        value = inner
    return pointer_of(keys)


def meta_of(message: DecodedPayload) -> Location | None:
    """The metadata block, whatever is in it: `_meta`, or else `meta`."""
    for name in ("_meta", "meta"):
        if name in message.members:
            return Location(message.seq, f"/{name}", message.members[name])
    return None


def parts_of(message: DecodedPayload) -> Iterator[tuple[str, Location]]:
    """The content members of a message by name; null members say nothing."""
    members = message.members
    if message.name not in _OPEN or isinstance(members.get("message_type"), str):
        return
    for name in PARTS:
        if members.get(name) is not None:
            yield name, Location(message.seq, f"/{name}", members[name])
    bare = _BARE.get(message.name or "")
    if bare and message.readable and bare not in members and "_meta" not in members:
        yield bare, Location(message.seq, "", message.payload)


def items_of(message: DecodedPayload) -> Iterator[Location]:
    """The result items of a message."""
    if message.name not in _OPEN or not message.readable:
        return
    members, seq = message.members, message.seq
    if "item" in members and not message.document:
        yield Location(seq, "/item", members["item"])
    elif message.name == "result" and members.keys().isdisjoint(_NO_ITEM):
        yield Location(seq, "", message.payload)
    for name in _TYPED_RESULTS if "message_type" in members else RESULTS:
        if isinstance(found := members.get(name), list):
            for at, item in enumerate(found):
                yield Location(seq, f"/{name}/{at}", item)


class ActionFinder:
    """Finds actions in items, one after the other, and stops when it has seen enough."""

    def __init__(self) -> None:
        self._left = MAX_NODES
        #: Whether there was more to see.
        self.overflowed = False

    def actions_of(self, item: Location) -> Iterator[Location]:
        """The `actions` members of an item, at any depth; what is in an action is its own."""
        # A place is a pair of the place above it and a step: most of them are never written out.
        waiting: list[tuple[_Path, Any]] = [((None, item.pointer), item.value)]
        while waiting and self._left > 0:
            path, value = waiting.pop()
            self._left -= 1
            if type(value) is list:
                waiting += [
                    ((path, at), inner)
                    for at, inner in enumerate(value)
                    if type(inner) is dict or type(inner) is list
                ]
            elif type(value) is dict:
                if value.get("actions") is not None:
                    yield Location(item.seq, f"{_written(path)}/actions", value["actions"])
                waiting += [
                    ((path, name), inner)
                    for name, inner in value.items()
                    if (type(inner) is dict or type(inner) is list) and name != "actions"
                ]
        self.overflowed = bool(waiting)


#: The path above and a step; at the top the pointer to the whole.
_Path = tuple[Any, int | str]


def _written(path: _Path) -> str:
    steps: list[int | str] = []
    above, step = path
    while above is not None:
        steps.append(step)
        above, step = above
    return str(step) + pointer_of(reversed(steps))


def listed_actions(lists: Iterable[Location]) -> Iterator[Location]:
    """The actions in `actions` members; one that stands without an array is read as one."""
    for seq, pointer, value in lists:
        if type(value) is list:
            for at, action in enumerate(value):
                yield Location(seq, f"{pointer}/{at}", action)
        elif type(value) is dict:
            yield Location(seq, pointer, value)
