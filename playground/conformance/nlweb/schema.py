"""Rules on the remaining violations of the JSON Schemas: the types of optional members."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from playground.conformance.findings import Level
from playground.conformance.nlweb.answers import OLD_NAME, is_content_alone
from playground.conformance.nlweb.selectors import any_response, blocks, content
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, must, should
from playground.conformance.rule_input import Location
from playground.conformance.schema import (
    MAX_GROUPS,
    SchemaFilter,
    schema_names,
    schema_violations,
    without_lists,
)
from playground.conformance.shape import Place
from playground.conformance.transcript import RESULTS, Transcript
from playground.protocols.response import Message

#: The most parts of one list within a response that are validated.
_MAX_PARTS = 200


def _filtered_violations(version: str, name: str, places: Iterable[Place]) -> Iterator[RuleIssue]:
    schema_filter = SchemaFilter(version, name)
    for seq, pointer, value in places:
        for violation in schema_filter.violations(value):
            at = pointer + violation.pointer
            # 0.54 states the types of the openai fields only.
            is_stated = version != "0.54" or "/openai~1" in violation.pointer
            level = Level.SHOULD if not is_stated else None
            yield Violation(violation.message, seq, at, level)
    if schema_filter.overflowed:
        yield Inconclusive(
            f"Only the first {MAX_GROUPS} of these were validated against the schema."
        )


def schema_metadata(t: Transcript) -> Iterator[RuleIssue]:
    yield from _filtered_violations(t.version, "response-meta", blocks(t))


def schema_action(t: Transcript) -> Iterator[RuleIssue]:
    yield from _filtered_violations(t.version, "action", t.actions)


def _named_events(t: Transcript) -> list[Message]:
    """Yield the messages with a schema. Items of results are checked by other rules."""
    schemas = schema_names(t.version)
    return [
        message
        for message in t.messages
        if message.readable and message.name != "result" and f"event-{message.name}" in schemas
    ]


def schema_event(t: Transcript) -> Iterator[RuleIssue]:
    messages = _named_events(t)
    for name in sorted({str(message.name) for message in messages}):
        places = ((m.seq, "", m.payload) for m in messages if m.name == name)
        yield from _filtered_violations(t.version, f"event-{name}", places)


#: The response types of parts that have a schema.
_TYPES = {"elicitation": "elicitation", "promise": "promise", "error": "failure"}


def _streamed_parts(t: Transcript) -> list[tuple[str, Location]]:
    """Return the parts of a stream that have a schema, without events that have their own."""
    if t.document is not None:
        return []
    own = {message.seq for message in _named_events(t)}
    return [(n, each) for n in _TYPES for each in t.parts.get(n, ()) if each.seq not in own]


def _below(pointer: str) -> str:
    """Return a pointer without its first step."""
    return "".join(f"/{step}" for step in pointer.split("/")[2:])


def schema_reply(t: Transcript) -> Iterator[RuleIssue]:
    parts = _streamed_parts(t)
    is_truncated = len(parts) > _MAX_PARTS
    for name, (seq, pointer, value) in parts[:_MAX_PARTS]:
        part = {"_meta": {"response_type": _TYPES[name], "version": t.version}, name: value}
        short, is_cut = _shortened(part)
        is_truncated |= is_cut
        for violation in schema_violations(t.version, _TYPES[name], short):
            yield Violation(violation.message, seq, pointer + _below(violation.pointer))
    if (document := t.document) and t.kind and not (t.kind == "answer" and t.has_own_format):
        is_truncated |= yield from _document_violations(t, document)
    if is_truncated:
        yield Inconclusive(f"Only the first {_MAX_PARTS} parts were validated against the schema.")


def _document_violations(t: Transcript, document: Message) -> Generator[RuleIssue, None, bool]:
    """Yield the violations of a whole response; return whether it was cut."""
    members = document.members
    if t.version == "0.54" and OLD_NAME in members:
        members = {"content": [], "structuredData": [], **members}
    elif is_content_alone(t):
        members = {"structuredData": [], **members}
    elif "results" in members:
        # Content beside results is judged by content-parts.
        members = {name: value for name, value in members.items() if name != "content"}
    payload, is_truncated = _shortened(members)
    for pointer, message in schema_violations(t.version, t.kind, payload):
        # The existence of metadata, under any name, is checked by another rule.
        if pointer != "/_meta":
            yield Violation(message, document.seq, pointer)
    return is_truncated


def _shortened(payload: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a response without its results, whose items are checked one by one.

    Its lists of contents and questions have at most `_MAX_PARTS` members; the second value is
    whether one was longer.
    """
    short = without_lists(payload, *RESULTS)
    content, elicitation = short.get("content"), short.get("elicitation")
    is_truncated = False
    if isinstance(content, list) and len(content) > _MAX_PARTS:
        short, is_truncated = {**short, "content": content[:_MAX_PARTS]}, True
    questions = elicitation.get("questions") if isinstance(elicitation, dict) else None
    if isinstance(questions, list) and len(questions) > _MAX_PARTS:
        fewer = {**short["elicitation"], "questions": questions[:_MAX_PARTS]}
        short, is_truncated = {**short, "elicitation": fewer}, True
    return short, is_truncated


# fmt: off
RULES = (
    content.rule("schema-metadata", "Metadata is valid against its JSON Schema.", must("4"),
        schema_metadata, when=blocks, fallback=True,
        why="Checked are response_format, the openai fields, and in 0.54 the summary."),
    content.rule("schema-reply", "Responses are valid against the JSON Schema of their type.",
        (must("4.1"), should("4.1")), schema_reply,
        when=lambda t: bool((t.document is not None and t.kind) or _streamed_parts(t)),
        fallback=True,
        why="Checked are the texts of elicitations, promises and failures, also in a stream.\n\n"
            "0.54 shows most of these members in examples only."),
    content.rule("schema-action", "Actions are valid against their JSON Schema.",
        (must("5"), should("7")), schema_action, when=lambda t: bool(t.actions), fallback=True,
        why="Checked are params, headers, arguments and message (objects), type and context "
            "(strings)."),
    any_response.rule("schema-event", "The data of each event is valid against its JSON Schema.",
        (must("6.1"), should("HTTP examples 5")), schema_event,
        when=lambda t: t.streamed and bool(_named_events(t)), fallback=True,
        why="Checked are the text of content events, and the members of errors."),
)
# fmt: on
