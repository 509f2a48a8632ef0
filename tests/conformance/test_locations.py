"""Locations of rules: derived from findings, and generated anew."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.conformance import RULESETS
from playground.conformance.locations import (
    PATH,
    RuleLocation,
    header_names,
    locate,
    locations_of,
    read_locations,
    write_locations,
)
from playground.protocols import schemas
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.reference import reference
from tests.conformance import locations
from tests.conformance.scripts import document, event, numbered, stream

RULES = {rule.id for ruleset in RULESETS.values() for rule in ruleset.rules}


@pytest.mark.slow
def test_the_file_is_up_to_date() -> None:
    assert PATH.read_text("utf-8") == locations.text(), "Run `make examples`."


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
    examples = json.loads(PATH.with_name("examples.json").read_text())
    for rule in RULES - locations._ON_TEXT:
        if not locations_of(rule):
            assert not any(f["pointer"] for f in examples[rule]["violating"]["findings"]), rule


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


def located(frames: tuple[Frame, ...], seq: int | None, pointer: str, **more: Any) -> str:
    found = locate("nlweb", "0.55", frames, seq, pointer, **more)
    return "/".join(found[1:3]) + f"#{found.pointer}" if found else ""


class TestLocate:
    def test_the_whole_body_belongs_to_its_end(self) -> None:
        response = document({"_meta": {"response_type": "failure"}, "error": {}})
        assert located(response.frames, 3, "/error/code") == "0.55/failure#/error/code"
        assert located(response.frames, 2, "") == "0.55/failure#"

    def test_an_event_has_its_own_schema(self) -> None:
        response = stream(event("result", {"index": 0, "item": {"actions": [{}, {}]}}))
        found = located(response.frames, 2, "/item/actions/1/name")
        assert found == "0.55/event-result#/item/actions/0/name"

    def test_a_number_that_is_no_index_stays(self) -> None:
        response = document({"query": {"7": {}}})
        assert located(response.frames, 3, "/query/7/8") == "0.55/response#/query/7/8"

    def test_json_in_a_string(self) -> None:
        inner = json.dumps({"_meta": {"response_type": "answer"}, "results": [{}, {}]})
        response = document({"result": {"content": [{"type": "text", "text": inner}]}})
        pointer = "/result/content/0/text#/results/1/name"
        found = located(response.frames, 3, pointer, binding="mcp")
        assert found == "0.55/answer#/results/0/name"
        assert located(response.frames, 3, "/result/content", binding="mcp") == (
            "1/message#/result/content"
        )

    @pytest.mark.parametrize("seq", [None, 1, 99])
    def test_no_json(self, seq: int | None) -> None:
        assert located(document({}).frames, seq, "/a") == ""

    @pytest.mark.parametrize("body", [b"", b"[1]", b"{", b"\xff", b'"text"', b"[" * 50_000])
    def test_another_body(self, body: bytes) -> None:
        assert located(document(body).frames, 3, "/a") == ""

    @pytest.mark.parametrize("text", ["", "[", "[]", 7, None])
    def test_another_string(self, text: Any) -> None:
        response = document({"result": text})
        assert located(response.frames, 3, "/result#/a", binding="mcp") == ""
        assert located(response.frames, 3, "/nothing#/a", binding="mcp") == ""

    def test_the_request(self) -> None:
        body = b'{"promise_token": "p"}'
        frames = numbered([(FrameKind.CALL, b"POST /await HTTP/1.1\r\n\r\n" + body)])
        assert located(frames, 1, "/action") == "0.55/await-request#/action"
