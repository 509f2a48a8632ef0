"""Validation with the JSON Schemas of NLWeb: compiled once, run as rarely as possible.

jsonschema takes some tenths of a millisecond for a value; ten thousand actions would take
seconds. Most schemas depend on a few members only, so values are grouped by what the schema
depends on, and one of each group is validated for all.
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
    """The location of a value that violates a schema, and how to fix it."""

    #: JSON pointer; for a missing member, the location where it belongs.
    pointer: str
    message: str


def schema_violations(version: str, name: str, value: Any) -> list[SchemaViolation]:
    """Return the violations of a schema of NLWeb in `value`, in the order of their locations."""
    found: dict[str, SchemaViolation] = {}
    for error in _validator(version, name).iter_errors(value):
        for violation in _violations_of(error):
            found.setdefault(violation.pointer, violation)
    return sorted(found.values())


@cache
def _validator(version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load_constraints(_PROTOCOL, version, name))


def without_lists(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return an object with its arrays of these names emptied."""
    lists: dict[str, list[Any]] = {n: [] for n in names if isinstance(value.get(n), list)}
    return {**value, **lists} if lists else value


@cache
def schema_names(version: str) -> frozenset[str]:
    return frozenset(schemas.names(_PROTOCOL, version))


# Errors of jsonschema as text


def _violations_of(error: ValidationError) -> Iterator[SchemaViolation]:
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
                pointer, f"This is {type_with_article(instance)}; the schema requires: {kinds}."
            )
        case "const" | "enum":
            listed = wanted if error.validator == "enum" else [wanted]
            choices = ", ".join(json.dumps(choice) for choice in listed)
            yield SchemaViolation(pointer, f"Set this to one of: {choices}.")
        case "minimum" | "maximum":
            yield SchemaViolation(pointer, f"The {error.validator} for this number is {wanted}.")
        case _:
            yield SchemaViolation(pointer, "This matches none of the forms that the schema allows.")


# Many values

#: The most groups of values that are validated; see `SchemaFilter`.
MAX_GROUPS = 200


class SchemaFilter:
    """Validates many values against a schema: groups them, and validates one of each group.

    For a schema that depends on too much to group by, every value is a group of its own.
    """

    def __init__(self, version: str, name: str) -> None:
        self._version, self._name = version, name
        self._group_key = _group_key_of(name)
        self._found: dict[object, list[SchemaViolation]] = {}
        #: Whether there were more groups than are validated.
        self.overflowed = False

    def violations(self, value: Any) -> list[SchemaViolation]:
        """Return the violations in a value; none once there are too many groups."""
        group_key = self._group_key(value)
        found = self._found.get(group_key)
        if found is not None:
            return found
        if len(self._found) >= MAX_GROUPS:
            self.overflowed = True
            return []
        found = self._found[group_key] = schema_violations(self._version, self._name, value)
        return found


def _by_types(*names: str, words: Mapping[str, tuple[str, ...]] | None = None) -> GroupKey:
    """Return a group key for objects: the types of these members, and some of their values.

    `words` are the strings that the schema lists for a member; other strings are equal to it.
    """
    listed_values = tuple((name, frozenset(values)) for name, values in (words or {}).items())
    members = frozenset(names)
    #: Cached keys by member names and types, because similar objects have the same.
    keys_by_shape: dict[object, object] = {}

    def group_key(value: Any) -> object:
        if type(value) is not dict:
            return type(value)
        shape = (tuple(value), tuple(map(type, value.values())))
        if (types := keys_by_shape.get(shape)) is None:
            pairs = zip(*shape, strict=True)
            types = keys_by_shape[shape] = frozenset(pair for pair in pairs if pair[0] in members)
        values = [value.get(name, _MISSING) for name, _ in listed_values]
        plain = zip(values, listed_values, strict=True)
        return (types, *(w if type(w) is str and w in all_ else type(w) for w, (_, all_) in plain))

    return group_key


_MISSING = object()

GroupKey = Callable[[Any], object]


def _group_key_of(name: str) -> GroupKey:
    """Return a key of everything that a schema depends on. A test compares it with the schemas."""
    if name == "response-meta":
        words = (*RESPONSE_TYPES, *(kind.capitalize() for kind in RESPONSE_TYPES))
        return _by_types(*_META, words={"response_type": words})
    if name == "action":
        return _by_types(*_ACTION, words={"protocol": ("HTTP", "MCP", "A2A")})
    if name == "event-content":
        types = _by_types("type", "text", "step")
        # In JSON Schema 1.0 is an integer and 1.5 is not.
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
