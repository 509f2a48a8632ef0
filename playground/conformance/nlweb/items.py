"""Rules on result items: section 4.1.1."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.nlweb.selectors import content, items
from playground.conformance.rule import must, should
from playground.conformance.shape import Place, is_given, is_object, is_string, members, present
from playground.conformance.transcript import Transcript
from playground.conformance.uris import is_uri_reference

row = content.row


def _urls(t: Transcript) -> Iterator[Place]:
    for seq, pointer, url in _url(t):
        if isinstance(url, list):
            yield from ((seq, f"{pointer}/{at}", each) for at, each in enumerate(url))
        elif not isinstance(url, dict):
            yield seq, pointer, url


_url = present(items, "url")
_SET_TYPE = "Set it to a single type, from schema.org if possible."

# fmt: off
RULES = (
    row("item-object", "Results are objects.", must("4.1.1"),
        items, {is_object: "This result is {actual}; expected an object."},
        why="A string or a number has no type and no attributes."),
    row("item-type", "Results have an @type.", should("4.1.1"),
        members(items, "@type"), {
            is_given: f"@type is missing. {_SET_TYPE}",
            lambda kind: not isinstance(kind, str) or kind.strip(): f"@type is empty. {_SET_TYPE}",
        }, when=items,
        why="The type selects how clients show a result. `item-type-string` checks its value."),
    row("item-type-string", "The @type of a result is a string.", must("4.1.1"),
        present(items, "@type"),
        {is_string: "@type is {actual}; expected a string with a single type."},
        why="JSON-LD also allows an array of types; NLWeb defines one string."),
    row("item-url", "The url of a result is a URL.", should("4.1.1"),
        _urls, {
            is_string: "This is {actual}; expected a string with a URL.",
            is_uri_reference: "This is not a URL. Escape spaces and other characters, or omit it.",
        },
        why="The member url is that of schema.org, which NLWeb recommends; it may be relative."),
    row("item-grounding", "The grounding of a result is an object.", must("4.1.1"),
        present(items, "grounding"),
        {is_object: 'grounding is {actual}; expected an object such as {"source": …}.'},
        why="It holds the origin of the data: sources, citations, references."),
)
# fmt: on
