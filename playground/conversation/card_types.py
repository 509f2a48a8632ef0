"""Card types: facts and lists of result items, by schema.org type.

A new type is a function and a row of `CARD_TYPES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.ui.formatting import (
    MAX_LIST,
    iso_duration_text,
    label_text,
    list_item_text,
    safe_url,
    value_text,
)

Item = Mapping[str, Any]
Facts = list[tuple[str, str]]
Lists = list[tuple[str, list[str]]]

#: Members of an item of an unknown type that are read, and facts and lists of its card.
MAX_MEMBERS, MAX_FACTS, MAX_LISTS = 200, 12, 6


def _rating(item: Item) -> str:
    rating = item.get("aggregateRating")
    rating = rating[0] if isinstance(rating, list) and rating else rating
    if not isinstance(rating, Mapping):
        return value_text(rating, 30)
    value, count = value_text(rating.get("ratingValue"), 10), rating.get("reviewCount")
    count = count if count is not None else rating.get("ratingCount")
    return f"{value} ({value_text(count, 12)})" if value and count is not None else value


def _address(value: Any) -> str:
    if not isinstance(value, Mapping):
        return value_text(value, 160)
    keys = ("streetAddress", "addressLocality", "addressRegion", "postalCode")
    return ", ".join(filter(None, (value_text(value.get(key), 80) for key in keys)))


def _price(item: Item) -> str:
    offers = item.get("offers")
    if isinstance(offers, list):
        offers = offers[0] if offers else None
    if isinstance(offers, Mapping):
        price = value_text(offers.get("price", offers.get("lowPrice")), 30)
        return f"{price} {value_text(offers.get('priceCurrency'), 8)}".strip()
    return value_text(item.get("price"), 40)


def _amount(value: Any) -> str:
    """Return a quantity or an amount of money as text: "4.5 USD"; "" for anything else."""
    if not is_amount(value):
        return ""
    unit = value.get("currency") or value.get("unitText") or value.get("unitCode")
    return f"{value_text(value['value'], 30)} {value_text(unit, 20)}".strip()


def is_amount(value: Any) -> bool:
    """Return whether a value is a schema.org `MonetaryAmount` or `QuantitativeValue`."""
    is_number = isinstance(value, Mapping) and isinstance(value.get("value"), int | float | str)
    return is_number and value.get("@type") in _AMOUNTS


_AMOUNTS = ("MonetaryAmount", "QuantitativeValue")


def _texts(value: Any) -> list[str]:
    """Return a list of texts, such as the steps of a recipe, also if they are in sections."""
    if isinstance(value, str):
        return [value_text(value)]
    if not isinstance(value, list):
        return [value_text(value)] if value else []
    texts: list[str] = []
    for part in value[:MAX_LIST]:
        if isinstance(part, Mapping) and isinstance(part.get("itemListElement"), list):
            texts += [value_text(step) for step in part["itemListElement"][:MAX_LIST]]
        elif isinstance(part, Mapping) and part.get("text"):
            texts.append(value_text(part["text"]))
        else:
            texts.append(value_text(part))
    return [text for text in texts if text][:MAX_LIST]


def _recipe(item: Item) -> tuple[Facts, Lists]:
    nutrition = item.get("nutrition")
    nutrition = nutrition if isinstance(nutrition, Mapping) else {}
    return [
        ("Prep time", iso_duration_text(item.get("prepTime"))),
        ("Cook time", iso_duration_text(item.get("cookTime"))),
        ("Total time", iso_duration_text(item.get("totalTime"))),
        ("Servings", value_text(item.get("recipeYield"), 60)),
        ("Cuisine", value_text(item.get("recipeCuisine"), 60)),
        ("Energy", value_text(nutrition.get("calories") or item.get("calories"), 40)),
        ("Protein", value_text(nutrition.get("proteinContent"), 40)),
        ("Estimated cost", _amount(item.get("estimatedCost"))),
        ("Rating", _rating(item)),
    ], [
        ("Ingredients", _texts(item.get("recipeIngredient") or item.get("ingredients"))),
        ("Steps", _texts(item.get("recipeInstructions"))),
    ]


def _restaurant(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Cuisine", value_text(item.get("servesCuisine"), 80)),
        ("Price", value_text(item.get("priceRange"), 20)),
        ("Rating", _rating(item)),
        ("Address", _address(item.get("address"))),
        ("Phone", value_text(item.get("telephone"), 40)),
        ("Hours", value_text(item.get("openingHours"), 120)),
    ], []


def _product(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Price", _price(item)),
        ("Brand", value_text(item.get("brand"), 60)),
        ("Rating", _rating(item)),
        ("SKU", value_text(item.get("sku"), 40)),
        ("Material", value_text(item.get("material"), 60)),
    ], []


def _movie(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Released", value_text(item.get("datePublished") or item.get("dateCreated"), 30)),
        ("Director", value_text(item.get("director"), 80)),
        ("Duration", iso_duration_text(item.get("duration"))),
        ("Genre", value_text(item.get("genre"), 80)),
        ("Cast", value_text(item.get("actor"), 160)),
        ("Rating", _rating(item)),
    ], []


def _article(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Author", value_text(item.get("author"), 80)),
        ("Published", value_text(item.get("datePublished"), 30)),
        ("Published in", value_text(item.get("publisher") or item.get("articleSection"), 80)),
        (
            "Length",
            f"{value_text(item.get('wordCount'), 10)} words" if item.get("wordCount") else "",
        ),
    ], []


def _how_to(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Total time", iso_duration_text(item.get("totalTime"))),
        ("Estimated cost", _amount(item.get("estimatedCost"))),
        ("Position", value_text(item.get("position"), 10)),
        ("Video", value_text(safe_url(item.get("video")), 160)),
    ], [
        ("Supplies", _texts(item.get("supply"))),
        ("Tools", _texts(item.get("tool"))),
        ("Steps", _texts(item.get("step") or item.get("itemListElement"))),
    ]


#: Members with a place of their own on the card, and those that mean nothing to a user.
PLACED = frozenset(
    "@type @context @id type name title headline url image thumbnailUrl description text abstract "
    "site siteUrl score schema_object actions grounding".split()
)
#: Members whose objects are always items; those of other members need an `@type`.
_HOLDERS = frozenset({"itemListElement", "hasPart", "offers"})


def holds_items(key: str, value: Any) -> bool:
    """Return whether the member `key` of an item holds items that have more than a name."""
    parts = value[:MAX_LIST] if isinstance(value, list) else [value]
    found = [part for part in parts if isinstance(part, Mapping) and not is_amount(part)]
    if key in _HOLDERS:
        return bool(found)
    return any("@type" in part and not ("name" in part and len(part) <= 3) for part in found)


def _thing(item: Item) -> tuple[Facts, Lists]:
    """Return the members of an item of any type: short values as facts, lists as lists."""
    facts: Facts = []
    lists: Lists = []
    for key, value in islice(item.items(), MAX_MEMBERS):
        if key in PLACED:
            continue
        if key == "aggregateRating":
            facts.append(("Rating", _rating(item)))
        elif holds_items(key, value):
            continue  # Shown as cards of their own.
        elif isinstance(value, list) and value and _is_list_of_lines(value):
            lines = [list_item_text(part, 300) for part in value[:MAX_LIST]]
            lists.append((label_text(key), list(filter(None, lines))))
        else:
            facts.append((label_text(key), _amount(value) or value_text(value, 160)))
        if len(facts) >= MAX_FACTS and len(lists) >= MAX_LISTS:
            break
    return facts[:MAX_FACTS], lists[:MAX_LISTS]


def _is_list_of_lines(value: list[Any]) -> bool:
    """Return whether each item of a list is shown as a line: only texts and objects."""
    return all(isinstance(part, str | Mapping) for part in value[:MAX_LIST])


@dataclass(frozen=True, slots=True)
class CardType:
    """How items of some schema.org types are shown."""

    #: Chooses the mark of the card: `[data-type]` in `static/conversation/cards.css`.
    family: str
    types: tuple[str, ...]
    #: Return the facts and lists of an item. Total: those without text are left out.
    build: Callable[[Item], tuple[Facts, Lists]]
    #: Members that `build` shows although they can be items, which would get cards of their own.
    #: Several offers do.
    shows: frozenset[str]


CARD_TYPES = (
    CardType(
        "recipe",
        ("Recipe",),
        _recipe,
        frozenset({"aggregateRating", "nutrition", "recipeIngredient", "recipeInstructions"}),
    ),
    CardType(
        "place",
        ("Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "LocalBusiness"),
        _restaurant,
        frozenset({"address", "aggregateRating"}),
    ),
    CardType(
        "product",
        ("Product", "ProductGroup", "Offer"),
        _product,
        frozenset({"aggregateRating", "brand", "offers"}),
    ),
    CardType(
        "movie",
        ("Movie", "TVSeries", "VideoObject"),
        _movie,
        frozenset({"actor", "aggregateRating", "director"}),
    ),
    CardType(
        "article",
        ("Article", "NewsArticle", "BlogPosting", "TechArticle"),
        _article,
        frozenset({"author", "publisher"}),
    ),
    CardType(
        "howto",
        ("HowTo", "HowToSection", "HowToStep", "HowToTip", "HowToDirection"),
        _how_to,
        frozenset({"itemListElement", "step", "supply", "tool", "video"}),
    ),
)
UNKNOWN = CardType("thing", (), _thing, frozenset({"aggregateRating"}))
