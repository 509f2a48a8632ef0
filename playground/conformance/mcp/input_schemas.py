"""Input schemas of tools: which requests they accept, judged with jsonschema.

A schema is what a server sends, so its validation is bounded: its size and nesting, the steps of
a validation, and patterns, which RE2 matches in linear time. No reference is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import attrs
import re2
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from playground.conformance.shape import type_with_article
from playground.protocols.json_pointer import keys_of, resolve

#: The most values in a schema, and levels of nesting.
MAX_VALUES, MAX_DEPTH = 2_000, 100
#: The most steps of all validations with a schema, and of its own: keywords, and elements of their
#: values.
MAX_STEPS = 50_000
#: The most references within one another.
MAX_REFERENCES = 50
#: Characters of a pattern.
MAX_PATTERN = 1_000
#: The most errors of one value that are read.
_MAX_ERRORS = 50
#: References that are followed one after another, and parts that are searched for a property.
_MAX_STEPS_TO_PROPERTY, _MAX_PARTS_SEARCHED = 8, 100

#: Keywords with which `unevaluatedProperties` and `unevaluatedItems` are not checked.
_UNBOUNDED = {"patternProperties", "$dynamicRef", "$recursiveRef", "dependentSchemas"}

Path = tuple[str | int, ...]


class UncheckedError(Exception):
    """The schema cannot be judged; the argument is a sentence with the reason."""


class SchemaPart(NamedTuple):
    """A part of a schema, and what it says."""

    path: Path
    message: str


class SchemaReferenceError(Exception):
    """A reference of the schema that cannot be followed."""

    def __init__(self, part: SchemaPart, *, is_dangling: bool) -> None:
        super().__init__(part.message)
        self.part, self.is_dangling = part, is_dangling


@dataclass
class InputSchema:
    """A schema of a tool. Every method may raise `UncheckedError` or `SchemaReferenceError`."""

    schema: Mapping[str, Any]
    _steps: int = 0
    _references: int = 0
    _paths: dict[int, Path] = field(default_factory=dict)
    _validator: Validator | None = None
    _patterns: dict[str, Any] = field(default_factory=dict)
    #: The keywords in the schema, and other names of members.
    _names: set[str] = field(default_factory=set)

    def invalid_part(self) -> SchemaPart | None:
        """Return the part that is not valid JSON Schema in its dialect, None if all of it is."""
        dialect = self._dialect()
        self._copy()
        # Its references and patterns are known.
        keywords = {**dialect.VALIDATORS, "uniqueItems": self._unique_items}
        meta = self._counting(dialect, keywords)(dialect.META_SCHEMA, registry=Registry())
        error = self._guarded(lambda: best_match(_first(meta.iter_errors(self.schema))))
        self._steps = 0
        if error is None:
            return None
        return SchemaPart(tuple(error.absolute_path), _reason(error))

    def rejection(
        self, value: Any, is_allowed: Callable[[ValidationError], bool] | None = None
    ) -> SchemaPart | None:
        """Return the part that rejects a value, None if the schema accepts it.

        Errors for which `is_allowed` returns true are ignored.
        """
        validator = self._prepared()
        errors = self._guarded(lambda: _first(validator.iter_errors(value)))
        error = best_match(
            each for each in errors if not (is_allowed and _is_excused(each, is_allowed))
        )
        if error is None:
            return None
        return SchemaPart(self._path_of(error), _reason(error))

    def _prepared(self) -> Validator:
        if self._validator is None:
            dialect = self._dialect()
            copy = self._copy()
            self._validator = self._bounded(dialect)(copy, registry=Registry())
        return self._validator

    def _dialect(self) -> type[Validator]:
        """Return the class for `$schema`."""
        if "$schema" not in self.schema:
            return Draft202012Validator
        name = self.schema["$schema"]
        unknown: Any = None
        found = validator_for({"$schema": name}, unknown) if isinstance(name, str) else None
        if found is None:
            raise UncheckedError("Its $schema is not a known dialect of JSON Schema.")
        return found

    def _copy(self) -> dict[str, Any]:
        """Return the schema without `$schema`, which would change the bounded validator.

        Notes the path of every part.
        """
        root: dict[str, Any] = {}
        self._paths.clear()
        pending: list[tuple[Any, Any, Path]] = [(self.schema, root, ())]
        count = 0
        while pending:
            source, target, path = pending.pop()
            self._paths[id(target)] = path
            count += len(source)
            if count > MAX_VALUES:
                raise UncheckedError(f"It has more than {MAX_VALUES:,} values.")
            if len(path) > MAX_DEPTH:
                raise UncheckedError(f"It has more than {MAX_DEPTH} levels.")
            pairs = source.items() if isinstance(source, Mapping) else enumerate(source)
            for key, value in pairs:
                if key == "$schema" and isinstance(value, str):
                    continue
                self._names.add(str(key))
                inner: Any = value
                if isinstance(value, Mapping | list):
                    inner = {} if isinstance(value, Mapping) else []
                    pending.append((value, inner, (*path, key)))
                if isinstance(target, dict):
                    target[key] = inner
                else:
                    target.append(inner)
        return root

    # Bounds

    def _bounded(self, dialect: type[Validator]) -> type[Validator]:
        own = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": self._unique_items,
        }
        keywords = {name: own.get(name, each) for name, each in dialect.VALIDATORS.items()}
        for name in ("$ref", "$dynamicRef", "$recursiveRef"):
            if name in keywords:
                keywords[name] = self._reference(name, keywords[name])
        for name in ("unevaluatedProperties", "unevaluatedItems"):
            if name in keywords:
                keywords[name] = self._unevaluated(name, keywords[name])
        return self._counting(dialect, keywords)

    def _counting(self, dialect: type[Validator], keywords: Mapping[str, Any]) -> type[Validator]:
        """Return the class with these keywords, whose steps are counted."""
        counted = {name: self._counted(each) for name, each in keywords.items()}
        bounded: Any = extend(dialect, counted)  # type: ignore[no-untyped-call]
        # jsonschema's own changes the class where a part has `$schema`, as metaschemas do.
        bounded.evolve = attrs.evolve
        return bounded  # type: ignore[no-any-return]

    def _counted(self, keyword: Any) -> Any:
        def counted(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
            self._take(1 + (len(wanted) // 10 if isinstance(wanted, dict | list) else 0))
            return keyword(validator, wanted, instance, schema)

        return counted

    def _take(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise UncheckedError(f"A validation takes more than {MAX_STEPS:,} steps.")

    def _reference(self, name: str, keyword: Any) -> Any:
        def reference(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
            path = (*self._paths.get(id(schema), ()), name)
            if self._references >= MAX_REFERENCES:
                message = "This reference leads back to itself without end."
                raise SchemaReferenceError(SchemaPart(path, message), is_dangling=False)
            self._references += 1
            try:
                yield from keyword(validator, wanted, instance, schema)
            # Without a target, or with one that is no schema.
            except (Unresolvable, AttributeError, TypeError) as error:
                is_local = str(wanted).startswith("#")
                message = (
                    "This reference leads to no schema."
                    if is_local
                    else "This reference leads out of the schema, and clients do not follow it."
                )
                raise SchemaReferenceError(
                    SchemaPart(path, message), is_dangling=is_local
                ) from error
            finally:
                self._references -= 1

        return reference

    def _guarded(self, run: Callable[[], Any]) -> Any:
        """Call `run` and return its result; jsonschema may raise anything for invalid schemas."""
        self._references = 0
        try:
            return run()
        except (UncheckedError, SchemaReferenceError):
            raise
        except RecursionError:
            raise UncheckedError("A validation nests too deeply.") from None
        except Exception as error:
            raise UncheckedError(f"A validation fails: {type(error).__name__}.") from error

    def _matches(self, pattern: str, text: str) -> bool:
        if pattern not in self._patterns:
            if len(pattern) > MAX_PATTERN:
                raise UncheckedError(f"A pattern is longer than {MAX_PATTERN:,} characters.")
            options = re2.Options()
            options.log_errors = False
            try:
                self._patterns[pattern] = re2.compile(pattern, options)
            except re2.error:
                raise UncheckedError(
                    "A pattern has a construct that can take exponential time."
                ) from None
        return bool(self._patterns[pattern].search(text))

    # Keywords of our own

    def _pattern(self, validator: Any, wanted: str, instance: Any, schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not self._matches(wanted, instance):
            yield ValidationError("pattern")

    def _unique_items(
        self, validator: Any, wanted: Any, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        """Compare by keys: jsonschema compares each element with each other one."""
        if not wanted or not validator.is_type(instance, "array"):
            return
        found = {self._key(each) for each in instance}
        if len(found) < len(instance):
            yield ValidationError("uniqueItems")

    def _key(self, value: Any) -> Any:
        """Return a key that equal JSON values have: 1 and 1.0, but not 1 and true."""
        self._take(1)
        if isinstance(value, Mapping):
            return frozenset((name, self._key(each)) for name, each in value.items())
        if isinstance(value, list):
            return tuple(map(self._key, value))
        return (isinstance(value, bool), value)

    def _pattern_properties(
        self, validator: Any, wanted: Mapping[str, Any], instance: Any, schema: Any
    ) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        for pattern, inner in wanted.items():
            for name, value in instance.items():
                if self._matches(pattern, name):
                    yield from validator.descend(value, inner, path=name, schema_path=pattern)

    def _additional_properties(
        self, validator: Any, wanted: Any, instance: Any, schema: Any
    ) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, value in instance.items():
            if name in named or any(self._matches(pattern, name) for pattern in patterns):
                continue
            if wanted is False:
                yield ValidationError("additionalProperties")
                return
            yield from validator.descend(value, wanted, path=name)

    def _unevaluated(self, name: str, keyword: Any) -> Any:
        """Refuse what jsonschema follows by itself here, past the bounds."""

        def unevaluated(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
            if found := _UNBOUNDED & self._names:
                raise UncheckedError(f"It has {name} and {min(found)}.")
            return keyword(validator, wanted, instance, schema)

        return unevaluated

    def _path_of(self, error: ValidationError) -> Path:
        """Return the path of the keyword that an error is about."""
        path = self._paths.get(id(error.schema))
        if path is not None and error.validator:
            return (*path, str(error.validator))
        return tuple(error.absolute_schema_path)


def _first(errors: Iterator[ValidationError]) -> list[ValidationError]:
    return list(islice(errors, _MAX_ERRORS))


def _is_excused(error: ValidationError, is_allowed: Callable[[ValidationError], bool]) -> bool:
    """Return whether an error, or each error in one of its branches, is allowed."""
    if is_allowed(error):
        return True
    branches: dict[Any, list[ValidationError]] = {}
    for each in error.context or ():
        branches.setdefault(each.schema_path[0] if each.schema_path else None, []).append(each)
    return any(
        all(_is_excused(each, is_allowed) for each in branch) for branch in branches.values()
    )


def _reason(error: ValidationError) -> str:
    """Return an error as the end of a sentence about the schema."""
    wanted: Any = error.validator_value
    instance: Any = error.instance
    at = ".".join(map(str, error.absolute_path)) or "the request"
    match error.validator:
        case "required" if isinstance(wanted, list):
            missing = [name for name in wanted if name not in instance]
            return f"it requires {', '.join(map(str, missing))[:80]}"
        case "type":
            kinds = " or ".join(wanted) if isinstance(wanted, list) else wanted
            return f"{at} is {type_with_article(instance)}, and it requires: {kinds}"
        case None | "additionalProperties" | "unevaluatedProperties":
            return f"it does not allow other members in {at}"
        case keyword:
            return f"{keyword} does not allow {at}"


# Parts by the name of a property


def find_property(schema: Any, names: Sequence[str]) -> tuple[Path, bool]:
    """Return the path of the schema of a nested property, and whether there is one.

    Without one, it is the path where it belongs.
    """
    path: Path = ()
    part = schema
    for name in names:
        found = _property(schema, path, part, name, set())
        if found is None:
            path, _ = _followed(schema, path, part)
            return (*path, "properties", name), False
        path, part = found
    path, _ = _followed(schema, path, part)
    return path, True


def _property(
    root: Any, path: Path, part: Any, name: str, seen: set[int]
) -> tuple[Path, Any] | None:
    """Search a part, its references and its branches; `seen` has the parts that were searched."""
    path, part = _followed(root, path, part)
    if not isinstance(part, Mapping) or id(part) in seen or len(seen) >= _MAX_PARTS_SEARCHED:
        return None
    seen.add(id(part))
    properties = part.get("properties")
    if isinstance(properties, Mapping) and name in properties:
        return (*path, "properties", name), properties[name]
    for choice in ("anyOf", "oneOf", "allOf"):
        listed = part.get(choice)
        for at, each in enumerate(listed if isinstance(listed, list) else ()):
            if found := _property(root, (*path, choice, at), each, name, seen):
                return found
    return None


def _followed(root: Any, path: Path, part: Any) -> tuple[Path, Any]:
    """Return a part of a schema, its reference into `root` resolved if it has one."""
    for _ in range(_MAX_STEPS_TO_PROPERTY):
        reference = part.get("$ref") if isinstance(part, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        try:
            part = resolve(root, reference[1:])
        except LookupError:
            break
        path = tuple(keys_of(reference[1:]))
    return path, part
