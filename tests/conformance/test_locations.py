"""Locations of rules: derived from findings, and generated anew."""

from __future__ import annotations

import json

import pytest

from playground.conformance import RULESETS
from playground.conformance.examples import examples_of
from playground.conformance.locations import RuleLocation, locations_of, read_locations
from playground.protocols import schemas
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.reference import reference
from tests.conformance import locations
from tests.conformance.locations import header_names, locate, write_locations
from tests.conformance.scripts import document, event, numbered, stream

RULES = {rule.id for ruleset in RULESETS.values() for rule in ruleset.rules}


def test_the_document_can_be_read_as_it_was_written() -> None:
    found = {"a": {RuleLocation("nlweb", "0.55", "answer", "/a~1b/0")}}
    assert read_locations(write_locations(found)) == {"a": tuple(found["a"])}


def test_every_location_is_in_a_document_of_the_reference() -> None:
    for rule in RULES:
        for each in locations_of(rule):
            pair = (each.protocol, each.version)
            if pair in schemas.versions():
                assert reference(*pair).find(each.schema, each.pointer), each


def test_rules_without_a_location_judge_the_response_as_a_whole() -> None:
    """A finding of these rules has no pointer, or is in JSON text."""
    for rule in RULES - locations._ON_TEXT:
        if not locations_of(rule):
            examples = examples_of(rule)
            assert examples
            assert not any(finding.pointer for finding in examples.violating.findings), rule


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("version-present", "nlweb/0.55/answer#/_meta/version"),
        ("question-options", "nlweb/0.55/elicitation#/elicitation/questions/0/options"),
        ("agent-api.usage", "agent-api/1/response#/usage"),
        ("mcp.protocol-version", None),
    ],
)
def test_some(rule: str, expected: str | None) -> None:
    found = write_locations({rule: locations_of(rule)})[rule]
    assert expected is None or expected in found


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Add Retry-After, for example 30 (seconds).", ["retry-after"]),
        ("Content-Type is text/html; set Content-Type.", ["content-type"]),
        ("WWW-Authenticate or Mcp-Session-Id", ["www-authenticate", "mcp-session-id"]),
        ("The Date and a read-only Server-sent event.", []),
        ("", []),
    ],
)
def test_headers_that_a_message_names(message: str, expected: list[str]) -> None:
    assert header_names(message) == expected


def test_a_finding_in_the_head_is_about_the_header_that_it_names() -> None:
    assert RuleLocation("http", "1", "response-headers", "/retry-after") in locations_of(
        "http-retry-after"
    )


FAILURE = document({"_meta": {"response_type": "failure"}, "error": {}})
RESULT = stream(event("result", {"index": 0, "item": {"actions": [{}, {}]}}))
INNER = json.dumps({"_meta": {"response_type": "answer"}, "results": [{}, {}]})
TOOL_RESULT = document({"result": {"content": [{"type": "text", "text": INNER}]}})
AWAIT = b'POST /await HTTP/1.1\r\n\r\n{"promise_token": "p"}'

#: Frames over a binding, the place of a finding in them, and its location in a schema.
LOCATED: dict[str, tuple[tuple[Frame, ...], str, int | None, str, str]] = {
    "the body belongs to its end": (
        FAILURE.frames, "http", 3, "/error/code", "0.55/failure#/error/code"),
    "the body as a whole": (FAILURE.frames, "http", 3, "", "0.55/failure#"),
    "an event has its own schema": (
        RESULT.frames, "http", 2, "/item/actions/1/name",
        "0.55/event-result#/item/actions/0/name"),
    "a number that is no index": (
        document({"query": {"7": {}}}).frames, "http", 3, "/query/7/8",
        "0.55/response#/query/7/8"),
    "JSON in a string": (
        TOOL_RESULT.frames, "mcp", 3, "/result/content/0/text#/results/1/name",
        "0.55/answer#/results/0/name"),
    "a message of MCP": (
        TOOL_RESULT.frames, "mcp", 3, "/result/content", "1/message#/result/content"),
    "the request": (
        numbered([(FrameKind.CALL, AWAIT)]), "http", 1, "/action",
        "0.55/await-request#/action"),
    **{f"no frame {seq}": (document({}).frames, "http", seq, "/a", "") for seq in (None, 1, 99)},
    **{f"another body: {body[:7]!r}": (document(body).frames, "http", 3, "/a", "")
       for body in (b"", b"[1]", b"{", b"\xff", b'"text"', b"[" * 50_000)},
    **{f"{text!r} at {name}": (document({"result": text}).frames, "mcp", 3, f"/{name}#/a", "")
       for text in ("", "[", "[]", 7, None) for name in ("result", "nothing")},
}  # fmt: skip


@pytest.mark.parametrize(
    ("frames", "binding", "seq", "pointer", "expected"), LOCATED.values(), ids=LOCATED
)
def test_locate(
    frames: tuple[Frame, ...], binding: str, seq: int | None, pointer: str, expected: str
) -> None:
    found = locate("nlweb", "0.55", frames, seq, pointer, binding=binding)
    assert ("/".join(found[1:3]) + f"#{found.pointer}" if found else "") == expected
