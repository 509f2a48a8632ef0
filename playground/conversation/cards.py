"""Result cards: title, links, facts and nested items of a result, by schema.org type.

Every function is total: any value where text belongs is turned into text or left out, and the
raw JSON is one click away on every card. The facts of each type are in
`playground.conversation.cards`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from playground.conversation.entries import Entry, Shown
from playground.conversation.media import MediaView, media_line
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.protocols import registry
from playground.protocols.events import is_summary
from playground.protocols.json_decoder import exceeds_depth, read_event
from playground.protocols.media import media_of
from playground.protocols.text import shorten
from playground.ui.formatting import (
    MAX_LIST,
    iso_duration_text,
    label_text,
    list_item_text,
    pretty,
    safe_url,
    value_text,
)

Item = Mapping[str, Any]
Facts = list[tuple[str, str]]
Lists = list[tuple[str, list[str]]]

#: Members of an item of an unknown type that are read, and facts and lists of its card.
MAX_MEMBERS, MAX_FACTS, MAX_LISTS = 200, 12, 6


def _rating(rating: Any) -> str:
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


def _offer(offers: Any) -> str:
    offer = offers[0] if isinstance(offers, list) and offers else offers
    if not isinstance(offer, Mapping):
        return ""
    price = value_text(offer.get("price", offer.get("lowPrice")), 30)
    return f"{price} {value_text(offer.get('priceCurrency'), 8)}".strip()


def _words(count: Any) -> str:
    return f"{value_text(count, 10)} words" if count else ""


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
    if not isinstance(value, list):
        text = value_text(value) if value else ""
        return [text] if text else []
    texts: list[str] = []
    for part in value[:MAX_LIST]:
        if isinstance(part, str):
            texts.append(value_text(part))
        elif isinstance(part, Mapping) and isinstance(part.get("itemListElement"), list):
            texts += [value_text(step) for step in part["itemListElement"][:MAX_LIST]]
        elif isinstance(part, Mapping) and part.get("text"):
            texts.append(value_text(part["text"]))
        else:
            texts.append(value_text(part))
    return [text for text in texts if text][:MAX_LIST]


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
            facts.append(("Rating", _rating(value)))
        elif holds_items(key, value):
            continue  # Shown as cards of their own.
        elif (
            isinstance(value, list)
            and value
            and all(isinstance(part, str | Mapping) for part in value[:MAX_LIST])
        ):
            lines = [list_item_text(part, 300) for part in value[:MAX_LIST]]
            lists.append((label_text(key), list(filter(None, lines))))
        else:
            facts.append((label_text(key), _amount(value) or value_text(value, 160)))
        if len(facts) >= MAX_FACTS and len(lists) >= MAX_LISTS:
            break
    return facts[:MAX_FACTS], lists[:MAX_LISTS]


def text(limit: int) -> Callable[[Any], str]:
    return lambda value: value_text(value, limit)


def member(name: str, limit: int) -> Callable[[Any], str]:
    """Return a reader of a member of an object."""
    return lambda value: value_text(value.get(name), limit) if isinstance(value, Mapping) else ""


class Fact(NamedTuple):
    """A row of the facts of a card."""

    label: str
    #: Names of members, separated by spaces: the first with a text counts.
    members: str
    read: Callable[[Any], str]


@dataclass(frozen=True)
class CardType:
    """How items of some schema.org types are shown."""

    #: Chooses the mark of the card: `[data-type]` in `static/conversation/cards.css`.
    family: str
    #: Separated by spaces.
    types: str
    #: Two rows with the same label are alternatives, too.
    facts: tuple[Fact, ...]
    #: Lists of texts as (label, names of members).
    lists: tuple[tuple[str, str], ...] = ()

    @cached_property
    def shows(self) -> frozenset[str]:
        """Return the members that are shown, although they can be items with cards of their own.

        Several offers have these.
        """
        names = (*(fact.members for fact in self.facts), *(names for _, names in self.lists))
        return frozenset(" ".join(names).split())

    def facts_of(self, item: Item) -> Facts:
        found: dict[str, str] = {}
        for label, names, read in self.facts:
            for name in names.split():
                if name in item and label not in found and (shown := read(item[name])):
                    found[label] = shown
        return list(found.items())

    def lists_of(self, item: Item) -> Lists:
        return [
            (label, next(filter(None, (_texts(item.get(name)) for name in names.split())), []))
            for label, names in self.lists
        ]


RATING = Fact("Rating", "aggregateRating", _rating)

CARD_TYPES = (
    CardType(
        "recipe",
        "Recipe",
        facts=(
            Fact("Prep time", "prepTime", iso_duration_text),
            Fact("Cook time", "cookTime", iso_duration_text),
            Fact("Total time", "totalTime", iso_duration_text),
            Fact("Servings", "recipeYield", text(60)),
            Fact("Cuisine", "recipeCuisine", text(60)),
            Fact("Energy", "nutrition", member("calories", 40)),
            Fact("Energy", "calories", text(40)),
            Fact("Protein", "nutrition", member("proteinContent", 40)),
            Fact("Estimated cost", "estimatedCost", _amount),
            RATING,
        ),
        lists=(
            ("Ingredients", "recipeIngredient ingredients"),
            ("Steps", "recipeInstructions"),
        ),
    ),
    CardType(
        "place",
        "Restaurant FoodEstablishment CafeOrCoffeeShop LocalBusiness",
        facts=(
            Fact("Cuisine", "servesCuisine", text(80)),
            Fact("Price", "priceRange", text(20)),
            RATING,
            Fact("Address", "address", _address),
            Fact("Phone", "telephone", text(40)),
            Fact("Hours", "openingHours", text(120)),
        ),
    ),
    CardType(
        "product",
        "Product ProductGroup Offer",
        facts=(
            Fact("Price", "offers", _offer),
            Fact("Price", "price", text(40)),
            Fact("Brand", "brand", text(60)),
            RATING,
            Fact("SKU", "sku", text(40)),
            Fact("Material", "material", text(60)),
        ),
    ),
    CardType(
        "movie",
        "Movie TVSeries VideoObject",
        facts=(
            Fact("Released", "datePublished dateCreated", text(30)),
            Fact("Director", "director", text(80)),
            Fact("Duration", "duration", iso_duration_text),
            Fact("Genre", "genre", text(80)),
            Fact("Cast", "actor", text(160)),
            RATING,
        ),
    ),
    CardType(
        "article",
        "Article NewsArticle BlogPosting TechArticle",
        facts=(
            Fact("Author", "author", text(80)),
            Fact("Published", "datePublished", text(30)),
            Fact("Published in", "publisher articleSection", text(80)),
            Fact("Length", "wordCount", _words),
        ),
    ),
    CardType(
        "howto",
        "HowTo HowToSection HowToStep HowToTip HowToDirection",
        facts=(
            Fact("Total time", "totalTime", iso_duration_text),
            Fact("Estimated cost", "estimatedCost", _amount),
            Fact("Position", "position", text(10)),
            Fact("Video", "video", lambda value: value_text(safe_url(value), 160)),
        ),
        lists=(("Supplies", "supply"), ("Tools", "tool"), ("Steps", "step itemListElement")),
    ),
)
#: Its other members are shown as they are, see `_thing`.
UNKNOWN = CardType("thing", "", (RATING,))


#: Types of one item that are read.
MAX_TYPES = 10
#: Levels of nested items, items of one member, and items of one card. The raw JSON has the others.
DEPTH, MAX_GROUP, MAX_ALL = 3, 12, 60
#: Levels of JSON in a text that is JSON itself.
DEPTH_IN_TEXT = 100
_BY_TYPE = {name.lower(): row for row in CARD_TYPES for name in row.types.split()}
#: Labels of groups whose member has a technical name.
_GROUP_LABELS = {"itemListElement": "Items", "hasPart": "Parts"}
#: Ends the namespace before the name of a type: "https://schema.org/Recipe", "schema:Recipe".
_NAMESPACE = re.compile(r"[/#:]")
#: Contexts that say no more than that the item is one of schema.org.
_SCHEMA_ORG = re.compile(r"https?://(?:www\.)?schema\.org/?", re.I)
#: Members with the text of a card. Publishers escape it, and names, as HTML.
_TEXTS = ("description", "text", "abstract")
#: Members of a result of an NLWeb server before 0.54 that take precedence over `schema_object`.
_OUTER = ("name", "url", "site", "score", "description")


@dataclass(frozen=True, slots=True)
class ResultCard:
    """Content of a card, all of it text."""

    #: The type that chooses the card, as the agent sent it, or the JSON type of other values.
    kind: str
    title: str
    #: Family of the type, which chooses the icon.
    family: str = "thing"
    url: str | None = None
    image: str | None = None
    text: str = ""
    facts: Facts = field(default_factory=list)
    lists: Lists = field(default_factory=list)
    site: str = ""
    #: Score as the agent sent it.
    score: str = ""
    #: The other types of the item.
    types: tuple[str, ...] = ()
    #: JSON-LD `@context` as the agent sent it, "" for that of schema.org.
    context: str = ""


class NestedGroup(NamedTuple):
    """The items of one member of an item."""

    label: str
    #: The card of each item, and the groups within it.
    items: list[tuple[ResultCard, list[NestedGroup]]]
    #: Number of items that are not shown.
    more: int


def card_of(item: Any) -> ResultCard:
    """Return the card of a result: objects by type, other values by their JSON type."""
    if not isinstance(item, Mapping):
        kind = {str: "text", type(None): "null", list: "list", bool: "boolean"}
        return ResultCard(
            kind=kind.get(type(item), "number"), title=value_text(item) or "(nothing)"
        )
    item = _unwrap_schema_object(item)
    types = types_of(item)
    name = _main_type(types)
    row = _BY_TYPE.get(name.lower(), UNKNOWN)
    facts, lists = _thing(item) if row is UNKNOWN else (row.facts_of(item), row.lists_of(item))
    return ResultCard(
        kind=name or "untyped",
        family=row.family,
        title=unescape(_title(item)),
        url=safe_url(item.get("url")) or safe_url(item.get("@id")),
        image=_image(item, name),
        text=unescape(value_text(next(filter(None, map(item.get, _TEXTS)), None))),
        facts=[(label, unescape(value)) for label, value in facts if value],
        lists=[(label, list(map(unescape, parts))) for label, parts in lists if parts],
        site=value_text(item.get("site"), 80),
        score=value_text(item.get("score"), 20),
        types=tuple(other for other in types if other != name),
        context=_context(item.get("@context")),
    )


def types_of(item: Item) -> list[str]:
    """Return the distinct types of an item without their namespaces, in the agent's order."""
    value = item.get("@type", item.get("type"))
    parts = value[:MAX_TYPES] if isinstance(value, list) else [value]
    names = (_NAMESPACE.split(part)[-1][:60] for part in parts if isinstance(part, str))
    return list(dict.fromkeys(filter(None, names)))


def _main_type(names: list[str]) -> str:
    """Return the type that chooses the card: the first known one, else the first."""
    known = (name for name in names if name.lower() in _BY_TYPE)
    return next(known, names[0] if names else "")


def _unwrap_schema_object(item: Item) -> Item:
    """Return a result of an NLWeb server before 0.54 merged with its `schema_object`."""
    inner = item.get("schema_object")
    if isinstance(inner, str) and not exceeds_depth(inner, DEPTH_IN_TEXT):
        inner, _ = read_event(inner)  # Some servers encode it twice.
    if isinstance(inner, list):
        inner = next((part for part in inner[:MAX_TYPES] if isinstance(part, Mapping)), None)
    if not isinstance(inner, Mapping):
        return item
    return {**item, **inner, **{name: item[name] for name in _OUTER if item.get(name)}}


def _context(value: Any) -> str:
    text = value_text(value, 120)
    return "" if _SCHEMA_ORG.fullmatch(text) else text


def _title(item: Item) -> str:
    for key in ("name", "title", "headline"):
        if text := value_text(item.get(key), 200):
            return text
    return value_text(item.get("url") or item.get("@id"), 200)


def _image(item: Item, name: str) -> str | None:
    """Return the URL of the picture of an item of a type, or that a media object is."""
    value = item.get("image", item.get("thumbnailUrl"))
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping):
        value = value.get("url") or value.get("contentUrl")
    if url := safe_url(value):
        return url
    media_type = value_text(item.get("encodingFormat"), 100).lower()
    is_image = name == "ImageObject" or media_type.startswith("image/")
    return safe_url(item.get("contentUrl")) if is_image and "svg" not in media_type else None


# --- items within items -----------------------------------------------------------------------


class _NestedItems:
    """Walk through an item that stops after `MAX_ALL` nested items."""

    def __init__(self) -> None:
        self._remaining = MAX_ALL

    def groups(self, item: Any, depth: int = DEPTH) -> list[NestedGroup]:
        """Return the items within an item, such as parts of a list and offers, by member."""
        if depth == 0 or not isinstance(item, Mapping):
            return []
        if isinstance(inner := item.get("schema_object"), Mapping):
            item = {**inner, **item}
        members = [
            (key, value)
            for key, value in islice(item.items(), MAX_MEMBERS)
            if isinstance(value, dict | list) and key not in PLACED
        ]
        if not members:
            return []
        types = types_of(_unwrap_schema_object(item))
        shown = _BY_TYPE.get(_main_type(types).lower(), UNKNOWN).shows
        groups = [self._group(k, v, depth) for k, v in members if _is_group(k, v, shown)]
        return [group for group in groups if group.items]

    def _group(self, key: str, value: Any, depth: int) -> NestedGroup:
        parts = value if isinstance(value, list) else [value]
        shown = parts[: min(MAX_GROUP, self._remaining)]
        self._remaining -= len(shown)
        items = []
        for part in shown:
            # A `ListItem` of schema.org has the item in it.
            inner = part.get("item") if isinstance(part, Mapping) else None
            item = inner if isinstance(inner, Mapping) else part
            items.append((card_of(item), self.groups(item, depth - 1)))
        return NestedGroup(
            _GROUP_LABELS.get(key) or label_text(key), items, len(parts) - len(shown)
        )


def _is_group(key: str, value: Any, shown: Collection[str]) -> bool:
    if key not in shown:
        return holds_items(key, value)
    # A single offer of a product is shown as its price.
    return (
        key == "offers" and isinstance(value, list) and len(value) > 1 and holds_items(key, value)
    )


#: Links on a card; the raw JSON has the others.
MAX_LINKS = 12
_RATING_MEMBERS = ("ratingValue", "bestRating", "worstRating")
_URL_MEMBERS = ("url", "@id", "uri", "link", "href", "source_url")


@dataclass(frozen=True, slots=True)
class Source:
    """A link to a source."""

    url: str
    label: str
    #: Types of the source, "" if the agent names none.
    kind: str = ""


def grounding_of(item: Any) -> dict[str, Any]:
    """Return the `sources` and `facts` of a result, none if it has no grounding."""
    value = item.get("grounding") if isinstance(item, Mapping) else None
    members = value.items() if isinstance(value, Mapping) else [("source", value)]
    sources: dict[str, Source] = {}
    facts: Facts = []
    for name, member in islice(members, MAX_LIST):
        if name == "@context":
            continue
        rest: list[str] = []
        for part in member[:MAX_LIST] if isinstance(member, list) else [member]:
            if source := _source(part):
                sources.setdefault(source.url, source)
                rest += _other_members(part)
            elif text := _fact_text(part):
                rest.append(text)
        if rest:
            facts.append((label_text(name), value_text("; ".join(rest), 300)))
    return {"sources": list(sources.values())[:MAX_LINKS], "facts": facts[:MAX_FACTS]}


def _fact_text(value: Any) -> str:
    """Return a value without a link as text: a rating as "4 of 5", other members one by one."""
    if not isinstance(value, Mapping) or isinstance(value.get("name"), str):
        return value_text(value, 160)
    rating = value_text(value.get("ratingValue"), 20)
    if rating and (best := value_text(value.get("bestRating"), 20)):
        rating = f"{rating} of {best}"
    others = _other_members(value, _RATING_MEMBERS)
    return "; ".join([rating, *others] if rating else _other_members(value))


def _source(value: Any) -> Source | None:
    """Return the link that `value` is or has; None without a safe URL."""
    if url := safe_url(value):
        return Source(url, _short_url(url))
    if not isinstance(value, Mapping):
        return None
    url = next(filter(None, (safe_url(value.get(name)) for name in _URL_MEMBERS)), None)
    if url is None:
        return None
    label = value_text(value.get("name") or value.get("title"), 80) or _short_url(url)
    return Source(url, label, ", ".join(types_of(value))[:60])


def _other_members(value: Any, without: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the other members of an object with a link: a quotation, a rating, a date."""
    if not isinstance(value, Mapping):
        return
    hidden = {*_URL_MEMBERS, "name", "title", "@type", "type", "@context", *without}
    for name, member in islice(value.items(), MAX_LIST):
        if name not in hidden and (text := value_text(member, 160)):
            yield text if name == "text" else f"{label_text(name)}: {text}"


def _short_url(url: str) -> str:
    """Return host and path of a URL, cut."""
    parts = urlsplit(url)
    text = f"{parts.netloc}{parts.path.rstrip('/')}".removeprefix("www.")
    return shorten(text, 60)


def show_result(entry: Entry, thread: Thread) -> Shown:
    event = entry.event
    assert isinstance(event, ev.Result)
    item = event.item
    if is_summary(event):
        return "conversation/cards.html#summary", {
            "text": value_text(item.get("text") or item.get("description"), 20_000)
        }
    if media := media_of(item):
        return "conversation/media.html#entry", {"media": MediaView(media)}
    # Imported here, because terminals show cards as well, without buttons.
    from playground.conversation.actions import action_buttons

    buttons = action_buttons(item)
    is_named = isinstance(item, Mapping) and bool(item.get("@type") or item.get("name"))
    if thread.run.protocol == registry.ACTION and not is_named:
        return "conversation/cards.html#data", {"json": pretty(item), "action_buttons": buttons}
    return "conversation/cards.html#card", {
        "card": card_of(item),
        "grounding": grounding_of(item),
        "groups": _NestedItems().groups(item),
        "action_buttons": buttons,
    }


def result_line(event: ev.Result) -> str:
    if media := media_of(event.item):
        return media_line(media)
    card = card_of(event.item)
    return f"{card.kind} · {card.title or card.text}"
