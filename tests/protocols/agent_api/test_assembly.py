"""What is remembered of a response: enough, and no more than that."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols.agent_api import AgentAPIReader, assembly
from playground.protocols.agent_api.parts import join
from playground.protocols.events import Content, Message
from tests.protocols.agent_api.examples import content, delta, message, read, response


def told_again(reader: AgentAPIReader, *messages: Any) -> list[str]:
    """The messages that a response's output tells anew."""
    payload = response("completed", output=list(messages))
    events = reader.message(99, None, json.dumps(payload))
    return [event.id for event in events if isinstance(event, Message)]


class TestLimits:
    def test_the_oldest_messages_give_way(self) -> None:
        many = [message("completed", f"m{n}") for n in range(assembly.MAX_REMEMBERED + 10)]
        _, reader = read(many)
        assert told_again(reader, many[-1], many[50], many[0]) == ["m0"]

    def test_messages_that_never_end_are_no_exception(self) -> None:
        many = [message(identifier=f"m{n}") for n in range(assembly.MAX_REMEMBERED + 10)]
        _, reader = read(many)
        assert told_again(reader, many[-1], many[0]) == ["m0"]

    def test_the_oldest_parts_give_way(self) -> None:
        pieces = [delta("a", index) for index in range(assembly.MAX_PARTS + 5)]
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
                *(delta("a", index, f"m{n}") for index in range(assembly.MAX_PARTS)),
            )
        ]
        _, reader = read(stream)
        assert told_again(reader, message(identifier="m29"), message(identifier="m0")) == ["m0"]


class TestJoin:
    """Values from their pieces."""

    def test_of_nothing_and_of_one(self) -> None:
        assert join([]) is None
        assert join([{"a": 1}]) == {"a": 1}

    def test_of_texts(self) -> None:
        assert join(["a", "", "b"]) == "ab"

    def test_of_objects(self) -> None:
        pieces = [
            {"call_id": "c", "name": "f", "arguments": '{"a', "n": 1},
            {"call_id": "c", "name": None, "arguments": '":1}', "n": 2, "tags": [1]},
            {"tags": [2], "more": {"x": "a"}},
            {"more": {"x": "b"}},
        ]
        assert join(pieces) == {
            "call_id": "c", "name": "f", "arguments": '{"a":1}', "n": 2, "tags": [1, 2],
            "more": {"x": "ab"},
        }  # fmt: skip

    def test_of_what_does_not_fit_together(self) -> None:
        assert join(["a", {"b": 1}]) == {"b": 1}
        assert join([{"b": 1}, 5]) == 5
