"""What is remembered of a response: enough, and no more than that."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols.agent_api import AgentAPIReader, partial_messages
from playground.protocols.events import Content, Message
from tests.support.agent_api_examples import content, delta, message, read, response


def repeated_messages(reader: AgentAPIReader, *messages: Any) -> list[str]:
    """The messages that a response's output tells anew."""
    payload = response("completed", output=list(messages))
    events = reader.message(99, None, json.dumps(payload))
    return [event.id for event in events if isinstance(event, Message)]


class TestLimits:
    def test_the_oldest_messages_give_way(self) -> None:
        many = [message("completed", f"m{n}") for n in range(partial_messages.MAX_STORED + 10)]
        _, reader = read(many)
        assert repeated_messages(reader, many[-1], many[50], many[0]) == ["m0"]

    def test_messages_that_never_end_are_no_exception(self) -> None:
        many = [message(identifier=f"m{n}") for n in range(partial_messages.MAX_STORED + 10)]
        _, reader = read(many)
        assert repeated_messages(reader, many[-1], many[0]) == ["m0"]

    def test_the_oldest_parts_give_way(self) -> None:
        pieces = [delta("a", index) for index in range(partial_messages.MAX_PARTS + 5)]
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
                *(delta("a", index, f"m{n}") for index in range(partial_messages.MAX_PARTS)),
            )
        ]
        _, reader = read(stream)
        assert repeated_messages(reader, message(identifier="m29"), message(identifier="m0")) == [
            "m0"
        ]
