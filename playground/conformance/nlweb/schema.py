"""Rules on the remaining violations of the JSON Schemas: the types of optional members.

Schemas are compiled once, and run as rarely as possible: jsonschema takes some tenths of a
millisecond for a value; ten thousand actions would take seconds. Most schemas depend on a few
members only, so values are grouped by what the schema depends on, and one of each group is
validated for all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from playground.conformance.nlweb.answers import OLD_NAME, is_content_alone
from playground.conformance.nlweb.transcript import (
    RESULTS,
    Transcript,
    any_response,
    blocks,
    content,
)
from playground.conformance.rule import Inconclusive, Level, RuleIssue, Violation, must, should
from playground.conformance.rule_input import Location
from playground.conformance.shape import Place, is_integer, type_with_article
from playground.protocols import schemas
from playground.protocols.json_pointer import escape, pointer_of
from playground.protocols.nlweb.versions import RESPONSE_TYPES
from playground.protocols.response import Message

_PROTOCOL = "nlweb"


class SchemaViolation(NamedTuple):
    """The location of a value that violates a schema, and how to fix it."""

    #: JSON pointer; for a missing member, the location where it belongs.
    pointer: str
    message: str


def schema_violations(version: str, name: str, value: Any) -> list[SchemaViolation]:
    """Return the violations of a schema of NLWeb in `value`, in the order of their locations."""
    found: dict[str, SchemaViolation] = {}
    for error in _validator(version, name).iter_errors(value):
        for violation in _violations_of(error):
            found.setdefault(violation.pointer, violation)
    return sorted(found.values())


@cache
def _validator(version: str, name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load_constraints(_PROTOCOL, version, name))


def without_lists(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return an object with its arrays of these names emptied."""
    lists: dict[str, list[Any]] = {n: [] for n in names if isinstance(value.get(n), list)}
    return {**value, **lists} if lists else value


@cache
def schema_names(version: str) -> frozenset[str]:
    return frozenset(schemas.names(_PROTOCOL, version))


# Errors of jsonschema as text


def _violations_of(error: ValidationError) -> Iterator[SchemaViolation]:
    pointer = pointer_of(error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "required":
            for name in wanted:
                if name not in instance:
                    yield SchemaViolation(f"{pointer}/{escape(name)}", f"Add {name}.")
        case "type":
            kinds = " or ".join(wanted) if isinstance(wanted, list) else wanted
            yield SchemaViolation(
                pointer, f"This is {type_with_article(instance)}; the schema requires: {kinds}."
            )
        case "const" | "enum":
            listed = wanted if error.validator == "enum" else [wanted]
            choices = ", ".join(json.dumps(choice) for choice in listed)
            yield SchemaViolation(pointer, f"Set this to one of: {choices}.")
        case "minimum" | "maximum":
            yield SchemaViolation(pointer, f"The {error.validator} for this number is {wanted}.")
        case _:
            yield SchemaViolation(pointer, "This matches none of the forms that the schema allows.")


# Many values

#: The most groups of values that are validated; see `SchemaFilter`.
MAX_GROUPS = 200


class SchemaFilter:
    """Validates many values against a schema: groups them, and validates one of each group.

    For a schema that depends on too much to group by, every value is a group of its own.
    """

    def __init__(self, version: str, name: str) -> None:
        self._version, self._name = version, name
        self._group_key = _group_key_of(name)
        self._found: dict[object, list[SchemaViolation]] = {}
        #: Whether there were more groups than are validated.
        self.overflowed = False

    def violations(self, value: Any) -> list[SchemaViolation]:
        """Return the violations in a value; none once there are too many groups."""
        group_key = self._group_key(value)
        found = self._found.get(group_key)
        if found is not None:
            return found
        if len(self._found) >= MAX_GROUPS:
            self.overflowed = True
            return []
        found = self._found[group_key] = schema_violations(self._version, self._name, value)
        return found


def _by_types(*names: str, words: Mapping[str, tuple[str, ...]] | None = None) -> GroupKey:
    """Return a group key for objects: the types of these members, and some of their values.

    `words` are the strings that the schema lists for a member; other strings are equal to it.
    """
    listed_values = tuple((name, frozenset(values)) for name, values in (words or {}).items())
    members = frozenset(names)
    #: Cached keys by member names and types, because similar objects have the same.
    keys_by_shape: dict[object, object] = {}

    def group_key(value: Any) -> object:
        if type(value) is not dict:
            return type(value)
        shape = (tuple(value), tuple(map(type, value.values())))
        if (types := keys_by_shape.get(shape)) is None:
            pairs = zip(*shape, strict=True)
            types = keys_by_shape[shape] = frozenset(pair for pair in pairs if pair[0] in members)
        values = [value.get(name, _MISSING) for name, _ in listed_values]
        plain = zip(values, listed_values, strict=True)
        return (types, *(w if type(w) is str and w in all_ else type(w) for w, (_, all_) in plain))

    return group_key


_MISSING = object()

GroupKey = Callable[[Any], object]


def _group_key_of(name: str) -> GroupKey:
    """Return a key of everything that a schema depends on. A test compares it with the schemas."""
    if name == "response-meta":
        words = (*RESPONSE_TYPES, *(kind.capitalize() for kind in RESPONSE_TYPES))
        return _by_types(*_META, words={"response_type": words})
    if name == "action":
        return _by_types(*_ACTION, words={"protocol": ("HTTP", "MCP", "A2A")})
    if name == "event-content":
        types = _by_types("type", "text", "step")
        # In JSON Schema 1.0 is an integer and 1.5 is not.
        return lambda value: (types(value), type(value) is dict and is_integer(value.get("step")))
    return id


_META = (
    *("response_format", "version", "session_context", "summary"),
    *("openai/outputTemplate", "openai/widgetAccessible"),
)
_ACTION = (
    *("@context", "@type", "name", "description", "method", "endpoint", "params", "headers"),
    *("server", "tool", "arguments", "agent_url", "skill", "message"),
)


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
