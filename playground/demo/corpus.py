"""Corpus in memory: its documents with the values that filters need, and their ranked index.

The index is a private in-memory database of SQLite (FTS5), so it is the same whichever database the
site uses: Porter stemming; bm25 with a weight for each column.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from playground.demo.models import Item

#: Letters and digits of any script: nothing else gets into an FTS5 expression.
_WORD = re.compile(r"[^\W_]+")
_MAX_WORDS = 64


class IndexRow(NamedTuple):
    """The searched fields of an item, by decreasing weight."""

    name: str
    keywords: str
    ingredients: str
    description: str


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; apostrophes within words are dropped."""
    return _WORD.findall(text.lower().replace("'", "").replace("’", ""))


class Index:
    """A full-text index over rows, which are identified by their position."""

    def __init__(self, rows: Iterable[IndexRow]) -> None:
        # Read from one thread at a time, though not always from the one that built it.
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute(
            "CREATE VIRTUAL TABLE entries USING fts5(name, keywords, ingredients, description,"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._db.executemany(
            "INSERT INTO entries(rowid, name, keywords, ingredients, description)"
            " VALUES (?, ?, ?, ?, ?)",
            ((position, *row) for position, row in enumerate(rows)),
        )

    def scores(self, words: Iterable[str]) -> Mapping[int, float]:
        """Return a positive score for each row with any of the words; higher is better.

        The words may be anything that a user typed: they reach FTS5 as quoted strings of letters
        and digits, never as its syntax.
        """
        found = dict.fromkeys(word for text in words for word in words_of(text))
        if not found:
            return {}
        expression = " OR ".join(f'"{word}"' for word in list(found)[:_MAX_WORDS])
        rows = self._db.execute(
            "SELECT rowid, -bm25(entries, 10.0, 6.0, 4.0, 2.0) FROM entries WHERE entries MATCH ?",
            (expression,),
        )
        return dict(rows.fetchall())


_DURATION = re.compile(
    r"P(?:(?P<days>\d{1,4})D)?"
    r"(?:T(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,6})M)?(?:(?P<seconds>\d{1,7})S)?)?",
    re.ASCII,
)
#: Estimated price of a meal in dollars per person, for a price range in signs.
_PRICE_RANGES = {"$": 15.0, "$$": 30.0, "$$$": 60.0, "$$$$": 120.0}


def minutes_of(duration: str) -> float | None:
    """Return an ISO 8601 duration of days to seconds in minutes; None if it is invalid."""
    match = _DURATION.fullmatch(duration)
    if not match or not any(match.groupdict().values()):
        return None
    parts = {name: int(value or 0) for name, value in match.groupdict().items()}
    return parts["days"] * 1440 + parts["hours"] * 60 + parts["minutes"] + parts["seconds"] / 60


def diet_key(name: str) -> str:
    """Normalize a diet: `GlutenFreeDiet`, its URL and `gluten-free` all become glutenfree."""
    key = re.sub(r"[\W_]", "", name.rpartition("/")[2].lower()).removesuffix("diet")
    return {"lowlactose": "dairyfree", "lactosefree": "dairyfree", "celiac": "glutenfree"}.get(
        key, key
    )


def strings(value: Any) -> list[str]:
    """Return the strings in a value that may be a string or a list of strings."""
    values = value if isinstance(value, list) else [value]
    return [v for v in values if isinstance(v, str)]


@dataclass(frozen=True)
class CorpusItem:
    """A document of the corpus with the values that filters compare."""

    document: Mapping[str, Any]
    site: str
    kind: str

    @property
    def name(self) -> str:
        """Return its name or headline."""
        return str(self.document.get("name") or self.document.get("headline") or "")

    @cached_property
    def minutes(self) -> float | None:
        """Return its cooking time; None for items that are not cooked."""
        for field in ("totalTime", "cookTime"):
            if found := strings(self.document.get(field)):
                return minutes_of(found[0])
        return None

    @cached_property
    def diets(self) -> frozenset[str]:
        """Return the diets it suits, normalized."""
        diets = {diet_key(diet) for diet in strings(self.document.get("suitableForDiet"))}
        return frozenset(diets | ({"vegetarian", "dairyfree"} if "vegan" in diets else set()))

    @cached_property
    def cuisines(self) -> frozenset[str]:
        """Return its cuisines in lower case."""
        doc = self.document
        found = strings(doc.get("recipeCuisine")) + strings(doc.get("servesCuisine"))
        return frozenset(cuisine.lower() for cuisine in found)

    @cached_property
    def ingredients(self) -> str:
        """Return all ingredients as one text in lower case; "" if there are none."""
        return "\n".join(strings(self.document.get("recipeIngredient"))).lower()

    @cached_property
    def price(self) -> float | None:
        """Return its price in dollars: of a product, of a recipe, or of a meal per person."""
        if price_range := self.document.get("priceRange"):
            return _PRICE_RANGES.get(str(price_range))
        cost = self.document.get("estimatedCost") or {}
        offer = self.document.get("offers") or {}
        value = cost.get("value", offer.get("price"))
        return None if value is None else float(value)

    @cached_property
    def location(self) -> str:
        """Return its postal address in lower case; "" if it has none."""
        address = self.document.get("address") or {}
        return " ".join(str(part) for part in address.values()).lower()

    @cached_property
    def categories(self) -> frozenset[str]:
        """Return the courses and meals that a recipe is for, in lower case."""
        return frozenset(c.lower() for c in strings(self.document.get("recipeCategory")))

    @cached_property
    def keywords(self) -> str:
        """Return its keywords, category, cuisine, genre, diets and type in lower case."""
        doc = self.document
        fields = ("keywords", "recipeCategory", "recipeCuisine", "servesCuisine", "genre")
        found = [text for field in fields for text in strings(doc.get(field))]
        return "; ".join([*found, *sorted(self.diets), self.kind]).lower()

    @property
    def rating(self) -> float:
        """Return its average rating; 0 if there is none."""
        return float((self.document.get("aggregateRating") or {}).get("ratingValue") or 0)

    @cached_property
    def calories(self) -> float | None:
        """Return the kilocalories of a serving; None if unknown."""
        nutrition = self.document.get("nutrition") or {}
        found = re.match(r"\d{1,5}", str(nutrition.get("calories") or ""), re.ASCII)
        return float(found[0]) if found else None

    @property
    def row(self) -> IndexRow:
        """Return the fields of it that are searched."""
        text = f"{self.document.get('description') or ''} {self.location}"
        return IndexRow(self.name, self.keywords, self.ingredients, text)


@dataclass(frozen=True)
class Corpus:
    """All items, and the index over them."""

    entries: Sequence[CorpusItem]
    index: Index

    @classmethod
    def of(cls, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> Corpus:
        """Build a corpus from (site, document) pairs."""
        entries = [CorpusItem(doc, site, str(doc.get("@type", "Thing"))) for site, doc in documents]
        return cls(entries, Index(entry.row for entry in entries))

    @cached_property
    def sites(self) -> list[str]:
        """Return the names of the sites, sorted."""
        return sorted({entry.site for entry in self.entries})

    def of_kind(self, kind: str) -> list[CorpusItem]:
        """Return the items of one schema.org type, in the order of the corpus."""
        return [entry for entry in self.entries if entry.kind == kind]


_lock = threading.Lock()
_corpus: Corpus | None = None


def load() -> Corpus:
    """Return the corpus of this process; the first call reads the database (run it in a thread).

    An empty table is not cached, so that the fixture may be loaded while the site runs.
    """
    global _corpus
    with _lock:
        if _corpus is not None:
            return _corpus
        corpus = Corpus.of(Item.objects.values_list("site", "document"))
        if corpus.entries:
            _corpus = corpus
        return corpus


def loaded() -> Corpus | None:
    """Return the corpus of this process if it has been read; needs no thread."""
    return _corpus
