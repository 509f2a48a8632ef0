"""Blocks of the Wire tab."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.rendering.wire import MAX_SHOWN, WireBlock, blocks_of


def block(data: bytes, kind: FrameKind = FrameKind.EVENT) -> WireBlock:
    return blocks_of([Frame(3, 1_500, kind, data)])[0]


def test_bytes_are_shown_as_they_came() -> None:
    shown = block(b"event: x\r\ndata: <b>\r\n\r\n")
    assert shown.text == "event: x\r\ndata: <b>\r\n\r\n"
    assert (shown.seq, shown.at, shown.kind, shown.size) == (3, "1.5 ms", "event", "23 B")
    assert (shown.hidden, shown.replaced) == ("", False)


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"caf\xc3\xa9", "café", False),
        (b"caf\xe9!", "caf\ufffd!", True),
        ("genuine \ufffd".encode(), "genuine \ufffd", False),
        ("genuine \ufffd".encode() + b" and \xff", "genuine \ufffd and \ufffd", True),
        (b"cut \xc3", "cut \ufffd", True),
        (b"", "", False),
    ],
)
def test_what_is_not_utf8_is_said(data: bytes, text: str, replaced: bool) -> None:
    shown = block(data, FrameKind.BODY)
    assert (shown.text, shown.replaced) == (text, replaced)


@pytest.mark.parametrize("shift", range(4))
def test_a_large_block_is_cut_between_characters(shift: int) -> None:
    data = b"a" * shift + "🍳".encode() * MAX_SHOWN
    shown = block(data, FrameKind.BODY)
    assert MAX_SHOWN - 4 < len(shown.text.encode()) <= MAX_SHOWN
    assert data.startswith(shown.text.encode())
    assert not shown.replaced
    assert shown.hidden == "192.0 KB"


def test_exactly_as_much_as_is_shown_hides_nothing() -> None:
    assert block(b"a" * MAX_SHOWN).hidden == ""
    assert block(b"a" * (MAX_SHOWN + 1)).hidden == "1 B"


def test_errors_and_connections_are_put_in_words() -> None:
    problem = Problem("failed", Stage.TLS, "It broke.", "Mend it.", "SSL: bad \ufffd")
    shown = block(problem.to_bytes(), FrameKind.ERROR)
    assert (shown.text, shown.replaced) == ("It broke.\nSSL: bad \ufffd", False)
    opened = block(b'{"tls": null, "peer": "127.0.0.1:80"}', FrameKind.OPEN)
    assert opened.text == "peer: 127.0.0.1:80"
    reused = block(b'{"tls": "TLSv1.3", "peer": "a:443", "reused": true}', FrameKind.OPEN)
    assert reused.text == "tls: TLSv1.3, peer: a:443, connection reused"


@given(st.binary(max_size=200), st.sampled_from([FrameKind.EVENT, FrameKind.BODY, FrameKind.TAIL]))
def test_any_bytes_make_a_block(data: bytes, kind: FrameKind) -> None:
    shown = block(data, kind)
    assert shown.replaced == (shown.text.encode() != data)
