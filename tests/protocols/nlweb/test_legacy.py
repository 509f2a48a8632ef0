"""Requests to the older public server: flat parameters by GET, or a flat body by POST."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from hypothesis import given

from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.events import Completed, Note, Outcome, Result
from playground.protocols.exchange import Target
from playground.protocols.nlweb import legacy
from playground.protocols.placement import Placement, PlacementAssigner, is_server_log
from tests.support.json_values import values
from tests.support.playbook import CAPTURES, Playbook, event, read_stream, target

VALUES = values(["text", "site", "prev", "mode", "generate_mode", "streaming"], ["list, summarize"])
STREAM = {"prefer": {"streaming": True}}


def ask(document: dict[str, Any], url: str = "http://agent.example.com", **more: Any) -> HttpCall:
    where = Target(url, version="legacy", **more)
    call = registry.exchange(where, {"query": {"text": "eggs"}, **document}).next_call()
    assert call
    return call


def warned(document: dict[str, Any]) -> list[tuple[str, str]]:
    problems = registry.validate_request(target("legacy"), document)
    return [(problem.pointer, problem.level) for problem in problems]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"query": {"text": "eggs & ham", "site": "a.example"}}, {"site": "a.example"}),
        ({"context": {"prev": ["bread", "soup, hot"]}}, {"prev": ["bread", "soup, hot"]}),
        ({"context": {"prev": []}}, {}),
        ({"prefer": {"mode": "summarize"}}, {"generate_mode": "summarize"}),
        ({"prefer": {"mode": "list, summarize"}}, {"generate_mode": "summarize"}),
        ({"prefer": {"mode": " list , other"}}, {"generate_mode": "list"}),
        ({"prefer": {"mode": ""}}, {}),
        ({"prefer": {"mode": "list", "generate_mode": "generate"}}, {"generate_mode": "generate"}),
        ({"meta": {"query_id": "q1", "version": "legacy"}}, {"query_id": "q1"}),
        ({"query": {"text": "x", "price": {"max": 3}}, "extra": 1}, {}),
        ({"query": 7, "context": "none", "prefer": [], "meta": None}, {}),
    ],
)
def test_the_same_parameters_go_by_get_and_by_post(
    document: dict[str, Any], expected: dict[str, Any]
) -> None:
    shared = {"query": {"text": "eggs"}, **document}
    text = shared["query"].get("text") if isinstance(shared["query"], dict) else None
    wanted = {"query": text, **expected} if text else expected
    assert legacy.parameters(shared) == wanted
    by_get = legacy.legacy_call(target("legacy"), shared, streaming=True)
    sent = dict(parse_qsl(urlsplit(by_get.url).query))
    assert sent == {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in wanted.items()
    }
    by_post = legacy.legacy_call(target("legacy"), shared, streaming=False)
    assert json.loads(by_post.body) == {**wanted, "streaming": "false"}


class TestCall:
    def test_a_stream_is_asked_for_by_get(self) -> None:
        call = ask(STREAM, "http://agent.example.com/api/ask?lang=de")
        assert (call.method, call.body, call.streaming) == ("GET", b"", True)
        assert call.url == "http://agent.example.com/api/ask?lang=de&query=eggs"
        assert dict(call.headers)["Accept"] == "text/event-stream"
        assert "Content-Type" not in dict(call.headers)

    def test_a_document_is_asked_for_by_post(self) -> None:
        call = ask({})
        assert (call.method, call.url) == ("POST", "http://agent.example.com/ask")
        assert json.loads(call.body) == {"query": "eggs", "streaming": "false"}

    @pytest.mark.parametrize("document", [STREAM, {}])
    def test_the_agents_headers_go_along(self, document: dict[str, Any]) -> None:
        own = (("Authorization", "Bearer secret"), ("Accept", "*/*"))
        call = ask(document, headers=own)
        assert [pair for pair in call.headers if pair[0] in dict(own)] == [*own]

    def test_a_promise_is_asked_after_the_standards_way(self) -> None:
        document = {"promise_token": "t", "action": "checkin"}
        call = registry.exchange(target("legacy"), document).next_call()
        assert call
        assert (call.method, call.url) == ("POST", "http://agent.example.com/await")
        assert json.loads(call.body) == document

    def test_half_a_surrogate_pair_can_be_sent(self) -> None:
        call = ask({"query": {"text": "\ud83e"}, **STREAM})
        assert parse_qs(urlsplit(call.url).query) == {"query": ["?"]}

    @given(VALUES, VALUES, VALUES)
    def test_any_document_becomes_a_call(self, query: Any, context: Any, prefer: Any) -> None:
        document = {"query": query, "context": context, "prefer": prefer}
        for streaming in (True, False):
            assert legacy.legacy_call(target("legacy"), document, streaming=streaming).url


class TestCheck:
    def test_a_new_request_has_nothing_against_it(self) -> None:
        document = registry.new_request("nlweb", "legacy", "eggs")
        assert registry.validate_request(target("legacy"), document) == []
        assert ask(document).url == "http://agent.example.com/ask?query=eggs"

    def test_what_does_not_travel_is_said(self) -> None:
        document = {
            "query": {"text": "eggs", "site": "a", "price": 3},
            "context": {"@type": "ConversationalContext", "prev": ["a"], "memory": "m"},
            "prefer": {"streaming": True, "mode": "list", "accept-language": "de"},
            "meta": {"version": "legacy", "query_id": "1", "session_context": {}, "a/b~c": 1},
        }
        assert warned(document) == [
            ("/query/price", "warning"),
            ("/context/memory", "warning"),
            ("/prefer/accept-language", "warning"),
            ("/meta/session_context", "warning"),
            ("/meta/a~1b~0c", "warning"),
        ]

    def test_what_every_version_needs_is_still_needed(self) -> None:
        assert warned({"query": {"text": ""}}) == [("/query/text", "error")]
        assert warned({"promise_token": "t", "action": "checkin"}) == [("", "warning")]

    def test_of_a_document_for_another_version(self) -> None:
        document = registry.new_request("nlweb", "0.55", "eggs")
        assert warned(document) == [("/meta/version", "warning")]


class TestReading:
    def test_the_capture_of_a_stream(self) -> None:
        _, _, body = (CAPTURES / "nlweb" / "get_stream.txt").read_bytes().partition(b"\r\n\r\n")
        play = read_stream(body, version="legacy")
        assert play.exchange.outcome is Outcome.ANSWER
        assert play.exchange.session_context is None
        results = [found for found in play.events if isinstance(found, Result)]
        assert [item.item["schema_object"]["@type"] for item in results] == ["Recipe"] * 4
        assert [type(found) for found in play.events if found not in results][-1] is Completed

    def test_what_it_tells_of_its_work_is_one_entry_above_the_others(self) -> None:
        told = [{"message_type": name, "content": "x"} for name in ("asking_sites", "license")]
        batch = {"message_type": "result_batch", "results": [{"name": "a"}]}
        play = read_stream(*map(event, [told[0], batch, told[1]]), version="legacy")
        placer = PlacementAssigner()
        places = [placer.assign(found) for found in play.events]
        assert places == [Placement.ASIDE, Placement.ENTRY, Placement.NONE]
        assert [is_server_log(found) for found in play.events] == [True, False, True]

    @pytest.mark.parametrize(
        "note", [Note(1, "end"), Note(1, "end", {"message_type": "other"}), Note(1, "_meta", [])]
    )
    def test_other_notes_tell_nothing(self, note: Note) -> None:
        assert PlacementAssigner().assign(note) is Placement.NONE

    def test_a_key_is_masked_in_what_it_tells(self) -> None:
        play = Playbook("legacy").head(media_type="text/event-stream")
        play.stream([event({"message_type": "api_key", "key_name": "maps", "key_value": "s3cr3t"})])
        (note,) = play.events
        assert is_server_log(note)
        assert "s3cr3t" not in repr(note)
