"""Actions of results (section 5) over HTTP, MCP and A2A, from `actions.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playground.demo.corpus import CorpusItem

Action = dict[str, Any]
_CONTEXT = {"@context": "http://schema.org/"}
#: Actions by the type of an item or the kind of a list, with the names of its values in braces.
_ACTIONS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class DemoUrls:
    """Absolute URLs on the origin of the request."""

    static: str
    cookbook: str
    cart: str
    #: The A2A endpoint.
    a2a: str


def actions_of(entry: CorpusItem, links: DemoUrls) -> list[Action]:
    """Return the actions of an item: those of its type, else saving it."""
    values = {
        **asdict(links),
        "name": entry.name,
        "url": entry.document["url"],
        "ingredients": list(entry.document.get("recipeIngredient", [])),
    }
    return actions(entry.kind if entry.kind in _ACTIONS else "other", values)


def actions(kind: str, values: Mapping[str, Any]) -> list[Action]:
    """Return the actions of a kind of item with these values."""
    return [{**_CONTEXT, **filled(row, values)} for row in _ACTIONS[kind]]


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its values; the ingredients are a list."""
    match template:
        case dict():
            return {name: filled(member, values) for name, member in template.items()}
        case list():
            return [filled(member, values) for member in template]
        case "{ingredients}":
            return values["ingredients"]
        case str():
            return template.format_map(values)
    return template
