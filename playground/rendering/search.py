"""Search over collections: names, descriptions, notes, and what requests send.

The database decides what matches, with every word anywhere in it; here the place that matched is
cut out and marked. There is a limit on what is shown, and none on what is searched.
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

#: Requests that are shown, and collections and folders before them.
LIMIT = 50
SHELVES = 5
MAX_WORDS = 8
#: Characters of an excerpt, and of those how many stand before what was found.
EXCERPT, BEFORE = 120, 40
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class HighlightedText:
    """A piece of a text; marked where it is what was searched for."""

    text: str
    marked: bool


@dataclass(frozen=True)
class SearchHit:
    """Something that was found."""

    item: Collection | Folder | SavedRequest
    url: str
    #: "request", "folder" or "collection".
    kind: str
    name: list[HighlightedText]
    #: Where the match is, in a word, and its surroundings; empty where it is the name.
    location: str = ""
    excerpt: list[HighlightedText] = field(default_factory=list)


@dataclass
class CollectionHits:
    """What was found in one collection."""

    collection: Collection
    hits: list[SearchHit] = field(default_factory=list)


@dataclass(frozen=True)
class SearchResults:
    """What was found, by collection, and whether there is more than is shown."""

    shelves: list[CollectionHits]
    more: bool = False

    @property
    def count(self) -> int:
        """How many are shown."""
        return sum(len(shelf.hits) for shelf in self.shelves)


def search_collections(user: User | AnonymousUser, text: str) -> SearchResults:
    """What holds every word of `text`: what is named so first, then in its order."""
    words = text[:200].split()[:MAX_WORDS]
    if not words:
        return SearchResults([])
    collections = Collection.objects.owned_by(user)
    looking = _Looking(words)
    requests = list(_requests(collections, looking)[: LIMIT + 1])
    hits = [
        *_described(collections, "collection", looking),
        *_described(_folders(collections), "folder", looking),
        *(looking.hit(each, "request", _texts(each)) for each in requests[:LIMIT]),
    ]
    return SearchResults(_by_collection(hits), more=len(requests) > LIMIT)


def _folders(collections: QuerySet[Collection]) -> QuerySet[Folder]:
    return Folder.objects.filter(collection__in=collections).select_related("collection")


def _described(items: QuerySet[Any], kind: str, looking: _Looking) -> list[SearchHit]:
    """Collections or folders, which have a name and a description."""
    found = items.filter(looking.within("name", "description"))[:SHELVES]
    return [looking.hit(each, kind, {"description": each.description}) for each in found]


def _requests(collections: QuerySet[Collection], looking: _Looking) -> QuerySet[SavedRequest]:
    found = SavedRequest.objects.filter(collection__in=collections)
    # As text: the field itself would look for a JSON value.
    found = found.alias(sent=Cast("document", TextField()))
    found = found.filter(looking.within("name", "notes", "agent", "address", sent="sent"))
    named = Case(When(looking.within("name"), then=0), default=1, output_field=IntegerField())
    found = found.alias(named=named).select_related("collection", "folder")
    in_folder = F("folder__position").asc(nulls_first=True)
    order = ("collection__position", "collection__pk", in_folder, "folder__pk", "position", "pk")
    return found.defer("reply", "expectations").order_by("named", *order)


def _texts(saved: SavedRequest) -> dict[str, str]:
    """What of a request is searched beside its name, by what it is called."""
    sent = json.dumps(saved.document, ensure_ascii=False)
    return {"notes": saved.notes, "request": sent, "agent": f"{saved.agent} {saved.address}"}


def _by_collection(hits: list[SearchHit]) -> list[CollectionHits]:
    shelves: dict[int, CollectionHits] = {}
    for hit in hits:
        item = hit.item
        collection = item if isinstance(item, Collection) else item.collection
        shelves.setdefault(collection.pk, CollectionHits(collection)).hits.append(hit)
    return list(shelves.values())


class _Looking:
    """The words that are searched for: as a condition, and as marks in what was found."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        longest_first = sorted(map(re.escape, words), key=len, reverse=True)
        self._pattern = re.compile("|".join(longest_first), re.IGNORECASE)

    def within(self, *fields: str, sent: str = "") -> Q:
        """Every word is in one of the fields, or in the JSON of `sent`."""
        condition = Q()
        for word in self.words:
            spelt = _spellings(word)
            wanted = [Q(**{f"{name}__icontains": each}) for name in fields for each in spelt]
            if sent:
                wanted += [Q(**{f"{sent}__icontains": json.dumps(each)[1:-1]}) for each in spelt]
            condition &= reduce(or_, wanted)
        return condition

    def hit(self, item: Any, kind: str, texts: dict[str, str]) -> SearchHit:
        """What is shown of something that was found."""
        target = item.collection if kind == "folder" else item
        url = target.get_absolute_url() + (f"#folder-{item.slug}" if kind == "folder" else "")
        found = SearchHit(item, url, kind, self.pieces(item.name))
        if all(re.search(re.escape(word), item.name, re.IGNORECASE) for word in self.words):
            return found
        for place, text in texts.items():
            if match := self._pattern.search(text):
                return replace(
                    found, location=place, excerpt=self.pieces(_cut(text, match.start()))
                )
        return found

    def pieces(self, text: str) -> list[HighlightedText]:
        """A text in pieces, those marked that are one of the words."""
        found, end = [], 0
        for match in self._pattern.finditer(text):
            found += [
                HighlightedText(text[end : match.start()], False),
                HighlightedText(match[0], True),
            ]
            end = match.end()
        return [piece for piece in [*found, HighlightedText(text[end:], False)] if piece.text]


def _spellings(word: str) -> list[str]:
    """A word in small and in capital letters, where the database may not know that pair."""
    if word.isascii():
        return [word]
    return sorted({word, word.lower(), word.upper(), word.capitalize()})


def _cut(text: str, at: int) -> str:
    """The surroundings of a place in a text, on one line."""
    start = max(0, at - BEFORE)
    piece = _SPACES.sub(" ", text[start : start + EXCERPT])
    return f"{'…' if start else ''}{piece}{'…' if start + EXCERPT < len(text) else ''}"
