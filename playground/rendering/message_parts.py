"""Parts of a message and outputs of its calls as their templates show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols.events import ToolOutput
from playground.protocols.text import shorten
from playground.rendering.cards import ResultCard, card_of
from playground.rendering.links import safe_url
from playground.rendering.messages import MessagePart
from playground.rendering.pretty import pretty
from playground.rendering.words import value_text

#: Characters of a text that a page shows until it is asked for all of it.
MAX_TEXT = 20_000
#: Cards of a part that are shown.
MAX_CARDS = 20


@dataclass(frozen=True, slots=True)
class MessagePartView:
    """One part of a message as its template shows it."""

    part: MessagePart

    @property
    def number(self) -> int:
        """Its number, which names its element."""
        return self.part.number

    @property
    def kind(self) -> str:
        """What the agent calls it, cut."""
        return value_text(self.part.kind, 40)

    @property
    def family(self) -> str:
        """`text`, `refusal`, `image`, `link`, `cards`, `data` or `nothing`."""
        if self.part.is_text:
            return "refusal" if self.part.kind == "refusal" else "text"
        if self.part.value in (None, "", {}, []):
            return "nothing"
        if self.part.kind in ("image", "file", "audio", "video"):
            return "image" if self.part.kind == "image" and self.url else "link"
        return "cards" if self.cards else "data"

    @property
    def text(self) -> str:
        """The text that is shown at once."""
        return display_text(self.part.text[:MAX_TEXT])

    @property
    def limit(self) -> int:
        """Characters that are shown at once."""
        return MAX_TEXT

    @property
    def length(self) -> int:
        """Characters of the whole text, where only its beginning is shown; else 0."""
        return self.part.length if self.part.length > MAX_TEXT else 0

    @property
    def url(self) -> str | None:
        """The address that the part names, where a link may lead there."""
        return safe_url(self.url_text)

    @property
    def url_text(self) -> str:
        """The address that the part names, as text, cut."""
        value = self.part.value
        if isinstance(value, Mapping):
            named = (value.get(name) for name in ("url", f"{self.part.kind}_url", "uri"))
            value = next((each for each in named if isinstance(each, str)), value)
        return value_text(value, 4_000)

    @property
    def preview(self) -> str:
        """The address in a line."""
        return value_text(self.url_text, 120)

    @property
    def cards(self) -> list[ResultCard]:
        """The items of the part as cards, empty for what holds none."""
        return [card_of(item) for item in _items(self.part.value)[:MAX_CARDS]]

    @property
    def remaining_text(self) -> int:
        """Items that only the JSON has."""
        return max(0, len(_items(self.part.value)) - MAX_CARDS)

    @property
    def json(self) -> str:
        """The part as JSON for reading."""
        return pretty(self.part.value)


@dataclass(frozen=True, slots=True)
class ToolOutputView:
    """What a tool returned, as it is shown."""

    event: ToolOutput

    @property
    def text(self) -> str:
        """As JSON for reading where it is JSON, else as it is."""
        return readable_value(self.event.output)

    @property
    def name(self) -> str:
        """The tool's name, cut."""
        return value_text(self.event.name, 120)


def display_text(text: str) -> str:
    """A text as a page shows it: a browser would read the CR of a cut CRLF as a second line."""
    return text.replace("\r", "")


def readable_value(value: Any) -> str:
    """A JSON text, or any other value, for reading."""
    if not isinstance(value, str):
        return "" if value is None else pretty(value)
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return shorten(value, MAX_TEXT + 1)
    return pretty(read)


def _items(value: Any) -> list[Any]:
    """The schema.org items that a part of data holds."""
    if isinstance(value, Mapping):
        if isinstance(value.get("@type"), str | list):
            return [value]
        holders = (value.get(name) for name in ("results", "items", "itemListElement"))
        value = next((each for each in holders if isinstance(each, list)), None)
    if not isinstance(value, list) or not value:
        return []
    return value if all(isinstance(each, Mapping) and "@type" in each for each in value) else []
