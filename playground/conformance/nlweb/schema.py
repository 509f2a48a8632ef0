"""What the JSON Schemas find and no other rule says better: the types of optional members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.response_parts import RESULTS, DecodedPayload, Location
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, must, rule, should
from playground.conformance.schema import (
    MAX_SORTS,
    SchemaFilter,
    known,
    schema_violations,
    without_lists,
)
from playground.conformance.transcript import Transcript

#: Parts of one list within a reply that are validated.
_MAX_PARTS = 200


def _sifted(version: str, name: str, places: Iterable[Location]) -> Iterator[RuleIssue]:
    sieve = SchemaFilter(version, name)
    for seq, pointer, value in places:
        for deviation in sieve.deviations(value):
            yield Violation(deviation.message, seq, pointer + deviation.pointer)
    if sieve.overflowed:
        yield Inconclusive(f"Only the first {MAX_SORTS} of these were held against the schema.")


def _blocks(t: Transcript) -> list[Location]:
    return [place for place in t.metas if isinstance(place.value, dict)]


@rule(
    "schema-metadata",
    "The metadata are what their JSON Schema says.",
    v55=must("4"),
    v54=must("4"),
    when=lambda t: t.has_response and bool(_blocks(t)),
    fallback=True,
)
def schema_metadata(t: Transcript) -> Iterator[RuleIssue]:
    """response_format, the openai fields, and the summary of 0.54."""
    yield from _sifted(t.version, "response-meta", _blocks(t))


@rule(
    "schema-action",
    "Actions are what their JSON Schema says.",
    v55=must("5"),
    v54=should("7"),
    when=lambda t: t.has_response and bool(t.actions),
    fallback=True,
)
def schema_action(t: Transcript) -> Iterator[RuleIssue]:
    """params, headers, arguments and message are objects, and a type is a string."""
    yield from _sifted(t.version, "action", t.actions)


def _named_events(t: Transcript) -> list[DecodedPayload]:
    """Messages that a schema is for. Of results, the items are judged, and by other rules."""
    schemas = known(t.version)
    return [
        message
        for message in t.messages
        if message.readable and message.name != "result" and f"event-{message.name}" in schemas
    ]


@rule(
    "schema-event",
    "The data of each event are what its JSON Schema says.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=lambda t: t.streamed and bool(_named_events(t)),
    fallback=True,
)
def schema_event(t: Transcript) -> Iterator[RuleIssue]:
    """The text of a content event, and what an error says."""
    messages = _named_events(t)
    for name in sorted({str(message.name) for message in messages}):
        places = (Location(m.seq, "", m.payload) for m in messages if m.name == name)
        yield from _sifted(t.version, f"event-{name}", places)


def _is_known_document(t: Transcript) -> bool:
    return t.has_response and t.document is not None and bool(t.kind)


@rule(
    "schema-reply",
    "A whole reply is what the JSON Schema of its type says.",
    v55=must("4.1"),
    v54=must("4.1"),
    when=_is_known_document,
    fallback=True,
)
def schema_reply(t: Transcript) -> Iterator[RuleIssue]:
    """The words of elicitations, promises and failures."""
    if (document := t.document) is None:
        return
    payload, cut = _shortened(document.members)
    for pointer, message in schema_violations(t.version, t.kind, payload):
        # Whether there are metadata is another rule's question, whatever they are called.
        if pointer != "/_meta":
            yield Violation(message, document.seq, pointer)
    if cut:
        yield Inconclusive(f"Only the first {_MAX_PARTS} parts were held against the schema.")


def _shortened(payload: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A reply without its results, whose items are judged one by one, and the start of others."""
    short = without_lists(payload, *RESULTS)
    content, asked = short.get("content"), short.get("elicitation")
    cut = False
    if isinstance(content, list) and len(content) > _MAX_PARTS:
        short, cut = {**short, "content": content[:_MAX_PARTS]}, True
    questions = asked.get("questions") if isinstance(asked, dict) else None
    if isinstance(questions, list) and len(questions) > _MAX_PARTS:
        fewer = {**short["elicitation"], "questions": questions[:_MAX_PARTS]}
        short, cut = {**short, "elicitation": fewer}, True
    return short, cut


RULES = (schema_metadata, schema_reply, schema_action, schema_event)
