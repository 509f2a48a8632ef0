"""Steps of a run from its frames: grouped, bounded, and with exact counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import registry
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.rendering.sequence.run_steps import (
    MAX_GAPS,
    MAX_GROUPS,
    MAX_STEPS,
    RunSteps,
    Step,
    StepKind,
    call_label,
)
from tests.support.stored_runs import CALL, END, HEAD, OPEN, PIECES, event, result

K = FrameKind
COMMENT = Frame(0, 0, K.COMMENT, b": here\n\n")
TEXT = event('event: content\ndata: {"type": "text", "text": "Hello"}')
FAILURE = event('event: error\ndata: {"error": {"code": "TIMEOUT", "message": "Too late"}}')
COMPLETE = event('event: complete\ndata: {"_meta": {"response_type": "answer"}}')
CUT = Frame(0, 0, K.TAIL, b'event: result\ndata: {"item": "half')


def steps_of(frames: Sequence[Frame], every_us: int = 1000, text: str = "eggs") -> Sequence[Step]:
    """Return the steps of frames that arrive at regular intervals, unless they have a time."""
    exchange = registry.exchange(Target("http://agent.example"), {"query": {"text": "eggs"}})
    steps = RunSteps(text)
    for seq, frame in enumerate(frames, 1):
        numbered = replace(frame, seq=seq, at_us=(seq - 1) * every_us)
        steps.add(numbered, list(exchange.receive(numbered)))
    return steps.snapshot()


def lines(steps: Iterable[Step]) -> list[str]:
    """Return steps as text: an arrow, the label and the detail."""
    arrows = {StepKind.SENT: "→", StepKind.RECEIVED: "←", StepKind.GAP: "…"}
    parts = (
        (arrows[step.type], step.label, step.detail and f"({step.detail})", "!" * step.is_lost)
        for step in steps
    )
    return [" ".join(filter(None, each)) for each in parts]


def document(value: Any, status: str = "200 OK") -> list[Frame]:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\r\n".encode()
    return [CALL, OPEN, Frame(0, 0, K.HEAD, head), Frame(0, 0, K.BODY, body), END]


def problem(cause: str) -> Frame:
    return Frame(0, 0, K.ERROR, Problem("failed", Stage.CONNECT, cause, "").to_bytes())


STREAM = [CALL, OPEN, HEAD]
SENT = "→ POST /ask (eggs)"
STREAMED = "← 200 OK, event stream"
META = {"_meta": {"response_type": "answer"}}

CASES: dict[str, tuple[list[Frame], list[str]]] = {
    "nothing": ([], []),
    "a call": ([CALL], [SENT]),
    "no connection": ([CALL, problem("No route.")], [SENT, "← error (No route.) !"]),
    "headers only": (STREAM, [SENT, STREAMED]),
    "results": (
        [*STREAM, result(0), result(1), result(2), COMPLETE, END],
        [SENT, STREAMED, "← 3 result events (2.0 ms)", "← completed"],
    ),
    "one result": ([*STREAM, result(0)], [SENT, STREAMED, "← result (Recipe · Dish 0)"]),
    "heartbeats": ([*STREAM, COMMENT, COMMENT], [SENT, STREAMED, "← 2 comments (1.0 ms)"]),
    "a failure between results": (
        [*STREAM, result(0), FAILURE, result(1), COMPLETE],
        [SENT, STREAMED, "← result (Recipe · Dish 0)", "← failure (TIMEOUT · Too late)",
         "← result (Recipe · Dish 1)", "← completed"],
    ),
    "an incomplete event": (
        [*STREAM, result(0), CUT, END],
        [SENT, STREAMED, "← result (Recipe · Dish 0)",
         "← unknown (result · The stream ended in the middle of this event.) !"],
    ),
    "a connection that breaks": (
        [*STREAM, result(0), problem("Connection reset.")],
        [SENT, STREAMED, "← result (Recipe · Dish 0)", "← error (Connection reset.) !"],
    ),
    "a document": (
        document({**META, "results": [{"name": "A"}, {"name": "B"}]}),
        [SENT, "← 200 OK: 2 result events"],
    ),
    "a document with an elicitation": (
        document({"_meta": {"response_type": "elicitation"},
                  "elicitation": {"text": "For whom?", "questions": []}}),
        [SENT, "← 200 OK: elicitation (For whom?)"],
    ),
    "a promise": (
        document({"_meta": {"response_type": "promise"},
                  "promise": {"token": "t", "message": "Later"}}, "202 Accepted"),
        [SENT, "← 202 Accepted: promise (Later)"],
    ),
    "a page of HTML": (
        document(b"<html>", "502 Whatever the proxy says"),
        [SENT, "← 502 Bad Gateway: unknown (application/json · The response is an HTML page, not "
               "JSON.)"],
    ),
    "no body": (document(b""), [SENT, "← 200 OK"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    frames, expected = CASES[name]
    assert lines(steps_of(frames)) == expected


def test_time_without_data_is_a_step() -> None:
    steps = steps_of([*STREAM, result(0), result(1)], every_us=3_000_000)
    assert [step.type for step in steps].count(StepKind.GAP) == 3
    assert [s.until_us - s.at_us for s in steps if s.type is StepKind.GAP][1:] == [3_000_000] * 2


def test_heartbeats_are_not_cut_by_gaps_and_these_are_few() -> None:
    steps = steps_of([*STREAM, *[COMMENT] * 100], every_us=15_000_000)
    assert steps[-1].kinds == {"comment": 100}
    steps = steps_of([*STREAM, *[result(n) for n in range(100)]], every_us=15_000_000)
    assert [step.type for step in steps].count(StepKind.GAP) == MAX_GAPS
    assert sum(step.kinds["result"] for step in steps) == 100


def test_kinds_that_alternate_are_one_step() -> None:
    steps = steps_of([*STREAM, *[result(0), TEXT] * 1000, FAILURE, TEXT, COMPLETE, END])
    assert len(steps) == 2 + MAX_GROUPS + 1 + 3
    rest = steps[2 + MAX_GROUPS]
    assert rest.label == f"{2000 - MAX_GROUPS:,} more events"
    assert rest.detail.startswith("996 result events, 996 text events, ")
    assert [step.kind for step in steps[-3:]] == ["failure", "event", "completed"]


def test_repeated_calls_are_one_step() -> None:
    one = document({**META, "results": [{"name": "A"}]})
    pending = [*STREAM[:2], Frame(0, 0, K.HEAD, b"HTTP/1.1 200 OK\r\n\r\n"), END]
    steps = steps_of([*pending * 50, *one])
    assert [step.label for step in steps if step.type is StepKind.SENT] == [
        "POST /ask", "POST /ask", "49 more: POST /ask",
    ]  # fmt: skip
    assert steps[-1].kinds["result"] == 1


@given(
    st.lists(
        st.sampled_from([*map(event, PIECES), COMMENT, CALL, HEAD, OPEN, CUT, END,
                         problem("No."), Frame(0, 0, K.BODY, b"{}")]),
        max_size=300,
    ),
    st.sampled_from([10, 2_500_000]),
)  # fmt: skip
def test_any_frames_are_few_steps_in_order(frames: list[Frame], every_us: int) -> None:
    steps = steps_of(frames, every_us)
    assert len(steps) <= MAX_STEPS + 1
    numbers = [step.last for step in steps if step.type is not StepKind.GAP]
    assert numbers == sorted(numbers)
    for step in steps:
        assert step.at_us <= step.until_us or step.is_rest
        assert step.label or step.type is StepKind.GAP
        assert step.detail is not None


@given(st.lists(st.sampled_from([result(0), TEXT, COMPLETE, FAILURE, COMMENT]), max_size=200))
def test_every_event_is_counted(frames: list[Frame]) -> None:
    steps = steps_of([*STREAM, *frames])
    assert sum(step.kinds.total() for step in steps) == len(frames) + sum(
        step.is_rest and step.kinds["head"] for step in steps
    )


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (b"", ("", "")),
        (b"POST /ask?token=secret HTTP/1.1\r\n\r\n{}", ("POST /ask", "")),
        (b"GET /mcp HTTP/1.1\r\nLast-Event-ID: 7\r\n\r\n", ("GET /mcp", "resume after 7")),
        (b'POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc": "2.0", "method": "initialize", "id": 1}',
         ("initialize", "")),
        (b'POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc": "2.0", "method": "tools/call", "id": 1,'
         b' "params": {"name": "ask"}}', ("tools/call ask", "")),
        (b'POST /mcp HTTP/1.1\r\n\r\n{"jsonrpc": "2.0", "id": 1, "result": {}}',
         ("JSON-RPC response", "")),
        (b"POST /mcp HTTP/1.1\r\n\r\n" + b"[" * 10_000, ("POST /mcp", "")),
        (b"\xff\x00 \xfe", ("\ufffd \ufffd", "")),
    ],
)  # fmt: skip
def test_labels_of_calls(data: bytes, label: tuple[str, str]) -> None:
    assert call_label(data) == label
