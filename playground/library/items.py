"""The items of a file, one after the other: which models, which fields, and what they refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from playground.library import credentials
from playground.library.checking import check
from playground.library.fixture_schema import Finding, escaped, kind_of, schema
from playground.library.shape import (
    COLLECTION,
    FIELDS,
    FOLDER,
    REQUEST,
    Fields,
    Fixture,
    FixtureProblem,
)
from playground.models.collections import STEP
from playground.protocols import registry

_NO_CREDENTIAL = "A credential stood here. It was left out: only {{name}} of a secret is kept."


class FixtureReader:
    """Reads the items of one file. `own` spares the fields of a text that we wrote ourselves."""

    def __init__(self, *, own: bool = False) -> None:
        self._own = own
        self._slug: str | None = None
        self._collection: Fields | None = None
        self._folders: dict[str, Fields] = {}
        self._requests: dict[str, Fields] = {}
        #: Where each request says which folder it is in, for those whose folder comes later.
        self._inside: list[tuple[str, str]] = []
        self._remarks: list[FixtureProblem] = []

    def fixture(self) -> Fixture:
        """What was read, once `read` has come to its end without a problem."""
        remarks = tuple(self._remarks)
        slug = self._slug or ""
        return Fixture(slug, self._collection, self._folders, self._requests, remarks)

    def read(self, items: Sequence[Any], *, part: bool) -> Iterator[FixtureProblem]:
        """Read all items; yields what is wrong. With `part` there may be no collection."""
        wrong = False
        for number, item in enumerate(items, 1):
            for problem in self._item(f"Item {number:,}", item):
                wrong = True
                yield problem
        if not wrong:  # Otherwise an item that was not taken would be missed here again.
            yield from self._whole(part)

    def _whole(self, part: bool) -> Iterator[FixtureProblem]:
        if self._collection is None and not (part and (self._folders or self._requests)):
            yield FixtureProblem(
                "", f"The file holds no collection: no item of the model {COLLECTION}."
            )
        if not part:
            for place, folder in self._inside:
                if folder not in self._folders:
                    yield FixtureProblem(place, f"There is no folder “{folder}” in the file.")

    def _item(self, place: str, item: Any) -> Iterator[FixtureProblem]:
        if not isinstance(item, dict):
            yield FixtureProblem(place, f"An item must be an object, not {kind_of(item)}.")
            return
        model, fields = item.get("model"), item.get("fields")
        if not isinstance(model, str) or model not in FIELDS:
            shown = f"“{model[:60]}”" if isinstance(model, str) else kind_of(model)
            yield FixtureProblem(
                place, f"The model is {shown}. Here it is one of {', '.join(FIELDS)}."
            )
            return
        place = f"{place}, {model}"
        yield from _frame(place, item)
        if not isinstance(fields, dict):
            yield FixtureProblem(
                f"{place}, /fields", f"This must be an object, not {kind_of(fields)}."
            )
            return
        problems = list(self._fields(place, model, fields))
        yield from problems
        if not problems:
            yield from self._take(place, model, fields)

    def _fields(self, place: str, model: str, fields: Fields) -> Iterator[FixtureProblem]:
        for pointer, message in _names(model, fields) if self._own else check(model, fields):
            yield FixtureProblem(f"{place}, /fields{pointer}", message)

    def _take(self, place: str, model: str, fields: Fields) -> Iterator[FixtureProblem]:
        """Keep an item whose fields are right by themselves, if it goes with the others."""
        values = {**FIELDS[model], **fields}
        slug = values["slug"]
        if model == COLLECTION:
            if self._collection is not None:
                yield FixtureProblem(
                    place, "The file holds a second collection. One file holds one."
                )
            elif self._slug not in {None, slug}:
                yield FixtureProblem(place, f"What stands before it belongs to “{self._slug}”.")
            else:
                self._slug, self._collection = slug, values
            return
        yield from self._belongs(place, values.pop("collection"))
        among = self._folders if model == FOLDER else self._requests
        if slug in among:
            yield FixtureProblem(
                f"{place}, /fields/slug", f"“{slug}” is the slug of an item before it."
            )
            return
        if values["position"] is ...:
            values["position"] = STEP * (len(among) + 1)
        if model == REQUEST:
            yield from self._request(place, values)
        among[slug] = values

    def _belongs(self, place: str, key: Any) -> Iterator[FixtureProblem]:
        at = f"{place}, /fields/collection"
        if not _is_key(key, 1):
            yield FixtureProblem(at, "This must be a list with the slug of the collection.")
        elif self._slug is None:
            self._slug = key[0]
        elif key[0] != self._slug:
            yield FixtureProblem(
                at, f"The file is about the collection “{self._slug}”, not “{key[0]}”."
            )

    def _request(self, place: str, values: dict[str, Any]) -> Iterator[FixtureProblem]:
        key, at = values["folder"], f"{place}, /fields/folder"
        if key is not None:
            if not _is_key(key, 2) or key[0] != self._slug:
                yield FixtureProblem(
                    at, "This must be null, or a list: the collection's slug, the folder's."
                )
                return
            values["folder"] = key[1]
            self._inside.append((at, key[1]))
        if not self._own:
            yield from _spoken(place, values)
            self._remarks += _without_credentials(place, values)


def _names(model: str, fields: Fields) -> Iterator[Finding]:
    """What is missing or unknown, whatever is in the other fields."""
    messages = schema()["definitions"][model]["messages"]
    for name in fields:
        if name not in FIELDS[model]:
            yield f"/{escaped(name)}", messages["additionalProperties"]
    for name, default in FIELDS[model].items():
        if default is ... and name not in fields and name != "position":
            yield "", messages["required"].format(name=name)


def _frame(place: str, item: Mapping[str, Any]) -> Iterator[FixtureProblem]:
    """What is wrong with an item around its fields."""
    for name in sorted(item.keys() - {"model", "fields"}):
        if name == "pk":
            message = "The file has primary keys. Export with natural keys, and without those."
        else:
            message = "An item has a model and fields, and nothing else."
        yield FixtureProblem(f"{place}, /{escaped(name)}", message)


def _spoken(place: str, values: Fields) -> Iterator[FixtureProblem]:
    """What is wrong with protocol, version and binding together."""
    known = [version.name for version in registry.versions(values["protocol"])]
    if values["version"] not in known:
        message = f"The versions of this protocol are {', '.join(known)}."
        yield FixtureProblem(f"{place}, /fields/version", message)
    if values["binding"] == "mcp" and values["protocol"] != "nlweb":
        yield FixtureProblem(f"{place}, /fields/binding", "Only NLWeb goes over MCP.")


def _without_credentials(place: str, values: dict[str, Any]) -> Iterator[FixtureProblem]:
    """Take literal credentials out; yields where one was."""
    for name, clean in (
        ("headers", credentials.clean_headers), ("address", credentials.clean_url_template)
    ):  # fmt: skip
        before, values[name] = values[name], clean(values[name])
        if before != values[name]:
            yield FixtureProblem(f"{place}, /fields/{name}", _NO_CREDENTIAL)


def _is_key(key: Any, length: int) -> bool:
    return isinstance(key, list) and len(key) == length and all(isinstance(p, str) for p in key)
