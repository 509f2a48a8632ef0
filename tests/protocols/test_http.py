"""The HTTP binding: 0.55 section 7, 0.54 section 8."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from playground import __version__
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.events import (
    Completed,
    Failure,
    Note,
    Outcome,
    Result,
    Started,
    Unknown,
)
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Stage
from tests.support.playbook import JSON, SSE, Playbook, event, read_document, read_stream

ANSWER = {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [{"name": "a"}]}
ITEM = event({"index": 0, "item": {"name": "a"}}, "result")


def call_of(
    document: Any, url: str = "http://a.example.com", *headers: tuple[str, str]
) -> HttpCall:
    exchange = registry.exchange(Target(url, headers=headers), document)
    call = exchange.next_call()
    assert call is not None
    assert exchange.next_call() is None
    return call


class TestCall:
    """Sections 7.1 to 7.3."""

    def test_in_full(self) -> None:
        document = {"query": {"text": "crème"}, "prefer": {"streaming": True}}
        assert call_of(document) == HttpCall(
            "POST",
            "http://a.example.com/ask",
            (
                ("Content-Type", "application/json"),
                ("Accept", "text/event-stream"),
                ("User-Agent", f"nlweb-playground/{__version__}"),
            ),
            '{"query": {"text": "crème"}, "prefer": {"streaming": true}}'.encode(),
            streaming=True,
        )

    @pytest.mark.parametrize("prefer", [{}, {"streaming": False}, {"streaming": None}, None])
    def test_json_unless_a_stream_is_preferred(self, prefer: Any) -> None:
        call = call_of({"query": {"text": "x"}, "prefer": prefer})
        assert dict(call.headers)["Accept"] == "application/json"
        assert not call.streaming

    def test_a_targets_header_replaces_the_default(self) -> None:
        own = (("accept", "*/*"), ("USER-AGENT", "mine"), ("X-API-Key", "k"), ("X-Two", "1"))
        call = call_of({"query": {"text": "x"}}, "http://a.example.com", *own)
        assert call.headers == (("Content-Type", "application/json"), *own)

    @pytest.mark.parametrize(
        ("url", "ask"),
        [
            ("http://a.example.com", "http://a.example.com/ask"),
            ("http://a.example.com/", "http://a.example.com/ask"),
            ("http://a.example.com/ask", "http://a.example.com/ask"),
            ("http://a.example.com/ask/", "http://a.example.com/ask/"),
            ("http://a.example.com/task", "http://a.example.com/task/ask"),
            ("https://a.example.com:8443/x/?k=v&l", "https://a.example.com:8443/x/ask?k=v&l"),
            ("http://a.example.com/x/ask?k=v#here", "http://a.example.com/x/ask?k=v"),
            ("http://[::1]:8000/demo", "http://[::1]:8000/demo/ask"),
        ],
    )
    def test_address(self, url: str, ask: str) -> None:
        assert call_of({"query": {"text": "x"}}, url).url == ask
        awaited = call_of({"promise_token": "p", "action": "checkin"}, url).url
        assert awaited == ask.replace("/ask/", "/ask").replace("/ask", "/await")

    def test_half_a_surrogate_pair_stays_what_it_is(self) -> None:
        document = {"query": {"text": "\ud83e eggs"}}
        assert json.loads(call_of(document).body) == document


class TestDocument:
    @pytest.mark.parametrize("media_type", [JSON, "text/html", "text/plain", "", SSE])
    def test_is_read_whatever_it_is_called(self, media_type: str) -> None:
        """A stream asked for, JSON answered: read all the same."""
        play = read_document(ANSWER, media_type=media_type)
        assert play.events == [
            Started(3, ANSWER["_meta"]),
            Result(3, {"name": "a"}, 0),
            Completed(3, ANSWER["_meta"]),
        ]
        assert play.exchange.outcome is Outcome.ANSWER
        assert play.exchange.problem is None

    def test_with_a_byte_order_mark(self) -> None:
        play = read_document(b"\xef\xbb\xbf" + json.dumps(ANSWER).encode())
        assert play.exchange.outcome is Outcome.ANSWER

    def test_with_broken_utf8_in_a_string(self) -> None:
        play = read_document(b'{"results": ["cr\xe8me"]}')
        assert play.unnumbered()[0] == Result(0, "cr\ufffdme", 0)
        assert play.exchange.problem is None

    @pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
    def test_a_failure_that_the_agent_reports_is_no_problem(self, status: int) -> None:
        reply = {"_meta": {"response_type": "failure"}, "error": {"code": "X", "message": "m"}}
        play = read_document(reply, status=status)
        assert isinstance(play.events[1], Failure)
        assert play.exchange.outcome is Outcome.FAILURE
        assert play.exchange.problem is None

    @pytest.mark.parametrize("payload", [{"surprise": 1}, [], 7, None, {}])
    @pytest.mark.parametrize("status", [200, 404])
    def test_json_that_is_not_nlweb(self, payload: Any, status: int) -> None:
        play = read_document(payload, status=status)
        (unknown,) = play.events
        assert isinstance(unknown, Unknown)
        assert unknown.data == payload
        assert play.exchange.outcome is Outcome.NONE
        problem = play.problem
        assert (problem.state, problem.stage) == ("failed", Stage.DECODE)
        assert problem.cause == (
            f"The response (HTTP {status}) is JSON, but not an NLWeb response."
        )
        assert problem.detail == json.dumps(payload)

    @pytest.mark.parametrize(
        ("body", "came"),
        [
            (b"", "is empty"),
            (b" \r\n", "is empty"),
            (b"<!DOCTYPE html><title>x</title>", "is an HTML page, not JSON"),
            (b"\n <HTML>", "is an HTML page, not JSON"),
            (b"Internal Server Error", "is text, not JSON"),
            (b"caf\xe9", "is text, not JSON, and not valid UTF-8"),
            (b'{"a": 1,\n  "b": }', "is not valid JSON (line 2, column 8)"),
            (b'{"_meta": {}', "is not valid JSON (line 1, column 13)"),
            (b'{"a": \xff}', "is not valid JSON (line 1, column 7), and not valid UTF-8"),
            (b"[1] [2]", "is not valid JSON (line 1, column 5)"),
        ],
    )
    def test_what_is_no_json(self, body: bytes, came: str) -> None:
        play = read_document(body)
        problem = play.problem
        assert (problem.state, problem.stage) == ("failed", Stage.DECODE)
        assert problem.cause == f"The response (HTTP 200) {came}."
        assert len(problem.detail) <= 500
        assert len(play.events) == (1 if body.strip() else 0)
        assert all(isinstance(event, Unknown) for event in play.events)
        assert play.exchange.outcome is Outcome.NONE

    def test_no_body_at_all(self) -> None:
        assert Playbook().head(204).end().problem.cause == ("The response (HTTP 204) is empty.")

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (200, "this is the URL of an agent"),
            (301, "Redirects aren’t followed"),
            (400, "agent’s documentation"),
            (401, "authentication"),
            (403, "credentials"),
            (404, "path of the URL"),
            (405, "POST"),
            (406, "streaming"),
            (418, "Check the request"),
            (421, "Check the host"),
            (429, "Wait"),
            (500, "agent’s log"),
            (503, "later"),
            (599, "agent’s log"),
            (0, "this is the URL of an agent"),
        ],
    )
    def test_a_fix_for_every_status(self, status: int, words: str) -> None:
        assert words in read_document(b"oops", status=status).problem.fix

    @pytest.mark.parametrize(("status", "said"), [(429, True), (503, True), (500, False)])
    def test_when_to_try_again(self, status: int, said: bool) -> None:
        play = Playbook().head(status, extra="Retry-After: 7\r\n").body(b"busy").end()
        assert ("Retry-After: 7" in play.problem.fix) is said


#: Streams with one result.
STREAMS: dict[str, list[bytes]] = {
    "although JSON was asked for": [ITEM],
    "comments": [b": ping\n\n", ITEM, b": ping\n", b"\n"],
    "a block without data": [b"retry: 3000\n\n", ITEM],
    "an id without data": [b"id: 1\n\n", ITEM],
    "an unclosed event that is whole": [ITEM.rstrip(b"\n")],
}


class TestStream:
    """Section 6 over HTTP."""

    @pytest.mark.parametrize("chunks", STREAMS.values(), ids=STREAMS)
    def test_one_result(self, chunks: list[bytes]) -> None:
        play = read_stream(*chunks)
        assert play.unnumbered() == [Result(0, {"name": "a"}, 0)]
        assert play.exchange.outcome is Outcome.ANSWER
        assert play.exchange.problem is None

    def test_a_name_without_data_is_read(self) -> None:
        play = read_stream(ITEM, b"event: complete\n\n")
        assert play.events == [Result(2, {"name": "a"}, 0), Completed(3, {})]

    @pytest.mark.parametrize("tail", [b"\n", b": ping", b"\r\n", b"\n: pi"])
    def test_a_tail_that_carries_nothing(self, tail: bytes) -> None:
        play = Playbook().head(200, SSE).stream([ITEM]).frame(FrameKind.TAIL, tail).end()
        assert play.unnumbered() == [Result(0, {"name": "a"}, 0)]
        assert play.exchange.problem is None

    @pytest.mark.parametrize(
        ("tail", "name"),
        [(b'event: result\ndata: {"item', "result"), (b"event: comp", "comp"), (b"da", "message")],
    )
    def test_a_tail_that_broke_off(self, tail: bytes, name: str) -> None:
        play = read_stream(ITEM, tail)
        problem = play.problem
        assert (problem.state, problem.stage) == ("truncated", Stage.BODY)
        assert problem.detail == tail.decode()
        last = play.events[-1]
        assert isinstance(last, Unknown)
        assert last.name == name
        assert play.exchange.outcome is Outcome.ANSWER

    @pytest.mark.parametrize("stream", [b"", b"\n\n", b": ping\n\n: ping\n\n", b"retry: 1\n\n"])
    def test_without_an_event(self, stream: bytes) -> None:
        problem = read_stream(stream).problem
        assert (problem.state, problem.stage) == ("failed", Stage.DECODE)
        assert problem.cause == ("The event stream (HTTP 200) contains no events.")

    def test_in_which_nothing_can_be_read(self) -> None:
        play = read_stream(event("oops"), event({"a": 1}, "other"), status=500)
        assert [type(event) for event in play.events] == [Unknown, Unknown]
        problem = play.problem
        assert problem.cause == ("The event stream (HTTP 500) contains no readable event.")
        assert "agent’s log" in problem.fix

    def test_one_readable_event_is_enough(self) -> None:
        assert read_stream(event("oops"), ITEM, event("oops")).exchange.problem is None

    def test_a_clean_end_settles_the_outcome(self) -> None:
        play = Playbook().head(200, SSE).stream([event({"_meta": ANSWER["_meta"]})])
        assert play.end().exchange.outcome is Outcome.ANSWER
        play = Playbook().head(200, SSE).stream([event({"_meta": ANSWER["_meta"]})])
        assert play.frame(FrameKind.ERROR, b"{}").exchange.outcome is Outcome.NONE
        assert play.exchange.problem is None


class TestBrokenTransfer:
    def test_a_whole_document_is_still_an_answer(self) -> None:
        play = Playbook().head().body(json.dumps(ANSWER).encode()).frame(FrameKind.ERROR, b"{}")
        assert play.exchange.outcome is Outcome.ANSWER

    @pytest.mark.parametrize("body", [b'{"results": [', b"", b"[" * 1000])
    def test_the_transport_has_said_why(self, body: bytes) -> None:
        play = Playbook().head().body(body).frame(FrameKind.ERROR, b"{}")
        assert play.events == []
        assert play.exchange.problem is None


class TestRedirect:
    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_is_shown(self, status: int) -> None:
        where = "https://b.example.com/ask"
        play = Playbook().head(status, "text/html", f"LOCATION:  {where} \r\n").end()
        assert play.events == [Note(1, "redirect", {"status": status, "location": where})]
        assert "Redirects" in play.problem.fix

    def test_without_an_address(self) -> None:
        assert Playbook().head(300).events == [Note(1, "redirect", {"status": 300, "location": ""})]


class TestHead:
    @pytest.mark.parametrize(
        "head",
        [b"", b"\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\xff\xfe", b"x y"],
    )
    def test_that_is_none(self, head: bytes) -> None:
        play = Playbook().frame(FrameKind.HEAD, head).body(json.dumps(ANSWER).encode()).end()
        assert play.exchange.outcome is Outcome.ANSWER

    def test_frames_before_it_say_nothing(self) -> None:
        play = Playbook().frame(FrameKind.CALL, b"POST / HTTP/1.1\r\n\r\n")
        assert play.frame(FrameKind.OPEN, b"{}").events == []


class TestDepth:
    """The limit on the nesting of JSON."""

    @staticmethod
    def nested(depth: int) -> str:
        return '{"results": [' + "[" * (depth - 2) + "]" * (depth - 2) + "]}"

    def test_of_a_document(self) -> None:
        assert read_document(self.nested(100).encode()).exchange.problem is None
        for depth in (101, 1_000_000):
            play = read_document(self.nested(depth).encode())
            problem = play.problem
            assert (problem.state, problem.stage) == ("refused", Stage.LIMIT)
            assert problem.limit == "max_depth"
            assert "100 levels" in problem.cause
            assert [type(event) for event in play.events] == [Unknown]

    @pytest.mark.parametrize("name", [None, "result", "other"])
    def test_of_an_event(self, name: str | None) -> None:
        assert read_stream(event(self.nested(100), name), ITEM).exchange.problem is None
        play = Playbook().head(200, SSE).stream([ITEM, event(self.nested(101), name)])
        assert play.problem.state == "refused"
        assert [type(event) for event in play.events] == [Result, Unknown]
        # What came before stays, and so does the reason, whatever follows.
        assert play.end().problem.state == "refused"
        assert play.exchange.outcome is Outcome.ANSWER

    def test_can_be_set(self) -> None:
        play = Playbook(max_depth=3).head().body(self.nested(4).encode()).end()
        assert play.problem.limit == "max_depth"
        assert "3 levels" in play.problem.cause

    def test_set_beyond_the_interpreters_own(self) -> None:
        play = Playbook(max_depth=10**7).head().body(self.nested(200_000).encode()).end()
        assert play.problem.stage is Stage.DECODE


def test_a_large_body_is_held_once_before_it_is_decoded() -> None:
    item = json.dumps({"name": "Soup", "description": "x" * 60_000}).encode()
    pieces = [b'{"_meta": {"response_type": "answer", "version": "0.55"}, "results": [']
    pieces += [item + b", "] * 99 + [item + b"]}"]
    exchange = registry.exchange(Target("http://a.example.com"), {"query": {"text": "a"}})
    exchange.next_call()
    size = sum(map(len, pieces))
    tracemalloc.start()
    try:
        exchange.receive(Frame(1, 0, FrameKind.HEAD, b"HTTP/1.1 200 OK\r\n\r\n"))
        for seq, piece in enumerate(pieces, 2):
            exchange.receive(Frame(seq, 0, FrameKind.BODY, bytes(bytearray(piece))))
        events = exchange.receive(Frame(900, 0, FrameKind.END))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len([event for event in events if isinstance(event, Result)]) == 100
    # The bytes and the text, or the text and the values.
    assert peak < 2.5 * size


def test_an_emoji_in_a_large_body_does_not_multiply_its_size() -> None:
    """Python's text takes four bytes for each character where one of them is an emoji."""
    items = [{"name": "Soup 🍲", "description": "x" * 60_000} for _ in range(50)]
    answer = {**ANSWER, "results": [*items, {"name": "\\ud83c é"}]}
    body = json.dumps(answer, ensure_ascii=False).encode()
    exchange = registry.exchange(Target("http://a.example.com"), {"query": {"text": "a"}})
    exchange.next_call()
    exchange.receive(Frame(1, 0, FrameKind.HEAD, b"HTTP/1.1 200 OK\r\n\r\n"))
    tracemalloc.start()
    try:
        exchange.receive(Frame(2, 0, FrameKind.BODY, body))
        events = exchange.receive(Frame(3, 0, FrameKind.END))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    found = [event.item for event in events if isinstance(event, Result)]
    assert found == [*items, {"name": "\\ud83c é"}]
    assert peak < 5 * len(body)


def test_text_with_an_emoji_that_is_not_json_is_shown_as_it_is() -> None:
    text = "{🍲" + "x" * 2_000_000
    play = read_document(text.encode())
    (unknown,) = [each for each in play.events if isinstance(each, Unknown)]
    assert unknown.data == text
