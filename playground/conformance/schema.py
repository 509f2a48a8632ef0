"""The JSON Schemas as rules use them: compiled once, asked as little as possible.

jsonschema takes some tenths of a millisecond for an item; ten thousand items would take
seconds. Most schemas look at a few members only, so values are sorted by what the schema can
see of them and one of each sort is validated for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from playground.conformance.parts import escaped
from playground.conformance.values import is_integer, named
from playground.protocols import schemas
from playground.protocols.nlweb.versions import RESPONSE_TYPES

_PROTOCOL = "nlweb"


class Deviation(NamedTuple):
    """Where a value departs from a schema, and how to mend it."""

    #: JSON pointer; of a missing member, to where it belongs.
    pointer: str
    message: str


def deviations(version: str, name: str, value: Any) -> list[Deviation]:
    """Where `value` departs from a schema of NLWeb, in the order of its places."""
    found: dict[str, Deviation] = {}
    for error in _validator(version, name).iter_errors(value):
        for deviation in _told(error):
            found.setdefault(deviation.pointer, deviation)
    return sorted(found.values())


@cache
def _validator(version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load(_PROTOCOL, version, name))


@cache
def known(version: str) -> frozenset[str]:
    """The names of a version's schemas."""
    return frozenset(schemas.names(_PROTOCOL, version))


# What jsonschema found, in words


def _told(error: ValidationError) -> Iterator[Deviation]:
    pointer = "".join(f"/{escaped(step)}" for step in error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            for name in wanted:
                if name not in instance:
                    yield Deviation(f"{pointer}/{escaped(name)}", f"Add {name}.")
        case "type":
            kinds = " or ".join(wanted) if isinstance(wanted, list) else wanted
            yield Deviation(pointer, f"This is {named(instance)}. The schema wants: {kinds}.")
        case "const" | "enum":
            listed = wanted if error.validator == "enum" else [wanted]
            choices = ", ".join(json.dumps(choice) for choice in listed)
            yield Deviation(pointer, f"Set this to one of: {choices}.")
        case "minimum" | "maximum":
            yield Deviation(pointer, f"The {error.validator} for this number is {wanted}.")
        case _:
            yield Deviation(pointer, "This has none of the forms that the schema allows.")


# Many values

#: Values of one sort that are validated; see `Sieve`.
MAX_SORTS = 200


class Sieve:
    """A schema for many values: sorts them by all that it can see, and validates one of a sort.

    Where the schema can see too much to sort by, every value is a sort of its own.
    """

    def __init__(self, version: str, name: str) -> None:
        self._version, self._name = version, name
        self._sight = _SIGHTS.get(name, id)
        self._found: dict[object, list[Deviation]] = {}
        #: Whether some values were of more sorts than are validated.
        self.overflowed = False

    def deviations(self, value: Any) -> list[Deviation]:
        """Where a value departs from the schema; nothing once there are too many sorts."""
        sight = self._sight(value)
        found = self._found.get(sight)
        if found is not None:
            return found
        if len(self._found) >= MAX_SORTS:
            self.overflowed = True
            return []
        found = self._found[sight] = deviations(self._version, self._name, value)
        return found


def _kind(value: Any) -> object:
    """What a schema's `type` can see of a value."""
    return int if is_integer(value) else type(value)


def _by_kinds(*names: str, among: Mapping[str, frozenset[str]] | None = None) -> Sight:
    """A sight of objects by the types of these members; of `among`, by the words given."""
    words = among or {}
    seen = frozenset({*names, *words})

    def sight(value: Any) -> object:
        if not isinstance(value, dict):
            return type(value)
        told: list[object] = []
        for name in value.keys() & seen:
            said = value[name]
            plain = isinstance(said, str) and said in words.get(name, ())
            told.append((name, said if plain else _kind(said)))
        return frozenset(told)

    return sight


Sight = Callable[[Any], object]

#: What the schemas can see of a value. A test holds them against the schemas.
_SIGHTS: Mapping[str, Sight] = {
    "response-meta": _by_kinds(
        *("response_format", "version", "session_context", "summary"),
        *("openai/outputTemplate", "openai/widgetAccessible"),
        among={
            "response_type": frozenset({*RESPONSE_TYPES, *(t.capitalize() for t in RESPONSE_TYPES)})
        },
    ),
    # Its actions are judged one by one, and taken out for this.
    "item": _by_kinds("@type", "grounding", "actions"),
    "action": _by_kinds(
        *("@context", "@type", "name", "description", "method", "endpoint", "params", "headers"),
        *("server", "tool", "arguments", "agent_url", "skill", "message"),
        among={"protocol": frozenset({"HTTP", "MCP", "A2A"})},
    ),
    "event-content": _by_kinds("type", "text", "step"),
    "event-end": _by_kinds("message"),
}
