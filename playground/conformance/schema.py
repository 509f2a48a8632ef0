"""The JSON Schemas as rules use them: compiled once, asked as little as possible.

jsonschema takes some tenths of a millisecond for a value; ten thousand actions would take
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

from playground.conformance.values import is_integer, type_with_article
from playground.protocols import schemas
from playground.protocols.json_pointer import escape, pointer_of
from playground.protocols.nlweb.versions import RESPONSE_TYPES

_PROTOCOL = "nlweb"


class SchemaViolation(NamedTuple):
    """Where a value departs from a schema, and how to mend it."""

    #: JSON pointer; of a missing member, to where it belongs.
    pointer: str
    message: str


def schema_violations(version: str, name: str, value: Any) -> list[SchemaViolation]:
    """Where `value` departs from a schema of NLWeb, in the order of its places."""
    found: dict[str, SchemaViolation] = {}
    for error in _validator(version, name).iter_errors(value):
        for deviation in _told(error):
            found.setdefault(deviation.pointer, deviation)
    return sorted(found.values())


@cache
def _validator(version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load(_PROTOCOL, version, name))


def without_lists(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """An object with its arrays of these names emptied."""
    lists: dict[str, list[Any]] = {n: [] for n in names if isinstance(value.get(n), list)}
    return {**value, **lists} if lists else value


@cache
def known(version: str) -> frozenset[str]:
    """The names of a version's schemas."""
    return frozenset(schemas.names(_PROTOCOL, version))


# What jsonschema found, in words


def _told(error: ValidationError) -> Iterator[SchemaViolation]:
    pointer = pointer_of(error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            for name in wanted:
                if name not in instance:
                    yield SchemaViolation(f"{pointer}/{escape(name)}", f"Add {name}.")
        case "type":
            kinds = " or ".join(wanted) if isinstance(wanted, list) else wanted
            yield SchemaViolation(
                pointer, f"This is {type_with_article(instance)}. The schema wants: {kinds}."
            )
        case "const" | "enum":
            listed = wanted if error.validator == "enum" else [wanted]
            choices = ", ".join(json.dumps(choice) for choice in listed)
            yield SchemaViolation(pointer, f"Set this to one of: {choices}.")
        case "minimum" | "maximum":
            yield SchemaViolation(pointer, f"The {error.validator} for this number is {wanted}.")
        case _:
            yield SchemaViolation(pointer, "This has none of the forms that the schema allows.")


# Many values

#: Values of one sort that are validated; see `Sieve`.
MAX_SORTS = 200


class SchemaFilter:
    """A schema for many values: sorts them by all that it can see, and validates one of a sort.

    Where the schema can see too much to sort by, every value is a sort of its own.
    """

    def __init__(self, version: str, name: str) -> None:
        self._version, self._name = version, name
        self._sight = _sight_of(name)
        self._found: dict[object, list[SchemaViolation]] = {}
        #: Whether some values were of more sorts than are validated.
        self.overflowed = False

    def deviations(self, value: Any) -> list[SchemaViolation]:
        """Where a value departs from the schema; nothing once there are too many sorts."""
        sight = self._sight(value)
        found = self._found.get(sight)
        if found is not None:
            return found
        if len(self._found) >= MAX_SORTS:
            self.overflowed = True
            return []
        found = self._found[sight] = schema_violations(self._version, self._name, value)
        return found


def _by_types(*names: str, words: Mapping[str, tuple[str, ...]] | None = None) -> GroupKey:
    """A sight of objects by the types of these members, and by what some of them say.

    `words` are the strings that the schema names for a member: others are all the same to it.
    """
    told = tuple((name, frozenset(said)) for name, said in (words or {}).items())
    seen = frozenset(names)
    #: Objects of one making have the same members: their sight is put together once.
    makings: dict[object, object] = {}

    def sight(value: Any) -> object:
        if type(value) is not dict:
            return type(value)
        making = (tuple(value), tuple(map(type, value.values())))
        if (types := makings.get(making)) is None:
            pairs = zip(*making, strict=True)
            types = makings[making] = frozenset(pair for pair in pairs if pair[0] in seen)
        said = [value.get(name, _MISSING) for name, _ in told]
        plain = zip(said, told, strict=True)
        return (types, *(w if type(w) is str and w in all_ else type(w) for w, (_, all_) in plain))

    return sight


_MISSING = object()

GroupKey = Callable[[Any], object]


def _sight_of(name: str) -> GroupKey:
    """What a schema can see of a value. A test holds them against the schemas."""
    if name == "response-meta":
        words = (*RESPONSE_TYPES, *(kind.capitalize() for kind in RESPONSE_TYPES))
        return _by_types(*_META, words={"response_type": words})
    if name == "action":
        return _by_types(*_ACTION, words={"protocol": ("HTTP", "MCP", "A2A")})
    if name == "event-content":
        types = _by_types("type", "text", "step")
        # To JSON Schema 1.0 is an integer and 1.5 is none.
        return lambda value: (types(value), type(value) is dict and is_integer(value.get("step")))
    return id


_META = (
    *("response_format", "version", "session_context", "summary"),
    *("openai/outputTemplate", "openai/widgetAccessible"),
)
_ACTION = (
    *("@context", "@type", "name", "description", "method", "endpoint", "params", "headers"),
    *("server", "tool", "arguments", "agent_url", "skill", "message"),
)
