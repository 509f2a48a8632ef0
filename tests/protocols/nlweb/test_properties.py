"""Whatever an agent sends: nothing raises, nothing vanishes, and the result can be stored."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from playground.protocols.events import Event, Outcome
from playground.protocols.frames import FrameKind
from playground.protocols.nlweb import NLWebReader, validate_request
from tests.support.nlweb_values import EVENT_NAMES, OBJECTS, VALUES
from tests.support.playbook import SSE, Playbook, event, read_document, read_stream


def storable(events: list[Event]) -> bool:
    """Whether events can be written as JSON in UTF-8: what pages and commands do with them."""
    text = json.dumps([dataclasses.asdict(event) for event in events], allow_nan=False)
    json.dumps([repr(event) for event in events], ensure_ascii=False).encode()
    return bool(text)


@given(VALUES | OBJECTS)
def test_any_document(payload: Any) -> None:
    play = read_document(payload)
    assert play.events
    assert storable(play.events)
    assert isinstance(play.exchange.outcome, Outcome)
    assert play.exchange.session_context is None or storable(play.events)


@given(st.lists(st.tuples(EVENT_NAMES, VALUES | OBJECTS), max_size=5))
def test_any_stream(messages: list[tuple[str | None, Any]]) -> None:
    play = read_stream(*(event(payload, name) for name, payload in messages))
    assert storable(play.events)
    assert isinstance(play.exchange.outcome, Outcome)


@given(EVENT_NAMES, OBJECTS)
@example("content", {"results": None})
def test_no_message_vanishes(name: str | None, payload: dict[str, Any]) -> None:
    # An empty batch of the older server's dialect is the one message that says nothing.
    payload = {key: value for key, value in payload.items() if key != "message_type"}
    assert read_stream(event(payload, name)).events or payload.get("content") == []


@given(st.sampled_from(FrameKind), st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_in_any_frame(kind: FrameKind, one: bytes, two: bytes) -> None:
    play = Playbook().head(200, SSE).frame(kind, one).frame(FrameKind.EVENT, two)
    assert storable(play.frame(FrameKind.BODY, two).frame(FrameKind.TAIL, one).end().events)


@given(EVENT_NAMES, st.text(st.characters(), max_size=40))
def test_any_text_as_data(name: str | None, data: str) -> None:
    reader = NLWebReader("0.54")
    assert reader.message(1, name, data)


@given(VALUES | OBJECTS, st.sampled_from(["0.54", "0.55"]))
def test_any_request_is_checked(document: Any, version: str) -> None:
    for problem in validate_request(document, version):
        assert problem.level in ("error", "warning")
        assert problem.message.endswith(".")
