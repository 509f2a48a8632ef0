"""Rows of the Events tab."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import events as ev
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.rendering.events import EventRow, payload_of, row_of, rows_of

PROBLEM = Problem("truncated", Stage.BODY, "The connection was lost.", "Look.").to_bytes()


def row(kind: FrameKind, data: bytes = b"", events: Sequence[ev.Event] = ()) -> EventRow:
    return row_of(Frame(2, 12_000, kind, data), events)


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (FrameKind.CALL, b"POST /ask HTTP/1.1\r\nHost: a\r\n\r\n{}", "POST /ask HTTP/1.1"),
        (FrameKind.OPEN, b'{"peer": "127.0.0.1:80", "tls": null}', "connected to 127.0.0.1:80"),
        (FrameKind.OPEN, b'{"peer": "a:443", "tls": "TLSv1.3"}', "connected to a:443 over TLSv1.3"),
        (
            FrameKind.OPEN,
            b'{"peer": "a:80", "tls": null, "reused": true}',
            "connected to a:80, connection reused",
        ),
        (FrameKind.HEAD, b"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK"),
        (FrameKind.COMMENT, b": still here\n\n", ": still here"),
        (FrameKind.BODY, b"\xff\xfe", "\ufffd\ufffd"),
        (FrameKind.BODY, b"  \n ", ""),
        (FrameKind.TAIL, b"data: half", "data: half"),
        (FrameKind.END, b"", "Response body complete"),
        (FrameKind.ERROR, PROBLEM, "The connection was lost."),
        (FrameKind.EVENT, b"x" * 500, "x" * 159 + "…"),
    ],
)
def test_a_frame_without_events_speaks_for_itself(kind: FrameKind, data: bytes, text: str) -> None:
    found = row(kind, data)
    assert (found.kind, found.text) == (kind.name.lower(), text)
    assert bool(found.size) == bool(data)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (ev.Result(2, {"@type": "Recipe", "name": "Soup"}, 0), "Recipe · Soup"),
        (ev.Result(2, "words"), "text · words"),
        (ev.Text(2, "Hello"), "Hello"),
        (ev.Elicitation(2, "For whom?"), "For whom?"),
        (ev.Promise(2, "tok", message="Later"), "Later"),
        (ev.Promise(2, "tok"), "tok"),
        (ev.Failure(2, "NO_RESULTS", "None."), "NO_RESULTS · None."),
        (ev.Failure(2, "NO_RESULTS"), "NO_RESULTS"),
        (ev.Started(2, {"version": "0.55"}), '{"version": "0.55"}'),
        (ev.Completed(2), ""),
        (ev.Note(2, "end", {"message": "Bye"}), 'end · {"message": "Bye"}'),
        (ev.Handshake(2, "card", {"url": "/a2a"}), 'card · {"url": "/a2a"}'),
        (ev.Unknown(2, "ping", 1, "No such event."), "ping · No such event."),
        (ev.Unknown(2, "ping", 1), "ping"),
    ],
)
def test_an_event_in_a_line(event: ev.Event, text: str) -> None:
    found = row(FrameKind.EVENT, b"data: 1\n\n", [event])
    assert (found.kind, found.text) == (type(event).__name__.lower(), text)


def test_the_index_and_how_many_more() -> None:
    two = [ev.Result(2, "a", 4), ev.Result(2, "b", 5), ev.Text(2, "c")]
    found = row(FrameKind.EVENT, b"data: 1\n\n", two)
    assert (found.index, found.text) == (4, "text · a  + 2 more")
    assert row(FrameKind.EVENT, b"", [ev.Text(2, "c"), ev.Result(2, "a", 4)]).index is None


def test_payloads() -> None:
    assert payload_of(ev.Result(1, {"a": 1})) == {"a": 1}
    assert payload_of(ev.Result(1, {"a": 1}, 0)) == {"index": 0, "item": {"a": 1}}
    assert payload_of(ev.Started(1, {"v": 1})) == {"v": 1}
    assert payload_of(ev.Unknown(1, "x", [1])) == [1]
    assert payload_of(ev.Failure(1, "X", raw={"code": "X"})) == {"code": "X"}
    assert payload_of(ev.Event(1)) is None


@given(st.binary(max_size=60), st.sampled_from([k for k in FrameKind if k not in (2, 9)]))
def test_any_bytes_make_a_row(data: bytes, kind: FrameKind) -> None:
    assert len(row(kind, data).text) <= 160
    assert [r.seq for r in rows_of([(Frame(n, 0, kind, data), ()) for n in (1, 2)])] == [1, 2]
