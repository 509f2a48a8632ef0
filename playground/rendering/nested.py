"""Items within items: parts of a list, offers, and whatever else has a type of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.rendering.card_types import MAX_MEMBERS, PLACED, holds_items
from playground.rendering.cards import ResultCard, card_of, value_text

#: How deep items are shown within items, how many of one member, and how many of one card.
#: The raw JSON has the others.
DEPTH, MAX_GROUP, MAX_ALL = 3, 12, 60

#: What the cards of known types say of their members already.
_SAID = frozenset(
    "aggregateRating nutrition address brand director actor author publisher video "
    "recipeIngredient recipeInstructions ingredients step supply tool calories".split()
)


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
    #: How many more the member holds.
    more: int

    @property
    def total(self) -> int:
        """How many items the member holds."""
        return len(self.items) + self.more


def nested_of(item: Any) -> list[NestedGroup]:
    """The items within a result item, three levels deep."""
    return _Walk().groups(item, DEPTH)


class _Walk:
    """One walk through an item, which ends when enough was found."""

    def __init__(self) -> None:
        self._left = MAX_ALL

    def groups(self, item: Any, depth: int) -> list[NestedGroup]:
        """The groups of items that `item` holds, down to `depth` levels."""
        if depth == 0 or not isinstance(item, Mapping):
            return []
        if isinstance(inner := item.get("schema_object"), Mapping):
            item = {**inner, **item}
        said = _said_by(card_of(item).family)
        members = ((k, v) for k, v in islice(item.items(), MAX_MEMBERS) if k not in said)
        found = [self._group(k, v, depth) for k, v in members if _is_group(k, v, said)]
        return [group for group in found if group.items]

    def _group(self, key: str, value: Any, depth: int) -> NestedGroup:
        parts = value if isinstance(value, list) else [value]
        shown = parts[: min(MAX_GROUP, self._left)]
        self._left -= len(shown)
        items = [
            NestedItem(card_of(part), self.groups(part, depth - 1)) for part in map(_own, shown)
        ]
        return NestedGroup(value_text(key, 60), items, len(parts) - len(shown))


def _said_by(family: str) -> frozenset[str]:
    """The members that a card of this family shows without this."""
    if family == "thing":
        return PLACED | {"aggregateRating"}
    return PLACED | _SAID | ({"itemListElement"} if family == "howto" else frozenset())


def _is_group(key: str, value: Any, said: frozenset[str]) -> bool:
    if not holds_items(key, value):
        return False
    # One offer of a product is its price.
    single = isinstance(value, Mapping) or len(value) == 1
    return not (key == "offers" and single and "brand" in said)


def _own(part: Any) -> Any:
    """What an entry of a list stands for: schema.org wraps it into a `ListItem`."""
    if isinstance(part, Mapping) and isinstance(inner := part.get("item"), Mapping):
        return inner
    return part
