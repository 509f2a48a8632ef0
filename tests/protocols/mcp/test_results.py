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


def test_the_widget_of_a_result_is_in_the_metadata_of_its_answer() -> None:
    widget = {"openai/outputTemplate": "ui://widget", "version": "other", "a": 1}
    talk = known().result({"structuredContent": REPLY, "_meta": widget})
    (started,) = talk.of(Started)
    assert started.meta == {**META, "openai/outputTemplate": "ui://widget"}


def text(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": each} for each in texts]


def gist(talk: Talk) -> list[Any]:
    """The events: of some kinds what they hold, of the others the kind."""
    values = {Text: "text", Result: "item", Elicitation: "text", Promise: "token"}
    found = [(type(event), getattr(event, values.get(type(event), "seq"))) for event in talk.events]
    return [value if kind in values else kind for kind, value in found]


PICTURE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
DEEP = '{"results":' + "[" * 60 + "]" * 60 + "}"
QUESTION = {"_meta": {"response_type": "elicitation"}, "elicitation": {"text": "Which?"}}


@pytest.mark.parametrize(
    ("result", "events"),
    [
        ({"content": text("Soup!"), "_meta": META}, [Started, "Soup!", Completed]),
        ({"content": text('{"soup": true}')}, ['{"soup": true}', Completed]),
        *[
            ({"content": text(spoken)}, [spoken, Completed])
            for rest in (" and more", "{", ", {}", "7")
            for spoken in ["".join(map(json.dumps, SPOKEN)) + rest]
        ],
        ({"content": text(DEEP)}, [DEEP, Completed]),
        ({"_meta": META}, [Started, Completed]),
        ({"content": as_text({"ask_user": {"message": "Where?"}})}, ["Where?", Completed]),
        ({"content": as_text(QUESTION)}, [Started, "Which?", Completed]),
        ({"promise": {"token": "t"}}, ["t", Completed]),
        ({"content": [*as_text(REPLY), PICTURE]}, [Started, SOUP, PICTURE, Completed]),
        (
            {"structuredContent": REPLY, "content": [*as_text(REPLY), PICTURE]},
            [Started, SOUP, PICTURE, Completed],
        ),
        (
            {"content": [*text("Soup!"), PICTURE], "_meta": META},
            [Started, "Soup!", PICTURE, Completed],
        ),
    ],
)
def test_what_is_in_a_result(result: Any, events: list[Any]) -> None:
    talk = known(max_depth=50).result(result)
    assert gist(talk) == events
    assert talk.exchange.problem is None


@pytest.mark.parametrize(
    "result",
    [
        [],
        "soup",
        5,
        {},
        {"nothing": "of NLWeb"},
        {"_meta": 5},
        {"_meta": {}},
        None,
    ],
)
def test_what_is_no_reply_is_shown_and_said(result: Any) -> None:
    talk = known().result(result)
    assert gist(talk) == [Unknown]
    assert talk.exchange.outcome is Outcome.NONE
    assert "NLWeb" in talk.problem.cause


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


def test_notifications_come_before_the_answer() -> None:
    talk = known().stream(note("notifications/x", a=1), rpc(result=REPLY))
    assert [event.name for event in talk.events if hasattr(event, "name")] == ["notifications/x"]


WIDGET = {"openai/outputTemplate": "ui://widget"}


@pytest.mark.parametrize(
    ("result", "events"),
    [
        # Not the NLWeb in it, but all of it: an action is nobody's protocol.
        ({"structuredContent": {"sum": 3}}, [{"sum": 3}]),
        ({"content": [*text("3"), PICTURE]}, ["3", PICTURE]),
        ({"structuredContent": {"n": 1}, "content": as_text({"n": 1})}, [{"n": 1}]),
        ({"structuredContent": {"n": 1}, "content": text("One.")}, [{"n": 1}, "One."]),
        (
            {"structuredContent": {"n": 1}, "content": [*as_text({"n": 1}), PICTURE]},
            [{"n": 1}, PICTURE],
        ),
        ({"content": text("3"), "_meta": WIDGET}, [Started, "3"]),
        ({"content": text("3"), "_meta": {"a": 1}}, ["3"]),
        ({"content": text(*["x"] * 1_200)}, [*["x"] * 1_000, Unknown]),
    ],
)
def test_the_result_of_any_tool_is_read_as_it_is(result: Any, events: list[Any]) -> None:
    talk = Talk(mcp.call_tool(Target(URL, handshake=MODERN), "add", {})).result(result)
    assert gist(talk) == events
    assert talk.exchange.outcome is Outcome.ANSWER
    for unknown in talk.of(Unknown):
        assert "1,200 contents" in unknown.reason


@pytest.mark.parametrize(
    ("result", "code", "message"),
    [
        ({"content": text("No.")}, "TOOL_ERROR", "No."),
        ({"content": "No."}, "TOOL_ERROR", "No."),
        ({"structuredContent": {"code": "E7", "msg": "No"}}, "E7", "No"),
    ],
)
def test_a_tool_that_fails(result: Any, code: str, message: str) -> None:
    talk = Talk(mcp.call_tool(Target(URL, handshake=MODERN), "add", {}))
    (failure,) = talk.result({**result, "isError": True}).of(Failure)
    assert (failure.code, failure.message) == (code, message)
    assert talk.exchange.outcome is Outcome.FAILURE
