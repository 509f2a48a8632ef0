"""Extraction of actions from an item, at any depth.

NLWeb 0.55 (section 5) has a list of actions on each item. 0.54 (section 7) also has one object,
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

    #: JSON Pointer from the item to the action.
    pointer: str
    #: The name that the agent gave; without one its type, or "action".
    name: str
    description: str
    #: `HTTP`, `MCP`, `A2A`, any other text of the agent, or "" if `raw` is no object.
    protocol: str
    raw: Any
    #: Which of `name` and `protocol` the agent did not give.
    inferred: frozenset[str] = frozenset()
    #: Members that are missing or of the wrong type, as sentences.
    problems: tuple[str, ...] = ()


def actions_of(item: Any) -> list[Action]:
    """Return the actions of an item and of nested ones, in order, at most `MAX_ACTIONS`."""
    found: list[Action] = []
    for location, raw in _walk(item):
        found.append(_action(_pointer(location), raw))
        if len(found) == MAX_ACTIONS:
            break
    return found


def attribute(action: Action, name: str) -> Any:
    """Return an attribute of an action, None if it has none.

    In 0.54 (section 4.1.1) an action has a URL, whose attribute it does not name: `url` replaces
    an address that is missing.
    """
    value = action.raw.get(name)
    return action.raw.get("url") if value is None and name in _ADDRESSES else value


def attribute_text(action: Action, name: str) -> str:
    """Return an attribute of an action that must be a string, "" if it is none."""
    value = attribute(action, name)
    return value.strip() if isinstance(value, str) else ""


def missing_attributes(action: Action, *names: str) -> list[str]:
    """Return a sentence for each attribute that is no string or empty."""
    return [f"The action has no {name}." for name in names if not attribute_text(action, name)]


class _Location(NamedTuple):
    """The location of a value, as a chain: for most values the pointer is never written."""

    parent: _Location | None
    key: str | int


def _walk(item: Any) -> Iterator[tuple[_Location | None, Any]]:
    """Yield every action in `item`, depth first. A loop: nesting may exceed the stack."""
    open_: list[tuple[_Location | None, Any]] = [(None, item)]
    while open_:
        location, value = open_.pop()
        if isinstance(value, Mapping):
            if "actions" in value:
                yield from _listed(_Location(location, "actions"), value["actions"])
            members = [(k, v) for k, v in value.items() if k != "actions"]
        elif isinstance(value, list):
            members = list(enumerate(value))
        else:
            continue
        # Most members are texts and numbers, which hold no actions.
        nested = [(_Location(location, k), v) for k, v in members if isinstance(v, dict | list)]
        open_ += reversed(nested)


def _listed(location: _Location, value: Any) -> Iterator[tuple[_Location, Any]]:
    if isinstance(value, list):
        yield from ((_Location(location, number), each) for number, each in enumerate(value))
    elif value is not None:
        yield location, value


def _pointer(location: _Location | None) -> str:
    keys: list[object] = []
    while location is not None:
        keys.append(location.key)
        location = location.parent
    return pointer_of(reversed(keys))


def _action(pointer: str, raw: Any) -> Action:
    if not isinstance(raw, Mapping):
        return Action(pointer, "action", "", "", raw, problems=("The action is not an object.",))
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
    """Return the (first) type of an action, from which its name is inferred."""
    return _text(value[0] if isinstance(value, list) and value else value)


class _Attribute(NamedTuple):
    """An attribute of an action, and its check."""

    name: str
    required: bool
    #: From a value that is not null to its error, for the end of a sentence; "" for none.
    error: Callable[[Any], str]


def _error_of_text(value: Any) -> str:
    if not isinstance(value, str):
        return "is not a string"
    return "" if value.strip() else "is empty"


def _required(name: str) -> _Attribute:
    return _Attribute(name, True, _error_of_text)


def _optional(name: str) -> _Attribute:
    error = "are not an object" if name.endswith("s") else "is not an object"
    return _Attribute(name, False, lambda value: "" if isinstance(value, Mapping) else error)


#: The attributes with the address of an action, by protocol.
_ADDRESSES = ("endpoint", "server", "agent_url")
_COMMON = (_required("name"), _required("description"), _required("protocol"))
_ATTRIBUTES: Mapping[str, tuple[_Attribute, ...]] = {
    HTTP: (_required("method"), _required("endpoint"), _optional("params"), _optional("headers")),
    MCP: (_required("server"), _required("tool"), _optional("arguments")),
    A2A: (_required("agent_url"), _required("skill"), _optional("message")),
}


def _problems(raw: Mapping[str, Any], protocol: str) -> Iterator[str]:
    if protocol not in _ATTRIBUTES:
        shown = shorten(protocol, 61)
        yield f"“{shown}” is not an action protocol. NLWeb defines HTTP, MCP and A2A."
    for name, required, error in (*_COMMON, *_ATTRIBUTES.get(protocol, ())):
        if raw.get(name) is None:
            if required and name in _ADDRESSES and raw.get("url") is not None:
                yield f"The action has no {name}; its url is used."
            elif required:
                yield f"The action has no {name}."
        elif found := error(raw[name]):
            yield f"The action’s {name} {found}."
