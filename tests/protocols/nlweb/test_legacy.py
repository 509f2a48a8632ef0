"""Requests to the older public server: flat parameters by GET, or a flat body by POST."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from hypothesis import given

from playground.protocols import registry, sse
from playground.protocols.calls import HttpCall
from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Outcome,
    Placement,
    PlacementAssigner,
    Result,
    Text,
    Unknown,
    is_server_log,
)
from playground.protocols.exchange import Target
from playground.protocols.nlweb import legacy
from tests.support.json_values import values
from tests.support.playbook import Playbook, event, read_document, read_stream, target

VALUES = values(["text", "site", "prev", "mode", "generate_mode", "streaming"], ["list, summarize"])
STREAM = {"prefer": {"streaming": True}}


def ask(document: dict[str, Any], url: str = "http://agent.example.com", **more: Any) -> HttpCall:
    where = Target(url, version="legacy", **more)
    call = registry.exchange(where, {"query": {"text": "eggs"}, **document}).next_call()
    assert call
    return call


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

    def test_a_new_request(self) -> None:
        document = registry.of("nlweb").new_request("legacy", "eggs")
        assert ask(document).url == "http://agent.example.com/ask?query=eggs"

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


#: Documents, and what is said against them.
WARNED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a new request": (registry.of("nlweb").new_request("legacy", "eggs"), []),
    "what does not travel": (
        {"query": {"text": "eggs", "site": "a", "price": 3},
         "context": {"@type": "ConversationalContext", "prev": ["a"], "memory": "m"},
         "prefer": {"streaming": True, "mode": "list", "accept-language": "de"},
         "meta": {"version": "legacy", "query_id": "1", "session_context": {}, "a/b~c": 1}},
        ["/query/price", "/context/memory", "/prefer/accept-language", "/meta/session_context",
         "/meta/a~1b~0c"]),
    "another type": (
        {"query": {"text": "eggs"}, "context": {"@type": "UserDiet", "prev": [1]},
         "prefer": {"generate_mode": 1, "response_format": 1},
         "meta": {"query_id": 1, "api_version": "legacy"}},
        ["/context/prev/0", "/prefer/generate_mode", "/prefer/response_format",
         "/meta/query_id"]),
    "another version": (registry.of("nlweb").new_request("0.55", "eggs"), ["/meta/version"]),
    "a promise": ({"promise_token": "t", "action": "checkin"}, [""]),
}  # fmt: skip


@pytest.mark.parametrize(("document", "pointers"), WARNED.values(), ids=WARNED)
def test_warnings(document: dict[str, Any], pointers: list[str]) -> None:
    problems = registry.validate_request(target("legacy"), document)
    assert [(each.pointer, each.level) for each in problems] == [(p, "warning") for p in pointers]


def test_what_every_version_needs_is_still_needed() -> None:
    (problem,) = registry.validate_request(target("legacy"), {"query": {"text": ""}})
    assert (problem.pointer, problem.level) == ("/query/text", "error")


class TestReading:
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


SOUP = {"url": "https://a.example/1", "name": "Soup", "schema_object": {"@type": "Recipe"}}
ANSWER = {"@type": "GeneratedAnswer", "answer": "Lentil soup.", "items": [SOUP]}
#: Messages of streams, with their outcome.
SPOKEN: dict[str, tuple[list[dict[str, Any]], Outcome]] = {
    "list": ([{"message_type": "result_batch", "results": [SOUP, SOUP]}], Outcome.ANSWER),
    "summarize": (
        [{"message_type": "result_batch", "results": [SOUP]},
         {"message_type": "summary", "content": "One soup."}],
        Outcome.ANSWER,
    ),
    "generate": (
        [{"message_type": "decontextualized_query", "decontextualized_query": "soup"},
         {"message_type": "nlws", **ANSWER}],
        Outcome.ANSWER,
    ),
    "ask_user": ([{"message_type": "ask_user", "message": "Which city?"}], Outcome.ELICITATION),
    "error": ([{"message_type": "error", "message": "No index."}], Outcome.FAILURE),
}  # fmt: skip
SHOWN = Result, Text, Elicitation, Failure


def shown(play: Playbook) -> list[Any]:
    """Return the events of a response without their numbers."""
    parts = [found for found in play.events if isinstance(found, SHOWN)]
    return [(type(each), getattr(each, "item", None) or vars_of(each)) for each in parts]


def vars_of(found: Event) -> list[str]:
    return [str(getattr(found, name, "")) for name in ("kind", "text", "message")]


class TestWholeResponses:
    """A response that is not streamed has what the stream has, in one of three forms."""

    @pytest.mark.parametrize("version", ["legacy", "0.55"])
    @pytest.mark.parametrize("name", SPOKEN)
    def test_a_list_of_messages(self, name: str, version: str) -> None:
        messages, outcome = SPOKEN[name]
        whole = read_document(messages, version)
        assert shown(whole) == shown(read_stream(*map(event, messages), version="legacy"))
        assert whole.exchange.outcome is outcome
        assert isinstance(whole.events[-1], Completed)

    @pytest.mark.parametrize("version", ["legacy", "0.55"])
    @pytest.mark.parametrize("name", sorted(SPOKEN.keys() - {"error"}))
    def test_members_that_are_named_by_their_type(self, name: str, version: str) -> None:
        messages, outcome = SPOKEN[name]
        document: dict[str, Any] = {"query_id": "q1"}
        for message in messages:
            kind = message["message_type"]
            inner = {each: value for each, value in message.items() if each != "message_type"}
            document |= inner if kind == "result_batch" else {kind: inner}
        whole = read_document(document, version)
        assert shown(whole) == shown(read_stream(*map(event, messages), version="legacy"))
        assert whole.exchange.outcome is outcome
        assert isinstance(whole.events[-1], Completed)

    @pytest.mark.parametrize("name", SPOKEN)
    def test_one_message(self, name: str) -> None:
        message, outcome = SPOKEN[name][0][-1], SPOKEN[name][1]
        whole = read_document(message, "legacy")
        assert shown(whole) == shown(read_stream(event(message), version="legacy"))
        assert whole.exchange.outcome is outcome

    def test_what_it_tells_of_its_work_is_told_as_in_the_stream(self) -> None:
        document = {"nlws": ANSWER, "tool_selection": {"selected_tool": "search"}, "count": 4}
        told = [found for found in read_document(document).events if is_server_log(found)]
        assert [found.name for found in told if isinstance(found, Note)] == ["tool_selection"]

    def test_items_in_content(self) -> None:
        play = read_document({"conversation_id": "c", "content": [SOUP, {"@type": "Recipe"}]})
        assert [type(found) for found in play.events] == [Result, Result, Completed]
        assert play.exchange.outcome is Outcome.ANSWER

    def test_a_summary_among_results(self) -> None:
        message = {"message_type": "result", "@type": "Summary", "content": "Two soups."}
        (found,) = read_stream(event(message), version="legacy").events
        assert isinstance(found, Text)
        assert (found.kind, found.text) == ("summary", "Two soups.")

    def test_a_question_of_the_first_version(self) -> None:
        (found, *_) = read_document({"ask_user": {"question": "Which city?"}}).events
        assert isinstance(found, Elicitation)
        assert found.text == "Which city?"

    @pytest.mark.parametrize(
        "document", [{"sum": "x"}, {"nlws": 7}, {"tool_selection": {}}, [{"a": 1}], [7]]
    )
    def test_what_is_none(self, document: Any) -> None:
        assert [type(found) for found in read_document(document).events] == [Unknown]

    def test_members_beside_metadata_are_none_of_its_messages(self) -> None:
        document = {"_meta": {"response_type": "answer"}, "results": [SOUP], "nlws": ANSWER}
        assert len([e for e in read_document(document).events if isinstance(e, Result)]) == 1

    @given(VALUES)
    def test_any_value_can_be_a_message(self, value: Any) -> None:
        names = ["nlws", "ask_user", "summary", "result_batch", "api_key", "other"]
        assert read_document(dict.fromkeys(names, value)).events
        assert read_document([{"message_type": "nlws"}, value]).events


class TestMaskedKeys:
    """On the wire and in events, in whole messages and in what is left of one that was cut off."""

    KEY: Mapping[str, Any] = {"message_type": "api_key", "key_name": "maps", "key_value": "k-1"}
    INNER: Mapping[str, Any] = {"key_name": "maps", "key_value": "k-1"}

    def test_in_an_event(self) -> None:
        payload = {**self.KEY, "x": {"y": "k-1"}}
        masked = {**payload, "key_value": legacy.MASK, "x": legacy.MASK}
        play = read_stream(event(payload), version="legacy")
        assert play.unnumbered() == [Note(0, "api_key", masked)]
        assert is_server_log(play.events[0])
        assert legacy.mask_block(event(self.KEY)) == event({**self.KEY, "key_value": legacy.MASK})

    @pytest.mark.parametrize(
        "body",
        [
            KEY,
            [KEY],
            {"messages": [{"a": 1}, KEY]},
            {"message_type": "api_key", "key_name": "maps", "x": "k-1"},
            {"api_key": INNER, "results": []},
            {"result": {"content": [{"text": json.dumps(KEY) * 2}]}},
            {"text": "Result: " + json.dumps(KEY)},
        ],
    )
    def test_at_any_place_of_a_document_or_an_event(self, body: Any) -> None:
        for data in (json.dumps(body).encode(), json.dumps(body, indent=1).encode(), event(body)):
            masked = legacy.mask_block(data)
            assert b"k-1" not in masked
            assert b"maps" in masked
            assert legacy.mask_block(masked) == masked

    def test_what_stands_around_a_masked_message_stays(self) -> None:
        data = b"event: message\r\nid: 7\r\ndata: " + json.dumps(self.KEY).encode() + b"\r\n"
        shown = sse.parse(legacy.mask_block(data))
        assert (shown.event, shown.id) == ("message", "7")
        assert json.loads(shown.data) == {**self.KEY, "key_value": legacy.MASK}
        assert legacy.mask_block(data).endswith(b"}\r\n")

    @pytest.mark.parametrize("name", ["key_value", "api_key", "key"])
    @pytest.mark.parametrize("colon", [":", ": ", " :\n "])
    @pytest.mark.parametrize("rest", ['"}', "", '", "x": {', '\\"k-1'])
    def test_in_what_was_cut_off(self, name: str, colon: str, rest: str) -> None:
        data = f'data: {{"message_type": "api_key", "a": "b", "{name}"{colon}"k-1{rest}'.encode()
        shown = legacy.mask_block(data if rest != '"}' else data + b"}")
        assert b"k-1" not in shown
        assert shown.startswith(data[: data.index(b"k-1")])

    def test_a_key_is_known_by_its_name_where_nothing_else_is_left(self) -> None:
        assert b"k-1" not in legacy.mask_block(b'"key_value": "k-1", "message_ty')
        unchanged = b'"key": "k-1", "key_values": '
        assert legacy.mask_block(unchanged) == unchanged

    @pytest.mark.parametrize(
        "data",
        [
            event({"message_type": "note", "content": "api_key"}),
            event({"message_type": "result", "key_value": "blue", "key": "api_key"}),
            b'{"results": [{"key": "blue", "key_value": "api_key"}]}',
            event("api_key"),
            event(["api_key"]),
            event({"results": [1]}),
            b'data: {"api_key": ' + b"[" * 100_000 + b"\n\n",
            json.dumps({"text": 'Set "api_key" in {"a": 1}', "x": '{"api_key": "x"}'}).encode(),
        ],
    )
    def test_nothing_else_is_changed(self, data: bytes) -> None:
        assert legacy.mask_block(data) is data
