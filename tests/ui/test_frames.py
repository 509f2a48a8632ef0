"""Frames of a run as rows of its Events tab and as blocks of its Wire tab."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.support.run_page import part, replied, result_of, streamed
from tests.support.stored_runs import Recording, recorded

pytestmark = pytest.mark.django_db

K = FrameKind
PROBLEM = Problem("truncated", Stage.BODY, "The connection was lost.", "Look.", "SSL: \ufffd")


def of_frames(*frames: tuple[K, bytes], at_us: int = 1_500) -> Run:
    return recorded([[Frame(0, at_us, kind, data) for kind, data in frames]])


def rows(run: Run) -> list[tuple[str, str, str]]:
    """Return kind, text and size of the rows of the Events tab."""
    return [
        (row.attributes["data-kind"] or "", row.select(class_="event-text")[0].words,
         row.select(class_="event-size")[0].words)
        for row in part(run, "events/").find("li")
    ]  # fmt: skip


def blocks(run: Run) -> list[tuple[str, list[str]]]:
    """Return the text of the blocks of the Wire tab, and what is said below it."""
    return [
        ("".join(each.text for each in block.find("pre")),
         [each.words for each in block.select("p", class_="hint")])
        for block in part(run, "wire/").find("section")
    ]  # fmt: skip


#: A frame, its row, and its block of bytes.
FRAMES: list[tuple[K, bytes, str, str]] = [
    (K.CALL, b"POST /ask HTTP/1.1\r\nHost: a\r\n\r\n{}", "POST /ask HTTP/1.1",
     "POST /ask HTTP/1.1\r\nHost: a\r\n\r\n{}"),
    (K.OPEN, b'{"peer": "127.0.0.1:80", "tls": null}', "connected to 127.0.0.1:80",
     "peer: 127.0.0.1:80"),
    (K.OPEN, b'{"peer": "a:443", "tls": "TLSv1.3"}', "connected to a:443 over TLSv1.3",
     "peer: a:443, tls: TLSv1.3"),
    (K.OPEN, b'{"peer": "a:80", "tls": null, "reused": true}',
     "connected to a:80, connection reused", "peer: a:80, connection reused"),
    (K.HEAD, b"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n\r\n"),
    (K.COMMENT, b": still <here>\n\n", ": still <here>", ": still <here>\n\n"),
    (K.BODY, b"\xff\xfe", "\ufffd\ufffd", "\ufffd\ufffd"),
    (K.BODY, b"  \n ", "", "  \n "),
    (K.ERROR, PROBLEM.to_bytes(), "The connection was lost.",
     "The connection was lost.\nSSL: \ufffd"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "row", "block"), FRAMES)
def test_a_frame_by_itself(kind: K, data: bytes, row: str, block: str) -> None:
    run = of_frames((kind, data))
    ((shown, text, size),) = rows(run)
    assert (shown, text, bool(size)) == (kind.name.lower(), row, True)
    assert [found for found, _ in blocks(run)] == [block]
    (section,) = part(run, "wire/").find("section")
    assert "1.5 ms" in section.words


#: An event of a stream, its kind, and its text in the list.
EVENTS: list[tuple[str, str, str]] = [
    (result_of({"@type": "Recipe", "name": "Soup"}, index=0), "result", "#0 Recipe · Soup"),
    (result_of("words"), "result", "text · words"),
    ('event: content\ndata: {"type": "text", "text": "Hello"}', "text", "Hello"),
    ('event: elicitation\ndata: {"text": "For whom?"}', "elicitation", "For whom?"),
    ('event: promise\ndata: {"token": "tok", "message": "Later"}', "promise", "Later"),
    ('event: promise\ndata: {"token": "tok"}', "promise", "tok"),
    ('event: error\ndata: {"error": {"code": "NO_RESULTS", "message": "None."}}', "failure",
     "NO_RESULTS · None."),
    ('event: error\ndata: {"error": {"code": "NO_RESULTS"}}', "failure", "NO_RESULTS"),
    ('event: start\ndata: {"_meta": {"version": "0.55"}}', "started", '{"version": "0.55"}'),
    ('event: ping\ndata: {"n": 1}', "unknown",
     "ping · NLWeb 0.55 does not define an event with this name."),
    ('event: result\ndata: [{"name": "a"}, "b", "c"]', "result", "untyped · a + 2 more"),
    (f"event: result\ndata: {json.dumps({'item': 'x' * 500})}", "result",
     "text · " + "x" * 152 + "…"),
]  # fmt: skip


def test_an_event_in_a_line() -> None:
    found = rows(streamed(*(sent for sent, _, _ in EVENTS)))[3:-1]
    assert [(kind, text) for kind, text, _ in found] == [row[1:] for row in EVENTS]


def test_kinds_of_other_protocols() -> None:
    made = Recording(protocol="agent-api", version="1")
    chunks = [
        b'data: {"object": "message", "id": "m1", "type": "message", "role": "assistant"}\n\n',
        b'data: {"object": "content", "msg_id": "m1", "type": "text", "text": "x"}\n\n',
    ]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    made.add(Frame(0, 0, K.HEAD, head), *(Frame(0, 0, K.EVENT, chunk) for chunk in chunks))
    assert [kind for kind, _, _ in rows(made.end())] == ["head", "message", "content"]


@pytest.mark.parametrize(
    ("data", "text", "is_replaced"),
    [
        (b"caf\xc3\xa9", "café", False),
        (b"caf\xe9!", "caf\ufffd!", True),
        ("genuine \ufffd".encode(), "genuine \ufffd", False),
        ("genuine \ufffd".encode() + b" and \xff", "genuine \ufffd and \ufffd", True),
        (b"cut \xc3", "cut \ufffd", True),
    ],
)
def test_what_is_not_utf8_is_said(data: bytes, text: str, is_replaced: bool) -> None:
    said = "Bytes that are not valid UTF-8 are shown as �."
    assert blocks(of_frames((K.BODY, data))) == [(text, [said] * is_replaced)]


@pytest.mark.parametrize("shift", range(4))
def test_a_large_block_is_cut_between_characters(shift: int) -> None:
    data = b"a" * shift + "🍳".encode() * 65_536
    ((text, said),) = blocks(of_frames((K.BODY, data)))
    assert 65_532 < len(text.encode()) <= 65_536
    assert data.startswith(text.encode())
    assert said == ["192.0 KB more in the download."]


def test_exactly_as_much_as_is_shown_hides_nothing() -> None:
    found = blocks(of_frames((K.BODY, b"a" * 65_536), (K.BODY, b"a" * 65_537)))
    assert [said for _, said in found] == [[], ["1 B more in the download."]]


@given(st.lists(st.tuples(st.sampled_from([K.EVENT, K.BODY, K.TAIL]), st.binary(max_size=60))))
def test_any_bytes_make_rows_and_blocks(frames: list[tuple[K, bytes]]) -> None:
    run = of_frames(*frames)
    assert all(len(text) <= 170 for _, text, _ in rows(run))
    for (text, said), (_, data) in zip(blocks(run), frames, strict=True):
        # Some versions of Python's parser of HTML replace NUL, as browsers do, and others do not.
        shown, sent = text.replace("\x00", "\ufffd"), data.replace(b"\x00", b"\xef\xbf\xbd")
        assert bool(said) == (shown.encode() != sent)


def test_the_json_of_an_event() -> None:
    run = replied('{"results": [{"a": 1}, "b"]}')
    for place, item in enumerate(({"a": 1}, "b")):
        shown = json.loads(part(run, f"items/5/{place}/").text)
        assert shown == {"index": place, "item": item}
