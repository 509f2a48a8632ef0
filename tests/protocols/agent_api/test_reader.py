"""Responses read: each thing said once, however it came and however often it is repeated."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.protocols.agent_api.messages import MAX_PARTS, MAX_STORED
from playground.protocols.agent_api.parts import join
from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.events import (
    Content,
    Event,
    Failure,
    Message,
    Note,
    Outcome,
    Status,
    Text,
    ToolCall,
    ToolOutput,
    Unknown,
)
from tests.support.agent_api_examples import (
    SEQUENCE,
    USE_CASE,
    captured,
    content,
    data,
    delta,
    message,
    read,
    response,
)


def brief(event: Event) -> tuple[Any, ...]:
    """An event in a line of a table."""
    match event:
        case Message():
            return ("message", event.id, event.type)
        case Content(delta=True):
            return ("+", event.msg_id, event.index, event.value)
        case Content():
            return ("=", event.msg_id, event.index, event.kind, event.value)
        case Status():
            return (event.object, event.id, event.status)
        case ToolCall():
            return ("call", event.call_id, event.name, event.arguments)
        case ToolOutput():
            return ("output", event.call_id, event.output)
        case Failure():
            return ("failure", event.code, event.message)
        case Note() | Unknown():
            return (type(event).__name__.lower(), event.name)
    raise AssertionError(event)


def event_rows(*payloads: Any) -> list[tuple[Any, ...]]:
    return [brief(event) for event in read(payloads)[0]]


def texts(events: list[Event]) -> dict[tuple[Any, ...], str]:
    """The text of every part as it stands at the end, by where it belongs."""
    found: dict[tuple[Any, ...], str] = {}
    for event in events:
        if isinstance(event, Content) and isinstance(event.value, str):
            place = event.message_ref, event.index, event.kind
            found[place] = found.get(place, "") + event.value if event.delta else event.value
    return found


def blocks(name: str) -> list[str]:
    """The data of a captured stream's frames."""
    parts = captured(name).split("\n\n")
    return [part.removeprefix("data: ") for part in parts if part]


NAMELESS: dict[str, Any] = {"object": "message", "type": "message", "status": "created"}
NAMELESS_END = {**NAMELESS, "status": "completed"}
ERROR = message("failed", type="error", code="X", message="No")
TEXT_IMAGE = [{"type": "text", "text": "One"}, {"type": "image", "image_url": "https://a.b/c"}]

#: Objects of a stream: those that come first, those that are then read, and their events.
STREAMS: dict[str, tuple[list[Any], list[Any], list[tuple[Any, ...]]]] = {
    "contents without a message belong to the open one": ([], SEQUENCE, [
        ("response", "response_1", "created"),
        ("message", "msg_1", "assistant"),
        ("+", "msg_1", 0, "Hello"),
        ("+", "msg_1", 0, ", "),
        ("+", "msg_1", 0, "world"),
        # The example's own sum is another one: its pieces lack the exclamation mark.
        ("=", "msg_1", 0, "text", "Hello, world!"),
        ("message", "msg_1", "completed"),
        ("response", "response_1", "completed"),
    ]),
    "what the pieces said is not said again": ([], USE_CASE, [
        ("response", "response_123", "created"),
        ("message", "msg_abc", "assistant"),
        ("+", "msg_abc", 0, "This"),
        ("+", "msg_abc", 0, " image shows..."),
        ("content", "msg_abc", "completed"),
        ("message", "msg_abc", "completed"),
        ("response", "response_123", "completed"),
    ]),
    "pieces for a message that was never announced": (
        [],
        [delta("a", msg_id="m"), delta("b", msg_id="m")],
        [("message", "m", ""), ("+", "m", 0, "a"), ("+", "m", 0, "b")],
    ),
    "a message that is announced after its first piece": (
        [delta("a")],
        [message(type="function_call"), data(call_id="c", name="f")],
        [
            ("message", "msg_1", "in_progress"),
            ("=", "msg_1", 0, "data", {"call_id": "c", "name": "f"}),
            ("call", "c", "f", None),
        ],
    ),
    "without ids the open message is meant": (
        [],
        [
            NAMELESS, delta("a", msg_id=None), NAMELESS_END,
            NAMELESS, delta("b", msg_id=None), NAMELESS_END,
            response("completed", output=[
                {**NAMELESS_END, "content": [{"type": "text", "text": "a"}]},
                {**NAMELESS_END, "content": [{"type": "text", "text": "b"}]},
            ]),
        ],
        [
            ("message", "", "message"),
            ("+", "", 0, "a"),
            ("message", "", "completed"),
            ("message", "", "message"),
            ("+", "", 0, "b"),
            ("message", "", "completed"),
            ("response", "response_1", "completed"),
        ],
    ),
    "a message that is numbered": (
        [message(identifier=7)], [delta("a", msg_id=7)], [("+", "7", 0, "a")],
    ),
    "types that nobody knows": ([], [message(type="dream"), content(type="hologram", beam=[1])], [
        ("message", "msg_1", "dream"), ("=", "msg_1", 0, "hologram", {"beam": [1]}),
    ]),
    "a heartbeat is no message": (
        [message()],
        [message("completed", "beat", type="heartbeat"), delta("a", msg_id=None)],
        [("note", "heartbeat"), ("+", "msg_1", 0, "a")],
    ),
    "a completed message says what was not said": (
        [message(), delta("One")],
        [message("completed", content=TEXT_IMAGE)],
        [("=", "msg_1", 1, "image", "https://a.b/c"), ("message", "msg_1", "completed")],
    ),
    "a response says what was not said": (
        [message(), delta("a")],
        [response("completed", output=[
            message("completed", content=[{"type": "text", "text": "a"}]),
            message("completed", "late", content=[{"type": "text", "text": "Late"}]),
            "stray",
        ])],
        [
            ("message", "msg_1", "completed"),
            ("message", "late", "message"),
            ("=", "late", 0, "text", "Late"),
            ("message", "late", "completed"),
            ("unknown", "output"),
            ("response", "response_1", "completed"),
        ],
    ),
    # Indexes with gaps, and null in the message's own list.
    "contents within a message need no place of their own": (
        [message(), delta("a", 0), delta("b", 5)],
        [message("completed", content=[
            {"type": "text", "text": "a", "index": None, "msg_id": None},
            {"type": "text", "text": "b", "index": None},
            {"type": "text", "text": "c"},
        ])],
        [("=", "msg_1", 2, "text", "c"), ("message", "msg_1", "completed")],
    ),
    "parts of different types at one place are two": (
        [message(), delta("a")],
        [content(type="image", image_url="https://a.b")],
        [("=", "msg_1", 0, "image", "https://a.b")],
    ),
    "content after completion": (
        [message(), delta("a"), content(text="a")],
        [delta("!"), message("completed"), delta("?")],
        [("+", "msg_1", 0, "!"), ("message", "msg_1", "completed"), ("+", "msg_1", 0, "?")],
    ),
    "a part that says nothing is a status": (
        [message()], [content("created", text=None)], [("content", "msg_1", "created")],
    ),
    # As some models send them: every piece a continuation of the text before it.
    "arguments in pieces": (
        [message(type="function_call"), *(
            content("in_progress", type="data", delta=True,
                    data={"call_id": "c", "name": "f", "arguments": piece})
            for piece in ('{"a":', " 1", "}")
        )],
        [content(type="data", data=None)],
        [("content", "msg_1", "completed"), ("call", "c", "f", '{"a": 1}')],
    ),
    "a call whose content is never completed": (
        [message(type="function_call"),
         data("in_progress", call_id="c", name="f", arguments="{}")],
        [message("completed", type="function_call")],
        [("call", "c", "f", "{}"), ("message", "msg_1", "completed")],
    ),
    "a call that is said anew": (
        [message(type="mcp_call"), data(call_id="c", name="f", arguments="1")],
        [data(call_id="c", name="f", arguments="2")],
        [
            ("=", "msg_1", 0, "data", {"call_id": "c", "name": "f", "arguments": "2"}),
            ("call", "c", "f", "2"),
        ],
    ),
    "an error": ([], [ERROR], [("failure", "X", "No"), ("message", "msg_1", "failed")]),
    "an error is told once": (
        [],
        [
            message("created", type="error"), ERROR, ERROR,
            response("failed", error={"code": "X", "message": "No"}, output=[ERROR]),
            response("failed", error={"code": "X", "message": "No"}),
        ],
        [
            ("message", "msg_1", "error"),
            ("failure", "X", "No"),
            *[("message", "msg_1", "failed")] * 2,
            *[("response", "response_1", "failed")] * 2,
        ],
    ),
    "another error of the response": (
        [ERROR],
        [response("failed", error={"code": "Y", "message": "No"})],
        [("failure", "Y", "No"), ("response", "response_1", "failed")],
    ),
    "the end as the APIs of models write it": ([], ["[DONE]"], [("note", "done")]),
    **{
        f"a line break that is none: {character!r}": (
            [message()],
            [json.dumps(delta(f"a{character}b"), ensure_ascii=False)],
            [("+", "msg_1", 0, f"a{character}b")],
        )
        for character in ("\u2028", "\u2029", "\u0085", "\x0b", "\r\n", "\x1c")
    },
    **{
        f"{value!r} says nothing of a call": (
            [message(type="function_call")],
            [content(type="data", data=value)],
            [("=", "msg_1", 0, "data", value)],
        )
        for value in ([1], "words", 5)
    },
    "no data says nothing of a call": (
        [message(type="function_call")],
        [content(type="data", data=None)],
        [("content", "msg_1", "completed")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "payloads", "expected"), STREAMS.values(), ids=STREAMS)
def test_streams(before: list[Any], payloads: list[Any], expected: list[tuple[Any, ...]]) -> None:
    assert event_rows(*before, *payloads)[len(event_rows(*before)) :] == expected


#: Objects of a stream, and the text of every part at its end.
PIECES: dict[str, tuple[list[Any], dict[tuple[Any, ...], str]]] = {
    "pieces find their message and their place": (
        [
            message(identifier="a"), message(identifier="b"),
            delta("1", msg_id="a"), delta("2", msg_id="b"), delta("3", 1, "a"),
            delta("4", msg_id="a"), delta("5", msg_id=None),
        ],
        # Without a name it is the latest message that is still open.
        {((1, 0), 0, "text"): "14", ((1, 0), 1, "text"): "3", ((2, 0), 0, "text"): "25"},
    ),
    "without an index the next part begins when the last is complete": (
        [
            message(), delta("a", index=None), delta("b", index=None),  # type: ignore[arg-type]
            content(index=None, text="ab"), delta("c", index=None),  # type: ignore[arg-type]
            content(index=None, type="image", image_url="https://a.b"),
        ],
        {
            ((1, 0), 0, "text"): "ab",
            ((1, 0), 1, "text"): "c",
            ((1, 0), 2, "image"): "https://a.b",
        },
    ),
    # Each half alone is no character; the completed text has both.
    "halves of a character in two pieces": (
        [
            message(),
            *(json.dumps(delta("X")).replace("X", half) for half in ("\\ud83e", "\\udd5a")),
            content(text="🥚"),
        ],
        {((1, 0), 0, "text"): "🥚"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("payloads", "expected"), PIECES.values(), ids=PIECES)
def test_pieces_are_joined(payloads: list[Any], expected: dict[tuple[Any, ...], str]) -> None:
    assert texts(read(payloads)[0]) == expected


class TestCaptures:
    def test_a_text(self) -> None:
        events, reader = read(blocks("text"))
        assert list(texts(events).values()) == ["Hello, wörld 🥚\nsecond line. You said: hello"]
        assert sum(isinstance(event, Content) for event in events) == 5
        assert reader.session_context == {
            "session_id": "sess-1",
            "response_id": "response_6e981cbe-bd08-4e1d-bcdf-117f7f8cb91d",
        }

    def test_a_call_its_output_and_the_thoughts_before_it(self) -> None:
        events, reader = read(blocks("plugin_call"))
        kinds = [event.type for event in events if isinstance(event, Message)]
        assert kinds == ["reasoning", "plugin_call", "plugin_call_output", "message"]
        (call,) = (event for event in events if isinstance(event, ToolCall))
        (output,) = (event for event in events if isinstance(event, ToolOutput))
        assert (call.call_id, call.name, call.kind) == ("call_1", "get_weather", "plugin_call")
        assert call.arguments == '{"city": "Paris"}'
        assert output.call_id == call.call_id
        assert output.output == '[{"type": "text", "text": "21 C, sunny"}]'
        # Every growing set of arguments replaces the one before it.
        growing = [e.value["arguments"] for e in events if isinstance(e, Content)
                   and e.message_ref == call.message_ref]  # fmt: skip
        assert growing == ["", '{"city": "Par"}', '{"city": "Paris"}']
        assert reader.outcome is Outcome.ANSWER

    def test_an_error_in_mid_stream(self) -> None:
        events, reader = read(blocks("error_midstream"))
        assert [brief(event) for event in events[-3:]] == [
            ("+", "msg_0a4f986d-bd0b-4d09-bc60-70aefdc1aa3a", 0, "answer"),
            ("failure", "AGENT_UNKNOWN_ERROR",
             "Unknown agent error: ValueError: stub agent broke mid-stream"),
            ("response", "response_02d858ac-778a-4388-9b1e-927d12a7dd66", "failed"),
        ]  # fmt: skip
        assert reader.outcome is Outcome.FAILURE

    def test_a_bad_request(self) -> None:
        (failure,), reader = read(blocks("bad_request_no_input"))
        assert isinstance(failure, Failure)
        assert failure.message.startswith("1 validation error for AgentRequest")
        assert reader.outcome is Outcome.FAILURE

    @pytest.mark.parametrize("name", ["text", "plugin_call"])
    def test_the_last_object_alone_says_the_same(self, name: str) -> None:
        """A reply that does not stream is the completed response."""
        streamed, one = read(blocks(name))
        document = AgentAPIReader("1")
        events = document.document(1, json.loads(blocks(name)[-1]))
        assert list(texts(events).values()) == list(texts(streamed).values())
        for kind in (Message, ToolCall, ToolOutput):
            assert len([e for e in events if type(e) is kind]) == len(
                [e for e in streamed if type(e) is kind]
            )
        assert document.outcome is one.outcome
        assert document.session_context == one.session_context


class TestMessages:
    def test_a_message_has_its_home_where_it_was_announced(self) -> None:
        events, _ = read([response("created"), message(), delta("a"), message("completed")])
        assert [event.message_ref for event in events if isinstance(event, Content | Status)] == [
            None, (2, 0), (2, 0),
        ]  # fmt: skip

    def test_usage_stands_with_the_status(self) -> None:
        events, _ = read([message(), message("completed", usage={"n": 1}),
                          response("completed", usage={"n": 2})])  # fmt: skip
        assert [event.usage for event in events if isinstance(event, Status)] == [
            {"n": 1}, {"n": 2},
        ]  # fmt: skip


#: Parts as they come, and what is made of each.
PARTS: list[tuple[dict[str, Any], tuple[Any, ...]]] = [
    ({"type": "text", "text": "a"}, ("text", "a")),
    ({"type": "text", "text": 5}, ("text", "5")),
    ({"text": "a", "type": None}, ("text", "a")),
    ({"type": "image", "image_url": "https://a.example/b.png"},
     ("image", "https://a.example/b.png")),
    ({"type": "data", "data": {"a": 1}}, ("data", {"a": 1})),
    ({"type": "data", "data": [1]}, ("data", [1])),
    ({"type": "refusal", "refusal": "No."}, ("refusal", "No.")),
    ({"type": "video", "video_url": "https://a.example/b.mp4"},
     ("video", "https://a.example/b.mp4")),
    ({"type": "file", "file_url": "https://a.example/b.pdf", "filename": "b.pdf"},
     ("file", {"file_url": "https://a.example/b.pdf", "filename": "b.pdf"})),
    ({"type": "audio", "data": "UklG", "format": "wav"},
     ("audio", {"data": "UklG", "format": "wav"})),
    ({"type": "hologram", "beam": 1}, ("hologram", {"beam": 1})),
]  # fmt: skip


class TestContents:
    @pytest.mark.parametrize(("part", "expected"), PARTS, ids=[str(row[1][0]) for row in PARTS])
    def test_each_type(self, part: dict[str, Any], expected: tuple[Any, ...]) -> None:
        for payloads in (
            [message(), content(**{**part, "type": part["type"]})],
            [message("completed", content=[part])],
        ):
            found = [event for event in read(payloads)[0] if isinstance(event, Content)]
            assert [(event.kind, event.value) for event in found] == [expected]

    @pytest.mark.parametrize("word", [False, None])
    def test_completed_text_is_compared_with_its_pieces(self, word: bool | None) -> None:
        start = [message(), delta("Hel"), delta("lo")]
        same = event_rows(*start, content(delta=word, text="Hello"))
        assert same[-1] == ("content", "msg_1", "completed")
        other = event_rows(*start, content(delta=word, text="Help"))
        assert other[-1] == ("=", "msg_1", 0, "text", "Help")


class TestTools:
    @pytest.mark.parametrize("kind", ["function_call", "plugin_call", "component_call", "mcp_call"])
    def test_a_call_is_told_when_it_is_complete(self, kind: str) -> None:
        call = {"call_id": "c", "name": "f"}
        found = event_rows(
            message(type=kind),
            data("in_progress", **call, arguments="{"),
            data("completed", **call, arguments="{}"),
            message("completed", type=kind, content=[
                {"type": "data", "data": {**call, "arguments": "{}"}},
            ]),
        )  # fmt: skip
        assert [each for each in found if each[0] == "call"] == [("call", "c", "f", "{}")]
        output = event_rows(
            message(type=f"{kind}_output"), data("completed", call_id="c", output="21")
        )
        assert output[-1] == ("output", "c", "21")

    def test_an_approval_is_paired_by_its_own_id(self) -> None:
        asked = {"id": "mcpr_1", "name": "drop", "arguments": "{}", "server_label": "db"}
        said = {"approval_request_id": "mcpr_1", "approve": True}
        found = event_rows(
            message(type="mcp_approval_request"), data(**asked), message("completed"),
            message(identifier="b", type="mcp_approval_response"), data(msg_id="b", **said),
        )  # fmt: skip
        assert ("call", "mcpr_1", "drop", "{}") in found
        assert found[-1] == ("output", "mcpr_1", said)


FAILURES: list[tuple[str, Any, tuple[str, str]]] = [
    ("a bare text", {"error": "No input"}, ("", "No input")),
    ("a bare object", {"error": {"code": "X", "message": "No"}}, ("X", "No")),
    ("as APIs of models do", {"error": {"type": "invalid", "message": "No"}}, ("invalid", "No")),
    ("a number for a code", {"error": {"code": 429, "message": "No"}}, ("429", "No")),
    ("something else", {"error": [1]}, ("", "[1]")),
    ("a 422", {"detail": [
        {"type": "missing", "loc": ["body", "input"], "msg": "Field required", "input": {}},
        {"type": "json_invalid", "loc": ["body", 1], "msg": "Bad JSON"},
    ]}, ("missing", "body.input: Field required. body.1: Bad JSON.")),
    ("a 422 of texts", {"detail": ["no"]}, ("", "no")),
    ("a 404", {"detail": "Not Found"}, ("", "Not Found")),
    ("code and message alone", {"code": "X", "message": "No"}, ("X", "No")),
    ("an object of another kind", {"object": "thing", "error": "No"}, ("", "No")),
    ("a response", response("failed", error={"code": "X", "message": "No"}), ("X", "No")),
    ("a response with a text", response("failed", error="No"), ("", "No")),
    ("a response without a reason", response("rejected"), ("rejected", "")),
    ("a message", message("failed", type="error", code="X", message="No"), ("X", "No")),
    ("a message of words", message("completed", type="error", content=[
        {"type": "text", "text": "It"}, {"type": "text", "text": "broke"},
    ]), ("", "It broke")),
    ("a message with an error", message("failed", error={"code": "X", "message": "No"}),
     ("X", "No")),
    ("a content", content("failed", text="a", error={"code": "X", "message": "No"}), ("X", "No")),
]  # fmt: skip


class TestFailures:
    @pytest.mark.parametrize(
        ("payload", "expected"), [row[1:] for row in FAILURES], ids=[row[0] for row in FAILURES]
    )
    def test_every_form(self, payload: Any, expected: tuple[str, str]) -> None:
        for found, reader in (read([payload]), _document(payload)):
            failures = [event for event in found if isinstance(event, Failure)]
            assert [(event.code, event.message) for event in failures] == [expected]
            assert reader.outcome is Outcome.FAILURE


def _document(payload: Any) -> tuple[list[Event], AgentAPIReader]:
    reader = AgentAPIReader("1")
    return reader.document(1, payload), reader


CALL = [message(type="function_call"), data(call_id="c", name="f"), message("completed")]
OUTPUT = [message(identifier="o", type="function_call_output"),
          data(msg_id="o", call_id="c", output="1")]  # fmt: skip
APPROVAL = [message(type="mcp_approval_request"), data(id="c", name="f")]

OUTCOMES: list[tuple[str, list[Any], Outcome]] = [
    ("nothing", [], Outcome.NONE),
    ("begun", [response("created"), response("in_progress")], Outcome.NONE),
    ("announced", [message()], Outcome.NONE),
    ("a piece", [message(), delta("a")], Outcome.ANSWER),
    ("completed and empty", [response("completed")], Outcome.ANSWER),
    ("a call", [*CALL, response("completed")], Outcome.ELICITATION),
    ("a call without an end", CALL, Outcome.ELICITATION),
    ("an answered call", [*CALL, *OUTPUT, response("completed")], Outcome.ANSWER),
    ("an approval", [*APPROVAL, response("completed")], Outcome.ELICITATION),
    ("a plugin's call", [message(type="plugin_call"), data(call_id="c", name="f"),
                         response("completed")], Outcome.ANSWER),
    ("failed after a call", [*CALL, response("failed")], Outcome.FAILURE),
    ("cancelled", [message(), delta("a"), response("canceled")], Outcome.FAILURE),
    ("incomplete", [message(), delta("a"), response("incomplete")], Outcome.ANSWER),
    ("an error that the agent got over", [ERROR, message(identifier="a"), delta("a", msg_id="a"),
                                          response("completed")], Outcome.ANSWER),
    ("an error and nothing else", [ERROR, response("completed")], Outcome.FAILURE),
]  # fmt: skip


@pytest.mark.parametrize(
    ("payloads", "outcome"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES]
)
def test_the_outcome(payloads: list[Any], outcome: Outcome) -> None:
    assert read(payloads)[1].outcome is outcome


HI = {"type": "text", "text": "Hi"}
#: Documents, their events, and the outcome.
DOCUMENTS: dict[str, tuple[Any, list[tuple[Any, ...]], Outcome]] = {
    "a response": (
        {
            "object": "response", "id": "r", "status": "completed", "session_id": "s",
            "output": [message("completed", content=[HI])],
        },
        [
            ("message", "msg_1", "message"),
            ("=", "msg_1", 0, "text", "Hi"),
            ("message", "msg_1", "completed"),
            ("response", "r", "completed"),
        ],
        Outcome.ANSWER,
    ),
    "a response that does not say what it is": (
        {"id": "r", "output": [{"role": "assistant", "content": "Hi"}]},
        [("message", "", ""), ("=", "", 0, "text", "Hi"), ("response", "r", "completed")],
        Outcome.ANSWER,
    ),
    "a response within an object": (
        {"response": {"id": "r", "status": "completed"}},
        [("response", "r", "completed")],
        Outcome.ANSWER,
    ),
    "a list of what would have been streamed": (USE_CASE, event_rows(*USE_CASE), Outcome.ANSWER),
    "a message": (
        {"role": "assistant", "content": ["Hi"]},
        [("message", "", ""), ("=", "", 0, "text", "Hi")],
        Outcome.ANSWER,
    ),
    "a content": (HI, [("message", "", ""), ("=", "", 0, "text", "Hi")], Outcome.ANSWER),
    "an output that is no list": (
        response("completed", output="Hi"),
        [("unknown", "output"), ("response", "response_1", "completed")],
        Outcome.ANSWER,
    ),
    "an error that is repeated": (
        response("failed", error={"code": "X", "message": "No"}, output=[ERROR]),
        [
            ("failure", "X", "No"),
            ("message", "msg_1", "failed"),
            ("response", "response_1", "failed"),
        ],
        Outcome.FAILURE,
    ),
    "an unknown object": ({"object": "thing"}, [("unknown", "thing")], Outcome.NONE),
    **{
        f"none of these: {payload}": (payload, [("unknown", "message")], Outcome.NONE)
        for payload in (5, "words", None, [], {}, {"a": 1}, {"response": 5})
    },
}  # fmt: skip


@pytest.mark.parametrize(("payload", "expected", "outcome"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents(payload: Any, expected: list[tuple[Any, ...]], outcome: Outcome) -> None:
    events, reader = _document(payload)
    assert [brief(event) for event in events] == expected
    assert reader.outcome is outcome


def test_the_session_of_a_document() -> None:
    _, reader = _document(response("completed", session_id="s"))
    assert reader.session_context == {"session_id": "s", "response_id": "response_1"}


class TestMessagesOfAStream:
    @pytest.mark.parametrize(
        ("text", "name"),
        [("", "message"), (" ", "message"), ("{", "message"), ("[1]", "message"),
         ("[" * 5_000 + "]" * 5_000, "message")],
    )  # fmt: skip
    def test_what_cannot_be_read(self, text: str, name: str) -> None:
        (event,) = AgentAPIReader("1").message(1, None, text)
        assert isinstance(event, Unknown)
        assert event.name == name
        assert event.reason

    def test_the_name_of_an_event_means_nothing(self) -> None:
        (event,) = AgentAPIReader("1").message(1, "ping", json.dumps(response("created")))
        assert brief(event) == ("response", "response_1", "created")


class TestAcceptedTasks:
    """A background endpoint acknowledges the request instead of responding."""

    @pytest.mark.parametrize(
        ("payload", "text"),
        [
            ({"task_id": "t", "status": "submitted", "message": "Task submitted"},
             "Task submitted (task t)"),
            ({"status": "Submitted"}, "The agent accepted the task. (no task id)"),
            ({"id": 7, "status": "queued", "code": 0, "message": ""},
             "The agent accepted the task. (task 7)"),
        ],
    )  # fmt: skip
    def test_are_notes_and_no_failures(self, payload: Any, text: str) -> None:
        events, reader = read([payload])
        assert events == [Text(1, text, kind=payload["status"], raw=payload)]
        assert reader.outcome is Outcome.NONE

    @pytest.mark.parametrize("status", ["failed", "ok", None, 7])
    def test_another_status_is_none(self, status: Any) -> None:
        events, _ = read([{"task_id": "t", "status": status, "message": "No."}])
        assert [type(event) for event in events] == [Failure]

    def test_a_response_that_waits_is_a_response(self) -> None:
        events, _ = read([{"status": "queued", "output": []}])
        assert [type(event) for event in events] == [Status]


#: Pieces of a value, and the value.
PIECES_OF_VALUES: list[tuple[list[Any], Any]] = [
    ([], None),
    ([{"a": 1}], {"a": 1}),
    (["a", "", "b"], "ab"),
    ([{"call_id": "c", "name": "f", "arguments": '{"a', "n": 1},
      {"call_id": "c", "name": None, "arguments": '":1}', "n": 2, "tags": [1]},
      {"tags": [2], "more": {"x": "a"}},
      {"more": {"x": "b"}}],
     {"call_id": "c", "name": "f", "arguments": '{"a":1}', "n": 2, "tags": [1, 2],
      "more": {"x": "ab"}}),
    # They do not fit together.
    (["a", {"b": 1}], {"b": 1}),
    ([{"b": 1}, 5], 5),
]  # fmt: skip


@pytest.mark.parametrize(("pieces", "value"), PIECES_OF_VALUES)
def test_a_value_from_its_pieces(pieces: list[Any], value: Any) -> None:
    assert join(pieces) == value


def repeated_messages(reader: AgentAPIReader, *messages: Any) -> list[str]:
    """The messages that a response's output tells anew."""
    payload = response("completed", output=list(messages))
    events = reader.message(99, None, json.dumps(payload))
    return [event.id for event in events if isinstance(event, Message)]


class TestLimits:
    def test_the_oldest_messages_give_way(self) -> None:
        many = [message("completed", f"m{n}") for n in range(MAX_STORED + 10)]
        _, reader = read(many)
        assert repeated_messages(reader, many[-1], many[50], many[0]) == ["m0"]

    def test_messages_that_never_end_are_no_exception(self) -> None:
        many = [message(identifier=f"m{n}") for n in range(MAX_STORED + 10)]
        _, reader = read(many)
        assert repeated_messages(reader, many[-1], many[0]) == ["m0"]

    def test_the_oldest_parts_give_way(self) -> None:
        pieces = [delta("a", index) for index in range(MAX_PARTS + 5)]
        events, reader = read([message(), *pieces])
        assert sum(isinstance(event, Content) for event in events) == len(pieces)
        # What is forgotten is shown once more, which replaces what was there.
        again = reader.message(99, None, json.dumps(content(index=0, text="a")))
        assert [type(event) for event in again] == [Content]
        known = reader.message(99, None, json.dumps(content(index=900, text="a")))
        assert [type(event) for event in known] != [Content]

    def test_parts_count_like_messages(self) -> None:
        stream = [
            payload
            for n in range(30)
            for payload in (
                message(identifier=f"m{n}"),
                *(delta("a", index, f"m{n}") for index in range(MAX_PARTS)),
            )
        ]
        _, reader = read(stream)
        assert repeated_messages(reader, message(identifier="m29"), message(identifier="m0")) == [
            "m0"
        ]
