"""What real agents put on the wire, line by line: each is read, none is a problem of ours."""

from __future__ import annotations

from typing import Any

import pytest

from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Outcome,
    Promise,
    Result,
    Started,
    Text,
    Unknown,
)
from playground.protocols.nlweb.legacy import MASK
from tests.support.playbook import Playbook, event, read_document, read_stream

S, R, T, E, P, F, C, N = Started, Result, Text, Elicitation, Promise, Failure, Completed, Note


def meta(kind: str, **more: Any) -> dict[str, Any]:
    return {"_meta": {"version": "0.54", "response_type": kind, **more}}


ITEM = {"@type": "Recipe", "score": 85, "site": "x", "grounding": {"source_urls": ["https://x"]}}
ERROR = {"error": {"code": "INVALID_REQUEST", "message": "m"}}
ASKED = {"elicitation": {"text": "?", "questions": [{"id": "q", "text": "Q?", "type": "text"}]}}
ANSWER, FAILURE = Outcome.ANSWER, Outcome.FAILURE


class TestPublicAskAgent:
    """Version 0.54."""

    @pytest.mark.parametrize(
        ("messages", "kinds", "outcome"),
        [
            ([meta("Answer"), {"results": [ITEM, ITEM]}], [S, R, R], ANSWER),
            ([meta("Answer"), {"results": [{"@type": "Summary", "text": "s"}]}], [S, R], ANSWER),
            ([meta("Answer")], [S], ANSWER),
            ([meta("Elicitation"), ASKED], [S, E], Outcome.ELICITATION),
            ([meta("Promise"), {"promise": {"token": "p"}}], [S, P], Outcome.PROMISE),
            ([meta("Failure"), ERROR], [S, F], FAILURE),
            ([meta("Answer"), meta("Failure"), ERROR], [S, N, F], FAILURE),
        ],
    )
    def test_streams_without_names_or_an_end(
        self, messages: list[Any], kinds: list[type[Event]], outcome: Outcome
    ) -> None:
        play = read_stream(*map(event, messages), version="0.54")
        assert [type(event) for event in play.events] == kinds
        assert play.exchange.outcome is outcome
        assert play.exchange.problem is None

    @pytest.mark.parametrize("code", ["INVALID_REQUEST", "MISSING_FIELD", "INVALID_ACTION"])
    @pytest.mark.parametrize("status", [400, 500])
    def test_failures_with_a_status(self, code: str, status: int) -> None:
        reply = {**meta("Failure"), "error": {"code": code, "message": "m"}}
        play = read_document(reply, "0.54", status=status)
        assert play.unnumbered()[1] == Failure(0, code, "m", None, reply["error"])
        assert play.exchange.problem is None

    def test_a_server_error_in_plain_text(self) -> None:
        body = b"500 Internal Server Error\n\nServer got itself in trouble"
        play = read_document(body, "0.54", status=500, media_type="text/plain; charset=utf-8")
        assert [type(event) for event in play.events] == [Unknown]
        assert play.exchange.problem is not None
        assert "is text, not JSON" in play.exchange.problem.cause

    def test_metadata_alone(self) -> None:
        play = read_document(meta("Answer", request_id="r", decontextualized_query="q"), "0.54")
        assert [type(event) for event in play.events] == [S, C]
        assert play.exchange.outcome is ANSWER


class TestOlderPublicServer:
    """Messages typed by `message_type`."""

    @pytest.mark.parametrize(
        ("message", "kinds"),
        [
            ({"message_type": "result_batch", "results": [{"name": "a"}, {"name": "b"}]}, [R, R]),
            ({"message_type": "summary", "content": "s"}, [T]),
            ({"message_type": "nlws", "answer": "a", "items": []}, [T]),
            ({"message_type": "ask_user", "content": "Which?"}, [E]),
            ({"message_type": "asking_sites", "sites": ["a"]}, [N]),
            ({"message_type": "decontextualized_query", "decontextualized_query": "q"}, [N]),
            ({"message_type": "tool_selection", "selected_tool": "search"}, [N]),
            ({"message_type": "error", "message": "m"}, [F]),
            ({"message_type": "complete"}, [C]),
            ({"message_type": "retrieval_count", "count": 4}, [N]),
        ],
    )
    def test_every_type(self, message: Any, kinds: list[type[Event]]) -> None:
        assert [type(found) for found in read_stream(event(message)).events] == kinds

    def test_heartbeats_in_between(self) -> None:
        batch = event({"message_type": "result_batch", "results": [{"name": "a"}]})
        done = event({"message_type": "complete"})
        play = read_stream(b": keepalive\n\n", batch, b": keepalive\n\n", done)
        assert [type(event) for event in play.events] == [R, C]
        assert play.exchange.outcome is ANSWER

    def test_keys_are_masked(self) -> None:
        play = read_stream(event({"message_type": "api_key", "key_value": "k-1"}))
        assert play.unnumbered() == [
            Note(0, "api_key", {"message_type": "api_key", "key_value": MASK})
        ]

    def test_a_reply_that_is_no_stream(self) -> None:
        item = {"url": "u", "name": "n", "siteUrl": "s", "schema_object": {"@type": "Recipe"}}
        play = read_document({"query_id": "q", "results": [item]})
        assert play.unnumbered() == [Result(0, item, 0), Completed(0, {})]


def test_a_stream_called_plain_text_is_read_as_it_came() -> None:
    play = Playbook().head(200, "text/plain").stream([event({"results": [1]})]).end()
    assert play.unnumbered() == [Result(0, 1)]
