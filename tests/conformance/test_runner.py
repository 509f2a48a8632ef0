"""Verdicts: inconclusive and inapplicable rules, and the limit on listed violations."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from playground.conformance import Level, Verdict, ruleset, run_rules
from playground.conformance.runner import MAX_LISTED
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.scripts import (
    COMPLETE,
    ITEM,
    START,
    ScriptedResponse,
    acting,
    answer,
    asking,
    document,
    event,
    failure,
    meta,
    numbered,
    promise,
    question,
    result,
    stream,
    verdicts,
)

STREAM = stream(START, result(0), result(1), COMPLETE)
#: Rules that only the end of a stream can settle.
OF_THE_END = {
    "stream-start-once",
    "stream-complete-present",
    "stream-complete-once",
    "stream-complete-last",
    "stream-closed",
    "error-event-last",
    "result-index-gapless",
    "result-index-unique",
    "result-order",
    "one-reply",
}
NOTHING = {Verdict.NOT_APPLICABLE}


class TestWhatCannotBeJudged:
    @pytest.mark.parametrize("state", ["truncated", "cancelled", "interrupted", "streaming"])
    @pytest.mark.parametrize("version", ["0.54", "0.55"])
    def test_a_stream_without_its_end(self, state: str, version: str) -> None:
        for length in range(1, len(STREAM.frames)):
            cut = replace(STREAM, frames=STREAM.frames[:length], state=state).report_for(version)
            assert not verdicts(cut, Verdict.PASS) & OF_THE_END
            assert not verdicts(cut, Verdict.FAIL)

    @pytest.mark.parametrize("version", ["0.54", "0.55"])
    def test_a_stream_cut_at_any_byte(self, version: str) -> None:
        blocks = START + result(0) + COMPLETE
        for length in range(len(blocks)):
            cut = stream(blocks[:length]).broken_off().report_for(version)
            assert not verdicts(cut, Verdict.PASS) & OF_THE_END
            assert not verdicts(cut, Verdict.FAIL)

    def test_a_stream_that_ends_within_an_event(self) -> None:
        """The agent ended it: that is its fault; what else it would have sent is not known."""
        report = stream(START, b"event: comp").report_for()
        assert verdicts(report, Verdict.FAIL) == {"stream-closed"}
        assert "stream-complete-present" in verdicts(report, Verdict.INCOMPLETE)

    def test_a_stream_that_ended_cleanly_without_its_end(self) -> None:
        """The run is called truncated, but the transfer was complete."""
        report = replace(stream(START, result(0)), state="truncated").report_for()
        assert verdicts(report, Verdict.FAIL) == {"stream-complete-present"}

    def test_a_stream_that_was_limited(self) -> None:
        cut = STREAM.broken_off("refused").report_for()
        assert cut.verdicts["stream-complete-last"] is Verdict.INCOMPLETE

    def test_a_violation_before_the_end_counts(self) -> None:
        cut = stream(START, COMPLETE, result(0)).broken_off().report_for()
        assert cut.verdicts["stream-complete-last"] is Verdict.FAIL

    @pytest.mark.parametrize("body", [b'{"_meta": {"respo', b""])
    def test_a_document_without_its_end(self, body: bytes) -> None:
        report = document(body).broken_off().report_for()
        assert verdicts(report, Verdict.INCOMPLETE) == {"reply-object", "one-reply"}
        assert not verdicts(report, Verdict.FAIL, Verdict.PASS) - {
            *("http-no-redirect", "http-method", "http-header-values")
        }

    def test_a_document_that_was_whole_when_the_transfer_broke(self) -> None:
        whole = answer(ITEM)
        error = Frame(3, 3000, FrameKind.ERROR, b"not JSON at all")
        report = replace(whole, frames=(*whole.frames[:2], error), state="truncated").report_for()
        assert report.verdicts["item-type"] is Verdict.PASS
        assert report.verdicts["one-reply"] is Verdict.INCOMPLETE

    def test_a_summary_that_may_still_have_come(self) -> None:
        asked = {"prefer": {"mode": "summarize"}}
        whole = replace(STREAM, request=asked)
        assert whole.report_for().verdicts["mode-summarize-honoured"] is Verdict.FAIL
        assert (
            whole.broken_off().report_for().verdicts["mode-summarize-honoured"]
            is Verdict.INCOMPLETE
        )


class TestWhatDoesNotApply:
    @pytest.mark.parametrize(
        "frames",
        [
            (),
            numbered([(FrameKind.CALL, b"POST /ask HTTP/1.1\r\n\r\n")]),
            numbered([(FrameKind.CALL, b"POST"), (FrameKind.ERROR, b"{}")]),
        ],
    )
    def test_no_reply(self, frames: tuple[Frame, ...]) -> None:
        report = run_rules(frames, {"query": {"text": "eggs"}}, "0.55", state="failed")
        assert set(report.verdicts.values()) == NOTHING
        assert report.problems == ()

    @pytest.mark.parametrize(("version", "operation"), [("", "ask"), ("0.55", "action")])
    def test_what_is_no_nlweb(self, version: str, operation: str) -> None:
        report = run_rules(answer(ITEM).frames, {}, version, operation=operation)
        assert set(report.verdicts.values()) == NOTHING
        assert report.version == version
        assert len(report.findings) == len(ruleset("nlweb").rules)

    @pytest.mark.parametrize(
        ("protocol", "binding"), [("action", "http"), ("agent-api", "mcp"), ("", ""), ("a2a", "")]
    )
    def test_what_has_no_rules(self, protocol: str, binding: str) -> None:
        report = run_rules(answer(ITEM).frames, {}, "0.55", protocol=protocol, binding=binding)
        assert report.findings == ()
        assert not report.failed("info")
        told = report.to_json()
        assert (told["protocol"], told["binding"]) == (protocol, binding)

    def test_rules_of_another_version(self) -> None:
        reply = stream(START, event("error", {"error": {"code": "TIMEOUT"}}))
        assert reply.report_for("0.54").verdicts["error-event"] is Verdict.NOT_APPLICABLE
        assert reply.report_for("0.55").verdicts["error-event"] is Verdict.PASS

    def test_an_error_of_a_gateway(self) -> None:
        """What is no reply of the agent is not judged as one."""
        report = document(b"<html>Bad gateway", 502, "text/html").report_for()
        assert verdicts(report, Verdict.FAIL) == {"http-error-failure"}

    def test_statuses_of_failures(self) -> None:
        """Section 7.4: 200 for the application's own, 4xx and 5xx for the request's."""
        for status in (200, 400, 401, 429, 500):
            report = failure({"code": "AGENT_CODE"}, status).report_for()
            assert report.verdicts["http-status"] is Verdict.PASS


class TestSeveralCalls:
    def test_the_last_reply_counts(self) -> None:
        first, second = document(b"oops", 401), answer(ITEM)
        call = [(FrameKind.CALL, b"POST /ask HTTP/1.1\r\n\r\n")]
        pairs = [(frame.kind, frame.data) for frame in first.frames]
        again = [(frame.kind, frame.data) for frame in second.frames]
        report = ScriptedResponse(numbered([*call, *pairs, *call, *again])).report_for()
        assert report.problems == ()
        assert report.verdicts["answer-content"] is Verdict.PASS

    def test_a_last_call_without_a_reply(self) -> None:
        first = answer()
        pairs = [(frame.kind, frame.data) for frame in first.frames]
        report = ScriptedResponse(numbered([*pairs, (FrameKind.CALL, b"POST")])).report_for()
        assert set(report.verdicts.values()) == NOTHING


class TestReport:
    def test_has_every_rule_in_order(self) -> None:
        report = document({"results": ["a", "b"]}).report_for()
        ids = list(dict.fromkeys(finding.rule for finding in report.findings))
        assert ids == [rule.id for rule in ruleset("nlweb").rules]

    def test_counts_rules_and_not_violations(self) -> None:
        report = answer(5, 6, {"name": "a"}).report_for()
        assert report.counts == {Level.MUST: 1, Level.SHOULD: 1, Level.INFO: 0}
        assert [f.rule for f in report.problems] == ["item-object", "item-object", "item-type"]

    @pytest.mark.parametrize(
        ("reply", "failed"),
        [
            (answer(ITEM), (False, False, False)),
            (answer({**ITEM, "@type": ""}), (False, True, True)),
            (asking(question(type="colour")), (False, False, True)),
            (answer(5), (True, True, True)),
        ],
    )
    def test_failed(self, reply: ScriptedResponse, failed: tuple[bool, ...]) -> None:
        assert (
            tuple(reply.report_for().failed(level) for level in ("must", "should", "info"))
            == failed
        )

    def test_to_json(self) -> None:
        report = answer(5).report_for()
        told = json.loads(json.dumps(report.to_json()))
        assert told["version"] == "0.55"
        assert told["counts"] == {"must": 1, "should": 0, "info": 0}
        assert [finding for finding in told["findings"] if finding["verdict"] == "fail"] == [
            {
                "rule": "item-object",
                "level": "must",
                "section": "4.1.1",
                "pointer": "/results/0",
                "message": "This result is a number; expected an object.",
                "verdict": "fail",
                "seq": 3,
            }
        ]

    def test_ten_thousand_violations_stay_small(self) -> None:
        bad = {"@type": 5, "grounding": 1, "actions": {"params": 4}}
        blocks = [event("result", {"index": -1, "item": bad})] * 10_000
        report = stream(*blocks).report_for()
        listed = [f for f in report.findings if f.rule == "item-grounding"]
        assert len(listed) == MAX_LISTED
        assert listed[-1].message.endswith("And 9980 more like this.")
        assert len(json.dumps(report.to_json())) < 100_000

    def test_as_another_version_than_it_was_sent_as(self) -> None:
        reply = document({"meta": meta("Answer")["_meta"], "results": []})
        assert not reply.report_for("0.54").failed("should")
        assert verdicts(reply.report_for("0.55"), Verdict.FAIL) == {
            "meta-present",
            "response-type-lowercase",
        }


class TestWhatIsLarge:
    def test_a_status_of_thousands_of_digits(self) -> None:
        frames = (Frame(1, 1, FrameKind.HEAD, b"HTTP/1.1 " + b"9" * 5000 + b" Whatever\r\n\r\n"),)
        assert not verdicts(run_rules(frames, {}, "0.55"), Verdict.PASS) & OF_THE_END

    def test_names_that_have_no_utf8(self) -> None:
        report = answer(ITEM, session_context={}).asked(meta={"session_context": {"\ud800": 1}})
        (finding,) = report.report_for().problems
        assert finding.message.encode().endswith(b"session context: ?.")

    def test_numbers_beyond_all_others(self) -> None:
        reply = promise({"token": "p", "progress": 10**400, "estimated_time": 10**400})
        report = reply.after(10**400, 0.5).report_for()
        assert report.verdicts["promise-progress"] is Verdict.FAIL
        assert report.verdicts["promise-estimate-plausible"] is Verdict.FAIL
        assert report.verdicts["promise-progress-monotone"] is Verdict.PASS

    def test_more_actions_than_are_looked_at(self) -> None:
        action = {"name": "a", "description": "d", "protocol": "HTTP"}
        report = acting(
            *[{**action, "method": "GET", "endpoint": "http://a"}] * 60_000
        ).report_for()
        judged = verdicts(report, Verdict.FAIL, Verdict.PASS)
        assert all(rule.startswith("json-") for rule in judged)
        assert report.verdicts["action-target"] is Verdict.INCOMPLETE

    def test_a_deep_item(self) -> None:
        item: object = {"actions": [{}]}
        for _ in range(40):
            item = [{"a/b": item}]
        report = answer({"@type": "Recipe", "deep": item}).report_for()
        pointer = "/results/0/deep" + "/0/a~1b" * 40 + "/actions/0/protocol"
        assert pointer in {finding.pointer for finding in report.problems}

    def test_more_sorts_of_actions_than_are_validated(self) -> None:
        """What was not held against the schema does not pass it."""
        full = {"name": "a", "description": "d", "protocol": "HTTP", "method": "GET"}
        actions = [{**full, "endpoint": "http://a", f"x{n}": 1} for n in range(300)]
        assert acting(*actions).report_for().verdicts["schema-action"] is Verdict.PASS
        events = [event("start", {**meta(streaming=True), "n": n}) for n in range(300)]
        assert stream(*events).report_for().verdicts["schema-event"] is Verdict.INCOMPLETE

    def test_an_elicitation_of_500_questions(self) -> None:
        questions = [question(id=f"q{number}") for number in range(500)]
        report = asking(*questions).report_for()
        assert verdicts(report, Verdict.FAIL) == {"elicitation-readable"}
        # The schema saw the first of them only, and the rules for questions all.
        assert report.verdicts["schema-reply"] is Verdict.INCOMPLETE
        assert report.verdicts["question-ids-unique"] is Verdict.PASS
