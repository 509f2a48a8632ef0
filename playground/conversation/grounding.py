"""Grounding of a result: the sources that the agent names (NLWeb 0.55, section 4.1.1).

The specification does not define its members, so every one is shown: URLs as links, objects as
links if they have a URL, all others as facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from playground.conversation.cards import types_of
from playground.protocols.text import shorten
from playground.ui.formatting import MAX_LIST, label_text, value_text
from playground.ui.links import safe_url

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
