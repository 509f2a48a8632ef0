"""Turns entries into result items, and into the sentences that go with them. Deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.demo.corpus import Entry
from playground.demo.searching import Found

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Links:
    """Absolute addresses on the origin that the request came to."""

    static: str
    cookbook: str
    cart: str


def item(entry: Entry, links: Links) -> Item:
    """An entry as a result item: its document, its provenance and its actions (section 5)."""
    result = dict(entry.document)
    image = result.get("image")
    if isinstance(image, str) and "://" not in image:
        # Served from here, so that pictures show with the network unplugged.
        result["image"] = links.static + image
    result["grounding"] = {"source_urls": [result["url"]], "site": entry.site}
    if actions := _actions(entry, links):
        result["actions"] = actions
    return result


def _actions(entry: Entry, links: Links) -> list[Item]:
    if entry.kind == "Recipe":
        ingredients = list(entry.document.get("recipeIngredient", []))
        return [
            _action("SaveAction", "save_recipe", f"Save {entry.name} to your cookbook",
                    links.cookbook, {"name": entry.name, "url": entry.document["url"]}),
            _action("AddToCartAction", "add_ingredients",
                    f"Add the ingredients of {entry.name} to your shopping cart",
                    links.cart, {"items": ingredients}),
        ]  # fmt: skip
    if entry.kind == "Product":
        return [
            _action("AddToCartAction", "add_product", f"Put {entry.name} into your shopping cart",
                    links.cart, {"items": [entry.name]}),
        ]  # fmt: skip
    return []


def _action(kind: str, name: str, description: str, endpoint: str, params: Item) -> Item:
    return {
        "@context": "http://schema.org/",
        "@type": kind,
        "name": name,
        "description": description,
        "protocol": "HTTP",
        "method": "POST",
        "endpoint": endpoint,
        "params": params,
    }


def summary(found: Found, text: str) -> str:
    """A few sentences about what was found, made from the results and nothing else."""
    entries = found.entries
    names = listed([entry.name for entry in entries[:3]])
    many = f"{found.total} results fit" if found.total != 1 else "One result fits"
    sentences = [f"{many} “{text[:120]}”: {names}{' come first' if found.total > 3 else ''}."]
    timed = [(entry.minutes, entry) for entry in entries if entry.minutes is not None]
    if len(timed) > 1:
        minutes, quickest = min(timed, key=lambda pair: pair[0])
        sentences.append(f"The quickest is {quickest.name}, ready in {spoken(minutes)}.")
    rated = [entry for entry in entries if entry.rating]
    if len(rated) > 1:
        best = max(rated, key=lambda entry: entry.rating)
        sentences.append(f"{best.name} is rated highest, with {best.rating:g} out of 5.")
    return " ".join(sentences)


def summary_item(text: str) -> Item:
    """The summary as a result item (section 4.1.1)."""
    return {"@type": "SearchSummary", "text": text}


def content(found: Found, text: str) -> list[Item]:
    """The answer in words, for the language model of a ChatGPT app (section 4.1.1)."""
    parts = [f"Here is what fits “{text[:120]}”:"]
    for number, entry in enumerate(found.entries, 1):
        description = str(entry.document.get("description") or "").strip()
        time = f" Ready in {spoken(entry.minutes)}." if entry.minutes is not None else ""
        parts.append(f"{number}. **{entry.name}**: {description}{time}")
    return [{"type": "text", "text": part} for part in parts]


def listed(names: Sequence[str]) -> str:
    """Names as a phrase: `A, B and C`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def spoken(minutes: float) -> str:
    """Minutes as people say them: `45 minutes`, `2 hours`, `1 hour 15 minutes`."""
    hours, rest = divmod(round(minutes), 60)
    parts = [f"{hours} hour{'s' if hours > 1 else ''}"] if hours else []
    if rest or not hours:
        parts.append(f"{rest} minute{'s' if rest != 1 else ''}")
    return " ".join(parts)


def short(entry: Entry) -> Mapping[str, Any]:
    """An entry as a reference: type, name and address."""
    return {"@type": entry.kind, "name": entry.name, "url": entry.document["url"]}
