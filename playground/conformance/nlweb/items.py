"""Rules on result items: section 4.1.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.uris import is_uri_reference
from playground.conformance.values import type_with_article


def _has_items(t: Transcript) -> bool:
    return t.has_response and bool(t.items)


@rule(
    "item-object",
    "Results are objects.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_has_items,
)
def item_object(t: Transcript) -> Iterator[RuleIssue]:
    """A string or a number has no type and no attributes."""
    for location in t.items:
        if not isinstance(location.value, dict):
            actual = type_with_article(location.value)
            yield Violation(
                f"This result is {actual}; expected an object.", location.seq, location.pointer
            )


@rule(
    "item-type",
    "Results have an @type.",
    v55=should("4.1.1"),
    v54=should("4.1.1"),
    when=_has_items,
)
def item_type(t: Transcript) -> Iterator[RuleIssue]:
    """The type selects how clients show a result. `item-type-string` checks its value."""
    for location in t.items:
        if not isinstance(location.value, dict):
            continue
        kind = location.value.get("@type", "")
        if isinstance(kind, str) and not kind.strip():
            actual = "is empty" if "@type" in location.value else "is missing"
            yield Violation(
                f"@type {actual}. Set it to a single type, from schema.org if possible.",
                location.seq,
                f"{location.pointer}/@type",
            )


@rule(
    "item-type-string",
    "The @type of a result is a string.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=lambda t: t.has_response and any("@type" in _members(p.value) for p in t.items),
)
def item_type_string(t: Transcript) -> Iterator[RuleIssue]:
    """JSON-LD also allows an array of types; NLWeb defines one string."""
    for location in t.items:
        members = _members(location.value)
        if "@type" in members and not isinstance(kind := members["@type"], str):
            yield Violation(
                f"@type is {type_with_article(kind)}; expected a string with a single type.",
                location.seq,
                f"{location.pointer}/@type",
            )


def _members(item: Any) -> dict[str, Any]:
    return item if isinstance(item, dict) else {}


def _urls(t: Transcript) -> Iterator[Location]:
    for seq, pointer, item in t.items:
        if "url" not in _members(item):
            continue
        url = item["url"]
        if isinstance(url, list):
            yield from (Location(seq, f"{pointer}/url/{at}", each) for at, each in enumerate(url))
        elif not isinstance(url, dict):
            yield Location(seq, f"{pointer}/url", url)


@rule(
    "item-url",
    "The url of a result is a URL.",
    v55=should("4.1.1"),
    v54=should("4.1.1"),
    when=lambda t: t.has_response and any(True for _ in _urls(t)),
)
def item_url(t: Transcript) -> Iterator[RuleIssue]:
    """The member url is that of schema.org, which NLWeb recommends; it may be relative."""
    for location in _urls(t):
        if not isinstance(location.value, str):
            actual = type_with_article(location.value)
            message = f"This is {actual}; expected a string with a URL."
            yield Violation(message, location.seq, location.pointer)
        elif not is_uri_reference(location.value):
            message = "This is not a URL. Escape spaces and other characters, or omit it."
            yield Violation(message, location.seq, location.pointer)


@rule(
    "item-grounding",
    "The grounding of a result is an object.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=lambda t: (
        t.has_response and any("grounding" in p.value for p in t.items if type(p.value) is dict)
    ),
)
def item_grounding(t: Transcript) -> Iterator[RuleIssue]:
    """It holds the origin of the data: sources, citations, references."""
    for location in t.items:
        if not isinstance(location.value, dict) or "grounding" not in location.value:
            continue
        if not isinstance(grounding := location.value["grounding"], dict):
            yield Violation(
                f"grounding is {type_with_article(grounding)}; expected an object "
                'such as {"source": …}.',
                location.seq,
                f"{location.pointer}/grounding",
            )


RULES = (item_object, item_type, item_type_string, item_url, item_grounding)
