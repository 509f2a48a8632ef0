"""Parser of collection files: from bytes to text to a fixture, with the location of every problem.

Django's `loaddata` would take any model and raise at the first problem. Here one collection, its
folders and its requests are read, each field is validated, and all problems are reported at once.
Nothing is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from django.conf import settings

from playground.base import credentials
from playground.base.fields import JsonInputError, parse_json_value
from playground.collections.fixture import (
    COLLECTION,
    FIELDS,
    FOLDER,
    REQUEST,
    Fields,
    Fixture,
    FixtureError,
    FixtureProblem,
    SlugAllocator,
    schema_errors,
)
from playground.collections.recordings import validate_recording
from playground.expectations import check_captures, check_schema
from playground.expectations.schema import MAX_EXPECTATIONS
from playground.lesson_format.lesson import lesson_problems, requests_of
from playground.lesson_format.schema_errors import Finding, json_type_name, pointer_token
from playground.models import Agent, SavedRequest
from playground.models.collections import RESERVED, STEP
from playground.models.columns import storable
from playground.protocols import headers as header_rules
from playground.protocols import raw, registry
from playground.protocols.exchange import RequestProblem
from playground.variables.names import PLACEHOLDER, is_name

#: Fields that `dumpdata` writes and the playground sets itself; earlier versions had stored bytes.
_OF_EVERY_MODEL = frozenset(
    {
        "owner",
        "created_at",
        "modified_at",
        "deleted_at",
        "file_digest",
        "recorded_run",
        "stored_bytes",
    }
)
_DERIVED = dict.fromkeys(FIELDS, _OF_EVERY_MODEL) | {COLLECTION: _OF_EVERY_MODEL | {"position"}}

#: Fields of a request with defaults that an export writes nevertheless.
_DEFAULTED = {"protocol", "binding", "version"}

#: Fallbacks of slugs that are made from names, and slugs that they cannot be.
_SLUGS = {
    COLLECTION: ("collection", RESERVED),
    FOLDER: ("folder", frozenset()),
    REQUEST: ("request", frozenset()),
}

#: Limits on the characters of a file, and on its items.
MAX_CHARACTERS = 32 * 1024 * 1024
MAX_ITEMS = 20_000

#: Limit on the bytes of a file.
MAX_BYTES = MAX_CHARACTERS

#: Number of problems after which parsing stops.
MAX_PROBLEMS = 50

#: Nesting of a request's document in its file: list, item, fields.
_WRAPPER_DEPTH = 3

#: First bytes of common files that are not text, and their names.
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive. Unpack it, and import the file in it"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file. Unpack it first"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe|\xfe\xff|.?\0", "UTF-16 text. Save it as UTF-8"),
)

#: Functions that remove literal credentials from a field of a request.
_CLEANERS: Mapping[str, Callable[[Any], Any]] = {
    "headers": credentials.clean_headers,
    "address": credentials.clean_url_template,
}
_CREDENTIAL_REMOVED = "A credential was removed. Use a {{name}} placeholder of a secret instead."


def decode_file(data: bytes) -> str:
    """Return the text of a file. Raise `FixtureError` if it is too large, or not UTF-8 text."""
    if len(data) > MAX_BYTES:
        limit = MAX_BYTES // 1024 // 1024
        raise FixtureError(f"The file is larger than {limit} MB.")
    for signature, name in _SIGNATURES:
        if re.match(signature, data, re.DOTALL):
            raise FixtureError(f"Not a text file: this is {name}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "Not UTF-8 text: the file is binary or has another encoding."
        raise FixtureError(FixtureProblem(f"Byte {error.start + 1:,}", message)) from None


def decode_json(text: str) -> Any:
    """Return the JSON value of a file. Raise `FixtureError` with the location if it is not JSON."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise FixtureError("The file is empty.")
    max_depth = settings.RUN_LIMITS.max_depth
    try:
        return parse_json_value(text, max_depth + _WRAPPER_DEPTH)
    except JsonInputError as error:
        reasons = {
            "deep": f"Nested too deeply. The limit for a document is {max_depth} levels.",
            "unfinished": "Unexpected end of file: the JSON is incomplete.",
            "syntax": f"Invalid JSON: {error.reason}",
        }
        reason = reasons.get(str(error.code), error.reason)
        raise FixtureError(FixtureProblem(error.location, reason)) from None


def parse_fixture(text: str) -> Fixture:
    """Return the collection that a file holds.

    Raise `FixtureError` with the problems and their locations. Literal credentials are left out,
    and the fixture's remarks say so.
    """
    if len(text) > MAX_CHARACTERS:
        limit = MAX_CHARACTERS // 1024 // 1024
        raise FixtureError(f"The file is longer than {limit} million characters.")
    items = decode_json(text)
    if not isinstance(items, list):
        raise FixtureError("A fixture must be a JSON array of items, each with a model and fields.")
    if len(items) > MAX_ITEMS:
        message = f"The file has {len(items):,} items. The limit is {MAX_ITEMS:,}."
        raise FixtureError(message)
    reader = FixtureReader(complete_items(items))
    problems: list[FixtureProblem] = []
    for problem in reader.read(items):
        problems.append(problem)
        if len(problems) == MAX_PROBLEMS:
            problems.append(FixtureProblem("", "Only the first problems are listed."))
            break
    if problems:
        raise FixtureError(*problems)
    return reader.fixture().ordered()


def complete_items(items: Sequence[Any]) -> Sequence[FixtureProblem]:
    """Change items that `loaddata` accepts, or `dumpdata` writes, to those of an export.

    Defaults and slugs are filled in, references by primary key become natural keys, and fields that
    the playground derives are removed. Return remarks on the latter.
    """
    blank, removed = SavedRequest(), set[str]()
    #: Natural keys of items, by model and primary key.
    keys: dict[tuple[str, Any], list[str]] = {}
    for model, (fallback, reserved) in _SLUGS.items():
        objects = (each for each in items if isinstance(each, dict) and each.get("model") == model)
        found = [each for each in objects if isinstance(each.get("fields"), dict)]
        own = (each["fields"].get("slug") for each in found)
        allocator = SlugAllocator(fallback, reserved.union(s for s in own if isinstance(s, str)))
        for item in found:
            fields, primary_key = item["fields"], item.pop("pk", None)
            if fields.get("slug", "") == "":
                name = fields.get("name")
                fields["slug"] = allocator.free(name if isinstance(name, str) else "")
            for name, target in (("collection", COLLECTION), ("folder", FOLDER)):
                if type(fields.get(name)) is int and (target, fields[name]) in keys:
                    fields[name] = keys[target, fields[name]]
            if model == REQUEST:
                for name in _DEFAULTED - fields.keys():
                    fields[name] = str(getattr(blank, name))
                fields.setdefault("document", {})
            if type(primary_key) is int:
                of = fields.get("collection", [])
                keys[model, primary_key] = [*(of if isinstance(of, list) else []), fields["slug"]]
            removed |= _DERIVED[model] & fields.keys() | ({"pk"} if primary_key else set())
            for name in _DERIVED[model]:
                fields.pop(name, None)
    names = ", ".join(sorted(removed))
    message = f"Ignored what the playground sets itself: {names}."
    return [FixtureProblem("", message)] if removed else []


class FixtureReader:
    """Reader of the items of one file."""

    def __init__(self, remarks: Sequence[FixtureProblem]) -> None:
        self._slug: str | None = None
        self._collection: Fields | None = None
        self._folders: dict[str, Fields] = {}
        self._requests: dict[str, Fields] = {}
        #: Location and slug of each reference to a folder: the folder may come later in the file.
        self._folder_references: list[tuple[str, str]] = []
        #: Location and slug of each reference of the lesson to a request.
        self._request_references: list[tuple[str, str]] = []
        self._remarks = [*remarks]

    def fixture(self) -> Fixture:
        """Return the fixture, once `read` has finished without a problem."""
        remarks = tuple(self._remarks)
        assert self._slug is not None
        assert self._collection is not None
        return Fixture(self._slug, self._collection, self._folders, self._requests, remarks)

    def read(self, items: Sequence[Any]) -> Iterator[FixtureProblem]:
        has_problems = False
        for number, item in enumerate(items, 1):
            for problem in self._read_item(f"Item {number:,}", item):
                has_problems = True
                yield problem
        if not has_problems:  # Otherwise a rejected item would be reported again as missing.
            yield from self._check_references()

    def _check_references(self) -> Iterator[FixtureProblem]:
        if self._collection is None:
            message = f"The file contains no collection (no item of model {COLLECTION})."
            yield FixtureProblem("", message)
        for location, folder in self._folder_references:
            if folder not in self._folders:
                yield FixtureProblem(location, f"The file contains no folder “{folder}”.")
        for location, request in self._request_references:
            if request not in self._requests:
                yield FixtureProblem(location, f"The file contains no request “{request[:130]}”.")

    def _read_item(self, location: str, item: Any) -> Iterator[FixtureProblem]:
        if not isinstance(item, dict):
            message = f"An item must be an object, not {json_type_name(item)}."
            yield FixtureProblem(location, message)
            return
        model = item.get("model")
        if not isinstance(model, str) or model not in FIELDS:
            shown = f"“{model[:60]}”" if isinstance(model, str) else json_type_name(model)
            yield FixtureProblem(
                location,
                f"The model is {shown}. It must be one of {', '.join(FIELDS)}. Load other models "
                "with loaddata.",
            )
            return
        location = f"{location}, {model}"
        for pointer, message in self._findings(location, model, item):
            yield FixtureProblem(f"{location}, {pointer}" if pointer else location, message)

    def _findings(self, location: str, model: str, item: Mapping[str, Any]) -> Iterator[Finding]:
        for name in sorted(item.keys() - {"model", "fields"}):
            message = "Unknown member. An item has only “model” and “fields”."
            yield f"/{pointer_token(name)}", message
        fields = item.get("fields")
        if not isinstance(fields, dict):
            yield "/fields", f"Must be an object, not {json_type_name(fields)}."
            return
        found = [(f"/fields{at}", message) for at, message in validate_item(model, fields)]
        yield from found
        if not found:
            values = {**FIELDS[model], **fields}
            store = self._store_collection if model == COLLECTION else self._store_part
            yield from store(location, model, values)

    def _store_collection(self, location: str, _: str, values: Fields) -> Iterator[Finding]:
        """Store a collection whose fields are valid, if it is that of the other items."""
        if self._collection is not None:
            yield (
                "",
                "The file contains a second collection. Only one per file is supported: "
                "load several with loaddata.",
            )
        elif self._slug not in {None, values["slug"]}:
            yield "", f"The items before this one belong to “{self._slug}”."
        else:
            self._slug, self._collection = values["slug"], values
            at = f"{location}, /fields/lesson"
            references = requests_of(values["lesson"])
            self._request_references += [(f"{at}{to}", name) for to, name in references]

    def _store_part(self, location: str, model: str, values: dict[str, Any]) -> Iterator[Finding]:
        """Store a folder or a request whose fields are valid, if it fits the other items."""
        slug, key = values["slug"], values.pop("collection")
        if not _is_natural_key(key, 1):
            yield "/fields/collection", "Must be an array with the slug of the collection."
        elif self._slug not in (None, key[0]):
            message = f"The file contains the collection “{self._slug}”, not “{key[0]}”."
            yield "/fields/collection", message
        else:
            self._slug = key[0]
        siblings = self._folders if model == FOLDER else self._requests
        if slug in siblings:
            yield "/fields/slug", f"Duplicate slug: an earlier item also uses “{slug}”."
            return
        if values["position"] is ...:
            values["position"] = STEP * (len(siblings) + 1)
        if model == REQUEST:
            yield from self._check_request(location, values)
        siblings[slug] = values

    def _check_request(self, location: str, values: dict[str, Any]) -> Iterator[Finding]:
        """Check the references of a request, and remove literal credentials."""
        key = values["folder"]
        if key is not None:
            if not _is_natural_key(key, 2) or key[0] != self._slug:
                message = (
                    "Must be null, or an array: the slug of the collection and the slug of "
                    "the folder."
                )
                yield "/fields/folder", message
                return
            values["folder"] = key[1]
            self._folder_references.append((f"{location}, /fields/folder", key[1]))
        known = [version.name for version in registry.of(values["protocol"]).versions]
        if values["version"] not in known:
            message = f"Unknown version. The versions of this protocol are {', '.join(known)}."
            yield "/fields/version", message
        protocol, binding = values["protocol"], values["binding"]
        if not registry.has_binding(protocol, binding):
            rows = registry.PROTOCOLS.items()
            able = [row.label for name, row in rows if registry.has_binding(name, binding)]
            over = Agent.Binding(binding).label
            yield "/fields/binding", f"Only {', '.join(able)} can be sent over {over}."
        for name, clean in _CLEANERS.items():
            before, values[name] = values[name], clean(values[name])
            if before != values[name]:
                place = f"{location}, /fields/{name}"
                self._remarks.append(FixtureProblem(place, _CREDENTIAL_REMOVED))


def _is_natural_key(key: Any, length: int) -> bool:
    return isinstance(key, list) and len(key) == length and all(isinstance(p, str) for p in key)


# The fields of an item: JSON Schema, and the checks beyond a schema. Each check takes a value and
# yields its errors: a JSON Pointer into the value, and a sentence.

Check = Callable[[Any], Iterable[Finding]]

#: Limit on the characters of a document as JSON.
MAX_DOCUMENT = 1_000_000

#: Limit on the characters of a user name.
MAX_USER = 200

#: Limit on the characters of an expectation whose errors are cached.
_MAX_CACHED = 2_000


def validate_item(model: str, fields: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the errors of an item's fields: JSON Pointers into them, and sentences."""
    invalid = set()
    for pointer, message in schema_errors(fields, model):
        invalid.add(pointer)
        yield pointer, message
    for name, extra_check in _EXTRA_CHECKS.get(model, {}).items():
        if name in fields and f"/{name}" not in invalid:
            yield from ((f"/{name}{at}", message) for at, message in extra_check(fields[name]))


def validate_field(name: str, value: Any) -> Iterator[Finding]:
    """Yield the errors of one field of a request: JSON Pointers into it, and sentences."""
    invalid = list(schema_errors(value, REQUEST, name))
    yield from invalid
    extra_checks = _EXTRA_CHECKS[REQUEST]
    if not invalid and name in extra_checks:
        yield from extra_checks[name](value)


def _check_document(value: Any) -> Iterator[Finding]:
    if len(json.dumps(value)) > MAX_DOCUMENT:
        yield "", f"Longer than {MAX_DOCUMENT:,} characters as JSON."
    yield from _from_problems(raw.problems_of, value)


def _check_headers(value: Any) -> Iterator[Finding]:
    for index, row in enumerate(value):
        if not credentials.is_pair(row):
            yield f"/{index}", "Must be a pair of strings, [name, value]."
        elif error := header_rules.header_error(row[0], PLACEHOLDER.sub("x", row[1])):
            yield f"/{index}", f"Cannot be sent. {error}"


def _check_auth(value: Any) -> Iterator[Finding]:
    if not value:
        return
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in credentials.AUTH_FIELDS:
        yield "/type", f"Must be one of {', '.join(credentials.AUTH_FIELDS)}."
        return
    names = credentials.AUTH_FIELDS[kind]
    for name in sorted(value.keys() - {"type", *names}):
        yield f"/{pointer_token(name)}", f"Not a member of “{kind}”."
    for name in names:
        yield from (
            (f"/{name}{at}", message) for at, message in _check_auth_field(name, value.get(name))
        )


def _check_auth_field(name: str, value: Any) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield "", "Must be a string."
    elif name == "user" and len(value) > MAX_USER:
        yield "", f"Too long: {len(value):,} characters. The limit is {MAX_USER}."
    elif name == "user" and storable(value) != value:
        yield "", "Contains U+0000 or a lone surrogate, which cannot be stored."
    elif not value:
        return  # Not filled in yet.
    elif name == "secret" and not is_name(value):
        yield "", "Must be the name of a variable: files cannot contain secrets."
    elif name == "header" and not header_rules.is_token(value):
        yield "", "Must be a valid header name."


def _from_problems(
    validate: Callable[[Any], Iterable[RequestProblem]], value: Any
) -> Iterator[Finding]:
    for problem in validate(value):
        yield problem.pointer, problem.message


def _check_expectations(value: Any) -> Iterator[Finding]:
    if not isinstance(value, list) or len(value) > MAX_EXPECTATIONS:
        yield from _from_problems(check_schema, value)
        return
    for index, each in enumerate(value):
        text = json.dumps(each)
        # A large one would stay in memory for the lifetime of the process.
        validate = (
            expectation_errors if len(text) <= _MAX_CACHED else expectation_errors.__wrapped__
        )
        for pointer, message in validate(text):
            yield f"/{index}{pointer}", message


@lru_cache(maxsize=256)
def expectation_errors(text: str) -> tuple[Finding, ...]:
    """Return the errors of an expectation, given as JSON.

    They are cached, as thousands of requests have the same few expectations.
    """
    found = check_schema([json.loads(text)])
    return tuple((problem.pointer.removeprefix("/0"), problem.message) for problem in found)


#: Checks of fields that a schema cannot express, by model; those of references are in the reader.
_EXTRA_CHECKS: Mapping[str, Mapping[str, Check]] = {
    COLLECTION: {"lesson": lesson_problems},
    REQUEST: {
        "document": _check_document,
        "headers": _check_headers,
        "auth": _check_auth,
        "expectations": _check_expectations,
        "captures": partial(_from_problems, check_captures),
        "reply": lambda value: () if value is None else validate_recording(value),
    },
}
