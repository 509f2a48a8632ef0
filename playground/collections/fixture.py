"""Collections as fixtures: the plain values, their schema, the text of the file, and the dump.

The file is a plain Django fixture: natural keys, no primary keys, no owner, no timestamps. A field
that has its default is left out, which Django's `loaddata` reads as that default. Text is UTF-8;
lone surrogates, which a document may hold and UTF-8 cannot encode, are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from django.db.models import F
from django.utils.text import slugify

from playground.base import credentials
from playground.collections.ordering import LARGEST, evenly_spaced
from playground.lesson_format.lesson import lesson_problems, with_requests
from playground.lesson_format.schema_errors import Finding, SchemaErrors
from playground.models import Collection
from playground.models.collections import STEP, requests_in_order
from playground.models.columns import storable
from playground.protocols import registry

_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXT_FIELDS = frozenset({"name", "description", "agent", "address", "version", "notes"})
Fields = Mapping[str, Any]
COLLECTION = "playground.collection"
FOLDER = "playground.folder"
REQUEST = "playground.savedrequest"

_SCHEMA: Mapping[str, Any] = json.loads(
    resources.files(__package__).joinpath("fixture.schema.json").read_text("utf-8")
)
_RULES: Mapping[str, Any] = _SCHEMA["definitions"]
_RULES["playground.savedrequest"]["properties"]["protocol"]["enum"] = [*registry.PROTOCOLS]

#: The fields of each model in the order of the file, with their defaults; `...` for none.
FIELDS: Mapping[str, Mapping[str, Any]] = {
    model: {
        name: rules.get("default", ...)
        for name, rules in _RULES[model]["properties"].items()
        if name != "parent"  # Which no item has.
    }
    for model in (COLLECTION, FOLDER, REQUEST)
}

#: Limit on the characters of a description or a note.
MAX_TEXT: int = _RULES["long_text"]["maxLength"]


@dataclass(frozen=True, slots=True)
class FixtureProblem:
    """A problem of a file, or something left out of it, and where."""

    #: Line and column, or the item with its model and a JSON pointer; "" for the whole file.
    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message


class FixtureError(Exception):
    """A file that cannot be imported; nothing of it was stored. A text is of the whole file."""

    def __init__(self, *problems: FixtureProblem | str) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(
            FixtureProblem("", each) if isinstance(each, str) else each for each in problems
        )


@dataclass(frozen=True, slots=True)
class Fixture:
    """A collection with every field filled in.

    `folders` and `requests` are by slug and in order; their fields are those of `FIELDS` without
    `collection`, and `folder` is the slug of a folder or None.
    """

    #: Slug of the collection.
    slug: str
    #: Name, description and lesson.
    collection: Fields
    folders: Mapping[str, Fields] = field(default_factory=dict)
    requests: Mapping[str, Fields] = field(default_factory=dict)
    #: Parts of the file that were left out when it was read, and why.
    remarks: tuple[FixtureProblem, ...] = ()

    def renamed(self, slug: str) -> Fixture:
        """Return the fixture with another slug: imported, it becomes a collection of its own."""
        return replace(self, slug=slug, collection={**self.collection, "slug": slug})

    def ordered(self) -> Fixture:
        """Return the fixture in the order in which it is shown and run, with unique positions.

        Of items with the same position the first one keeps it, and the next one gets the position
        after it, so the order depends on nothing but the file.
        """
        folders = _with_unique_positions(self.folders)
        groups: dict[str | None, dict[str, Fields]] = {None: {}, **{slug: {} for slug in folders}}
        for slug, request in self.requests.items():
            groups.setdefault(request["folder"], {})[slug] = request
        requests = {
            slug: each
            for group in groups.values()
            for slug, each in _with_unique_positions(group).items()
        }
        return replace(self, folders=folders, requests=requests)


def dump(collection: Collection) -> str:
    """Return the text of the collection's file: a plain Django fixture, stable to the byte.

    It has no owner, timestamps or primary keys, and no literal credentials. Its text is what every
    database takes: U+0000 in a name or a note becomes U+FFFD (documents keep theirs).
    """
    return fixture_text(fixture_of(collection).ordered())


def fixture_of(collection: Collection) -> Fixture:
    """Return a collection as a fixture, with positions as stored: two may be the same."""
    lesson = collection.lesson or None
    if lesson and not any(lesson_problems(lesson)):
        lesson = with_requests(lesson, set(collection.requests.values_list("slug", flat=True)))
    fields = {
        "name": collection.name,
        "slug": collection.slug,
        "description": collection.description,
        "lesson": lesson,
    }
    folders = collection.folders.order_by("position", "pk").values(*_columns(FOLDER))
    requests = requests_in_order(collection).values(
        *_columns(REQUEST), folder_slug=F("folder__slug")
    )
    return Fixture(
        collection.slug,
        _storable_texts(fields),
        {row["slug"]: _storable_texts(row) for row in folders},
        {row["slug"]: _request_fields(row) for row in requests.iterator(chunk_size=500)},
    )


def fixture_text(fixture: Fixture) -> str:
    """Return the text of the file, which is stable to the byte."""
    text = json.dumps(list(_items(fixture)), ensure_ascii=False, indent=2)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


class SlugAllocator:
    """Unique slugs for the items of a file that has none; constant time for repeated names."""

    def __init__(self, fallback: str, reserved: frozenset[str] = frozenset()) -> None:
        self._fallback = fallback
        self._used = set(reserved)
        self._numbers: dict[str, int] = {}

    def reserve(self, own: Any, name: str) -> str:
        """Return the file's own slug if it is free, or else one made from the name."""
        if isinstance(own, str) and own and own not in self._used:
            self._used.add(own)
            return own
        return self.free(name)

    def free(self, name: str) -> str:
        base = slugify(name)[:110].strip("-") or self._fallback
        slug, number = base, self._numbers.get(base, 2)
        while slug in self._used:
            slug, number = f"{base}-{number}", number + 1
        self._numbers[base] = number
        self._used.add(slug)
        return slug


def _with_unique_positions(items: Mapping[str, Fields]) -> dict[str, Fields]:
    """Return the items sorted by position, no two of which are the same."""
    found = sorted(items.items(), key=lambda item: item[1]["position"])
    positions: list[int] = []
    for _, fields in found:
        positions.append(max(fields["position"], positions[-1] + 1 if positions else 0))
    if positions and positions[-1] > LARGEST:
        positions = list(evenly_spaced(range(len(positions)), STEP).values())
    return {
        slug: {**fields, "position": position}
        for (slug, fields), position in zip(found, positions, strict=True)
    }


def _items(fixture: Fixture) -> Iterator[dict[str, Any]]:
    yield _item(COLLECTION, fixture.collection)
    key = {"collection": [fixture.slug]}
    for folder in fixture.folders.values():
        yield _item(FOLDER, {**folder, **key})
    for request in fixture.requests.values():
        slug = request["folder"]
        folder_key = None if slug is None else [fixture.slug, slug]
        yield _item(REQUEST, {**request, **key, "folder": folder_key})


def _item(model: str, values: Fields) -> dict[str, Any]:
    fields = {
        name: values[name] for name, default in FIELDS[model].items() if values[name] != default
    }
    return {"model": model, "fields": fields}


def _columns(model: str) -> list[str]:
    """Return the fields that are columns of the model itself."""
    return [name for name in FIELDS[model] if name not in {"collection", "folder"}]


def _request_fields(row: dict[str, Any]) -> dict[str, Any]:
    row = _storable_texts(row)
    row["folder"] = row.pop("folder_slug")
    row["headers"] = credentials.clean_headers(row["headers"])
    row["address"] = credentials.clean_url_template(row["address"])
    row["auth"] = credentials.clean_auth(row["auth"])
    return row


def _storable_texts(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose text columns hold nothing that another database would refuse."""
    return {name: storable(text) if name in _TEXT_FIELDS else text for name, text in row.items()}


def schema_errors(value: Any, model: str, field: str = "") -> Iterator[Finding]:
    """Yield the errors of the fields of an item, or of one of them; one for each location."""
    return _schema(model, field).of(value)


@cache
def _schema(model: str, field: str) -> SchemaErrors:
    reference = f"#/definitions/{model}" + (f"/properties/{field}" if field else "")
    return SchemaErrors({**_SCHEMA, "allOf": [{"$ref": reference}]})
