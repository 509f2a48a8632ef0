"""The cart and the cookbook: endpoints that actions call, and what the agent says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from playground.demo import requests, storage
from playground.demo.actions import http
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, json_response
from playground.demo.models import ListItem
from playground.demo.responses import Document

_MAX_BODY = 20_000


@endpoint
async def saved_list(request: HttpRequest, name: str) -> HttpResponseBase:
    """`POST` adds to a list, `GET` shows it, `DELETE` empties it; `?q=` for what mentions it."""
    words = request.GET.get("q", "")[:200]
    if request.method == "POST":
        return await _add(request, name)
    if request.method == "GET":
        rows = await storage.entries(name, words)
        items = [_shown(request, row) for row in rows]
        return json_response({"list": name, "count": len(items), "items": items})
    if request.method == "DELETE":
        return json_response({"list": name, "removed": await storage.remove(name, words=words)})
    return _not_allowed("GET, POST, DELETE")


@endpoint
async def entry(request: HttpRequest, name: str, pk: int) -> HttpResponseBase:
    """`GET` shows one entry of a list, `DELETE` takes it off; 404 if it is not there."""
    if request.method not in ("GET", "DELETE"):
        return _not_allowed("GET, DELETE")
    rows = [row for row in await storage.entries(name) if row.pk == pk]
    if not rows:
        return json_response({"error": f"There is no entry {pk} in the {name}."}, 404)
    if request.method == "DELETE":
        return json_response({"list": name, "removed": await storage.remove(name, pk=pk)})
    return json_response(_shown(request, rows[0]))


async def described(request: HttpRequest, name: str) -> Document:
    """A list as a result item whose entries, items themselves, can be taken off it."""
    rows = await storage.entries(name)
    whole = request.build_absolute_uri(reverse(f"demo-{name}"))
    many = "1 entry" if len(rows) == 1 else f"{len(rows)} entries"
    return {
        "@type": "ItemList",
        "@context": "https://schema.org",
        "name": f"The {name} of this demo",
        "description": f"{many}, shared by everyone who uses this playground.",
        "url": whole,
        "numberOfItems": len(rows),
        "itemListElement": _elements(request, rows),
        "actions": [
            http("ViewAction", f"show_{name}", f"Show the {name} as JSON", whole, "GET"),
            http("DeleteAction", f"clear_{name}", f"Empty the {name}", whole, "DELETE"),
        ],
    }


async def _add(request: HttpRequest, name: str) -> HttpResponse:
    if len(request.body) > _MAX_BODY:
        return json_response({"error": "That is too much to save."}, 413)
    try:
        row, count = await storage.add(name, requests.read_json(request.body))
    except FailureError as failure:
        too_much = failure.code == "TOKEN_LIMIT"
        return json_response({"error": failure.message}, 413 if too_much else 400)
    document = {"saved": True, "list": name, "count": count, **_address(request, row)}
    return json_response(document, 201, {"Location": document["url"]})


def _address(request: HttpRequest, row: ListItem) -> Document:
    path = reverse(f"demo-{row.list_name}-entry", args=[row.pk])
    return {"id": row.pk, "url": request.build_absolute_uri(path)}


def _shown(request: HttpRequest, row: ListItem) -> Document:
    return {**_address(request, row), "content": row.content}


def _elements(request: HttpRequest, rows: Sequence[ListItem]) -> list[Document]:
    return [
        {"@type": "ListItem", "position": number, "item": _element(request, row)}
        for number, row in enumerate(rows, 1)
    ]


def _element(request: HttpRequest, row: ListItem) -> Document:
    url = _address(request, row)["url"]
    remove = f"Take this off the {row.list_name}"
    return {
        "@type": "Thing",
        "name": _title(row.content),
        "url": url,
        "actions": [http("DeleteAction", "remove", remove, url, "DELETE")],
    }


def _title(content: Document) -> str:
    """A few words for an entry: its name, or the things in it."""
    things: Any = content.get("items")
    if isinstance(content.get("name"), str):
        return str(content["name"])[:80]
    if isinstance(things, list) and things:
        return ", ".join(str(thing) for thing in things)[:80]
    return "Something"


def _not_allowed(methods: str) -> HttpResponse:
    return json_response({"error": f"Only {methods}."}, 405, {"Allow": methods})
