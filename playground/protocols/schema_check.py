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

A request has no limit of its own, so a validation has: the members of the first `MAX_VALUES`
values are checked, and of the entries of every array only what each one is; at most `MAX_ALIKE`
problems are found with the entries of one array or with the unknown members of one object, and at
most `MAX_PROBLEMS` warnings are returned.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

from playground.protocols import schemas
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape, resolve

Schema = Mapping[str, Any]

#: Most values of a document whose members are checked.
MAX_VALUES = 20_000
#: Most problems with the entries of one array, or with unknown members of one object.
MAX_ALIKE = 20
#: Most warnings about a document; errors are returned all the same.
MAX_PROBLEMS = 200

_ANYTHING: Schema = {}
#: The sentence and the level of a problem.
_Words = tuple[str, str]
#: A test of a value, with the sentence for one that fails it.
_Test = tuple[Callable[[Any], bool], _Words]


@cache
def load(protocol: str, version: str, name: str) -> Checker:
    """Return what checks values by a schema. Raises like `schemas.load`."""
    return compiled(schemas.load(protocol, version, name))


def compiled(schema: Schema, name: str = "The request") -> Checker:
    """Return what checks values by a schema that is complete in itself.

    `name` begins the sentences about the value.
    """
    return Checker(schema, schema, name, {})


def problems(document: Any, checker: Checker) -> list[RequestProblem]:
    """Return the problems of a document, the first at each location.

    Their order is that of the schema; problems in the entries of an array come after all others.
    Any JSON value can be checked.
    """
    validation = Validation()
    validation.check(document, checker)
    return validation.problems


def holds(condition: Schema, value: Any) -> bool:
    """Return whether a value satisfies the condition of an `if`, which has no references."""
    return compiled(condition).accepts(value)


class Validation:
    """The problems of one document, whose parts can be checked by schemas of their own."""

    def __init__(self) -> None:
        self.problems: list[RequestProblem] = []
        self._pointers: set[str] = set()
        self._values = 0
        #: Arrays whose entries wait until all that is outside of arrays has been checked.
        self._arrays: deque[tuple[list[Any], Checker, str]] = deque()

    @property
    def values_left(self) -> int:
        """Return how many more values are checked."""
        return max(MAX_VALUES - self._values, 0)

    def check(self, value: Any, checker: Checker, pointer: str = "") -> None:
        """Find the problems of the value at a JSON Pointer, the first at each location."""
        self._check(value, checker, pointer)
        while self._arrays:
            entries, checker, pointer = self._arrays.popleft()
            for number, entry in enumerate(entries):
                if not self.values_left:
                    return
                self._check_inside(entry, checker, f"{pointer}/{number}")

    def report(self, pointer: str, message: str, level: str = "warning") -> None:
        """Add a problem; no warning if there are too many problems."""
        if level == "error" or len(self.problems) < MAX_PROBLEMS:
            self.problems.append(RequestProblem(pointer, message, level))

    def _found(self, pointer: str, words: _Words) -> None:
        if pointer not in self._pointers:
            self._pointers.add(pointer)
            self.report(pointer, *words)

    def _check(self, value: Any, checker: Checker, pointer: str) -> None:
        if problem := checker.problem(value):
            self._found(pointer, problem)
        self._check_inside(value, checker, pointer)

    def _check_inside(self, value: Any, checker: Checker, pointer: str) -> None:
        """Check what a value contains, and what it must be besides in its case."""
        self._values += 1
        if isinstance(value, Mapping):
            for name, token, member, absent in checker.members:
                if name in value:
                    self._check(value[name], member, pointer + token)
                elif absent:
                    self._found(pointer + token, absent)
            for name, message in islice(checker.unknown_members(value), MAX_ALIKE):
                self._found(f"{pointer}/{escape(name)}", (message, "warning"))
        elif checker.items and isinstance(value, list):
            for number, problem in islice(checker.items.problems_of(value), MAX_ALIKE):
                self._found(f"{pointer}/{number}", problem)
            if checker.items.looks_inside:
                self._arrays.append((value, checker.items, pointer))
        for part in checker.applying(value):
            self._check(value, part, pointer)


class Checker:
    """A schema made ready: its references followed, and its sentences put together."""

    def __init__(
        self, schema: Schema, root: Schema, name: str, made: dict[tuple[int, str], Checker]
    ) -> None:
        made[id(schema), name] = self

        def checker(inner: Schema, name: str) -> Checker:
            return made.get((id(inner), name)) or Checker(inner, root, name, made)

        schema = resolved(schema, root)
        self._tests = tuple(_tests(schema, name))
        types = _types(schema)
        #: The type in Python of which every value is right, if its type is all that is tested.
        self._right = (
            {_PYTHON_TYPES.get(types[0])} if len(types) == len(self._tests) == 1 else set()
        )
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required: Sequence[str] = schema.get("required", ())
        #: Name, reference token and checker of each member, and the problem without it, if any.
        self.members = tuple(
            (
                member,
                f"/{escape(member)}",
                checker(properties.get(member, _ANYTHING), member),
                _absence(resolved(properties.get(member, _ANYTHING), root), member, required),
            )
            for member in dict.fromkeys((*properties, *required))
        )
        self._known = properties
        self._closed: str = schema.get("x-closed", "")
        self.items = (
            checker(schema["items"], f"Each entry of {name}") if "items" in schema else None
        )
        self._always = tuple(checker(part, name) for part in schema.get("allOf", ()))
        self._if = checker(schema["if"], name) if "then" in schema else None
        self._then = (checker(schema["then"], name),) if "then" in schema else ()

    @property
    def looks_inside(self) -> bool:
        """Return whether there is more to check than what a value itself is."""
        return bool(self.members or self._closed or self.items or self._always or self._then)

    def problem(self, value: Any) -> _Words | None:
        """Return the first problem with a value itself, whatever it contains."""
        for is_right, words in self._tests:
            if not is_right(value):
                return words
        return None

    def problems_of(self, entries: list[Any]) -> Iterator[tuple[int, _Words]]:
        """Yield the number of each entry with a problem of its own, and the problem."""
        if self._right.issuperset(map(type, entries)):
            return
        for number, entry in enumerate(entries):
            if problem := self.problem(entry):
                yield number, problem

    def unknown_members(self, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the name of each member that must not be there, and the sentence about it."""
        if self._closed:
            for name in value:
                if name not in self._known:
                    yield name, self._closed.replace("{name}", name)

    def applying(self, value: Any) -> Iterable[Checker]:
        """Yield what else checks a value, by `allOf` and `then`."""
        if self._if and self._if.accepts(value):
            return (*self._always, *self._then)
        return self._always

    def accepts(self, value: Any) -> bool:
        """Return whether a value has no problem; for small schemas, as there is no limit."""
        if self.problem(value):
            return False
        if isinstance(value, Mapping):
            for name, _, member, absent in self.members:
                if absent if name not in value else not member.accepts(value[name]):
                    return False
            if any(self.unknown_members(value)):
                return False
        elif self.items and isinstance(value, list) and not all(map(self.items.accepts, value)):
            return False
        return all(part.accepts(value) for part in self.applying(value))


def resolved(schema: Schema, root: Schema) -> Schema:
    """Return a schema with the keywords of the one that it refers to, its own first."""
    if "$ref" not in schema:
        return schema
    own = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return {**resolve(root, schema["$ref"].removeprefix("#")), **own}


def _tests(schema: Schema, name: str) -> Iterator[_Test]:
    """Yield the tests of a value itself; what a later one tests, an earlier one may presume."""
    level = "error" if schema.get("x-essential") else "warning"
    missing = schema.get("x-missing", f"{name} must not be empty."), level
    unexpected = f"{name} must be {expected(schema)}."
    if "x-missing" in schema:
        yield lambda value: value is not None, missing
    if types := tuple(_TYPES[each][1] for each in _types(schema)):
        test = types[0] if len(types) == 1 else lambda value: any(each(value) for each in types)
        yield test, (unexpected, level)
    if not {"x-missing", "pattern", "minLength", "minItems"}.isdisjoint(schema):
        yield lambda value: not _is_empty(value, schema), missing
    if choices := _choices(schema):
        yield lambda value: value in choices, (unexpected, "warning")
    if not {"minimum", "maximum"}.isdisjoint(schema):
        yield lambda value: _is_in_range(value, schema), (unexpected, "warning")
    if "x-listed" in schema:
        values, additions = schema["x-values"], schema.get("x-additions", ())
        listed = ", ".join(each for each in values if each not in additions)
        yield (
            lambda value: not isinstance(value, str) or value in values,
            (schema["x-listed"].replace("{values}", listed), "warning"),
        )


def _absence(member: Schema, name: str, required: Sequence[str]) -> _Words | None:
    if name not in required and "x-missing" not in member:
        return None
    level = "error" if member.get("x-essential") else "warning"
    return member.get("x-missing", f"{name} is required."), level


# The keywords of one value


def _types(schema: Schema) -> Sequence[str]:
    types: str | list[str] = schema.get("type", [])
    return [types] if isinstance(types, str) else types


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
#: Of the types of which a request has many values: the type in Python, to test them at once.
_PYTHON_TYPES: Mapping[str, type] = {"string": str, "object": dict}


def _is_empty(value: Any, schema: Schema) -> bool:
    """Return whether a string is blank or too short, or an array too short."""
    if isinstance(value, str):
        must_not_be_blank = "x-missing" in schema or "pattern" in schema
        is_blank = must_not_be_blank and not value.strip()
        return is_blank or len(value) < schema.get("minLength", 0)
    return isinstance(value, list) and len(value) < schema.get("minItems", 0)


def _is_in_range(value: Any, schema: Schema) -> bool:
    if not _is_number(value):
        return True
    is_enough = "minimum" not in schema or value >= schema["minimum"]
    return bool(is_enough and ("maximum" not in schema or value <= schema["maximum"]))


def _choices(schema: Schema) -> Sequence[Any]:
    """Return the values of `enum` or `const`, which are strings."""
    choices: Sequence[Any] = schema.get("enum", [])
    return [schema["const"]] if "const" in schema else choices


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
