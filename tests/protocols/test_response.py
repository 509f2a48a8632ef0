"""Messages of a stored response: what each says, why it is unreadable, and what is undecided."""

from __future__ import annotations

import tracemalloc

import pytest

from playground.protocols.doctor import evidence
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.json_decoder import StrictDecoder
from playground.protocols.response import Response

BODY, EVENT, TAIL = FrameKind.BODY, FrameKind.EVENT, FrameKind.TAIL
COMMENT, END, ERROR = FrameKind.COMMENT, FrameKind.END, FrameKind.ERROR
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"
LARGE = "The JSON is too large."
NO_DATA = "The message has no data."

Piece = tuple[FrameKind, bytes]


def response(*pieces: Piece, head: bytes = b"HTTP/1.1 200 OK\r\n\r\n") -> Response:
    listed = [(FrameKind.HEAD, head), *pieces]
    frames = [Frame(seq, 0, kind, data) for seq, (kind, data) in enumerate(listed, 1)]
    return Response(tuple(frames), 3)


#: Frames after the head; by message: frame, name, payload or reason, and the facts that are so.
MESSAGES: dict[str, tuple[list[Piece], list[tuple[object, ...]]]] = {
    "a document": ([(BODY, b"[1,"), (BODY, b"2]"), (END, b"")], [(4, None, [1, 2], "document")]),
    "a document after a byte order mark": (
        [(BODY, b"\xef\xbb\xbf{}"), (END, b"")],
        [(3, None, {}, "document", "has_bom")],
    ),
    "a page": (
        [(BODY, b"<html>"), (END, b"")],
        [(3, None, "The response is an HTML page, not JSON.", "document")],
    ),
    "a text": ([(BODY, b"Busy"), (END, b"")],
               [(3, None, "The response is text, not JSON.", "document")]),
    "a document that is cut off": (
        [(BODY, b'{"a": "b'), (END, b"")],
        [
            (
                3,
                None,
                "The response is not valid JSON: "
                "Unterminated string starting at: line 1 column 7 (char 6).",
                "document",
            )
        ],
    ),
    "a document that is too deep": (
        [(BODY, b"[[[[]]]]"), (END, b"")],
        [(3, None, LARGE, "document", "undecided")],
    ),
    "a whole document of a transfer that failed": (
        [(BODY, b"{}"), (ERROR, b"{}")],
        [(3, None, {}, "document")],
    ),
    "a part of a document": ([(BODY, b"{"), (ERROR, b"{}")], []),
    "a document that has not ended": ([(BODY, b"{}")], []),
    "an empty body": ([(END, b"")], []),
    "a body after the end": ([(END, b""), (BODY, b"{}")], []),
    "more of a body after the end": (
        [(BODY, b"{}"), (END, b""), (BODY, b"x")],
        [(3, None, {}, "document")],
    ),
    "events": (
        [(EVENT, b"event: a\ndata: 1\n\n"), (COMMENT, b":\n\n"), (EVENT, b"data: x\n\n")],
        [
            (2, "a", 1),
            (4, None, "The data is not JSON: Expecting value: line 1 column 1 (char 0)."),
        ],
    ),
    "events without data": (
        [(EVENT, b"id: 1\n\n"), (EVENT, b"event: a\n\n")],
        [(3, "a", NO_DATA)],
    ),
    "several objects in an event": (
        [(EVENT, b'data: {"a": 1}\ndata: {"b": 1}\n\n')],
        [(2, None, {"a": 1}, "unframed"), (2, None, {"b": 1}, "unframed")],
    ),
    "the end of a stream without its blank line": (
        [(TAIL, b"data: {}"), (END, b"")],
        [(2, None, {})],
    ),
    "the end of a stream that broke off": (
        [(TAIL, b"data: {}"), (ERROR, b"{}")],
        [(2, None, {}, "undecided")],
    ),
    "half of an object at the end": (
        [(TAIL, b'data: {"a'), (END, b"")],
        [(2, None, "The data is not JSON: ", "undecided")],
    ),
    "a comment at the end": ([(EVENT, b"data: 1\n\n"), (TAIL, b": x"), (END, b"")],
                             [(2, None, 1)]),
    "bytes that are not UTF-8": (
        [(EVENT, b'data: "\xff"\n\n')],
        [(2, None, "\ufffd", "not UTF-8")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("pieces", "expected"), MESSAGES.values(), ids=MESSAGES)
def test_messages(pieces: list[Piece], expected: list[tuple[object, ...]]) -> None:
    messages = response(*pieces).messages
    assert len(messages) == len(expected)
    for message, (seq, name, said, *facts) in zip(messages, expected, strict=True):
        assert (message.seq, message.name) == (seq, name)
        if message.readable:
            assert message.payload == said
        else:
            assert message.reason.startswith(str(said))
        assert message.framed is ("unframed" not in facts)
        assert message.is_utf8 is ("not UTF-8" not in facts)
        assert message.document is ("document" in facts)
        assert message.undecided is ("undecided" in facts)
        assert message.has_bom is ("has_bom" in facts)


@pytest.mark.parametrize(
    ("head", "pieces", "streamed", "ended"),
    [
        (STREAM, [], True, False),
        (STREAM, [(END, b"")], True, True),
        (STREAM, [(BODY, b"{}"), (END, b"")], False, True),
        (b"HTTP/1.1 200 OK\r\n\r\n", [(COMMENT, b":\n\n"), (ERROR, b"{}")], True, False),
        (b"HTTP/1.1 200 OK\r\n\r\n", [], False, False),
    ],
)
def test_framing(head: bytes, pieces: list[Piece], streamed: bool, ended: bool) -> None:
    found = response(*pieces, head=head)
    assert (found.status, found.streamed, found.ended) == (200, streamed, ended)
    assert found.media_type == ("text/event-stream" if head is STREAM else "")


def test_messages_are_read_as_they_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[str] = []

    def decode(self: StrictDecoder, text: str) -> int:
        decoded.append(text)
        return 0

    monkeypatch.setattr(StrictDecoder, "decode", decode)
    stream = response(*[(EVENT, b"data: %d\n\n" % at) for at in range(1000)], head=STREAM)
    assert next(stream.read()).text == "0"
    assert decoded == ["0"]
    assert evidence.Evidence(stream).payload == 0
    assert len(decoded) == 1 + evidence.MAX_MESSAGES


def test_a_body_is_in_its_frames_alone() -> None:
    """Its bytes are joined when they are used, in any order, and not kept."""
    pieces = [(BODY, b'["'), *[(BODY, b" " * 65536)] * 64, (BODY, b'"]'), (END, b"")]
    tracemalloc.start()
    try:
        found = response(*pieces)
        first, size = found.messages, len(found.data)
        assert (size, len(found.data)) == (64 * 65536 + 4, size)
        assert next(found.read()) == first[0]
        # The text and its value.
        assert tracemalloc.get_traced_memory()[0] < 2.5 * size
        del first, found.messages
        assert tracemalloc.get_traced_memory()[0] < 0.5 * size
    finally:
        tracemalloc.stop()
