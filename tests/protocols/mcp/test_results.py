"""The NLWeb reply in a tool's result, in every shape, as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.protocols import mcp
from playground.protocols.events import (
    Completed,
    Elicitation,
    Failure,
    Note,
    Outcome,
    Promise,
    Result,
    Started,
    Text,
    Unknown,
)
from playground.protocols.exchange import Target
from playground.protocols.mcp import results
from tests.protocols.mcp.talk import MODERN, URL, Talk, known, note, rpc

META: dict[str, Any] = {"response_type": "answer", "version": "0.55"}
SOUP = {"@type": "Recipe", "name": "Soup"}
REPLY: dict[str, Any] = {"_meta": META, "results": [SOUP]}


def as_text(value: Any) -> list[dict[str, str]]:
    return [{"type": "text", "text": json.dumps(value)}]


@pytest.mark.parametrize(
    "result",
    [
        REPLY,
        {"content": as_text(REPLY)},
        {"content": as_text(REPLY), "isError": False, "resultType": "complete"},
        {"structuredContent": REPLY, "content": as_text(REPLY)},
        {"structuredContent": {"result": REPLY}, "content": []},
        {"structuredContent": {"result": json.dumps(REPLY)}, "content": as_text(REPLY)},
        {"content": as_text({"results": [SOUP]}), "_meta": META},
        {**REPLY, "_meta": {**META, "io.modelcontextprotocol/serverInfo": {"name": "x"}}},
        {"content": [json.dumps(REPLY)]},
        {"content": {"type": "text", "text": json.dumps(REPLY)}},
    ],
)
def test_every_shape_is_the_same_answer(result: Any) -> None:
    talk = known().result(result)
    assert [type(event) for event in talk.events] == [Started, Result, Completed]
    assert talk.events[0].meta == META  # type: ignore[attr-defined]
    assert talk.of(Result)[0].item == SOUP


#: What an older server puts into one text: its messages, one JSON object after another.
SPOKEN = [
    {"message_type": "tool_selection", "selected_tool": "search"},
    {"message_type": "result_batch", "results": [SOUP]},
    {"message_type": "nlws", "answer": "Soup!", "items": [SOUP]},
]


@pytest.mark.parametrize(
    "texts",
    [
        ["".join(map(json.dumps, SPOKEN))],
        ["\n".join(map(json.dumps, SPOKEN)) + "\n"],
        [json.dumps(each) for each in SPOKEN],
        ["".join(map(json.dumps, SPOKEN))] * 2,
    ],
)
def test_several_objects_in_texts_are_messages_of_a_stream(texts: list[str]) -> None:
    talk = known().result({"content": [{"type": "text", "text": text} for text in texts]})
    kinds = [type(event) for event in talk.events]
    assert kinds == [Note, Result, Text, Result, Completed]
    assert [event.item for event in talk.of(Result)] == [SOUP, SOUP]
    assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)


def test_several_objects_in_a_text_of_a_stream_of_mcp() -> None:
    parts = [{"_meta": META}, {"results": [SOUP]}, {"index": 1, "item": SOUP}]
    result = {"content": [{"type": "text", "text": "".join(map(json.dumps, parts))}]}
    talk = known().stream(rpc(result=result))
    assert [type(event) for event in talk.events] == [Started, Result, Result, Completed]
    # Metadata of the result count for all of them.
    over = known().result({"content": as_text({"results": [SOUP]}) * 2, "_meta": META})
    assert [type(event) for event in over.events] == [Started, Result, Completed]


def test_a_whole_response_of_an_older_server() -> None:
    [asked] = (
        known().result({"content": as_text({"ask_user": {"message": "Where?"}})}).of(Elicitation)
    )
    assert asked.text == "Where?"


@pytest.mark.parametrize("rest", [" and more", "{", ", {}", "7"])
def test_objects_with_anything_else_are_a_text(rest: str) -> None:
    text = "".join(map(json.dumps, SPOKEN)) + rest
    talk = known().result({"content": [{"type": "text", "text": text}]})
    assert [event.text for event in talk.of(Text)] == [text]


def test_text_and_metadata_beside_it_are_an_answer() -> None:
    talk = known().result({"content": [{"type": "text", "text": "Soup!"}], "_meta": META})
    assert [event.text for event in talk.of(Text)] == ["Soup!"]
    assert talk.exchange.outcome is Outcome.ANSWER


def test_the_widget_of_a_result_is_in_the_metadata_of_its_answer() -> None:
    widget = {"openai/outputTemplate": "ui://widget", "version": "other", "a": 1}
    talk = known().result({"structuredContent": REPLY, "_meta": widget})
    (started,) = talk.of(Started)
    assert started.meta == {**META, "openai/outputTemplate": "ui://widget"}


def test_text_alone_is_an_answer_too() -> None:
    talk = known().result({"content": [{"type": "text", "text": '{"soup": true}'}]})
    assert [event.text for event in talk.of(Text)] == ['{"soup": true}']
    assert talk.exchange.outcome is Outcome.ANSWER


def test_metadata_alone_is_what_it_announces() -> None:
    talk = known().result({"_meta": META})
    assert [type(event) for event in talk.events] == [Started, Completed]
    assert talk.exchange.outcome is Outcome.ANSWER


@pytest.mark.parametrize("result", [[], "soup", 5, {}, {"nothing": "of NLWeb"}])
def test_what_is_no_reply_is_shown_and_said(result: Any) -> None:
    talk = known().result(result)
    assert [type(event) for event in talk.events] == [Unknown]
    assert talk.exchange.outcome is Outcome.NONE
    assert "NLWeb" in talk.problem.cause


def test_json_in_a_text_that_is_too_deep_stays_a_text() -> None:
    deep = '{"results":' + "[" * 60 + "]" * 60 + "}"
    talk = known(max_depth=50).result({"content": [{"type": "text", "text": deep}]})
    assert [event.text for event in talk.of(Text)] == [deep]


def test_the_public_ask_agent_sends_one_id_and_then_none() -> None:
    """`/mcp-sse`: metadata with the id, then results without one."""
    talk = known().stream(
        rpc(result={"_meta": META}),
        {"jsonrpc": "2.0", "result": {"results": [SOUP]}},
        {"jsonrpc": "2.0", "result": {"results": [SOUP]}},
    )
    kinds = [type(event) for event in talk.events if type(event) in (Started, Result, Completed)]
    assert kinds == [Started, Result, Result]
    assert talk.exchange.outcome is Outcome.ANSWER
    assert talk.exchange.problem is None


def test_messages_of_nlweb_itself_within_the_stream_are_read() -> None:
    talk = known().stream(rpc(result={"_meta": META}), {"results": [SOUP]})
    assert [event.item for event in talk.of(Result)] == [SOUP]


def test_questions_and_promises_of_nlweb_come_through() -> None:
    asked = {"_meta": {"response_type": "elicitation"}, "elicitation": {"text": "Which?"}}
    [event] = known().result({"content": as_text(asked)}).of(Elicitation)
    assert (event.text, event.resume) == ("Which?", None)
    [promise] = known().result({"promise": {"token": "t"}}).of(Promise)
    assert promise.token == "t"


def test_notifications_come_before_the_answer() -> None:
    talk = known().stream(note("notifications/x", a=1), rpc(result=REPLY))
    assert [event.name for event in talk.events if hasattr(event, "name")] == ["notifications/x"]


@pytest.mark.parametrize("value", [None, [], {}, {"_meta": 5}, {"_meta": {}}, {"content": []}])
def test_what_has_nothing_of_nlweb_is_no_reply(value: Any) -> None:
    assert not results.is_nlweb_response(value)


def test_the_result_of_any_tool_is_read_as_it_is() -> None:
    """Not the NLWeb in it, but all of it: an action is nobody's protocol."""
    target = Target(URL, handshake=MODERN)
    talk = Talk(mcp.call_tool(target, "add", {})).result({"structuredContent": {"sum": 3}})
    assert [event.item for event in talk.of(Result)] == [{"sum": 3}]
    talk = Talk(mcp.call_tool(target, "add", {})).result(
        {"content": [{"type": "text", "text": "3"}, {"type": "image", "data": "…"}]}
    )
    assert [type(event) for event in talk.events] == [Text, Result]
    talk = Talk(mcp.call_tool(target, "add", {})).result(
        {"content": [{"type": "text", "text": "No."}], "isError": True}
    )
    assert [event.message for event in talk.of(Failure)] == ["No."]
    assert talk.exchange.outcome is Outcome.FAILURE
    talk = Talk(mcp.call_tool(target, "add", {})).result({"content": "No.", "isError": True})
    assert [event.message for event in talk.of(Failure)] == ["No."]
    error = {"isError": True, "structuredContent": {"code": "E7", "msg": "No"}}
    (failure,) = Talk(mcp.call_tool(target, "add", {})).result(error).of(Failure)
    assert (failure.code, failure.message) == ("E7", "No")
    texts = [*as_text({"eggs": 2}), {"type": "text", "text": "Two eggs."}]
    talk = Talk(mcp.call_tool(target, "add", {})).result(
        {"structuredContent": {"eggs": 2}, "content": texts}
    )
    assert [type(event) for event in talk.events] == [Result, Text]


def test_the_widget_of_any_tool_is_metadata() -> None:
    widget = {"openai/outputTemplate": "ui://widget"}
    for meta, expected in ((widget, [Started, Text]), ({"a": 1}, [Text])):
        talk = Talk(mcp.call_tool(Target(URL, handshake=MODERN), "add", {})).result(
            {"content": [{"type": "text", "text": "3"}], "_meta": meta}
        )
        assert [type(event) for event in talk.events] == expected


PICTURE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


@pytest.mark.parametrize(
    "result",
    [
        {"content": [*as_text(REPLY), PICTURE]},
        {"structuredContent": REPLY, "content": [*as_text(REPLY), PICTURE]},
        {"content": [{"type": "text", "text": "Soup!"}, PICTURE], "_meta": META},
    ],
)
def test_a_picture_beside_an_answer_is_shown_once(result: Any) -> None:
    talk = known().result(result)
    assert [event.item for event in talk.of(Result)].count(PICTURE) == 1
    assert isinstance(talk.events[-1], Completed)
    assert talk.of(Unknown) == []


def test_a_picture_beside_structured_content_is_shown_too() -> None:
    talk = Talk(mcp.call_tool(Target(URL, handshake=MODERN), "draw", {})).result(
        {"structuredContent": {"n": 1}, "content": [*as_text({"n": 1}), PICTURE]}
    )
    assert [event.item for event in talk.of(Result)] == [{"n": 1}, PICTURE]


def test_more_contents_than_are_shown_are_counted() -> None:
    many = [{"type": "text", "text": "x"}] * 1_200
    talk = Talk(mcp.call_tool(Target(URL, handshake=MODERN), "say", {})).result({"content": many})
    assert len(talk.of(Text)) == 1_000
    assert "1,200 contents" in talk.of(Unknown)[0].reason
