"""The reply to a call in every form, proper or not; and the captures of real servers."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any
from unittest import mock

import pytest

from playground.protocols import json_decoder
from playground.protocols.events import (
    Failure,
    Log,
    Note,
    Outcome,
    Progress,
    Result,
    Tools,
    Unknown,
)
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.jsonrpc import Deviation
from playground.protocols.mcp.elicitation import MAX_SERVER_REQUESTS
from tests.protocols.mcp.talk import (
    MODERN,
    OLDER,
    Talk,
    block,
    head,
    known,
    new_exchange,
    note,
    rpc,
)
from tests.support.playbook import CAPTURES, every_cut

SOUP, CAKE = {"results": [{"name": "Soup"}]}, {"results": [{"name": "Cake"}]}
MCP = CAPTURES / "mcp"


def remarks(talk: Talk) -> list[str]:
    return [event.data["remark"] for event in talk.of(Note) if event.name == "json-rpc"]


def names(talk: Talk) -> list[str]:
    return [event.item["name"] for event in talk.of(Result)]


def ends_well(talk: Talk) -> bool:
    return talk.exchange.problem is None and talk.exchange.next_call() is None


@pytest.mark.parametrize(
    ("payload", "deviation"),
    [
        (rpc(2, result=SOUP), Deviation.WRONG_ID),
        (rpc("1", result=SOUP), Deviation.WRONG_ID),
        (rpc(None, result=SOUP), Deviation.NO_ID),
        ({"jsonrpc": "2.0", "result": SOUP}, Deviation.NO_ID),
        ({"id": 1, "result": SOUP}, Deviation.NO_VERSION),
        ([rpc(1, result=SOUP)], Deviation.BATCH),
        (rpc(1, result=SOUP, error={"code": 1, "message": "x"}), Deviation.RESULT_AND_ERROR),
        (rpc(1, result=SOUP, method="x"), Deviation.METHOD_IN_RESPONSE),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_answer_with_a_fault_is_still_the_answer(
    streamed: bool, payload: Any, deviation: Deviation
) -> None:
    talk = known().stream(payload) if streamed else known().json(payload)
    assert names(talk) == ["Soup"]
    assert remarks(talk) == [deviation]
    assert talk.exchange.outcome is Outcome.ANSWER
    assert ends_well(talk)


@pytest.mark.parametrize("streamed", [False, True])
def test_the_response_with_the_right_id_is_the_answer(streamed: bool) -> None:
    messages = [rpc(7, result=CAKE), rpc(1, result=SOUP), rpc(1, result=CAKE)]
    talk = known().stream(*messages) if streamed else known().json(messages)
    assert names(talk) == ["Soup"]
    assert len(talk.of(Unknown)) == 2
    assert ends_well(talk)


def test_a_flood_of_responses_to_others_is_not_kept() -> None:
    talk = known().stream(*(rpc(n, result=CAKE) for n in range(100, 200)))
    assert names(talk) == ["Cake"]
    assert len(talk.of(Unknown)) == 99


def test_an_error_without_an_id_is_what_a_server_says_to_what_it_cannot_read() -> None:
    talk = known().json(rpc(None, error={"code": -32700, "message": "Parse error"}), 400)
    assert [event.code for event in talk.of(Failure)] == ["-32700"]
    assert (remarks(talk), talk.exchange.outcome) == ([], Outcome.FAILURE)


@pytest.mark.parametrize(
    ("payload", "status", "words"),
    [
        (b"", 200, "is empty"),
        (b"", 202, "is empty"),
        (b"<!doctype html><p>Hi", 200, "HTML"),
        (b"{", 200, "not valid JSON"),
        (b"Unauthorized", 401, "Authentication required (HTTP 401)."),
        ({"error": "invalid_token"}, 401, "HTTP 401"),
        ({"surprise": 1}, 404, "not an MCP response"),
        ([], 200, "not an MCP response"),
        ([5, "x"], 200, "not an MCP response"),
        (5, 200, "not an MCP response"),
        (rpc(1), 200, "not an MCP response"),
        (note("notifications/x"), 200, "contains no response"),
        (rpc(1, method="ping"), 200, "contains no response"),
    ],
)
def test_what_is_no_answer_ends_the_run_with_a_reason(
    payload: Any, status: int, words: str
) -> None:
    talk = Talk()
    talk.json(rpc(error={"code": -32601})).json(rpc(2, error={"code": -32601}))
    talk.json(rpc(3, error={"code": -32601})).json(payload, status)
    problem = talk.problem
    assert problem.state == "failed"
    assert words in problem.cause
    assert problem.fix
    assert talk.exchange.next_call() is None


@pytest.mark.parametrize(
    "messages", [[], [note("notifications/progress", progress=1)], [rpc("x", method="ping")]]
)
def test_a_stream_that_ends_before_its_answer_is_cut_short(messages: list[Any]) -> None:
    talk = known(handshake=OLDER).stream(*messages)
    assert talk.problem.state in ("truncated", "failed")
    assert talk.exchange.outcome is Outcome.NONE


def test_a_stream_that_ends_in_mid_message_is_cut_short() -> None:
    talk = known().chunks([block(rpc(result=SOUP))[:-20]])
    assert talk.problem.state == "truncated"


ANSWER, K = rpc(result=SOUP), FrameKind


@pytest.mark.parametrize(
    ("media_type", "frames"),
    [
        ("application/json", [(K.EVENT, block(ANSWER)), (K.END, b"")]),
        ("text/event-stream", [(K.BODY, json.dumps(ANSWER).encode()), (K.END, b"")]),
        ("text/event-stream", [(K.TAIL, block(ANSWER).rstrip()), (K.END, b"")]),
        # It came whole before the connection broke.
        ("application/json", [(K.BODY, json.dumps(ANSWER).encode()), (K.ERROR, b"{}")]),
    ],
    ids=["stream named JSON", "JSON named stream", "no blank line", "broken after it"],
)
def test_an_answer_in_another_frame_is_one(
    media_type: str, frames: list[tuple[FrameKind, bytes]]
) -> None:
    talk = known().call().frame(K.HEAD, head(200, media_type))
    for frame in frames:
        talk.frame(*frame)
    assert names(talk) == ["Soup"]
    assert frames[-1][0] is K.ERROR or ends_well(talk)


def test_json_that_is_too_deep_stops_the_run() -> None:
    deep = b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 60 + b"]" * 60 + b"}"
    for talk in (known(max_depth=50).json(deep), Talk(max_depth=50).json(deep)):
        assert talk.problem.limit == "max_depth"
        assert talk.exchange.next_call() is None


def test_notifications_are_progress_log_lines_and_notes() -> None:
    talk = known().stream(
        note("notifications/progress", progressToken=1, progress=1, total=4, message="One"),
        note("notifications/progress", progress="x", total=True, message=5),
        note("notifications/message", level="info", logger="kitchen", data=["a"]),
        note("notifications/message", level=5, logger=6),
        note("notifications/tools/list_changed"),
        b"",
        b"no JSON",
        rpc(result=SOUP),
    )
    first, second = talk.of(Progress)
    assert (first.progress, first.total, first.message) == (1, 4, "One")
    # JSON has one number type, so 1 and 1.0 are the same event.
    assert (type(first.progress), type(first.total)) == (float, float)
    assert (second.progress, second.total, second.message) == (None, None, "")
    line, odd = talk.of(Log)
    assert (line.level, line.logger, line.data) == ("info", "kitchen", ["a"])
    assert (odd.level, odd.logger, odd.data) == ("", "", None)
    assert "notifications/tools/list_changed" in [event.name for event in talk.of(Note)]
    assert [event.data for event in talk.of(Unknown)] == ["no JSON"]
    assert ends_well(talk)


def test_what_needs_no_user_is_due_at_once() -> None:
    talk = known(handshake=OLDER).stream(
        rpc("p", method="ping"),
        rpc("r", method="roots/list"),
        rpc("s", method="sampling/createMessage"),
        rpc(result=SOUP),
    )
    due = {errand["id"]: errand for errand in talk.exchange.automatic_responses()}
    assert due["p"]["result"] == {}
    assert due["r"]["result"] == {"roots": []}
    assert due["s"]["error"]["code"] == -32601
    assert {errand["session"] for errand in due.values()} == {"s1"}
    assert not talk.exchange.automatic_responses()
    assert [event.name for event in talk.of(Unknown)] == ["sampling/createMessage"]
    reply = Talk(new_exchange(resume=due["p"])).json(b"", 202)
    assert reply.sent == [{"jsonrpc": "2.0", "id": "p", "result": {}}]
    assert ends_well(reply)


def test_a_flood_of_requests_is_not_answered() -> None:
    talk = known().stream(*(rpc(n, method="ping") for n in range(200)))
    assert len(talk.exchange.automatic_responses()) == MAX_SERVER_REQUESTS


def capture(talk: Talk, name: str) -> None:
    """Answer the next call with a captured reply, with the id that it came with."""
    start, _, body = (MCP / name).read_bytes().partition(b"\r\n\r\n")
    own_id = json.loads((MCP / name.replace(".txt", ".req.txt")).read_bytes().split(b"\n")[-2])
    call = talk.call().sent[-1]
    # What was asked for then and now has different ids.
    old, new = (json.dumps(each.get("id")).encode() for each in (own_id, call))
    body = body.replace(b'"id":' + old, b'"id":' + new)
    talk.frame(FrameKind.HEAD, start)
    if b"text/event-stream" in start:
        talk.frame(FrameKind.EVENT, body)
    elif body:
        talk.frame(FrameKind.BODY, body)
    talk.frame(FrameKind.END)


def test_the_captured_server_of_the_older_generation() -> None:
    talk = Talk().json(b"Bad Request", 400)
    capture(talk, "raw_sse_initialize.txt")
    capture(talk, "raw_sse_initialized.txt")
    capture(talk, "raw_sse_tools_list.txt")
    capture(talk, "raw_sse_tools_call.txt")
    assert names(talk) == ["Veggie-Packed Scrambled Eggs", "Egg White Omelette"]
    assert talk.exchange.session_context == {"conversation_id": "conv_1"}
    assert [tool["name"] for tool in talk.of(Tools)[0].tools] == ["ask", "await", "ask_elicit"]
    session = "07b91d22563d4830bccbb694c15182ee"
    assert dict(talk.calls[-1].headers)["Mcp-Session-Id"] == session
    assert remarks(talk) == []
    assert ends_well(talk)


def test_the_captured_server_of_the_newer_generation() -> None:
    talk = Talk()
    capture(talk, "raw_modern_discover.txt")
    talk.json(rpc(2, result={"tools": []}))
    capture(talk, "raw_modern_call.txt")
    assert names(talk) == ["Veggie-Packed Scrambled Eggs", "Egg White Omelette"]
    assert talk.exchange.handshake is not None
    assert talk.exchange.handshake["server"] == {"name": "recipes-sse", "version": "1.0"}
    assert remarks(talk) == []
    assert ends_well(talk)


def test_the_captured_server_that_answers_with_json() -> None:
    talk = known(handshake=OLDER)
    capture(talk, "raw_json_tools_call.txt")
    assert names(talk) == ["Veggie-Packed Scrambled Eggs", "Egg White Omelette"]
    assert ends_well(talk)


def test_where_a_stream_is_cut_makes_no_difference() -> None:
    data = b"".join(
        map(
            block,
            [
                note("notifications/progress", progress=1),
                rpc("q", method="elicitation/create", params={"message": "Crème?"}),
                rpc(result=SOUP),
            ],
        )
    )

    def read(chunks: list[bytes]) -> list[str]:
        talk = known(handshake=MODERN).chunks(chunks)
        # A line end may come to stand in another block, which has a number of its own.
        return [repr(event).replace(f"seq={event.seq},", "") for event in talk.events]

    whole = read([data])
    assert all(read(chunks) == whole for chunks in every_cut(data))


def test_responses_to_others_are_not_held_decoded() -> None:
    """Ten of a megabyte each, of which nothing but small objects, took 240 MB."""
    objects = [{} for _ in range(20_000)]
    strays = [rpc(f"stray-{n}", result={"x": objects}) for n in range(10)]
    frames = [Frame(n, 0, FrameKind.EVENT, block(stray)) for n, stray in enumerate(strays, 9)]
    known().stream(strays[0])  # What the first reading loads stays.
    talk = known().call()
    talk.frame(FrameKind.HEAD, head(200, "text/event-stream"))
    tracemalloc.start()
    try:
        for frame in frames:
            talk.exchange.receive(frame)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 2 * len(frames[0].data)
    talk.frame(FrameKind.END)
    # The first of them is the answer.
    assert remarks(talk) == [Deviation.WRONG_ID]


def test_a_large_message_of_a_stream_has_a_limit_of_values() -> None:
    with mock.patch.object(json_decoder, "MAX_EVENT_VALUES", 100):
        talk = known().stream(rpc(1, result={"x": [{}] * 200}), rpc(1, result=SOUP))
    (unknown,) = talk.of(Unknown)
    assert "more than 100 values" in unknown.reason
    assert names(talk) == ["Soup"]
