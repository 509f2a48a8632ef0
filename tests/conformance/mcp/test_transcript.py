"""Verdicts on NLWeb over MCP: location of the response, incomplete runs, several calls."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from playground.conformance import ConformanceReport, Verdict, ruleset
from playground.conformance.mcp import RULES
from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.mcp.response_shapes import find_response
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
    ask,
    asked,
    call,
    content,
    error,
    listed,
    modern,
    nothing,
    notification,
    paged,
    question,
    reply,
    response,
    result,
    run,
    said,
    told,
)
from tests.conformance.scripts import ScriptedResponse, locations, numbered

#: An NLWeb reply that breaks a rule within and one in its metadata.
WRONG = {"_meta": {"response_type": "Answer", "version": "0.55"}, "results": [4]}


def verdicts(report: ConformanceReport, *wanted: Verdict) -> set[str]:
    return {rule for rule, verdict in report.verdicts.items() if verdict in wanted}


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
        assert found.payload == results.document_of(value, 100)

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
        assert not {r for r in verdicts(report, Verdict.PASS) if not r.startswith("mcp.")}

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
            "$defs": {"Query": {"type": "object", "properties": {"text": {"type": "string"}}}},
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
        "query",
        [{"$ref": "#/$defs/Query"}, {"$ref": "#"}, {"$ref": "https://example.com/a"}, {"$ref": 4},
         {"$ref": "#/properties/query"}],
    )  # fmt: skip
    def test_references_that_lead_nowhere(self, query: Any) -> None:
        schema = {"type": "object", "properties": {"query": query}, "required": ["query"]}
        report = listed({**ASK, "inputSchema": schema}).report_for()
        assert "mcp.tool-ask-schema" in verdicts(report, Verdict.FAIL)
