"""Grounding: where the agent says that a result comes from (NLWeb 0.55, section 4.1.1).

The standard says what grounding is for and not what is in it, so every member is shown:
addresses as links, objects as links where they have an address, all else as facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from playground.protocols.text import shorten
from playground.rendering.cards import types_of
from playground.rendering.links import safe_url
from playground.rendering.words import MAX_LIST, value_text

#: Links and facts that a card shows; the raw JSON has the others.
MAX_LINKS, MAX_FACTS = 12, 12
_RATED = ("ratingValue:", "bestRating:", "worstRating:")
_ADDRESSES = ("url", "@id", "uri", "link", "href", "source_url")


@dataclass(frozen=True, slots=True)
class Source:
    """A link to where something comes from."""

    url: str
    label: str
    #: What kind of thing it is, where the agent says so.
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Grounding:
    """What a card says about where its item comes from."""

    sources: list[Source] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sources or self.facts)


def grounding_of(item: Any) -> Grounding:
    """The grounding of a result item: empty where it has none."""
    found = Grounding()
    value = item.get("grounding") if isinstance(item, Mapping) else None
    members = value.items() if isinstance(value, Mapping) else [("source", value)]
    for name, member in islice(members, MAX_LIST):
        if name != "@context":
            _take(found, value_text(name, 60), member)
    seen = {source.url: source for source in reversed(found.sources)}
    sources = [source for source in found.sources if seen[source.url] is source]
    return Grounding(sources[:MAX_LINKS], found.facts[:MAX_FACTS])


def _take(found: Grounding, name: str, value: Any) -> None:
    """One member: what of it is a link, and the rest of it as a fact."""
    rest = []
    for part in value[:MAX_LIST] if isinstance(value, list) else [value]:
        source = _source(part)
        if source:
            found.sources.append(source)
            rest += list(_beside(part))
        elif text := _said(part):
            rest.append(text)
    if rest:
        found.facts.append((name.replace("_", " "), value_text("; ".join(rest), 300)))


def _said(value: Any) -> str:
    """A value that has no link, as words: a rating as one says it, members one by one."""
    if not isinstance(value, Mapping) or isinstance(value.get("name"), str):
        return value_text(value, 160)
    rating = value_text(value.get("ratingValue"), 20)
    if rating and (best := value_text(value.get("bestRating"), 20)):
        rating = f"{rating} of {best}"
    others = [text for text in _beside(value) if not text.startswith(_RATED)]
    return "; ".join([rating, *others] if rating else list(_beside(value)))


def _source(value: Any) -> Source | None:
    """The link that `value` is or has; None where it has none that is safe."""
    if url := safe_url(value):
        return Source(url, _short(url))
    if not isinstance(value, Mapping):
        return None
    url = next(filter(None, (safe_url(value.get(name)) for name in _ADDRESSES)), None)
    if url is None:
        return None
    label = value_text(value.get("name") or value.get("title"), 80) or _short(url)
    return Source(url, label, ", ".join(types_of(value))[:60])


def _beside(value: Any) -> Iterator[str]:
    """What an object with a link says besides: a quotation, a rating, a date."""
    if not isinstance(value, Mapping):
        return
    for name, member in islice(value.items(), MAX_LIST):
        if name not in (*_ADDRESSES, "name", "title", "@type", "type", "@context"):
            text = value_text(member, 160)
            if text:
                yield f"{value_text(name, 60)}: {text}"


def _short(url: str) -> str:
    """An address as one reads it: host and path, without what is too long to read."""
    parts = urlsplit(url)
    text = f"{parts.netloc}{parts.path.rstrip('/')}".removeprefix("www.")
    return shorten(text, 60)
