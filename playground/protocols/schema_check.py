"""Validate a request with the JSON Schema that explains it.

The problems of jsonschema are about a schema; these are sentences about a request, each with a
level. The keywords of the validation vocabulary are those that the schemas of requests use (a test
compares); a `pattern` is always that of a text which is not blank. These annotations add the words
and the level:

===============  =================================================================
`x-missing`      the problem when the member is absent, null, blank or too short, as a sentence;
                 with it, a member is missed even if it is not `required`
`x-expected`     the value that is expected, if that does not follow from the schema: "a date"
`x-listed`       the problem with a string that is not one of the `x-values`, as a sentence;
                 `{values}` in it are those that are not `x-additions`
`x-closed`       the problem with a member that `properties` does not have, as a sentence with
                 `{name}` for the member
`x-essential`    true: without this value, of this type, no agent could handle the request
===============  =================================================================

Absence, emptiness and type of an essential value are errors; every other problem is a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape, resolve

Schema = Mapping[str, Any]

#: Most entries of an array that are checked: a request has no limit of its own.
MAX_ENTRIES = 1_000


def problems(document: Any, schema: Schema) -> list[RequestProblem]:
    """Return the problems of a document, the first at each location, in the order of the schema.

    `schema` is complete in itself, as `schemas.load` returns it. Any JSON value can be checked.
    """
    found: dict[str, RequestProblem] = {}
    for problem in _problems(document, schema, schema, "", "The request"):
        found.setdefault(problem.pointer, problem)
    return list(found.values())


def holds(condition: Schema, value: Any) -> bool:
    """Return whether a value satisfies the condition of an `if`, which has no references."""
    return next(_problems(value, condition, condition, "", ""), None) is None


def _problems(
    value: Any, schema: Schema, root: Schema, pointer: str, name: str
) -> Iterator[RequestProblem]:
    schema = resolved(schema, root)
    yield from _problem_here(value, schema, pointer, name)
    if isinstance(value, Mapping):
        yield from _problems_of_members(value, schema, root, pointer)
    elif isinstance(value, list) and "items" in schema:
        for number, entry in enumerate(value[:MAX_ENTRIES]):
            yield from _problems(entry, schema["items"], root, f"{pointer}/{number}", "This")
    for part in schema.get("allOf", ()):
        yield from _problems(value, part, root, pointer, name)
    if "then" in schema and holds(schema["if"], value):
        yield from _problems(value, schema["then"], root, pointer, name)


def _problems_of_members(
    value: Mapping[str, Any], schema: Schema, root: Schema, pointer: str
) -> Iterator[RequestProblem]:
    members: Mapping[str, Schema] = schema.get("properties", {})
    required: Sequence[str] = schema.get("required", ())
    for name in dict.fromkeys((*members, *required)):
        member = resolved(members.get(name, {}), root)
        where = f"{pointer}/{escape(name)}"
        if name in value:
            yield from _problems(value[name], member, root, where, name)
        elif name in required or "x-missing" in member:
            yield _missing(member, where, f"{name} is required.")
    if closed := schema.get("x-closed"):
        for name in value:
            if name not in members:
                message = closed.replace("{name}", name)
                yield RequestProblem(f"{pointer}/{escape(name)}", message)


def _problem_here(value: Any, schema: Schema, pointer: str, name: str) -> Iterator[RequestProblem]:
    """Yield the first problem with a value itself, whatever its members and entries are."""
    if value is None and "x-missing" in schema:
        yield _missing(schema, pointer)
    elif not _has_type(value, schema):
        yield RequestProblem(pointer, f"{name} must be {expected(schema)}.", _level(schema))
    elif _is_empty(value, schema):
        yield _missing(schema, pointer, f"{name} must not be empty.")
    elif not _is_allowed(value, schema):
        yield RequestProblem(pointer, f"{name} must be {expected(schema)}.")
    elif isinstance(value, str) and "x-listed" in schema and value not in schema["x-values"]:
        additions = schema.get("x-additions", ())
        listed = ", ".join(each for each in schema["x-values"] if each not in additions)
        yield RequestProblem(pointer, schema["x-listed"].replace("{values}", listed))


def _missing(schema: Schema, pointer: str, otherwise: str = "") -> RequestProblem:
    return RequestProblem(pointer, schema.get("x-missing", otherwise), _level(schema))


def _level(schema: Schema) -> str:
    return "error" if schema.get("x-essential") else "warning"


def resolved(schema: Schema, root: Schema) -> Schema:
    """Return a schema with the keywords of the one that it refers to, its own first."""
    if "$ref" not in schema:
        return schema
    own = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**resolve(root, schema["$ref"].removeprefix("#")), **own}


# The keywords of one value


def _types(schema: Schema) -> Sequence[str]:
    types: str | list[str] = schema.get("type", [])
    return [types] if isinstance(types, str) else types


def _has_type(value: Any, schema: Schema) -> bool:
    types = _types(schema)
    return not types or any(_TYPES[name][1](value) for name in types)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: Any) -> bool:
    """Return whether a value is an integer; 1.0 is one, as JSON has one number type."""
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


#: What a value of each type is called, and whether a value is one.
_TYPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "string": ("a string", lambda value: isinstance(value, str)),
    "number": ("a number", _is_number),
    "integer": ("an integer", _is_integer),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "object": ("a JSON object", lambda value: isinstance(value, Mapping)),
    "array": ("an array", lambda value: isinstance(value, list)),
    "null": ("null", lambda value: value is None),
}


def _is_empty(value: Any, schema: Schema) -> bool:
    """Return whether a string is blank or too short, or an array too short."""
    if isinstance(value, str):
        must_not_be_blank = "x-missing" in schema or "pattern" in schema
        is_blank = must_not_be_blank and not value.strip()
        return is_blank or len(value) < schema.get("minLength", 0)
    return isinstance(value, list) and len(value) < schema.get("minItems", 0)


def _choices(schema: Schema) -> Sequence[Any]:
    choices: Sequence[Any] = schema.get("enum", [])
    return [schema["const"]] if "const" in schema else choices


def _is_allowed(value: Any, schema: Schema) -> bool:
    """Return whether a value is one of the choices, which are strings, and in the range."""
    choices = _choices(schema)
    if choices and value not in choices:
        return False
    low, high = schema.get("minimum", value), schema.get("maximum", value)
    return not _is_number(value) or bool(low <= value <= high)


def expected(schema: Schema) -> str:
    """Return the words for the values that fit: "a number from 0 to 2"."""
    if "x-expected" in schema:
        return str(schema["x-expected"])
    if choices := _choices(schema):
        return " or ".join(map(str, choices))
    words = [_TYPES[name][0] for name in _types(schema) if name != "null"]
    if schema.get("items", {}).get("type") == "string":
        words = [f"{word} of strings" if word == "an array" else word for word in words]
    return " or ".join(words) + _range(schema)


def _range(schema: Schema) -> str:
    if "minimum" not in schema:
        return ""
    low = f"{schema['minimum']:g}"
    return f" from {low} to {schema['maximum']:g}" if "maximum" in schema else f" of at least {low}"
