"""Result cards: title, links, facts and nested items of a result, by schema.org type.

Every function is total: any value where text belongs is turned into text or left out, and the
raw JSON is one click away on every card. The facts of each type are in
`playground.conversation.card_types`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from playground.conversation.action_buttons import action_buttons, is_plain_data
from playground.conversation.card_types import (
    CARD_TYPES,
    MAX_MEMBERS,
    PLACED,
    UNKNOWN,
    CardType,
    Facts,
    Item,
    Lists,
    holds_items,
)
from playground.conversation.entries import Entry, Shown
from playground.conversation.media import item_view, media_line
from playground.conversation.thread import Thread
from playground.protocols import events as ev
from playground.protocols import registry
from playground.protocols.json_decoder import exceeds_depth, read_event
from playground.protocols.media import media_of
from playground.protocols.placement import is_summary
from playground.protocols.text import shorten
from playground.ui.formatting import MAX_LIST, label_text, pretty, safe_url, value_text

#: Types of one item that are read.
MAX_TYPES = 10
#: Levels of nested items, items of one member, and items of one card. The raw JSON has the others.
DEPTH, MAX_GROUP, MAX_ALL = 3, 12, 60
#: Levels of JSON in a text that is JSON itself.
DEPTH_IN_TEXT = 100
_BY_TYPE = {name.lower(): row for row in CARD_TYPES for name in row.types}
#: Labels of groups whose member has a technical name.
_GROUP_LABELS = {"itemListElement": "Items", "hasPart": "Parts"}
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


@dataclass(frozen=True, slots=True)
class NestedItem:
    """An item within an item."""

    card: ResultCard
    groups: list[NestedGroup]


@dataclass(frozen=True, slots=True)
class NestedGroup:
    """The items of one member of an item."""

    label: str
    items: list[NestedItem]
    #: Number of items that are not shown.
    more: int

    @property
    def total(self) -> int:
        return len(self.items) + self.more


def card_of(item: Any) -> ResultCard:
    """Return the card of a result: objects by type, other values by their JSON type."""
    if not isinstance(item, Mapping):
        kind = {str: "text", type(None): "null", list: "list", bool: "boolean"}
        return ResultCard(
            kind=kind.get(type(item), "number"), title=value_text(item) or "(nothing)"
        )
    item = _unwrap_schema_object(item)
    name = type_of(item)
    row = _card_type(name)
    facts, lists = row.build(item)
    return ResultCard(
        kind=name or "untyped",
        family=row.family,
        title=unescape(_title(item)),
        url=safe_url(item.get("url")) or safe_url(item.get("@id")),
        image=_image(item.get("image", item.get("thumbnailUrl"))) or _content_image(item),
        text=unescape(value_text(next(filter(None, map(item.get, _TEXTS)), None))),
        facts=[(label, unescape(value)) for label, value in facts if value],
        lists=[(label, list(map(unescape, parts))) for label, parts in lists if parts],
        site=value_text(item.get("site"), 80),
        score=value_text(item.get("score"), 20),
        types=tuple(other for other in types_of(item) if other != name),
        context=_context(item.get("@context")),
    )


def _card_type(name: str) -> CardType:
    return _BY_TYPE.get(name.lower(), UNKNOWN)


def types_of(item: Item) -> list[str]:
    """Return the distinct types of an item without their namespaces, in the agent's order."""
    value = item.get("@type", item.get("type"))
    parts = value[:MAX_TYPES] if isinstance(value, list) else [value]
    names = (re.split(r"[/#:]", part)[-1][:60] for part in parts if isinstance(part, str))
    return list(dict.fromkeys(filter(None, names)))


def type_of(item: Item) -> str:
    """Return the type that chooses the card: the first known one, else the first."""
    names = types_of(item)
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


def _image(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, Mapping):
        value = value.get("url") or value.get("contentUrl")
    return safe_url(value)


def _content_image(item: Item) -> str | None:
    """Return the URL of the picture that a media object of schema.org is, None for others."""
    media_type = value_text(item.get("encodingFormat"), 100).lower()
    is_image = type_of(item) == "ImageObject" or media_type.startswith("image/")
    return safe_url(item.get("contentUrl")) if is_image and "svg" not in media_type else None


# --- items within items -----------------------------------------------------------------------


def nested_of(item: Any) -> list[NestedGroup]:
    """Return the items within a result, such as parts of a list and offers, `DEPTH` levels deep."""
    return _NestedItems().groups(item, DEPTH)


class _NestedItems:
    """Walk through an item that stops after `MAX_ALL` nested items."""

    def __init__(self) -> None:
        self._remaining = MAX_ALL

    def groups(self, item: Any, depth: int) -> list[NestedGroup]:
        if depth == 0 or not isinstance(item, Mapping):
            return []
        if isinstance(inner := item.get("schema_object"), Mapping):
            item = {**inner, **item}
        shown = _card_type(type_of(_unwrap_schema_object(item))).shows
        members = ((k, v) for k, v in islice(item.items(), MAX_MEMBERS) if k not in PLACED)
        groups = [self._group(k, v, depth) for k, v in members if _is_group(k, v, shown)]
        return [group for group in groups if group.items]

    def _group(self, key: str, value: Any, depth: int) -> NestedGroup:
        parts = value if isinstance(value, list) else [value]
        shown = parts[: min(MAX_GROUP, self._remaining)]
        self._remaining -= len(shown)
        items = [
            NestedItem(card_of(part), self.groups(part, depth - 1))
            for part in map(_unwrap_list_item, shown)
        ]
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


def _unwrap_list_item(part: Any) -> Any:
    """Return the item of a schema.org `ListItem`; other values as they are."""
    if isinstance(part, Mapping) and isinstance(inner := part.get("item"), Mapping):
        return inner
    return part


#: Links and facts on a card; the raw JSON has the others.
MAX_LINKS, MAX_FACTS = 12, 12
_RATING_MEMBERS = ("ratingValue", "bestRating", "worstRating")
_URL_MEMBERS = ("url", "@id", "uri", "link", "href", "source_url")


@dataclass(frozen=True, slots=True)
class Source:
    """A link to a source."""

    url: str
    label: str
    #: Types of the source, "" if the agent names none.
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Grounding:
    """The sources and facts of a result."""

    sources: list[Source] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sources or self.facts)


def grounding_of(item: Any) -> Grounding:
    """Return the grounding of a result; empty if it has none."""
    grounding = Grounding()
    value = item.get("grounding") if isinstance(item, Mapping) else None
    members = value.items() if isinstance(value, Mapping) else [("source", value)]
    for name, member in islice(members, MAX_LIST):
        if name != "@context":
            _add_member(grounding, label_text(name), member)
    seen = {source.url: source for source in reversed(grounding.sources)}
    sources = [source for source in grounding.sources if seen[source.url] is source]
    return Grounding(sources[:MAX_LINKS], grounding.facts[:MAX_FACTS])


def _add_member(grounding: Grounding, name: str, value: Any) -> None:
    """Add a member to `grounding`: its links, and everything else as a fact."""
    rest = []
    for part in value[:MAX_LIST] if isinstance(value, list) else [value]:
        source = _source(part)
        if source:
            grounding.sources.append(source)
            rest += list(_other_members(part))
        elif text := _fact_text(part):
            rest.append(text)
    if rest:
        grounding.facts.append((name, value_text("; ".join(rest), 300)))


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
    if media := item_view(item):
        return "conversation/media.html#entry", {"media": media}
    buttons = action_buttons(item)
    if thread.run.protocol == registry.ACTION and is_plain_data(item):
        return "conversation/cards.html#data", {"json": pretty(item), "action_buttons": buttons}
    return "conversation/cards.html#card", {
        "card": card_of(item),
        "grounding": grounding_of(item),
        "groups": nested_of(item),
        "action_buttons": buttons,
    }


def result_line(event: ev.Result) -> str:
    if media := media_of(event.item):
        return media_line(media)
    card = card_of(event.item)
    return f"{card.kind} · {card.title or card.text}"


def result_payload(event: ev.Result) -> object:
    return event.item if event.index is None else {"index": event.index, "item": event.item}
