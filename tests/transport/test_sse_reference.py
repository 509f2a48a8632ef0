"""Events that a standard client reads from bytes that the playground shows in full."""

from __future__ import annotations

import pytest

from playground.transport import NotAStreamError, standard_client

STREAM = "text/event-stream"


def test_events_are_read() -> None:
    events = standard_client(STREAM, b"event: result\nid: 7\ndata: a\ndata: b\n\ndata: c\n\n")
    assert [(event.event, event.id, event.data) for event in events] == [
        ("result", "7", "a\nb"),
        ("message", "7", "c"),
    ]


def test_comments_and_an_unfinished_event_are_dropped() -> None:
    events = standard_client(STREAM, b": ping\n\ndata: 1\n\ndata: 2")
    assert [event.data for event in events] == ["1"]


def test_separators_inside_data_do_not_split() -> None:
    data = "a\u2028b\u0085c"
    events = standard_client(STREAM, f"data: {data}\n\n".encode())
    assert [event.data for event in events] == [data]


@pytest.mark.parametrize("media_type", ["text/plain", "application/json", "", "bad type"])
def test_another_media_type_is_an_error_there(media_type: str) -> None:
    with pytest.raises(NotAStreamError) as caught:
        standard_client(media_type, b"data: 1\n\n")
    assert "text/event-stream" in str(caught.value)


def test_parameters_of_the_media_type_do_not_matter() -> None:
    assert standard_client(STREAM + "; charset=utf-8", b"data: 1\n\n")
