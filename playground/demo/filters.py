"""Filter attributes of a query (section 3.1): a reader for each, and the criteria they set.

An invalid value is a failure INVALID_PARAMETER; an unknown filter is ignored and named in the
response.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.demo.corpus import CorpusItem, diet_key, minutes_of, strings
from playground.demo.failures import invalid_parameter
from playground.demo.vocabulary import GROUPS

DEFAULT_RESULTS = 10
MAX_RESULTS = 100
#: Ids of questions of this agent's elicitations: their answers are filters.
ANSWERS = ("dietary_restrictions", "cooking_time", "sauce_type", "protein_type")
_NO_PREFERENCE = {"", "none", "no preference", "any", "anything"}
_AMOUNT = re.compile(r"(\d{1,6}(?:\.\d{1,2})?)")
_SCHEMA_ORG = re.compile(r"https?://schema\.org/")


@dataclass(frozen=True, slots=True)
class Criteria:
    """Conditions for an item to be found. The defaults admit everything."""

    site: str | None = None
    kinds: frozenset[str] = frozenset()
    max_minutes: float | None = None
    diets: frozenset[str] = frozenset()
    #: Diets in the text rather than in a filter: they apply to dishes, not to restaurants or films.
    dishes_for: frozenset[str] = frozenset()
    cuisine: str | None = None
    ingredients: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    price_range: str | None = None
    min_price: float | None = None
    max_price: float | None = None
    location: str | None = None
    #: Preferences, dropped if nothing meets them: words of which one must occur.
    soft: tuple[tuple[str, ...], ...] = ()
    limit: int = DEFAULT_RESULTS
    #: Names of unknown filters.
    ignored: tuple[str, ...] = ()

    def admits(self, entry: CorpusItem) -> bool:
        """Return True if `entry` meets every hard criterion."""
        return all(
            (
                self.site is None or entry.site == self.site,
                not self.kinds or entry.kind in self.kinds,
                self.max_minutes is None or _at_most(entry.minutes, self.max_minutes),
                self.diets <= entry.diets,
                not entry.ingredients or self.dishes_for <= entry.diets,
                self.cuisine is None or self.cuisine in entry.cuisines,
                all(contains(entry.ingredients, name) for name in self.ingredients),
                not any(contains(entry.ingredients, name) for name in self.without),
                self._affordable(entry),
                # Items without a location, such as recipes, fit everywhere.
                not (self.location and entry.location) or self.location in entry.location,
            )
        )

    def prefers(self, entry: CorpusItem) -> bool:
        """Return True if `entry` meets the soft criteria as well."""
        text = f"{entry.ingredients}\n{entry.keywords}"
        return all(any(contains(text, word) for word in words) for words in self.soft)

    def _affordable(self, entry: CorpusItem) -> bool:
        if self.price_range and entry.document.get("priceRange") != self.price_range:
            return False
        if self.max_price is not None and not _at_most(entry.price, self.max_price):
            return False
        return self.min_price is None or (entry.price or 0) >= self.min_price


#: Returns the criteria with those of a filter: from its name and its value.
Reader = Callable[[Criteria, str, Any], Criteria]


def contains(text: str, name: str) -> bool:
    """Return True if a lower-case text has an ingredient, or one of the group of that name."""
    name = name.strip().lower()
    stem = name if name.endswith("ss") else name.removesuffix("s")
    names = GROUPS.get(stem, (stem,))
    return any(re.search(rf"\b{re.escape(word)}(?:e?s)?\b", text) for word in names)


def read_filters(filters: Mapping[str, Any]) -> Criteria:
    """Return the criteria in the filter attributes of a query.

    Raise `FailureError` INVALID_PARAMETER, with the attribute and the expected format.
    """
    criteria = Criteria()
    ignored: list[str] = []
    for name, value in filters.items():
        if reader := _READERS.get(name):
            criteria = reader(criteria, name, value)
        else:
            ignored.append(name)
    return replace(criteria, ignored=tuple(sorted(ignored)))


def _at_most(value: float | None, limit: float) -> bool:
    return value is not None and value <= limit


def _one(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise invalid_parameter(name, value, "string", "a non-empty string")
    return value.strip()


def _several(name: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if len(strings(values)) != len(values):
        raise invalid_parameter(name, value, "string or list of strings", "one or more strings")
    parts = (part.strip() for text in values for part in text.split(","))
    return [part for part in parts if part.lower() not in _NO_PREFERENCE]


def _text(field: str, change: Callable[[str], str] = str) -> Reader:
    """Return the reader of a filter whose text is a field of the criteria."""

    def read(criteria: Criteria, name: str, value: Any) -> Criteria:
        changed: dict[str, Any] = {field: change(_one(name, value))}
        return replace(criteria, **changed)

    return read


def _item_type(criteria: Criteria, name: str, value: Any) -> Criteria:
    kinds = (_SCHEMA_ORG.sub("", kind) for kind in _several(name, value))
    return replace(criteria, kinds=frozenset(kinds))


def _max_cooking_time(criteria: Criteria, name: str, value: Any) -> Criteria:
    """Read an ISO 8601 duration, or a number of minutes (0.54 examples, section 6)."""
    minutes: float | None = None
    if isinstance(value, str):
        minutes = minutes_of(value.strip().upper())
    elif isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        minutes = value
    if minutes is None:
        raise invalid_parameter(
            name,
            value,
            "ISO 8601 Duration",
            "a valid duration in ISO 8601 format (e.g., 'PT30M' for 30 minutes)",
        )
    return replace(criteria, max_minutes=minutes)


def _diet(criteria: Criteria, name: str, value: Any) -> Criteria:
    diets = frozenset(diet_key(diet) for diet in _several(name, value))
    return replace(criteria, diets=criteria.diets | diets)


def _ingredient(criteria: Criteria, name: str, value: Any) -> Criteria:
    return replace(criteria, ingredients=(*criteria.ingredients, *_several(name, value)))


def _price(criteria: Criteria, name: str, value: Any) -> Criteria:
    """Read `$$`, a maximum in dollars, or words such as `less than $20`."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return replace(criteria, max_price=float(value))
    text = _one(name, value).lower()
    if re.fullmatch(r"\${1,4}", text):
        return replace(criteria, price_range=text)
    numbers = sorted(float(number) for number in _AMOUNT.findall(text.replace(",", "")))
    if not numbers:
        raise invalid_parameter(name, value, "price", "a price such as '$$', 20 or 'less than $20'")
    if len(numbers) > 1:
        return replace(criteria, min_price=numbers[0], max_price=numbers[-1])
    if re.search(r"more|over|above|from|least|>", text):
        return replace(criteria, min_price=numbers[0])
    return replace(criteria, max_price=numbers[0])


def _num_results(criteria: Criteria, name: str, value: Any) -> Criteria:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_RESULTS:
        raise invalid_parameter(name, value, "integer", f"an integer from 1 to {MAX_RESULTS}")
    return replace(criteria, limit=value)


def _cooking_time(criteria: Criteria, name: str, value: Any) -> Criteria:
    """Read an answer in words: the largest number counts, unless it is a lower bound."""
    text = _one(name, value).lower()
    numbers = [int(number) for number in re.findall(r"\d{1,3}", text)]
    if not numbers or re.search(r"over|more|any", text):
        return criteria
    factor = 60 if "hour" in text and max(numbers) < 10 else 1
    return replace(criteria, max_minutes=max(numbers) * factor)


def _soft(criteria: Criteria, name: str, value: Any) -> Criteria:
    words = tuple(word.lower() for word in _several(name, value))
    return replace(criteria, soft=(*criteria.soft, words)) if words else criteria


_READERS: Mapping[str, Reader] = {
    "site": _text("site"),
    "itemType": _item_type,
    "max_cooking_time": _max_cooking_time,
    "diet": _diet,
    "suitableForDiet": _diet,
    "dietary_restrictions": _diet,
    "cuisine": _text("cuisine", str.lower),
    "servesCuisine": _text("cuisine", str.lower),
    "recipeCuisine": _text("cuisine", str.lower),
    "ingredient": _ingredient,
    "ingredients": _ingredient,
    "location": _text("location", str.lower),
    "price": _price,
    "num_results": _num_results,
    "cooking_time": _cooking_time,
    "sauce_type": _soft,
    "protein_type": _soft,
}
