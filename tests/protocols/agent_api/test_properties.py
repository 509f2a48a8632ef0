"""Whatever an agent sends, in whatever pieces: nothing raises, and the pieces make the text."""

from __future__ import annotations

import dataclasses
import json
from itertools import chain
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.agent_api.constants import words
from playground.protocols.events import Content, Message, Outcome, ToolCall
from tests.support.agent_api_examples import delta, message, read
from tests.support.json_values import objects, values

NAMES = (
    *("object", "id", "type", "role", "status", "content", "code", "message", "error", "output"),
    *("usage", "session_id", "sequence_number", "index", "delta", "msg_id", "text", "image_url"),
    *("data", "call_id", "name", "arguments", "refusal", "detail", "loc", "msg", "response"),
    *("input", "tools", "function", "parameters", "stream", "n", "stop", "required"),
)
WORDS = (
    *("response", "message", "content", "msg_1", "msg_2", "text", "image", "data", "created"),
    *("in_progress", "completed", "failed", "function_call", "function_call_output", "error"),
    *("reasoning", "heartbeat", "mcp_approval_request", "assistant", "user"),
)


CALL = {"call_id": "c", "name": "f", "arguments": "{"}

ids = st.sampled_from(["msg_1", "msg_2", None, "", 3])
statuses = st.sampled_from([*chain(*words("message", "status")), None, 5])
types = st.sampled_from([*chain(*words("message", "type")), None])
parts = st.fixed_dictionaries(
    {"type": st.sampled_from([*chain(*words("content", "type")), None])},
    optional={
        "object": st.just("content"),
        "status": statuses,
        "index": st.sampled_from([0, 1, 7, None, "x", -1, 2.0]),
        "delta": st.sampled_from([True, False, None]),
        "msg_id": ids,
        "text": st.sampled_from(["a", "b", "ab", "", None, 5]),
        "data": st.sampled_from([CALL, {"call_id": "c", "output": "1"}, [], 5]),
        "image_url": st.just("https://a.example/b.png"),
        "error": st.sampled_from([None, "No", {"code": "X"}]),
    },
)
messages = st.fixed_dictionaries(
    {"object": st.just("message"), "id": ids, "status": statuses},
    optional={
        "type": types,
        "role": st.sampled_from(["assistant", "user", None]),
        "content": st.none() | st.just("words") | st.lists(parts | st.just("a"), max_size=3),
        "code": st.sampled_from([None, "X"]),
    },
)
responses = st.fixed_dictionaries(
    {"object": st.just("response"), "id": ids, "status": statuses},
    optional={
        "output": st.none() | st.lists(messages, max_size=3),
        "error": st.sampled_from([None, "No", {"code": "X", "message": "No"}]),
        "session_id": ids,
        "usage": st.just({"tokens": 1}),
    },
)
#: Proper objects in any order, and what is none of them.
payloads = (
    responses
    | messages
    | parts.map(lambda part: {**part, "object": "content"})
    | parts
    | objects(NAMES, WORDS)
    | values(NAMES, WORDS)
)


@given(st.lists(payloads, max_size=12))
def test_any_stream(stream: list[Any]) -> None:
    events, reader = read(stream)
    # Events can be written as JSON in UTF-8: what pages and commands do with them.
    json.dumps([dataclasses.asdict(event) for event in events], allow_nan=False)
    json.dumps([repr(event) for event in events], ensure_ascii=False).encode()
    assert isinstance(reader.outcome, Outcome)
    context = reader.session_context
    assert context is None or all(isinstance(value, str) for value in context.values())
    # Every message has an entry of its own, and what belongs to it points there.
    homes = {
        (event.seq, part)
        for seq in range(1, len(stream) + 1)
        for part, event in enumerate(each for each in events if each.seq == seq)
    }
    assert all(
        event.message_ref in homes for event in events if isinstance(event, Content | ToolCall)
    )


@given(st.lists(payloads, min_size=1, max_size=8))
def test_no_message_vanishes(stream: list[Any]) -> None:
    """Each makes an event, whatever came before it."""
    events, _ = read(stream)
    assert {event.seq for event in events} == set(range(1, len(stream) + 1))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.text(max_size=5))))
def test_joined_pieces_are_the_text(pieces: list[tuple[str, int, str]]) -> None:
    """However messages and places take turns, and with nothing told twice at the end."""
    wanted: dict[tuple[str, int], str] = {}
    stream: list[Any] = [message(identifier="a"), message(identifier="b")]
    for owner, index, text in pieces:
        wanted[owner, index] = wanted.get((owner, index), "") + text
        stream.append(delta(text, index, owner))
    for owner in "ab":
        whole = [
            {"type": "text", "index": index, "text": text}
            for (name, index), text in wanted.items()
            if name == owner
        ]
        stream.append(message("completed", owner, content=whole))
    events, _ = read(stream)
    found: dict[tuple[str, int], str] = {}
    for event in events:
        if isinstance(event, Content):
            assert event.delta
            place = event.msg_id, event.index
            found[place] = found.get(place, "") + event.value
    assert found == wanted


@given(st.lists(messages, max_size=4))
def test_a_response_repeats_nothing(spoken: list[dict[str, Any]]) -> None:
    """Messages that had ids are not told again by the output, whatever was in them."""
    named = [each for each in spoken if isinstance(each["id"], str) and each["id"]]
    last = {each["id"]: each for each in named}
    _, reader = read(named)
    again = reader.message(99, None, json.dumps({"object": "response", "status": "completed",
                                                 "output": list(last.values())}))  # fmt: skip
    assert not [event for event in again if isinstance(event, Message)]
