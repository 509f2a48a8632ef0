"""Verdicts on Agent API responses that conform, are incomplete, not applicable or large."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from playground.conformance import Level, Verdict, ruleset, run_rules
from playground.conformance.agent_api import RULES, transcript
from playground.conformance.runner import MAX_LISTED
from playground.protocols.frames import FrameKind
from tests.conformance.agent_api.scripts import (
    CALL,
    GOOD,
    HELLO,
    OUTPUT,
    REPEATING,
    WHOLE,
    around,
    at_once,
    data,
    message,
    numbered,
    response,
    text,
    tool,
    whole,
)
from tests.conformance.scripts import ScriptedResponse, event, stream, verdicts, without
from tests.conformance.scripts import numbered as frames_of

#: Rules that only the end of a stream can settle.
OF_THE_END = {f"agent-api.{name}" for name in (
    "stream-closed", "status-transitions", "nothing-after-end", "response-ended",
    "response-id-kept", "message-ended", "sequence-increasing", "sequence-gapless",
    "message-announced", "content-after-message", "content-after-end", "content-ended",
    "content-index-gapless", "call-answered", "created-at-kept", "session-kept", "message-kept",
    "message-id-kept", "content-kept", "message-ended-failed", "message-before-content",
)}  # fmt: skip
RICH = numbered(
    *around(*HELLO)[:-1],
    *tool("plugin_call", CALL, "t"),
    *tool("plugin_call_output", {"call_id": "c", "output": "21 C"}, "u"),
    response("completed"),
)


def test_to_the_end_is_what_the_end_settles() -> None:
    """One of the rules looks for the end by hand."""
    assert {rule.id for rule in RULES if rule.needs_complete_response} == OF_THE_END - {
        "agent-api.stream-closed"
    }


@pytest.mark.parametrize("state", ["truncated", "cancelled", "interrupted", "streaming"])
def test_a_stream_without_its_end(state: str) -> None:
    for length in range(1, len(RICH.frames)):
        cut = replace(RICH, frames=RICH.frames[:length], state=state).report_for("1")
        ended = verdicts(cut, Verdict.PASS) & OF_THE_END
        # Once the response has said that it is completed, everything that it began has ended.
        allowed = {"agent-api.content-ended", "agent-api.message-ended"}
        assert ended <= (allowed if length == len(RICH.frames) - 1 else set()), (length, ended)
        assert not verdicts(cut, Verdict.FAIL)


def test_a_stream_cut_at_any_byte() -> None:
    blocks = b"".join(event(None, each) for each in around(*HELLO))
    for length in range(0, len(blocks) - 1, 7):
        reply = replace(stream(blocks[:length]).broken_off(), protocol="agent-api")
        assert not verdicts(reply.report_for("1"), Verdict.PASS) & (
            OF_THE_END - {"agent-api.content-ended", "agent-api.message-ended"}
        )
        assert verdicts(reply.report_for("1"), Verdict.FAIL) <= {"agent-api.sequence-present"}


@pytest.mark.parametrize(
    "frames", [(), frames_of([(FrameKind.CALL, b"POST")]), frames_of([(FrameKind.ERROR, b"{}")])]
)
def test_no_reply(frames: tuple[object, ...]) -> None:
    report = run_rules(frames, {}, "1", protocol="agent-api", state="failed")  # type: ignore[arg-type]
    assert set(report.verdicts.values()) == {Verdict.NOT_APPLICABLE}
    assert len(report.findings) == len(ruleset("agent-api").rules)


def test_another_version_has_no_rules() -> None:
    report = replace(at_once({"x": 1})).report_for("0.55")
    assert set(report.verdicts.values()) == {Verdict.NOT_APPLICABLE}


#: U+2028 and U+0085 within data end no line.
SPLIT = [
    f"data: {json.dumps(each, ensure_ascii=False)}\n\n".encode()
    for each in around(text("a\u2028b\u0085c"), text("a\u2028b\u0085c", "completed"))
]
#: Responses, a rule, and its verdict.
VERDICTS: dict[str, tuple[ScriptedResponse, str, Verdict]] = {
    # The run is called truncated, but the transfer was complete.
    "a stream that ended cleanly without the response": (
        replace(numbered(response(), response("in_progress")), state="truncated"),
        "response-ended", Verdict.FAIL,
    ),
    "a violation before the end": (
        numbered(response(), response("completed"), message()).broken_off(),
        "nothing-after-end", Verdict.FAIL,
    ),
    "text that other readers split": (
        replace(stream(*SPLIT), protocol="agent-api"), "delta-sum", Verdict.PASS,
    ),
    "an index beyond all others": (
        numbered(*around(data({}, index=10**400))), "content-index-gapless", Verdict.FAIL,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "rule", "verdict"), VERDICTS.values(), ids=VERDICTS)
def test_verdicts(reply: ScriptedResponse, rule: str, verdict: Verdict) -> None:
    assert reply.report_for("1").verdicts[f"agent-api.{rule}"] is verdict


#: By status, the statuses that must not follow it: section "Status Transitions".
WRONG_STEPS = {
    "created": "created",
    "queued": "created",
    "in_progress": "created queued",
    "completed": "created queued in_progress canceled failed rejected incomplete unknown",
    "canceled": "created queued in_progress completed failed rejected incomplete unknown",
    "failed": "created queued in_progress completed canceled rejected incomplete unknown",
    "rejected": "created queued in_progress completed canceled failed incomplete unknown",
    "incomplete": "created queued in_progress completed canceled failed rejected unknown",
    "unknown": "",
    "dreaming": "",
}


@pytest.mark.parametrize("before", WRONG_STEPS)
def test_transitions_of_a_message(before: str) -> None:
    for after in WRONG_STEPS:
        report = numbered(response(), message(before), message(after)).report_for("1")
        is_wrong = "agent-api.status-transitions" in verdicts(report, Verdict.FAIL)
        assert is_wrong is (after in WRONG_STEPS[before].split()), after


def test_an_error_of_a_gateway_is_no_response() -> None:
    report = whole(b"<html>Bad gateway", status=502, media_type="text/html").report_for("1")
    assert verdicts(report, Verdict.FAIL) == {"agent-api.error-status"}


def test_a_call_of_an_earlier_turn() -> None:
    """Its output may come now: the request that answered it says so."""
    response_parts = tool("plugin_call_output", {"call_id": "c", "output": ""}, "o")
    reply = numbered(response(), *response_parts, response("completed"))
    asked = [{"type": "plugin_call", "content": [{"type": "data", "data": CALL}]}]
    assert "agent-api.output-paired" in verdicts(reply.report_for("1"), Verdict.FAIL)
    again = replace(reply, request={"input": asked})
    assert "agent-api.output-paired" in verdicts(again.report_for("1"), Verdict.PASS)


class TestWhatIsLarge:
    def test_ten_thousand_violations_stay_small(self) -> None:
        pieces = [{"object": "content", "index": -1, f"x{n}": n} for n in range(10_000)]
        report = at_once(response(), *pieces).report_for("1")
        listed = [f for f in report.findings if f.rule == "agent-api.content-index"]
        assert len(listed) == MAX_LISTED
        assert listed[-1].message.endswith("And 9980 more like this.")
        assert len(json.dumps(report.to_json())) < 200_000

    def test_more_than_is_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transcript, "MAX_PARTS", 500)
        one = event(None, text("a"))
        reply = replace(stream(*[one] * 501), protocol="agent-api")
        report = reply.report_for("1")
        assert "agent-api.data-json" in verdicts(report, Verdict.INCOMPLETE)
        passed = verdicts(report, Verdict.PASS)
        assert not {rule for rule in passed if rule.startswith("agent-api.")}

    def test_more_repetitions_than_are_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transcript, "MAX_PARTS", 10)
        output = [message("completed", f"m{n}") for n in range(11)]
        report = whole(response("completed", output=output)).report_for("1")
        assert "agent-api.message-fields" in verdicts(report, Verdict.INCOMPLETE)

    def test_sequence_numbers_beyond_all_others(self) -> None:
        numbers = [10**400, 10**401, "9" * 5000, 1e300]
        report = at_once(*(response(sequence_number=n) for n in numbers)).report_for("1")
        assert json.dumps(report.to_json())


def test_a_message_without_an_id_is_begun_after_one_that_ended_another() -> None:
    """Another one that begins gets its key."""
    objects = [
        message("in_progress", "a"),
        {"object": "message", "status": "in_progress", "id": "b"},
        {"object": "message", "status": "completed"},
        message("completed", "a"),
        {"object": "message", "status": "in_progress", "id": "b", "type": "heartbeat"},
        {"object": "message", "status": "created"},
        message("in_progress", "c"),
    ]
    report = numbered(response(), *objects, response("completed")).report_for("1")
    assert "agent-api.message-ended" in report.verdicts


ERROR = {"code": "E", "message": "Broke."}
SNAPSHOTS = [
    response(output=[message()]),
    response("in_progress", output=[message()]),
    response("in_progress", output=[message("in_progress", content=[text("Hel")])]),
    response("completed", output=[message("completed", content=[text("Hello", "completed")])]),
]
IN_PARALLEL = [
    response(), message(name="a"), message(name="b"),
    text("A", msg_id="a"), text("B", msg_id="b"),
    text("A", "completed", msg_id="a"), text("B", "completed", msg_id="b"),
    message("completed", "b"), message("completed", "a"), response("completed"),
]  # fmt: skip


def bare(value: Any) -> Any:
    """An object with null for each member that may be null."""
    return {**value, "index": None, "msg_id": None, "delta": None, "sequence_number": None}


CONFORMING: dict[str, ScriptedResponse] = {
    "text": GOOD,
    "a call and its output": RICH,
    "a document": whole(WHOLE),
    "a function call waits for the client": numbered(
        response(), *tool("function_call", CALL, "f"), response("completed")
    ),
    "a heartbeat needs no end": numbered(
        response(), message(name="h", type="heartbeat"), response("completed")
    ),
    "repetitions": numbered(*REPEATING),
    "snapshots of the output": numbered(*SNAPSHOTS),
    "two messages at once": numbered(*IN_PARALLEL),
    "contents without msg_id": numbered(*around(*(without(each, "msg_id") for each in HELLO))),
    "null in repeated contents": numbered(
        *around(*HELLO)[:-2],
        message("completed", content=[bare(text("Hello", "completed"))]),
        response("completed"),
    ),
    "a message without its contents": numbered(
        *around(*HELLO)[:-1], response("completed", output=[message("completed", content=None)])
    ),
    "whole messages": numbered(
        response(), message("completed", content=[text("a", "completed")]), response("completed")
    ),
    "work that is rejected": numbered(
        response(), response("in_progress"), response("rejected", error=ERROR)
    ),
    "an incomplete message": numbered(
        response(), message(), message("incomplete"), response("completed")
    ),
    "a heartbeat between contents": numbered(
        response(), message(), HELLO[0], message(name="h", type="heartbeat"), *HELLO[1:],
        message("completed"), response("completed", output=[message("completed")]),
    ),
    "arguments that are no JSON": whole(
        response("completed", output=[
            message("completed", type="function_call", content=[
                data({**CALL, "arguments": '{"city": '})
            ]),
        ])
    ),
    "a call without an id": numbered(
        response(), *tool("plugin_call", without(CALL, "call_id"), "a"),
        *tool("plugin_call_output", OUTPUT, "b"), response("completed"),
    ),
    "a last piece that is a delta": numbered(
        *around(text("Hel"), text("lo", "completed", delta=True))[:-2],
        message("completed", content=[text("Hello", "completed")]), response("completed"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFORMING)
def test_what_conforms_has_no_finding(name: str) -> None:
    found = [f for f in CONFORMING[name].report_for("1").findings if f.level is not Level.INFO]
    assert [f for f in found if f.verdict not in (Verdict.PASS, Verdict.NOT_APPLICABLE)] == []


@pytest.mark.parametrize(
    "name",
    [
        "text",
        "a call and its output",
        "a document",
        "two messages at once",
        "a function call waits for the client",
        "a heartbeat needs no end",
    ],
)
def test_a_good_response_breaks_no_rule_of_any_level(name: str) -> None:
    assert not verdicts(CONFORMING[name].report_for("1"), Verdict.FAIL, Verdict.INCOMPLETE)
