"""Verdicts on NLWeb over MCP: location of the response, incomplete runs, several calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

from playground.conformance import Verdict, ruleset
from playground.conformance.mcp import RULES
from playground.conformance.mcp.transcript import LocatedMessage, find_response
from playground.protocols import jsonrpc
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import results
from playground.protocols.mcp.handshake import MAX_PAGES
from tests.conformance.mcp.scripts import (
    ANSWER,
    ASK,
    AWAIT,
    FORM,
    INITIALIZED,
    MODERN,
    SCHEMA,
    Pair,
    ask,
    ask_schema,
    asked,
    block,
    call,
    content,
    error,
    identified,
    listed,
    modern,
    nothing,
    notification,
    paged,
    question,
    reply,
    response,
    result,
    resumed,
    run,
    said,
    streamed,
    told,
)
from tests.conformance.scripts import ScriptedResponse, locations, numbered, verdicts

#: An NLWeb reply that breaks a rule within and one in its metadata.
WRONG = {"_meta": {"response_type": "Answer", "version": "0.55"}, "results": [4]}


class TestWhereTheReplyStands:
    @pytest.mark.parametrize(
        ("made", "outer", "inner"),
        [
            (asked(result(WRONG)), "/result/content/0/text#", "/result/content/0/text#"),
            (asked(WRONG), "/result", "/result"),
            (asked({"structuredContent": WRONG}), *["/result/structuredContent"] * 2),
            (
                asked({"structuredContent": {"result": WRONG}}),
                *["/result/structuredContent/result"] * 2,
            ),
            (
                asked({"structuredContent": {"result": json.dumps(WRONG)}}),
                *["/result/structuredContent/result#"] * 2,
            ),
            (run(ask(), said(error(data=WRONG))), "/error/data", "/error/data"),
            (
                asked({"content": content({"results": [4]}), "_meta": WRONG["_meta"]}),
                "/result",
                "/result/content/0/text#",
            ),
            (run(ask(), said([response(WRONG)])), "/0/result", "/0/result"),
        ],
    )
    def test_findings_lead_there(self, made: ScriptedResponse, outer: str, inner: str) -> None:
        report = made.report_for()
        assert locations(report, "response-type-lowercase") == [(4, f"{outer}/_meta/response_type")]
        assert locations(report, "item-object") == [(4, f"{inner}/results/0")]

    def test_a_finding_about_all_of_a_text_leads_to_the_text(self) -> None:
        report = asked(result({"_meta": ANSWER["_meta"]})).report_for()
        assert locations(report, "answer-content") == [(4, "/result/content/0/text#/results")]
        report = run(ask(), told(response(result(WRONG)))).report_for()
        assert locations(report, "item-object") == [(3, "/result/content/0/text#/results/0")]

    def test_mcp_s_own_metadata_are_not_those_of_the_reply(self) -> None:
        report = modern(result(WRONG)).report_for()
        assert locations(report, "response-type-lowercase") == [
            (4, "/result/content/0/text#/_meta/response_type")
        ]

    @pytest.mark.parametrize(
        "value",
        [
            result(WRONG), WRONG, {"structuredContent": WRONG}, {**result(ANSWER), **WRONG},
            {**result(WRONG), "structuredContent": ANSWER}, {"content": "words", **ANSWER},
            {"structuredContent": {"result": json.dumps(WRONG)}, "content": content(ANSWER)},
            {"content": content({"results": [4]}), "_meta": WRONG["_meta"]},
            {"content": content("Words."), "_meta": WRONG["_meta"]},
            {"content": [{"type": "text"}, *content("{"), *content(WRONG)], "_meta": {"a": 1}},
            {"_meta": WRONG["_meta"]},
        ],
    )  # fmt: skip
    def test_is_where_the_reader_finds_it(self, value: Any) -> None:
        found = find_response(LocatedMessage(1, "", jsonrpc.read(response(value))))
        assert found is not None
        # Texts beside the response are read, too, and are not judged.
        document = results.document_of(value, 100)
        assert {**found.payload, "content": None} == {**document, "content": None}

    def test_an_answer_that_goes_on_without_an_id(self) -> None:
        """Metadata first, the results in later frames that name no call."""
        more: dict[str, Any] = {"jsonrpc": "2.0", "result": {"results": [{"@type": "A"}, 4]}}
        made = run(ask(), told(response({"_meta": ANSWER["_meta"]}), more))
        report = made.report_for()
        assert locations(report, "item-object") == [(4, "/result/results/1")]
        assert locations(report, "mcp.response-id") == [(4, "/id")]
        assert report.verdicts["answer-content"] is Verdict.NOT_APPLICABLE
        assert report.verdicts["meta-present"] is Verdict.PASS


def test_a_list_that_is_cut_is_not_said_to_end() -> None:
    report = paged(MAX_PAGES).report_for()
    assert "mcp.tools-cursor" in verdicts(report, Verdict.INCOMPLETE)
    assert "mcp.tools-whole" in verdicts(report, Verdict.FAIL)
    assert "mcp.tools-cursor" in verdicts(paged(2).report_for(), Verdict.PASS)


class TestWhatDoesNotApply:
    def test_no_reply(self) -> None:
        for frames in ((), numbered([ask()])):
            report = ScriptedResponse(frames, state="failed", binding="mcp").report_for()
            assert set(report.verdicts.values()) == {Verdict.NOT_APPLICABLE}
            assert len(report.findings) == len(ruleset("nlweb", "mcp").rules)

    def test_words_are_no_reply_of_nlweb(self) -> None:
        report = asked(result("Hello.")).report_for()
        assert verdicts(report, Verdict.FAIL) == {"mcp.nlweb-reply"}
        assert not {
            r for r in verdicts(report, Verdict.PASS) if not r.startswith(("mcp.", "json-"))
        }

    def test_a_question_is_no_reply_yet(self) -> None:
        wanted = {"inputRequests": {"a": {"method": "elicitation/create", "params": FORM}}}
        report = modern({"resultType": "input_required", **wanted}).report_for()
        assert not verdicts(report, Verdict.FAIL)

    def test_an_answer_to_a_question_is_only_taken(self) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": "q", "result": {"action": "accept"}})
        sent = (FrameKind.CALL, b"POST /mcp HTTP/1.1\r\n\r\n" + body.encode())
        report = run(sent, nothing()).report_for()
        assert verdicts(report, Verdict.PASS) == {"mcp.accepted"}
        assert not verdicts(report, Verdict.FAIL, Verdict.INCOMPLETE)

    def test_a_probe_that_an_older_server_refuses(self) -> None:
        """It answers in its own way before there is a session."""
        refusal = said(error(-32600, "Missing session ID", "server-error"), status=400)
        first = [call("server/discover", version=MODERN), refusal]
        later = [call("initialize", 2), said(response(INITIALIZED, 2))]
        report = run(*first, *later).report_for()
        assert not verdicts(report, Verdict.FAIL)

    def test_a_server_without_promises(self) -> None:
        report = listed(ASK).report_for()
        assert verdicts(report, Verdict.FAIL) == {"mcp.tool-await"}
        assert not report.failed("should")

    def test_a_list_that_goes_on(self) -> None:
        report = listed(AWAIT, nextCursor="2").report_for()
        assert report.verdicts["mcp.tool-ask"] is Verdict.NOT_APPLICABLE

    @pytest.mark.parametrize("version", ["legacy", "1", ""])
    def test_other_versions(self, version: str) -> None:
        report = asked(WRONG).report_for(version)
        assert set(report.verdicts.values()) == {Verdict.NOT_APPLICABLE}

    def test_an_await(self) -> None:
        made = asked(result(reply("elicitation", elicitation={"text": "?"})))
        made = replace(made, operation="await", request={"promise_token": "p", "action": "checkin"})
        assert "await-reply" in verdicts(made.report_for(), Verdict.FAIL)


class TestWhatCannotBeJudged:
    STREAM = run(
        ask(),
        told(
            notification("notifications/progress", progressToken=1, progress=1),
            notification("notifications/progress", progressToken=1, progress=2),
            response(result()),
        ),
    )
    OF_THE_END = {"mcp.one-response", "mcp.progress-increasing", "mcp.stream-closed"}

    @pytest.mark.parametrize("state", ["truncated", "cancelled", "interrupted", "streaming"])
    def test_a_stream_without_its_end(self, state: str) -> None:
        frames = self.STREAM.frames
        for length in range(1, len(frames)):
            cut = replace(self.STREAM, frames=frames[:length], state=state).report_for()
            assert not verdicts(cut, Verdict.PASS) & self.OF_THE_END
            assert not verdicts(cut, Verdict.FAIL)

    def test_rules_of_the_end(self) -> None:
        found = {rule.id for rule in RULES if rule.needs_complete_response} | {"mcp.stream-closed"}
        assert found == self.OF_THE_END
        assert verdicts(self.STREAM.report_for(), Verdict.PASS) >= self.OF_THE_END

    def test_a_document_without_its_end(self) -> None:
        report = asked(result()).broken_off().report_for()
        assert report.verdicts["mcp.one-response"] is Verdict.INCOMPLETE
        assert not verdicts(report, Verdict.FAIL)


class TestSeveralCalls:
    def test_the_last_call_of_the_tool_counts(self) -> None:
        lost = [ask(session="a"), said(error(-32600, "Session not found"), status=404)]
        again = [call("initialize", 2), said(response(INITIALIZED, 2))]
        report = run(*lost, *again, ask(3), said(response(result(WRONG), 3))).report_for()
        assert locations(report, "item-object") == [(12, "/result/content/0/text#/results/0")]

    def test_a_question_in_mid_call(self) -> None:
        made = run(ask(), told(question(**FORM), response(result())))
        report = made.report_for()
        assert not verdicts(report, Verdict.FAIL)
        assert report.verdicts["mcp.elicitation"] is Verdict.PASS


class TestSchemas:
    def test_references_are_followed(self) -> None:
        """As the official package writes them."""
        query = {"anyOf": [{"$ref": "#/$defs/Query"}, {"type": "null"}]}
        schema = {
            **SCHEMA,
            "properties": {**SCHEMA["properties"], "query": query},  # type: ignore[dict-item]
            "$defs": {"Query": SCHEMA["properties"]["query"]},  # type: ignore[index]
        }
        report = listed({**ASK, "inputSchema": schema}, AWAIT).report_for()
        assert not verdicts(report, Verdict.FAIL)

    def test_references_lead_into_lists(self) -> None:
        text = {"type": "object", "properties": {"text": {"type": "string"}}}
        query = {"$ref": "#/allOf/0", "type": "object"}
        schema = {**SCHEMA, "properties": {"query": query}, "allOf": [text]}
        report = listed({**ASK, "inputSchema": schema}, AWAIT).report_for()
        assert "mcp.tool-ask-schema" not in verdicts(report, Verdict.FAIL)

    @pytest.mark.parametrize(
        ("query", "rule"),
        [
            ({"$ref": "#/$defs/Query"}, "mcp.tool-schema"),
            ({"$ref": 4}, "mcp.tool-schema"),
            ({"$ref": "https://example.com/a"}, "mcp.tool-schema-references"),
            ({"$ref": "#/properties/query"}, "mcp.tool-schema-references"),
        ],
    )
    def test_references_that_lead_nowhere(self, query: Any, rule: str) -> None:
        schema = {"type": "object", "properties": {"query": query}, "required": ["query"]}
        report = ask_schema(schema).report_for()
        assert rule in verdicts(report, Verdict.FAIL)
        assert "mcp.tool-ask-schema" in verdicts(report, Verdict.INCOMPLETE)

    def test_a_rejection_names_the_request_and_the_part(self) -> None:
        """One finding for each part, also if it rejects several requests."""
        query = {**SCHEMA["properties"]["query"], "additionalProperties": False}  # type: ignore[index]
        schema = {"type": "object", "properties": {"query": {"$ref": "#/$defs/Q"}},
                  "required": ["query"], "$defs": {"Q": query}}  # fmt: skip
        report = ask_schema(schema).report_for()
        (finding,) = [f for f in report.problems if f.rule == "mcp.tool-ask-schema"]
        assert finding.pointer == "/result/tools/0/inputSchema/$defs/Q/additionalProperties"
        assert "a query with a site" in finding.message
        assert "1 more" in finding.message

    @pytest.mark.parametrize(
        "schema",
        [
            {
                "query": {
                    "properties": {"site": {"enum": ["a.example"]}, "price": {"type": "number"}}
                }
            },
            {"query": {"properties": {"location": {"type": "object"}, "text": {"minLength": 1}}}},
            {"meta": {"properties": {"session_context": {"required": ["own"]}}}},
            {"meta": {"properties": {"user": {"anyOf": [{"type": "string"}, {"type": "object"}]}}}},
            {"prefer": {"properties": {"mode": {"type": "string"}}, "additionalProperties": True}},
        ],
    )
    def test_values_that_an_agent_defines(self, schema: Any) -> None:
        report = ask_schema({"type": "object", "properties": schema}).report_for()
        assert report.verdicts["mcp.tool-ask-schema"] is Verdict.PASS


CALL_OF_GET = (FrameKind.CALL, b"GET /mcp HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n")


def resumption(*later: Pair | list[Pair], **options: Any) -> ScriptedResponse:
    """A stream that ends after its first event ID, and what follows."""
    first = streamed(block("id: 1\ndata:"), block("retry: 500"))
    return run(ask(**options), first, *later)


LOG = notification("notifications/message", level="info", data=1)
DONE = response(result())
OPEN = streamed(block("id: 2\ndata:"))
WITHOUT_END = streamed(identified("2", DONE))[:-1]
STEPS = [
    identified(str(n), notification("notifications/progress", progressToken=1, progress=n))
    for n in (2, 3)
]
REFUSED = [call("initialize"), *nothing(405)]
ENDPOINT = streamed(block("event: endpoint\ndata: /messages"))[:-1]
END_OF_SESSION = (FrameKind.CALL, b"DELETE /mcp HTTP/1.1\r\nMcp-Session-Id: a\r\n\r\n")
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


class Row(NamedTuple):
    """A run with each of its final states, and the verdicts on it."""

    reply: ScriptedResponse
    states: str = "completed"
    #: The frame in which `mcp.one-response` is broken.
    broken_at: int = 0
    #: Rules, without their prefix: all that are broken or incomplete, and some that are passed.
    broken: str = ""
    incomplete: str = ""
    passed: str = ""


def others(*messages: Any) -> ScriptedResponse:
    return run(ask(), told(*messages))


def events(*blocks: bytes) -> ScriptedResponse:
    """Events without a message, then the response."""
    return run(ask(), streamed(*blocks, identified("9", DONE)))


ENDS: dict[str, Row] = {
    # Without the response.
    "a clean end": Row(others(LOG), "completed truncated failed", 3),
    "only comments and empty events": Row(
        run(ask(), streamed(b": ping\n\n", block("data:"), block("retry: 500"))), broken_at=2),
    "an event ID that was not resumed": Row(
        resumption(), "completed truncated cancelled", incomplete="one-response"),
    "stateless streams are not resumed": Row(resumption(version=MODERN), broken_at=2),
    "another call in between": Row(
        resumption(
            [call("tools/list", 2), *said(response({"tools": [ASK, AWAIT]}, 2))], resumed("1"),
            streamed(identified("2", DONE)))),
    "a resumption, 405": Row(resumption(resumed("1"), nothing(405)), "truncated", 7),
    "a resumption, 404": Row(resumption(resumed("1"), nothing(404)), "truncated", 7),
    "a resumption, no message": Row(resumption(resumed("1"), OPEN), "truncated", 7),
    "a resumption, another message": Row(
        resumption(resumed("1"), streamed(identified("2", LOG))), "truncated", 8),
    "a run that goes on": Row(
        resumption(resumed("1"), OPEN), "streaming", incomplete="one-response"),
    "a resumption that broke off": Row(
        resumption(resumed("1"), OPEN[:-1]), "truncated", incomplete="one-response stream-closed"),
    "a stream that broke off and was resumed": Row(
        run(ask(), OPEN[:-1], resumed("2"), streamed(identified("3", DONE)))),
    "the end of a session is no call": Row(
        run(ask(session="a"), told(DONE), END_OF_SESSION, nothing(405))),
    # A client that has the response closes the stream, so that its end is not recorded.
    **{
        f"a resumed stream after the response to {number!r}": Row(
            resumption(resumed("1"), streamed(identified("2", response(result(), number)))[:-1]),
            broken="" if number == 1 else "response-id", passed="stream-closed")
        for number in (1, "1", None)
    },
    "progress on the way": Row(
        resumption(resumed("1"), streamed(*STEPS, identified("4", DONE))[:-1]),
        passed="one-response progress-increasing stream-closed"),
    **{
        f"a resumed stream before the response, {name}": Row(
            resumption(resumed("1"), streamed(identified("2", last))[:-1]), "truncated",
            broken="response-id" if name == "another" else "",
            incomplete="one-response stream-closed")
        for name, last in (
            ("a log", LOG), ("another", response(result(), 7)), ("a ping", {**PING, "id": 1}))
    },
    "a stream that broke off after the response": Row(
        resumption(resumed("1"), WITHOUT_END, (FrameKind.ERROR, b"{}")), "truncated",
        incomplete="one-response stream-closed"),
    "a posted stream is read to its end": Row(
        run(ask(), told(DONE)[:-1]), "cancelled", incomplete="one-response stream-closed"),
    "the stream of the older transport": Row(
        run(REFUSED, CALL_OF_GET, ENDPOINT), "failed", passed="stream-closed"),
    "the older transport is not there": Row(
        run(REFUSED, CALL_OF_GET, nothing(405)[:-1]), "failed"),
    "a silent stream of the older transport": Row(
        run(REFUSED, CALL_OF_GET, streamed()[:-1]), "failed", incomplete="stream-closed"),
    # Events without a message.
    "an ID": Row(events(block("id: 1\ndata:")), passed="json-rpc"),
    "an ID and a blank": Row(events(block("id: 1\ndata: ")), passed="json-rpc"),
    "several IDs": Row(
        events(*(block(f"id: {n}\nretry: 10\ndata:") for n in (1, 2, 3))), passed="json-rpc"),
    "a name": Row(events(block("event: message\nid: 1")), passed="json-rpc"),
    "a time": Row(
        events(block("retry: 3000"), b": ping\n\n", block("data:")), passed="json-rpc"),
    "pings": Row(
        events(block("event: ping\ndata: 2026-01-01"), block('event: ping\ndata: {"at": 1}')),
        passed="json-rpc"),
    "a ping of the server": Row(others(PING, DONE)),
    "thousands": Row(events(*(block(f"id: {n + 10}\ndata:") for n in range(5_000)))),
}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "state"),
    [
        pytest.param(row, state, id=f"{name}, {state}")
        for name, row in ENDS.items()
        for state in row.states.split()
    ],
)
def test_how_streams_end(row: Row, state: str) -> None:
    report = replace(row.reply, state=state).report_for()
    broken = "one-response " * bool(row.broken_at) + row.broken
    assert locations(report, "mcp.one-response") == [(row.broken_at, "")] * bool(row.broken_at)
    assert verdicts(report, Verdict.FAIL) == named(broken)
    assert verdicts(report, Verdict.INCOMPLETE) == named(row.incomplete)
    assert named(row.passed) <= verdicts(report, Verdict.PASS)


def named(rules: str) -> set[str]:
    return {f"mcp.{rule}" for rule in rules.split()}


def test_the_response_in_a_later_stream() -> None:
    final = streamed(identified("3", response(result(WRONG))))
    report = resumption(resumed("1"), OPEN, resumed("2"), final).report_for()
    assert report.verdicts["mcp.one-response"] is Verdict.PASS
    assert not {rule for rule in verdicts(report, Verdict.FAIL) if rule.startswith("mcp.")}
    assert locations(report, "item-object") == [(12, "/result/content/0/text#/results/0")]


class TestJsonRpc:
    def test_two_calls_answered_with_one_id(self) -> None:
        made = run(call("tools/list", 1), said(response({"tools": [ASK, AWAIT]}, 1)),
                   ask(2), said(response(result(), 1)))  # fmt: skip
        assert locations(made.report_for(), "mcp.response-id") == [(8, "/id")]

    def test_batches_of_a_version_that_has_them(self) -> None:
        opening = {**INITIALIZED, "protocolVersion": "2025-03-26"}
        made = run(call("initialize", version=""), said(response(opening)),
                   ask(2, version=""), said([response(result(), 2)]))  # fmt: skip
        assert not verdicts(made.report_for(), Verdict.FAIL)

    def test_structured_content_of_any_type(self) -> None:
        report = modern(result(structuredContent=[1])).report_for()
        assert report.verdicts["mcp.structured-object"] is Verdict.NOT_APPLICABLE
