"""Result items: section 4.1.1."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.rule import RuleIssue, Violation, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article


def _has_items(t: Transcript) -> bool:
    return t.has_response and bool(t.items)


@rule(
    "item-object",
    "Each result is an object.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_has_items,
)
def item_object(t: Transcript) -> Iterator[RuleIssue]:
    """Strings and numbers carry no type and no attributes."""
    for place in t.items:
        if not isinstance(place.value, dict):
            said = type_with_article(place.value)
            yield Violation(f"This result is {said}. Make it an object.", place.seq, place.pointer)


@rule(
    "item-type",
    "Each result says what it is in @type, a string.",
    v55=should("4.1.1"),
    v54=should("4.1.1"),
    when=_has_items,
)
def item_type(t: Transcript) -> Iterator[RuleIssue]:
    """Recommended. JSON-LD knows lists of types, NLWeb defines one string."""
    for place in t.items:
        if not isinstance(place.value, dict) or is_nonempty_text(kind := place.value.get("@type")):
            continue
        said = "is missing" if "@type" not in place.value else f"is {type_with_article(kind)}"
        if kind == "":
            said = "is empty"
        yield Violation(
            f"@type {said}. Set it to one type, from schema.org where there is one.",
            place.seq,
            f"{place.pointer}/@type",
        )


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
    """Where the data come from: sources, citations, references."""
    for place in t.items:
        if not isinstance(place.value, dict) or "grounding" not in place.value:
            continue
        if not isinstance(grounding := place.value["grounding"], dict):
            yield Violation(
                f"grounding is {type_with_article(grounding)}. "
                f'Make it an object, such as {{"source": …}}.',
                place.seq,
                f"{place.pointer}/grounding",
            )


RULES = (item_object, item_type, item_grounding)
