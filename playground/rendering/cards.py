"""Result items to cards, by schema.org type.

A new type is one function and one line in `CARDS`. Every function is total: whatever an
agent puts where text belongs is turned into text or left out, and the raw JSON is one
click away on every card.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.rendering.links import safe_url

Item = Mapping[str, Any]
Facts = list[tuple[str, str]]
Lists = list[tuple[str, list[str]]]

#: Longer text is cut on the card; the raw JSON has all of it.
MAX_TEXT = 600
MAX_LIST = 40
_DURATION = re.compile(
    r"P(?:(?P<d>\d{1,9})D)?"
    r"(?:T(?:(?P<h>\d{1,9})H)?(?:(?P<m>\d{1,9})M)?(?:(?P<s>\d{1,9})(?:\.\d+)?S)?)?"
)


@dataclass(frozen=True, slots=True)
class Card:
    """What a card shows, all of it text."""

    #: The type as the agent wrote it, or a word for what the item is.
    kind: str
    title: str
    #: Which drawing stands beside the type: the family that the type belongs to.
    family: str = "thing"
    url: str | None = None
    image: str | None = None
    text: str = ""
    facts: Facts = field(default_factory=list)
    lists: Lists = field(default_factory=list)
    site: str = ""
    #: How well the agent thinks that the item fits, as it says it.
    score: str = ""


def words(value: Any, limit: int = MAX_TEXT) -> str:
    """Any JSON value as a short text: names of objects, items of lists, "" for nothing."""
    if value is None or value == [] or value == {}:
        return ""
    match value:
        case str():
            text = value
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case list():
            text = ", ".join(filter(None, (words(part, limit) for part in value[:MAX_LIST])))
        case {"name": str() as name}:
            text = name
        case {"text": str() as inner} | {"@value": str() as inner}:
            text = inner
        case _:
            text = json.dumps(value, ensure_ascii=False)
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def duration(value: Any) -> str:
    """An ISO 8601 duration as people say it ("1 h 30 min"); other values as they are."""
    if not isinstance(value, str) or not (match := _DURATION.fullmatch(value)):
        return words(value, 60)
    units = {"d": "d", "h": "h", "m": "min", "s": "s"}
    parts = [f"{int(n)} {units[u]}" for u, n in match.groupdict().items() if n and int(n)]
    return " ".join(parts) or "none"


def type_of(item: Item) -> str:
    """The item's `@type`, the first one where it has several, without its namespace."""
    value = item.get("@type", item.get("type"))
    if isinstance(value, list):
        value = next((part for part in value if isinstance(part, str)), "")
    return re.split(r"[/#:]", value)[-1][:60] if isinstance(value, str) else ""


def card_of(item: Any) -> Card:
    """The card for any result item: objects by type, everything else as what it is."""
    if not isinstance(item, Mapping):
        kind = {str: "text", type(None): "null", list: "list", bool: "boolean"}
        return Card(kind=kind.get(type(item), "number"), title=words(item) or "(nothing)")
    if isinstance(inner := item.get("schema_object"), Mapping):
        item = {**inner, **item}
    name = type_of(item)
    family, build = CARDS.get(name, ("thing", _thing))
    facts, lists = build(item)
    return Card(
        kind=name or "untyped",
        family=family,
        title=_title(item),
        url=safe_url(item.get("url")) or safe_url(item.get("@id")),
        image=_image(item.get("image", item.get("thumbnailUrl"))),
        text=words(item.get("description") or item.get("text") or item.get("abstract")),
        facts=[(label, value) for label, value in facts if value],
        lists=[(label, parts) for label, parts in lists if parts],
        site=words(item.get("site"), 80),
        score=words(item.get("score"), 20),
    )


def _title(item: Item) -> str:
    for key in ("name", "title", "headline"):
        if text := words(item.get(key), 200):
            return text
    return words(item.get("url") or item.get("@id"), 200)


def _image(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping):
        value = value.get("url") or value.get("contentUrl")
    return safe_url(value)


def _rating(item: Item) -> str:
    rating = item.get("aggregateRating")
    if not isinstance(rating, Mapping):
        return words(rating, 30)
    value, count = words(rating.get("ratingValue"), 10), rating.get("reviewCount")
    count = count if count is not None else rating.get("ratingCount")
    return f"{value} ({words(count, 12)})" if value and count is not None else value


def _address(value: Any) -> str:
    if not isinstance(value, Mapping):
        return words(value, 160)
    keys = ("streetAddress", "addressLocality", "addressRegion", "postalCode")
    return ", ".join(filter(None, (words(value.get(key), 80) for key in keys)))


def _price(item: Item) -> str:
    offers = item.get("offers")
    if isinstance(offers, list):
        offers = offers[0] if offers else None
    if isinstance(offers, Mapping):
        price = words(offers.get("price", offers.get("lowPrice")), 30)
        return f"{price} {words(offers.get('priceCurrency'), 8)}".strip()
    return words(item.get("price"), 40)


def _texts(value: Any) -> list[str]:
    """A list of texts: steps of a recipe also when they are grouped in sections."""
    if isinstance(value, str):
        return [words(value)]
    if not isinstance(value, list):
        return [words(value)] if value else []
    found: list[str] = []
    for part in value[:MAX_LIST]:
        if isinstance(part, Mapping) and isinstance(part.get("itemListElement"), list):
            found += [words(step) for step in part["itemListElement"][:MAX_LIST]]
        elif isinstance(part, Mapping) and part.get("text"):
            found.append(words(part["text"]))
        else:
            found.append(words(part))
    return [text for text in found if text][:MAX_LIST]


def _recipe(item: Item) -> tuple[Facts, Lists]:
    nutrition = item.get("nutrition")
    nutrition = nutrition if isinstance(nutrition, Mapping) else {}
    return [
        ("Prep", duration(item.get("prepTime"))),
        ("Cook", duration(item.get("cookTime"))),
        ("Total", duration(item.get("totalTime"))),
        ("Serves", words(item.get("recipeYield"), 60)),
        ("Cuisine", words(item.get("recipeCuisine"), 60)),
        ("Energy", words(nutrition.get("calories") or item.get("calories"), 40)),
        ("Protein", words(nutrition.get("proteinContent"), 40)),
        ("Rating", _rating(item)),
    ], [
        ("Ingredients", _texts(item.get("recipeIngredient") or item.get("ingredients"))),
        ("Steps", _texts(item.get("recipeInstructions"))),
    ]


def _restaurant(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Cuisine", words(item.get("servesCuisine"), 80)),
        ("Price", words(item.get("priceRange"), 20)),
        ("Rating", _rating(item)),
        ("Address", _address(item.get("address"))),
        ("Phone", words(item.get("telephone"), 40)),
        ("Hours", words(item.get("openingHours"), 120)),
    ], []


def _product(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Price", _price(item)),
        ("Brand", words(item.get("brand"), 60)),
        ("Rating", _rating(item)),
        ("SKU", words(item.get("sku"), 40)),
        ("Material", words(item.get("material"), 60)),
    ], []


def _movie(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Released", words(item.get("datePublished") or item.get("dateCreated"), 30)),
        ("Director", words(item.get("director"), 80)),
        ("Length", duration(item.get("duration"))),
        ("Genre", words(item.get("genre"), 80)),
        ("Cast", words(item.get("actor"), 160)),
        ("Rating", _rating(item)),
    ], []


def _article(item: Item) -> tuple[Facts, Lists]:
    return [
        ("By", words(item.get("author"), 80)),
        ("Published", words(item.get("datePublished"), 30)),
        ("In", words(item.get("publisher") or item.get("articleSection"), 80)),
        ("Length", f"{words(item.get('wordCount'), 10)} words" if item.get("wordCount") else ""),
    ], []


def _how_to(item: Item) -> tuple[Facts, Lists]:
    return [
        ("Time", duration(item.get("totalTime"))),
        ("Position", words(item.get("position"), 10)),
        ("Video", words(safe_url(item.get("video")), 160)),
    ], [
        ("Supplies", _texts(item.get("supply"))),
        ("Tools", _texts(item.get("tool"))),
        ("Steps", _texts(item.get("step") or item.get("itemListElement"))),
    ]


#: Shown elsewhere on the card, or of no use to a reader.
_PLACED = frozenset(
    "@type @context @id type name title headline url image thumbnailUrl description text abstract "
    "site siteUrl score schema_object actions grounding".split()
)


def _thing(item: Item) -> tuple[Facts, Lists]:
    """Whatever else an item has: short values as facts, lists of texts as lists."""
    facts: Facts = []
    lists: Lists = []
    for key, value in item.items():
        if key in _PLACED:
            continue
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            lists.append((words(key, 60), [words(part, 200) for part in value[:MAX_LIST]]))
        elif len(facts) < 12:
            facts.append((words(key, 60), words(value, 160)))
    return facts, lists[:6]


Builder = Callable[[Item], tuple[Facts, Lists]]

CARDS: dict[str, tuple[str, Builder]] = {
    **dict.fromkeys(("Recipe",), ("recipe", _recipe)),
    **dict.fromkeys(
        ("Restaurant", "FoodEstablishment", "CafeOrCoffeeShop", "LocalBusiness"),
        ("place", _restaurant),
    ),
    **dict.fromkeys(("Product", "ProductGroup", "Offer"), ("product", _product)),
    **dict.fromkeys(("Movie", "TVSeries", "VideoObject"), ("movie", _movie)),
    **dict.fromkeys(
        ("Article", "NewsArticle", "BlogPosting", "TechArticle"), ("article", _article)
    ),
    **dict.fromkeys(
        ("HowTo", "HowToSection", "HowToStep", "HowToTip", "HowToDirection"), ("howto", _how_to)
    ),
}
