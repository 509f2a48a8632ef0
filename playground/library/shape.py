"""A collection as plain values, and the text of its file.

The file is a plain Django fixture: natural keys, no primary keys, no owner, no moments. A field
that has its default is left out, which Django's `loaddata` reads as that default. Text is UTF-8
as it is; halves of surrogate pairs, which a document may hold and UTF-8 cannot, are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playground.library.ordering import LARGEST, evenly_spaced
from playground.models.collections import STEP

Fields = Mapping[str, Any]

COLLECTION = "playground.collection"
FOLDER = "playground.folder"
REQUEST = "playground.savedrequest"

#: The fields of each model in the order of the file, with their defaults; `...` for none.
FIELDS: Mapping[str, Mapping[str, Any]] = {
    COLLECTION: {"name": ..., "slug": ..., "description": ""},
    FOLDER: {"collection": ..., "name": ..., "slug": ..., "description": "", "position": ...},
    REQUEST: {
        "collection": ...,
        "folder": None,
        "name": ...,
        "slug": ...,
        "position": ...,
        "agent": "",
        "address": "",
        "protocol": ...,
        "binding": ...,
        "version": ...,
        "document": ...,
        "headers": [],
        "auth": {},
        "notes": "",
        "expectations": [],
        "captures": {},
        "reply": None,
    },
}

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FixtureProblem:
    """What is wrong with a file, or was left out of it, and where."""

    #: Line and column, or the item with its model and a JSON pointer; "" for the whole file.
    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.location}: {self.message}" if self.location else self.message


class FixtureError(Exception):
    """A file that cannot be taken in. Nothing of it was."""

    def __init__(self, *problems: FixtureProblem) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Fixture:
    """A collection, or a part of one, every field filled in.

    `folders` and `requests` are by slug and in order; their fields are those of `FIELDS`
    without `collection`, and `folder` is the slug of a folder or None.
    """

    #: Of the collection.
    slug: str
    #: Name and description; None for a part, which goes into a collection that is there.
    collection: Fields | None
    folders: Mapping[str, Fields] = field(default_factory=dict)
    requests: Mapping[str, Fields] = field(default_factory=dict)
    #: What was left out of the file when it was read, and why.
    remarks: tuple[FixtureProblem, ...] = ()

    def renamed(self, slug: str) -> Fixture:
        """The same as another collection: imported, it stands beside this one."""
        collection = self.collection
        if collection is not None:
            collection = {**collection, "slug": slug}
        return replace(self, slug=slug, collection=collection)

    def ordered(self) -> Fixture:
        """The same in the order in which it is shown and run, every place taken once.

        Of things that claim one place the first one gets it, and the next the place after: where
        each stands then depends on nothing but the file.
        """
        folders = _placed(self.folders)
        groups: dict[str | None, dict[str, Fields]] = {None: {}, **{slug: {} for slug in folders}}
        for slug, request in self.requests.items():
            groups.setdefault(request["folder"], {})[slug] = request
        requests = {
            slug: each for group in groups.values() for slug, each in _placed(group).items()
        }
        return replace(self, folders=folders, requests=requests)


def _placed(things: Mapping[str, Fields]) -> dict[str, Fields]:
    """Things by their places, no two of which are the same."""
    found = sorted(things.items(), key=lambda item: item[1]["position"])
    places: list[int] = []
    for _, fields in found:
        places.append(max(fields["position"], places[-1] + 1 if places else 0))
    if places and places[-1] > LARGEST:
        places = list(evenly_spaced(range(len(places)), STEP).values())
    return {
        slug: {**fields, "position": place}
        for (slug, fields), place in zip(found, places, strict=True)
    }


def render(fixture: Fixture) -> str:
    """The text of the file: the same for the same fixture, to the byte."""
    text = json.dumps(list(_items(fixture)), ensure_ascii=False, indent=2)
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def _items(fixture: Fixture) -> Iterator[dict[str, Any]]:
    if fixture.collection is not None:
        yield _item(COLLECTION, fixture.collection)
    key = {"collection": [fixture.slug]}
    for folder in fixture.folders.values():
        yield _item(FOLDER, {**folder, **key})
    for request in fixture.requests.values():
        inside = request["folder"]
        folder_key = None if inside is None else [fixture.slug, inside]
        yield _item(REQUEST, {**request, **key, "folder": folder_key})


def _item(model: str, values: Fields) -> dict[str, Any]:
    fields = {
        name: values[name] for name, default in FIELDS[model].items() if values[name] != default
    }
    return {"model": model, "fields": fields}
