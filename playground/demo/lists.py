"""The cart and the cookbook: their rows, their endpoints, and the item that shows them.

Everyone who uses the demo shares them, so they are bounded: the oldest entries are deleted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from playground.demo import languages, requests
from playground.demo.actions import actions
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, error_document, json_response
from playground.demo.languages import Language
from playground.demo.models import ListItem, prune
from playground.demo.responses import Document

#: Entries that are kept of each list.
ENTRIES = 100
#: Characters of an entry, and bytes of a request that adds one.
_MAX_ENTRY = 20_000


@sync_to_async
def add(name: str, entry: Document) -> tuple[ListItem, int]:
    """Add an entry; return its row and the length of the list. Raise `FailureError`."""
    text = json.dumps(entry)
    if len(text) > _MAX_ENTRY:
        raise FailureError("TOKEN_LIMIT", "The entry is too large.")
    row = ListItem.objects.create(list_name=name, entry=text)
    prune(ListItem.objects.filter(list_name=name), ENTRIES)
    return row, ListItem.objects.filter(list_name=name).count()


@sync_to_async
def entries(name: str, words: str = "") -> list[ListItem]:
    """Return the entries of a list, oldest first; only those with `words` in them, if given."""
    return _matching(name, words)


@sync_to_async
def remove(name: str, *, pk: int | None = None, words: str = "") -> int:
    """Remove one entry, those with `words` in them, or all; return how many were removed."""
    rows = _matching(name, words) if pk is None else ListItem.objects.filter(list_name=name, pk=pk)
    removed, _ = ListItem.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return removed


def _matching(name: str, words: str) -> list[ListItem]:
    # In Python: SQLite compares only ASCII without regard to case, and the lists are short.
    wanted = words.lower()
    rows = ListItem.objects.filter(list_name=name).order_by("pk")
    return [row for row in rows if wanted in json.dumps(row.content, ensure_ascii=False).lower()]


@endpoint(error_document, "GET", "POST", "DELETE")
async def saved_list(request: HttpRequest, name: str) -> HttpResponseBase:
    """`POST` adds to a list, `GET` returns it, `DELETE` empties it; `?q=` selects entries."""
    words = request.GET.get("q", "")[:200]
    if request.method == "POST":
        return await _add(request, name)
    if request.method == "DELETE":
        return json_response({"list": name, "removed": await remove(name, words=words)})
    rows = await entries(name, words)
    items = [_entry_document(request, row) for row in rows]
    return json_response({"list": name, "count": len(items), "items": items})


@endpoint(error_document, "GET", "DELETE")
async def entry(request: HttpRequest, name: str, pk: int) -> HttpResponseBase:
    """`GET` returns one entry of a list, `DELETE` removes it; 404 for an unknown one."""
    rows = [row for row in await entries(name) if row.pk == pk]
    if not rows:
        return json_response(error_document(f"No entry {pk} in the {name}."), 404)
    if request.method == "DELETE":
        return json_response({"list": name, "removed": await remove(name, pk=pk)})
    return json_response(_entry_document(request, rows[0]))


async def described(request: HttpRequest, name: str, language: Language) -> Document:
    """Return a list as a result item; its entries are items with an action that removes them."""
    rows = await entries(name)
    url = request.build_absolute_uri(reverse(f"demo-{name}"))
    count = "1 entry" if len(rows) == 1 else "{count} entries"
    description = f"{count}, shared by all users of this playground."
    return {
        "@type": "ItemList",
        "@context": "https://schema.org",
        "name": languages.say(language, f"The demo {name}"),
        "description": languages.say(language, description, count=len(rows)),
        "url": url,
        "numberOfItems": len(rows),
        "itemListElement": _elements(request, rows),
        "actions": actions("list", {"name": name, "url": url}),
    }


async def _add(request: HttpRequest, name: str) -> HttpResponse:
    if len(request.body) > _MAX_ENTRY:
        return json_response(error_document("The entry is too large."), 413)
    try:
        row, count = await add(name, requests.read_json(request.body))
    except FailureError as failure:
        is_too_large = failure.code == "TOKEN_LIMIT"
        return json_response(error_document(failure.message), 413 if is_too_large else 400)
    document = {"saved": True, "list": name, "count": count, **_id_and_url(request, row)}
    return json_response(document, 201, {"Location": document["url"]})


def _id_and_url(request: HttpRequest, row: ListItem) -> Document:
    path = reverse(f"demo-{row.list_name}-entry", args=[row.pk])
    return {"id": row.pk, "url": request.build_absolute_uri(path)}


def _entry_document(request: HttpRequest, row: ListItem) -> Document:
    return {**_id_and_url(request, row), "content": row.content}


def _elements(request: HttpRequest, rows: Sequence[ListItem]) -> list[Document]:
    return [
        {"@type": "ListItem", "position": number, "item": _element(request, row)}
        for number, row in enumerate(rows, 1)
    ]


def _element(request: HttpRequest, row: ListItem) -> Document:
    url = _id_and_url(request, row)["url"]
    return {
        "@type": "Thing",
        "name": _title(row.content),
        "url": url,
        "actions": actions("entry", {"name": row.list_name, "url": url}),
    }


def _title(content: Document) -> str:
    """Return a title for an entry: its name, or the items in it."""
    items: Any = content.get("items")
    if isinstance(content.get("name"), str):
        return str(content["name"])[:80]
    if isinstance(items, list) and items:
        return ", ".join(str(item) for item in items)[:80]
    return "Unnamed entry"
