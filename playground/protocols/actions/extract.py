"""The actions of an item, wherever in it they stand.

NLWeb 0.55 (section 5) has a list of them on each item. 0.54 (section 7) also has one object,
without a protocol; and items hold items. Total: any JSON value is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.protocols.json_pointer import pointer_of
from playground.protocols.text import shorten

#: Actions of one item that are read.
MAX_ACTIONS = 50
#: Characters of a name or description that are kept.
MAX_TEXT = 2_000

HTTP, MCP, A2A = "HTTP", "MCP", "A2A"


@dataclass(frozen=True, slots=True)
class Action:
    """One action, as the agent described it."""

    #: JSON pointer from the item to the action.
    pointer: str
    #: What the agent calls it; its type, or "action", where it has no name.
    name: str
    description: str
    #: `HTTP`, `MCP`, `A2A`, what else the agent wrote, or "" for what is no object.
    protocol: str
    raw: Any
    #: Which of `name` and `protocol` the agent did not say.
    inferred: frozenset[str] = frozenset()
    #: What is missing or of the wrong type, as sentences.
    problems: tuple[str, ...] = ()


def actions_of(item: Any) -> list[Action]:
    """The actions of an item and of what is nested in it, in order, at most `MAX_ACTIONS`."""
    found: list[Action] = []
    for place, raw in _places(item):
        found.append(_action(_pointer(place), raw))
        if len(found) == MAX_ACTIONS:
            break
    return found


def attribute_text(action: Action, name: str) -> str:
    """An attribute of an action that is to be a string, "" where it is none."""
    value = action.raw.get(name)
    return value.strip() if isinstance(value, str) else ""


class _Place(NamedTuple):
    """Where a value stands: a chain, because most places are never written out."""

    parent: _Place | None
    key: str | int


def _places(item: Any) -> Iterator[tuple[_Place | None, Any]]:
    """Every action in `item`, depth first. A loop, because nesting may exceed the stack."""
    open_: list[tuple[_Place | None, Any]] = [(None, item)]
    while open_:
        place, value = open_.pop()
        if isinstance(value, Mapping):
            if "actions" in value:
                yield from _listed(_Place(place, "actions"), value["actions"])
            inner = [(_Place(place, k), v) for k, v in value.items() if k != "actions"]
        elif isinstance(value, list):
            inner = [(_Place(place, k), v) for k, v in enumerate(value)]
        else:
            continue
        open_ += reversed(inner)


def _listed(place: _Place, value: Any) -> Iterator[tuple[_Place, Any]]:
    if isinstance(value, list):
        yield from ((_Place(place, number), one) for number, one in enumerate(value))
    elif value is not None:
        yield place, value


def _pointer(place: _Place | None) -> str:
    keys: list[object] = []
    while place is not None:
        keys.append(place.key)
        place = place.parent
    return pointer_of(reversed(keys))


def _action(pointer: str, raw: Any) -> Action:
    if not isinstance(raw, Mapping):
        return Action(pointer, "action", "", "", raw, problems=("This action is not an object.",))
    name = _text(raw.get("name"))
    protocol = _text(raw.get("protocol"))
    if protocol.upper() in _ATTRIBUTES:
        protocol = protocol.upper()
    missing = {"name": not name, "protocol": not protocol}
    protocol = protocol or HTTP
    return Action(
        pointer=pointer,
        name=name or _type(raw.get("@type")) or "action",
        description=_text(raw.get("description")),
        protocol=protocol,
        raw=raw,
        inferred=frozenset(part for part, is_missing in missing.items() if is_missing),
        problems=tuple(_problems(raw, protocol)),
    )


def _text(value: Any) -> str:
    return value.strip()[:MAX_TEXT] if isinstance(value, str) else ""


def _type(value: Any) -> str:
    """The (first) type of an action, from which its name can be guessed."""
    return _text(value[0] if isinstance(value, list) and value else value)


class _Attribute(NamedTuple):
    """An attribute of an action: whether it must be there, and what can be wrong with it."""

    name: str
    required: bool
    #: From a value that is there to what it is or is not, "" where nothing is wrong.
    fault: Callable[[Any], str]


def _fault_of_text(value: Any) -> str:
    if not isinstance(value, str):
        return "is not a string"
    return "" if value.strip() else "is empty"


def _fault_of_object(value: Any) -> str:
    return "" if isinstance(value, Mapping) else "is not an object"


def _fault_of_objects(value: Any) -> str:
    return "" if isinstance(value, Mapping) else "are not an object"


def _required(name: str) -> _Attribute:
    return _Attribute(name, True, _fault_of_text)


def _optional(name: str) -> _Attribute:
    fault = _fault_of_objects if name.endswith("s") else _fault_of_object
    return _Attribute(name, False, fault)


_COMMON = (_required("name"), _required("description"), _required("protocol"))
_ATTRIBUTES: Mapping[str, tuple[_Attribute, ...]] = {
    HTTP: (_required("method"), _required("endpoint"), _optional("params"), _optional("headers")),
    MCP: (_required("server"), _required("tool"), _optional("arguments")),
    A2A: (_required("agent_url"), _required("skill"), _optional("message")),
}


def _problems(raw: Mapping[str, Any], protocol: str) -> Iterator[str]:
    if protocol not in _ATTRIBUTES:
        shown = shorten(protocol, 61)
        yield f"NLWeb defines actions over HTTP, MCP and A2A, not over “{shown}”."
    for name, required, fault in (*_COMMON, *_ATTRIBUTES.get(protocol, ())):
        if raw.get(name) is None:
            if required:
                yield f"The action has no {name}."
        elif found := fault(raw[name]):
            yield f"The action's {name} {found}."
