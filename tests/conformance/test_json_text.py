"""Rules on JSON itself: documents, events and nested text, of every protocol."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from playground.conformance import Level, Verdict, json_text, ruleset
from playground.protocols.frames import FrameKind
from tests.conformance.mcp import scripts as mcp
from tests.conformance.scripts import (
    COMPLETE,
    START,
    ScriptedResponse,
    answer,
    document,
    event,
    locations,
    numbered,
    stream,
)

NUMBERS, UTF8, NAMES, SURROGATES = (
    *("json-numbers", "json-utf8"),
    *("json-names-unique", "json-surrogates"),
)
RULES = {NUMBERS, UTF8, NAMES, SURROGATES}
#: What is wrong within an object, the rule, and the pointer from that object.
FLAWS = [
    (b'"a": NaN', NUMBERS, "/a"),
    (b'"a": [1, Infinity]', NUMBERS, "/a/1"),
    (b'"a": -Infinity', NUMBERS, "/a"),
    (b'"a": "caf\xe9"', UTF8, None),
    (b'"a": "\xed\xa0\x80"', UTF8, None),
    (b'"a": 1, "a": 2', NAMES, "/a"),
    (b'"a": 1, "\\u0061": 1', NAMES, "/a"),
    (b'"a": {"b": {}, "c": 0, "b": {}}', NAMES, "/a/b"),
    (b'"a": "\\ud800"', SURROGATES, "/a"),
    (b'"a": "\\uDC00\\uD800"', SURROGATES, "/a"),
    (b'"a/b": "x\\ud83d"', SURROGATES, "/a~1b"),
]
CLEAN = [
    b'"a": "NaN and Infinity"',
    '"a": "caf\u00e9 \ufffd \U0001f600"'.encode(),
    b'"a": "\\ud83d\\ude00 \\\\ud800"',
    b'"a": [{"b": 1}, {"b": 1}], "b": {"a": 1}',
    b'"a": 1e999, "b": -0.0',
]
META = b'"_meta": {"response_type": "answer", "version": "@version"}'


def of_document(inner: bytes) -> ScriptedResponse:
    return document(b'{%s, "results": [{"@type": "Recipe", %s}]}' % (META, inner))


def of_stream(inner: bytes) -> ScriptedResponse:
    data = b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", %s}}\n\n' % inner
    return stream(START, data, COMPLETE)


def of_agent_api(inner: bytes) -> ScriptedResponse:
    data = b'data: {"object": "response", "id": "r", "output": [{%s}]}\n\n' % inner
    return replace(stream(data), protocol="agent-api")


def of_mcp(inner: bytes) -> ScriptedResponse:
    body = b'{"jsonrpc": "2.0", "id": 1, "result": {"content": [], %s}}' % inner
    pairs = [(frame.kind, frame.data) for frame in document(body).frames]
    return replace(ScriptedResponse(numbered(pairs)), binding="mcp")


#: How a reply is made, the frame and the pointer of its object, and the version.
REPLIES = [
    (of_document, 3, "/results/0", "0.55"),
    (of_document, 3, "/results/0", "0.54"),
    (of_stream, 3, "/item", "0.55"),
    (of_agent_api, 2, "/output/0", "1"),
    (of_mcp, 3, "/result", "0.55"),
]


@pytest.mark.parametrize(("make", "seq", "top", "version"), REPLIES)
@pytest.mark.parametrize(("inner", "rule", "pointer"), FLAWS)
def test_a_flaw(
    make: object, seq: int, top: str, version: str, inner: bytes, rule: str, pointer: str | None
) -> None:
    report = make(inner).report_for(version)  # type: ignore[operator]
    failed = {f.rule for f in report.findings if f.verdict is Verdict.FAIL and f.rule in RULES}
    assert failed == {rule}
    assert locations(report, rule) == [(seq, "" if pointer is None else top + pointer)]


@pytest.mark.parametrize(("make", "seq", "top", "version"), REPLIES)
@pytest.mark.parametrize("inner", CLEAN)
def test_no_flaw(make: object, seq: int, top: str, version: str, inner: bytes) -> None:
    report = make(inner).report_for(version)  # type: ignore[operator]
    assert {report.verdicts[rule] for rule in RULES} == {Verdict.PASS}


@pytest.mark.parametrize("key", [("nlweb", "http"), ("nlweb", "mcp"), ("agent-api", "http")])
def test_levels(key: tuple[str, str]) -> None:
    (group,) = (group for group in ruleset(*key).groups if group.slug == "json")
    levels = {rule.id: {r.level for r in rule.requirements.values()} for rule in group.rules}
    assert levels == {
        NUMBERS: {Level.MUST},
        UTF8: {Level.MUST},
        NAMES: {Level.SHOULD},
        SURROGATES: {Level.INFO},
    }
    for rule in group.rules:
        assert rule.why
        assert set(rule.requirements) == {v for g in ruleset(*key).groups[:1] for v in
                                          g.rules[-1].requirements}  # fmt: skip


def test_a_byte_order_mark() -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"_meta": {}, "results": []}).encode()
    assert locations(document(body).report_for(), UTF8) == [(3, "")]
    # Of a stream another rule reports it.
    assert locations(stream(b"\xef\xbb\xbf" + START, COMPLETE).report_for(), UTF8) == []


def test_the_json_in_a_text_of_mcp() -> None:
    text = '{"_meta": {"response_type": "answer", "version": "0.55"}, "results": [{"a": NaN}]}'
    report = mcp.asked(mcp.result(text)).report_for()
    (where,) = locations(report, NUMBERS)
    assert where[1] == "/result/content/0/text#/results/0/a"


@pytest.mark.parametrize("body", [b"<html>caf\xe9", b"", b"[1,", b'{"a": 1} x', b"[" * 5000])
def test_what_is_no_json_is_left_to_other_rules(body: bytes) -> None:
    report = document(body, 502).report_for()
    assert {report.verdicts[rule] for rule in RULES} == {Verdict.NOT_APPLICABLE}


def test_an_event_that_was_cut_off() -> None:
    report = stream(START, b'event: result\ndata: {"a": "caf\xc3').report_for()
    assert report.verdicts[UTF8] is Verdict.PASS


def test_what_is_read_stays_the_same() -> None:
    """The reader is lenient: the other rules judge what it reads."""
    report = of_document(b'"name": NaN, "name": "caf\xe9"').report_for()
    failed = {f.rule for f in report.findings if f.verdict is Verdict.FAIL}
    assert failed == {NAMES, UTF8}


def test_more_than_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_CHARACTERS", 100)
    report = stream(START, event("result", {"a": "b" * 100}), COMPLETE).report_for()
    assert {report.verdicts[rule] for rule in RULES} == {Verdict.INCOMPLETE}


def test_an_object_that_was_overwritten_says_nothing() -> None:
    """Of two members with one name the first is gone, and its own members with it."""
    body = b'{"a": {"x": 1, "x": 2}, "a": {"y": 1}, "b": [{"z": 1}, {"z": 1}]}'
    assert locations(document(body).report_for(), NAMES) == [(3, "/a")]


def test_a_name_that_has_no_utf8() -> None:
    report = document(b'{"\\ud800": 1, "\\ud800": 2}').report_for()
    assert locations(report, NAMES) == [(3, "/\ufffd")]
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()


def test_an_action_has_no_rules() -> None:
    report = replace(answer({}), operation="action").report_for()
    assert {report.verdicts[rule] for rule in RULES} == {Verdict.NOT_APPLICABLE}


def test_the_response_that_counts_is_the_last() -> None:
    first = [(frame.kind, frame.data) for frame in document(b'{"a": NaN}', 401).frames]
    second = [(frame.kind, frame.data) for frame in answer({}).frames]
    again = (FrameKind.CALL, b"POST /ask HTTP/1.1\r\n\r\n")
    report = ScriptedResponse(numbered([*first, again, *second])).report_for()
    assert report.verdicts[NUMBERS] is Verdict.PASS
