"""Rules on result items: section 4.1.1."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.rule import RuleIssue, Violation, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article


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
    """Strings and numbers have no type and no attributes."""
    for location in t.items:
        if not isinstance(location.value, dict):
            actual = type_with_article(location.value)
            yield Violation(
                f"This result is {actual}; expected an object.", location.seq, location.pointer
            )


@rule(
    "item-type",
    "Results have an @type, a string.",
    v55=should("4.1.1"),
    v54=should("4.1.1"),
    when=_has_items,
)
def item_type(t: Transcript) -> Iterator[RuleIssue]:
    """Recommended. JSON-LD allows lists of types, NLWeb defines one string."""
    for location in t.items:
        if not isinstance(location.value, dict) or is_nonempty_text(
            kind := location.value.get("@type")
        ):
            continue
        actual = "is missing" if "@type" not in location.value else f"is {type_with_article(kind)}"
        if kind == "":
            actual = "is empty"
        yield Violation(
            f"@type {actual}. Set it to a single type, from schema.org if possible.",
            location.seq,
            f"{location.pointer}/@type",
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
    """The origin of the data: sources, citations, references."""
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


RULES = (item_object, item_type, item_grounding)
