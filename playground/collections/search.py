"""Search in collections: names, descriptions, notes, and request documents.

The database finds what contains every word; here the matches are cut out and highlighted. The
number of hits is limited, and the data that is searched is not.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Case, F, IntegerField, Q, QuerySet, TextField, When
from django.db.models.functions import Cast

from playground.models import Collection, Folder, SavedRequest

#: Most requests that are shown, and most collections and folders before them.
LIMIT = 50
MAX_CONTAINERS = 5
MAX_WORDS = 8
#: Characters of an excerpt, and those before the match.
EXCERPT, BEFORE = 120, 40
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class HighlightedText:
    """A segment of a text; marked if it matches."""

    text: str
    marked: bool


@dataclass(frozen=True)
class SearchHit:
    """A collection, folder or request that matches."""

    item: Collection | Folder | SavedRequest
    url: str
    #: "request", "folder" or "collection".
    kind: str
    name: list[HighlightedText]
    #: Field of the match, and an excerpt; empty if the name matches.
    location: str = ""
    excerpt: list[HighlightedText] = field(default_factory=list)


@dataclass(frozen=True)
class SearchResults:
    """The hits by collection, and whether there are more requests."""

    groups: dict[Collection, list[SearchHit]] = field(default_factory=dict)
    more: bool = False


def search_collections(user: User | AnonymousUser, text: str) -> SearchResults:
    """Return what contains every word of `text`: matching names first, then in order."""
    words = text[:200].split()[:MAX_WORDS]
    if not words:
        return SearchResults()
    collections = Collection.objects.owned_by(user)
    folders = Folder.objects.filter(collection__in=collections).select_related("collection")
    search = _SearchWords(words)
    requests = list(_requests(collections, search)[: LIMIT + 1])
    hits = [
        *_containers(collections, "collection", search),
        *_containers(folders, "folder", search),
        *(search.hit(each, "request", _texts(each)) for each in requests[:LIMIT]),
    ]
    groups: dict[Collection, list[SearchHit]] = {}
    for hit in hits:
        item = hit.item
        collection = item if isinstance(item, Collection) else item.collection
        groups.setdefault(collection, []).append(hit)
    return SearchResults(groups, more=len(requests) > LIMIT)


def _containers(items: QuerySet[Any], kind: str, search: _SearchWords) -> list[SearchHit]:
    """Return the hits among collections or folders, by name and description."""
    found = items.filter(search.within("name", "description"))[:MAX_CONTAINERS]
    return [search.hit(each, kind, {"description": each.description}) for each in found]


def _requests(collections: QuerySet[Collection], search: _SearchWords) -> QuerySet[SavedRequest]:
    found = SavedRequest.objects.filter(collection__in=collections)
    # As text: the field itself would look for a JSON value.
    found = found.alias(sent=Cast("document", TextField()))
    found = found.filter(search.within("name", "notes", "agent", "address", sent="sent"))
    named = Case(When(search.within("name"), then=0), default=1, output_field=IntegerField())
    found = found.alias(named=named).select_related("collection", "folder")
    in_folder = F("folder__position").asc(nulls_first=True)
    order = ("collection__position", "collection__pk", in_folder, "folder__pk", "position", "pk")
    return found.defer("reply", "expectations").order_by("named", *order)


def _texts(saved: SavedRequest) -> dict[str, str]:
    """Return the searched texts of a request, other than its name, by field."""
    sent = json.dumps(saved.document, ensure_ascii=False)
    return {"notes": saved.notes, "request": sent, "agent": f"{saved.agent} {saved.address}"}


class _SearchWords:
    """The words of a search: as a condition, and as highlights in the hits."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        longest_first = sorted(map(re.escape, words), key=len, reverse=True)
        self._pattern = re.compile("|".join(longest_first), re.IGNORECASE)

    def within(self, *fields: str, sent: str = "") -> Q:
        """Return the condition that every word is in a field, or in the JSON of `sent`."""
        condition = Q()
        for word in self.words:
            # A database may ignore the case of ASCII letters only.
            others = () if word.isascii() else (word.lower(), word.upper(), word.capitalize())
            spellings = sorted({word, *others})
            alternatives = [
                Q(**{f"{name}__icontains": each}) for name in fields for each in spellings
            ]
            if sent:
                alternatives += [
                    Q(**{f"{sent}__icontains": json.dumps(each)[1:-1]}) for each in spellings
                ]
            condition &= reduce(or_, alternatives)
        return condition

    def hit(self, item: Any, kind: str, texts: dict[str, str]) -> SearchHit:
        target = item.collection if kind == "folder" else item
        url = target.get_absolute_url() + (f"#folder-{item.slug}" if kind == "folder" else "")
        found = SearchHit(item, url, kind, self.pieces(item.name))
        if all(re.search(re.escape(word), item.name, re.IGNORECASE) for word in self.words):
            return found
        for name, text in texts.items():
            if match := self._pattern.search(text):
                return replace(
                    found, location=name, excerpt=self.pieces(_excerpt(text, match.start()))
                )
        return found

    def pieces(self, text: str) -> list[HighlightedText]:
        """Return a text in segments, with the words marked."""
        found, end = [], 0
        for match in self._pattern.finditer(text):
            found += [
                HighlightedText(text[end : match.start()], False),
                HighlightedText(match[0], True),
            ]
            end = match.end()
        return [piece for piece in [*found, HighlightedText(text[end:], False)] if piece.text]


def _excerpt(text: str, at: int) -> str:
    start = max(0, at - BEFORE)
    piece = _SPACES.sub(" ", text[start : start + EXCERPT])
    return f"{'…' if start else ''}{piece}{'…' if start + EXCERPT < len(text) else ''}"
