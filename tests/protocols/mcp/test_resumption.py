"""Streams that begin with a priming event, and streams that are resumed (MCP 2025-11-25)."""

from __future__ import annotations

from typing import Any

import pytest

from playground.protocols.events import Event, Note, Outcome, Progress, Result, Unknown
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import responses
from playground.protocols.problems import Problem, Stage
from tests.protocols.mcp.talk import (
    MODERN,
    OLDER,
    TOOLS,
    Talk,
    block,
    head,
    known,
    new_exchange,
    note,
    rpc,
)

SOUP = {"results": [{"name": "Soup"}]}
ANSWER = block(rpc(result=SOUP))
INITIALIZED = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "recipes"}}


def priming(event_id: str = "e1", retry: int | None = None) -> bytes:
    """Return a priming event as the specification describes it."""
    field = f"retry: {retry}\n" if retry is not None else ""
    return f"id: {event_id}\n{field}data: \n\n".encode()


class TestEventsWithoutMessage:
    """The priming event and its like."""

    @pytest.mark.parametrize(
        "start",
        [
            priming(),
            b"id: e1\ndata:\n\n",
            b"id: e1\nretry: 500\ndata: \n\n",
            b"event: message\nid: e1\ndata: \n\n",
            b"event: ping\ndata:\n\n",
            b"event: ping\ndata: 2025-11-25T10:00:00Z\n\n",
            b"event: ping\n\n",
            b": keep-alive\n\n",
            b"retry: 3000\n\n",
            b"id: e1\n\n",
        ],
    )
    def test_is_no_event(self, start: bytes) -> None:
        with_it, without = known(handshake=OLDER), known(handshake=OLDER)
        with_it.chunks([start + start + ANSWER])
        without.chunks([ANSWER])
        kinds: list[list[type[Event]]] = [
            [type(event) for event in talk.events] for talk in (with_it, without)
        ]
        assert kinds[0] == kinds[1]
        assert with_it.exchange.outcome is Outcome.ANSWER
        assert (with_it.exchange.problem, with_it.exchange.next_call()) == (None, None)

    def test_is_one_with_a_message_in_it(self) -> None:
        talk = known(handshake=OLDER).chunks([ANSWER.replace(b"event: message", b"event: ping")])
        assert talk.exchange.outcome is Outcome.ANSWER

    def test_alone_is_a_stream_that_was_cut_short(self) -> None:
        talk = known(handshake=OLDER).chunks([b"event: ping\ndata: \n\n"])
        assert talk.problem.state == "truncated"
        assert talk.events == []

    def test_that_is_incomplete_is_none_either(self) -> None:
        talk = known(handshake=OLDER).chunks([ANSWER + b"id: e2\ndata:"])
        assert (talk.exchange.problem, talk.of(Unknown)) == (None, [])


class TestResumption:
    """A stream that was closed after an event with an id."""

    def test_is_by_get_with_the_last_event_id(self) -> None:
        talk = known(handshake=OLDER, headers=(("X-Own", "1"), ("Accept", "x/y")))
        talk.chunks([priming("e1", 500)]).chunks([priming("e2"), ANSWER])
        assert [call.method for call in talk.calls] == ["POST", "GET"]
        call = talk.calls[1]
        assert call.headers == (
            ("Accept", "text/event-stream"),
            ("User-Agent", dict(talk.calls[0].headers)["User-Agent"]),
            ("MCP-Protocol-Version", "2025-06-18"),
            ("Mcp-Session-Id", "s1"),
            ("X-Own", "1"),
            ("Last-Event-ID", "e1"),
        )
        assert (call.url, call.body, call.delay) == (talk.calls[0].url, b"", 0.5)
        assert [event.item["name"] for event in talk.of(Result)] == ["Soup"]
        assert (talk.exchange.problem, talk.exchange.next_call()) == (None, None)

    def test_waits_a_second_unless_the_server_names_a_time(self) -> None:
        call = known(handshake=OLDER).chunks([priming()]).exchange.next_call()
        assert call is not None
        assert call.delay == 1.0

    def test_continues_after_the_newest_event(self) -> None:
        progress = block(note("notifications/progress", progress=1))
        talk = known(handshake=OLDER).chunks([priming("e1"), b"id: e2\r\n" + progress])
        talk.chunks([priming("e3")]).chunks([b""])
        call = talk.exchange.next_call()
        assert call is not None
        last = [dict(each.headers)["Last-Event-ID"] for each in [*talk.calls[1:], call]]
        assert last == ["e2", "e3", "e3"]
        assert len(talk.of(Progress)) == 1

    def test_of_a_stream_that_broke_off(self) -> None:
        talk = known(handshake=OLDER).call()
        talk.frame(FrameKind.HEAD, head(200, "text/event-stream"))
        talk.frame(FrameKind.EVENT, priming())
        broken = Problem("truncated", Stage.BODY, "Broken.", "Check it.")
        talk.frame(FrameKind.ERROR, broken.to_bytes())
        assert talk.exchange.tolerates_error
        talk.chunks([ANSWER])
        assert talk.exchange.outcome is Outcome.ANSWER
        assert not talk.exchange.tolerates_error

    def test_is_over_with_the_response_though_the_stream_stays_open(self) -> None:
        talk = known(handshake=OLDER).chunks([priming()])
        assert not talk.exchange.has_enough
        talk.call().frame(FrameKind.HEAD, head(200, "text/event-stream"))
        talk.frame(FrameKind.EVENT, ANSWER)
        assert talk.exchange.has_enough
        assert (talk.exchange.next_call(), talk.exchange.problem) == (None, None)
        assert talk.exchange.outcome is Outcome.ANSWER

    def test_is_read_in_the_same_way_from_the_store(self) -> None:
        live = known(handshake=OLDER).chunks([priming()]).chunks([priming("e2"), ANSWER])
        stored = new_exchange(handshake=OLDER)
        events = [event for frame in live.frames for event in stored.receive(frame)]
        assert events == live.events
        assert (stored.outcome, stored.problem) == (Outcome.ANSWER, None)

    def test_of_the_handshake_keeps_the_session_of_its_first_response(self) -> None:
        talk = Talk().json(rpc(error={"code": -32601, "message": "No"}))
        talk.chunks([priming()], mcp_session_id="s7")
        talk.chunks([block(rpc(2, result=INITIALIZED))]).json(b"", 202)
        assert dict(talk.calls[2].headers)["Mcp-Session-Id"] == "s7"
        assert dict(talk.calls[3].headers)["Mcp-Session-Id"] == "s7"
        talk.json(rpc(4, result={"tools": TOOLS})).json(rpc(5, result=SOUP))
        assert talk.exchange.outcome is Outcome.ANSWER

    @pytest.mark.parametrize(
        ("handshake", "stream"),
        [(OLDER, b": nothing\n\n"), (OLDER, b"id:\ndata:\n\n"), (MODERN, priming())],
    )
    def test_needs_an_id_and_a_version_with_resumption(
        self, handshake: dict[str, Any], stream: bytes
    ) -> None:
        talk = known(handshake=handshake).chunks([stream])
        assert talk.exchange.next_call() is None
        assert talk.exchange.problem is not None

    def test_is_not_needed_after_the_response(self) -> None:
        assert known(handshake=OLDER).chunks([priming(), ANSWER]).exchange.next_call() is None


class TestServersWithoutEnd:
    """Limits end what a server would repeat without end, and are named."""

    def test_resuming_without_a_message(self) -> None:
        talk = known(handshake=OLDER)
        while is_going_on(talk):
            talk.chunks([priming("e1", 0)])
        assert len(talk.calls) == 1 + responses.MAX_WITHOUT_MESSAGE
        assert "10 resumptions in a row" in talk.problem.cause
        assert talk.problem.state == "truncated"

    def test_resuming_with_messages(self) -> None:
        progress = block(note("notifications/progress", progress=1))
        talk = known(handshake=OLDER)
        while is_going_on(talk):
            talk.chunks([priming("e1", 0), progress])
        assert len(talk.calls) == 1 + responses.MAX_RESUMPTIONS
        assert "resumed 100 times" in talk.problem.cause
        assert len(talk.of(Progress)) == len(talk.calls)

    @pytest.mark.parametrize(
        ("start", "words"),
        [
            (priming("e1", 3_600_000), "wait 3,600 seconds"),
            (priming("e" * 5_000), "longer than 4,096 characters"),
            (priming("é"), "non-ASCII"),
        ],
    )
    def test_what_cannot_be_done(self, start: bytes, words: str) -> None:
        talk = known(handshake=OLDER).chunks([start])
        assert talk.exchange.next_call() is None
        assert words in talk.problem.cause

    @pytest.mark.parametrize(
        ("payload", "status"),
        [
            (b"", 405),
            (rpc(None, error={"code": -32000, "message": "Method not allowed."}), 405),
            (rpc("x", error={"code": -32001, "message": "Session not found"}), 404),
            (b"", 204),
        ],
    )
    def test_a_refused_resumption(self, payload: Any, status: int) -> None:
        talk = known(handshake=OLDER).chunks([priming()]).json(payload, status)
        assert f"Resuming it failed: HTTP {status}." in talk.problem.cause
        assert talk.exchange.next_call() is None
        assert talk.exchange.outcome is Outcome.NONE

    def test_another_session_id_is_named_and_not_used(self) -> None:
        talk = known(handshake=OLDER).chunks([priming()], mcp_session_id="s2")
        talk.chunks([ANSWER], mcp_session_id="s3")
        assert dict(talk.calls[1].headers)["Mcp-Session-Id"] == "s1"
        names = [event.name for event in talk.of(Note)]
        assert names == ["mcp session changed", "mcp session changed"]

    def test_many_priming_events_are_no_events(self) -> None:
        talk = known(handshake=OLDER).chunks([priming() * 10_000, ANSWER])
        assert len(talk.frames) == 10_004
        assert [event.item["name"] for event in talk.of(Result)] == ["Soup"]
        assert not [*talk.of(Note), *talk.of(Unknown)]


def is_going_on(talk: Talk) -> bool:
    """Return whether there is another call; nothing here makes a thousand."""
    return talk.exchange.problem is None and len(talk.calls) < 1_000
