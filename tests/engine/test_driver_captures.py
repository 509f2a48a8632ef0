"""Captured responses of real agents, over a socket, through transport and engine."""

from __future__ import annotations

import pytest

from tests.engine.conftest import Send
from tests.support.replay import REPLIES, replaying, reply_bytes

#: state, outcome, results
EXPECTED = {
    "ask_json": ("completed", "answer", 6),
    "ask_stream": ("completed", "answer", 6),
    "ask_stream_elicitation": ("completed", "elicitation", 0),
    "rawsocket_stream_failure_midstream": ("truncated", "none", 0),
    "get_stream": ("completed", "answer", 4),
}


def test_every_capture_has_its_row() -> None:
    assert {path.stem for path in REPLIES} == set(EXPECTED)


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
async def test_a_captured_reply_is_read(send: Send, path) -> None:  # type: ignore[no-untyped-def]
    with replaying(reply_bytes(path)) as url:
        run = await send(url)
    assert (run.state, run.outcome, run.results) == EXPECTED[path.stem]
