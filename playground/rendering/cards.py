"""Result items to cards, by schema.org type.

Every function is total: whatever an agent puts where text belongs is turned into text or
left out, and the raw JSON is one click away on every card. What each type has to say is in
`playground.rendering.card_types`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.rendering.card_types import BUILDERS, UNKNOWN, Facts, Item, Lists
from playground.rendering.links import safe_url
from playground.rendering.words import iso_duration_text, value_text

__all__ = ["ResultCard", "card_of", "iso_duration_text", "type_of", "types_of", "value_text"]

#: Types of one item that are looked at.
MAX_TYPES = 10
_BY_TYPE = {name.lower(): row for name, row in BUILDERS.items()}


@dataclass(frozen=True, slots=True)
class ResultCard:
    """What a card shows, all of it text."""

    #: The type that decides how it looks, as the agent wrote it, or a word for what it is.
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
    #: The item's other types.
    types: tuple[str, ...] = ()
    #: Where the names of its members are defined, as the agent says it.
    context: str = ""


def types_of(item: Item) -> list[str]:
    """All types of the item without their namespaces, in the agent's order, each once."""
    value = item.get("@type", item.get("type"))
    parts = value[:MAX_TYPES] if isinstance(value, list) else [value]
    names = (re.split(r"[/#:]", part)[-1][:60] for part in parts if isinstance(part, str))
    return list(dict.fromkeys(filter(None, names)))


def type_of(item: Item) -> str:
    """The type that decides how the item is shown: the first known one, or else the first."""
    names = types_of(item)
    known = (name for name in names if name.lower() in _BY_TYPE)
    return next(known, names[0] if names else "")


def card_of(item: Any) -> ResultCard:
    """The card for any result item: objects by type, everything else as what it is."""
    if not isinstance(item, Mapping):
        kind = {str: "text", type(None): "null", list: "list", bool: "boolean"}
        return ResultCard(
            kind=kind.get(type(item), "number"), title=value_text(item) or "(nothing)"
        )
    item = _opened(item)
    name = type_of(item)
    family, build = _BY_TYPE.get(name.lower(), UNKNOWN)
    facts, lists = build(item)
    return ResultCard(
        kind=name or "untyped",
        family=family,
        title=_title(item),
        url=safe_url(item.get("url")) or safe_url(item.get("@id")),
        image=_image(item.get("image", item.get("thumbnailUrl"))),
        text=value_text(item.get("description") or item.get("text") or item.get("abstract")),
        facts=[(label, value) for label, value in facts if value],
        lists=[(label, parts) for label, parts in lists if parts],
        site=value_text(item.get("site"), 80),
        score=value_text(item.get("score"), 20),
        types=tuple(other for other in types_of(item) if other != name),
        context=value_text(item.get("@context"), 120),
    )


#: What the older NLWeb server says of a result itself, and not in the object that it wraps.
_OUTER = ("name", "url", "site", "score", "description")


def _opened(item: Item) -> Item:
    """An item of the older NLWeb server as one object: its `schema_object`, named as outside."""
    inner = item.get("schema_object")
    if isinstance(inner, list):
        inner = next((part for part in inner[:MAX_TYPES] if isinstance(part, Mapping)), None)
    if not isinstance(inner, Mapping):
        return item
    return {**item, **inner, **{name: item[name] for name in _OUTER if item.get(name)}}


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
