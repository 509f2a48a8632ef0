"""The transport before streamable HTTP, HTTP+SSE (2024-11-05): recognized and named."""

from __future__ import annotations

from typing import Any

import pytest

from playground.protocols.events import Outcome
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from tests.protocols.mcp.talk import OLDER, Talk, head, known, rpc

ENDPOINT = b"event: endpoint\r\ndata: /messages/?session_id=5\r\n\r\n"


def refused(status: int, **fields: Any) -> Talk:
    """A server that accepts no POST request."""
    return Talk(**fields).json(b"No.", status).json(b"No.", status)


@pytest.mark.parametrize("status", [400, 404, 405])
def test_is_found_by_get_and_named(status: int) -> None:
    talk = refused(status).call()
    assert (talk.calls[-1].method, talk.calls[-1].body) == ("GET", b"")
    assert dict(talk.calls[-1].headers)["Accept"] == "text/event-stream"
    talk.frame(FrameKind.HEAD, head(200, "text/event-stream"))
    assert not talk.exchange.has_enough
    talk.frame(FrameKind.COMMENT, b": hello\n\n")
    assert not talk.exchange.has_enough
    # The stream stays open.
    talk.frame(FrameKind.EVENT, ENDPOINT)
    assert talk.exchange.has_enough
    assert talk.exchange.next_call() is None
    assert talk.exchange.problem is not None
    assert "HTTP+SSE transport of MCP 2024-11-05" in talk.exchange.problem.cause
    assert "/mcp" in talk.exchange.problem.fix
    assert (talk.exchange.outcome, [event.name for event in talk.events]) == (
        Outcome.NONE,
        ["mcp discovery"],
    )


@pytest.mark.parametrize(
    ("status", "media_type", "body"),
    [
        (405, "application/json", b""),
        (200, "text/html", b"<html>"),
        (404, "application/json", b'{"jsonrpc": "2.0", "id": 2, "error": {"code": 5}}'),
        (200, "text/event-stream", b"event: message\ndata: {}\n\n"),
        (200, "text/event-stream", b""),
    ],
)
def test_another_server_is_refused_as_before(status: int, media_type: str, body: bytes) -> None:
    talk = refused(404).call()
    talk.frame(FrameKind.HEAD, head(status, media_type))
    if body:
        stream = media_type == "text/event-stream"
        talk.frame(FrameKind.EVENT if stream else FrameKind.BODY, body)
    talk.frame(FrameKind.END)
    assert talk.exchange.next_call() is None
    assert talk.exchange.problem is not None
    assert "HTTP 404" in talk.exchange.problem.cause
    assert talk.exchange.outcome is Outcome.NONE


def test_an_error_of_the_search_leaves_the_refusal() -> None:
    talk = refused(404).call()
    talk.frame(FrameKind.ERROR, Problem("failed", Stage.BODY, "No data for 60 s.", "").to_bytes())
    assert talk.exchange.tolerates_error
    assert talk.exchange.next_call() is None
    assert talk.exchange.problem is not None
    assert "HTTP 404" in talk.exchange.problem.cause


@pytest.mark.parametrize("status", [401, 406, 500, 503])
def test_is_not_looked_for_after_other_statuses(status: int) -> None:
    talk = Talk(mcp_version="2025-11-25").json(b"No.", status)
    assert talk.exchange.next_call() is None


def test_is_not_looked_for_where_the_server_answers() -> None:
    talk = known(handshake=OLDER, session=("", ""))
    talk.json(rpc(error={"code": -32603, "message": "Full."}), 400)
    assert talk.exchange.next_call() is None
