"""Postman Collections (2.0 and 2.1) as fixtures: requests to agents, and why others are not.

Nothing of a file is run. Scripts become notes, values of credentials are left out, folders in
folders become folders with both names. A file of our own, unchanged, is the collection it was of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from playground.library import postman_parts as parts
from playground.library.checking import MAX_TEXT, check_field
from playground.library.parsing import json_of
from playground.library.postman import EXTENSION_KEY
from playground.library.postman_own import DEFAULTS, Item, extension_fields, unchanged_fields
from playground.library.recognising import (
    UnsupportedRequestError,
    auth_of,
    custom_headers,
    from_http_request,
)
from playground.library.shape import Fixture, FixtureError, FixtureProblem, render
from playground.library.slugs import SlugAllocator
from playground.models.collections import RESERVED, STEP
from playground.models.json_text import storable
from playground.protocols.headers import is_credential
from playground.protocols.text import shorten

LABEL = "Postman Collection"
_MAX_NAME, _MAX_REMARKS = 120, 100
#: Fields of a request that are made from what another tool wrote.
_MADE = ("address", "document", "headers", "auth")


def is_postman(text: str) -> bool:
    """Whether a text looks like a Postman Collection, of whatever version."""
    start = text.lstrip("\ufeff \t\r\n")
    return (
        start.startswith("{")
        and ('"info"' in text or '"order"' in text)
        and ('"item"' in text or '"requests"' in text or '"_postman' in text)
    )


def read_postman(text: str) -> tuple[str, list[FixtureProblem]]:
    """The text of a fixture, and what of the collection is not in it, or not as it was.

    Raises `FixtureError` for what is no such collection.
    """
    whole = json_of(text)
    if isinstance(whole, dict) and "requests" in whole and "item" not in whole:
        raise FixtureError(
            FixtureProblem(
                "", "This is a Postman Collection 1. Export it from Postman as version 2.1."
            )
        )
    info = whole.get("info") if isinstance(whole, dict) else None
    items = whole.get("item") if isinstance(whole, dict) else None
    if not isinstance(info, dict) or not isinstance(items, list):
        message = "A Postman Collection is an object with “info” and a list of “item”s."
        raise FixtureError(FixtureProblem("", message))
    reader = _Reader(whole, info)
    reader.read(items)
    return render(reader.fixture()), reader.remarks[:_MAX_REMARKS]


class _Reader:
    """Reads one collection."""

    def __init__(self, whole: Item, info: Item) -> None:
        self.remarks: list[FixtureProblem] = []
        self._whole, self._info = whole, info
        own = info.get(EXTENSION_KEY)
        #: Whether the file is one of ours: what others need to be told is in it already.
        self._is_own = isinstance(own, dict)
        slug = own.get("slug") if isinstance(own, dict) else None
        self._name = _name(info.get("name"), "Collection")
        self._slug = (
            slug
            if isinstance(slug, str) and slug
            else SlugAllocator("collection", RESERVED).free(self._name)
        )
        self._folders: dict[str, dict[str, Any]] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._slugs = {"folder": SlugAllocator("folder"), "request": SlugAllocator("request")}
        self._scripts = 0

    def fixture(self) -> Fixture:
        """What was read."""
        collection = {"name": self._name, "slug": self._slug, "description": self._description()}
        if self._scripts:
            told = (
                "1 script is kept as a note. It is"
                if self._scripts == 1
                else (f"{self._scripts} scripts are kept as notes. They are")
            )
            message = f"{told} never run."
            self.remarks.insert(0, FixtureProblem("", message))
        return Fixture(self._slug, collection, self._folders, self._requests)

    def read(self, items: Sequence[Any]) -> None:
        """Take all items in: first those of no folder, as they are shown."""
        auth = self._whole.get("auth")
        self._level(items, "/item", (), None, auth)

    def _level(
        self,
        items: Sequence[Any],
        place: str,
        names: tuple[str, ...],
        folder: str | None,
        auth: Any,
    ) -> None:
        for number, item in enumerate(items):
            at = f"{place}/{number}"
            if not isinstance(item, dict):
                self._remark(at, "This is no item, and was left out.")
            elif isinstance(item.get("item"), list):
                self._folder(item, at, names, auth)
            elif "request" in item:
                self._request(item, at, folder, auth)
            else:
                self._remark(at, "This has neither a request nor items, and was left out.")

    def _folder(self, item: Item, at: str, names: tuple[str, ...], auth: Any) -> None:
        path = (*names, _name(item.get("name"), "Folder"))
        inner = item["item"]
        own = item.get(EXTENSION_KEY)
        kept = own if isinstance(own, dict) else {}
        text = parts.text_of(item.get("description"))
        description = self._with_notes(at, text, self._notes(item))
        is_needed = any(isinstance(each, dict) and "request" in each for each in inner)
        slug: str | None = None
        if is_needed or not inner or description:
            slug = self._slugs["folder"].reserve(kept.get("slug"), " ".join(path))
            self._folders[slug] = {
                "name": " / ".join(path)[:_MAX_NAME],
                "slug": slug,
                "description": description,
                "position": _position(kept.get("position"), len(self._folders)),
            }
        if names:
            self._remark(at, f"Folders are one level deep here: it is “{' / '.join(path)[:100]}”.")
        self._level(inner, f"{at}/item", path, slug, item.get("auth") or auth)

    def _request(self, item: Item, at: str, folder: str | None, auth: Any) -> None:
        own = extension_fields(item)
        try:
            fields = unchanged_fields(item, own) or self._foreign(item, own, at, auth)
        except (parts.PartError, UnsupportedRequestError) as error:
            name = _name(item.get("name"), "Request")
            self._remark(at, f"“{name[:60]}” was left out. {error}")
            return
        slug = self._slugs["request"].reserve(own.get("slug"), _name(item.get("name"), ""))
        self._requests[slug] = {
            **DEFAULTS,
            **fields,
            "name": _name(item.get("name"), "Request"),
            "slug": slug,
            "folder": folder,
            "position": _position(own.get("position"), len(self._requests)),
        }

    def _foreign(
        self, item: Item, own: Mapping[str, Any], at: str, inherited: Any
    ) -> dict[str, Any]:
        """The fields of a request as Postman has it. Raises why it is none of ours."""
        request = item["request"]
        request = request if isinstance(request, dict) else {"url": request, "method": "GET"}
        given = parts.headers(request.get("header"))
        body, kind = parts.body(request.get("body"))
        method = request.get("method")
        method = method.upper() if isinstance(method, str) else "GET"
        typed = [("Content-Type", kind)] if body and not _has(given, "content-type") else []
        url = parts.address(request.get("url"))
        found = from_http_request(method, url, [*given, *typed], body)
        auth, said = parts.auth(request.get("auth") or inherited)
        if not auth:
            auth, given = auth_of(given)
        headers, left_out = custom_headers(given)
        for remark in (*found.remarks, said):
            if remark:
                self._remark(at, remark)
        if left_out:
            self._remark(at, f"Headers left out: {', '.join(left_out)[:200]}.")
        examples = item.get("response")
        if isinstance(examples, list) and examples:
            self._remark(at, "Its saved replies were left out.")
        notes = parts.text_of(request.get("description")) or parts.text_of(item.get("description"))
        fields = {
            **{name: own[name] for name in ("agent", "expectations", "captures") if name in own},
            "address": found.address,
            "protocol": found.protocol,
            "binding": found.binding,
            "version": found.version,
            "document": found.document,
            "headers": [list(pair) for pair in headers],
            "auth": auth,
            "notes": self._with_notes(at, notes, self._notes(item)),
        }
        _check(fields)
        return fields

    def _notes(self, owner: Item) -> list[str]:
        found = list(parts.scripts(owner))
        self._scripts += len(found)
        return found

    def _description(self) -> str:
        description = parts.text_of(self._info.get("description"))
        if self._is_own:
            return description
        notes = self._notes(self._whole)
        if variables := list(_variables(self._whole.get("variable"))):
            self._remark("/variable", "Variables stand in the description: make an environment.")
            notes.append("Variables of the collection:\n\n" + "\n".join(variables))
        return self._with_notes("/info", description, notes)

    def _with_notes(self, place: str, text: str, notes: Sequence[str]) -> str:
        """A text and the notes below it, as far as there is room for them."""
        whole = storable("\n\n".join(filter(None, [text, *notes])))
        if len(whole) <= MAX_TEXT:
            return whole
        self._remark(place, f"Notes and scripts were cut at {MAX_TEXT:,} characters.")
        return shorten(whole, MAX_TEXT)

    def _remark(self, place: str, message: str) -> None:
        self.remarks.append(FixtureProblem(place, message))


def _variables(value: Any) -> Iterator[str]:
    """The variables of a collection as a list in Markdown; what may be a secret has no value."""
    for row in value if isinstance(value, list) else []:
        name = row.get("key") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name:
            continue
        given = row.get("value")
        hidden = row.get("type") == "secret" or is_credential(name)
        shown = given if isinstance(given, str) else json.dumps(given)
        said = "left out, as it may be a secret" if hidden else f"`{shown[:200]}`"
        yield f"- `{name[:80]}`: {said}"


def _check(fields: Mapping[str, Any]) -> None:
    """Raise what our schema has against a request, which would refuse the file with it."""
    for name in _MADE:
        for pointer, message in check_field(name, fields[name]):
            raise parts.PartError(f"Its {name}{pointer}: {message}")


def _has(headers: Sequence[tuple[str, str]], wanted: str) -> bool:
    return any(name.lower() == wanted for name, _ in headers)


def _name(value: Any, otherwise: str) -> str:
    text = value if isinstance(value, str) and value.strip() else otherwise
    return storable(text[:_MAX_NAME])


def _position(value: Any, count: int) -> int:
    return value if type(value) is int else STEP * (count + 1)
