"""Whatever a server sends, in whatever order: nothing raises, everything ends."""

from __future__ import annotations

import json
from itertools import cycle, islice
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import mcp
from playground.protocols.events import Elicitation, Event
from playground.protocols.exchange import Target
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import elicitation
from tests.protocols.mcp.talk import MODERN, OLDER, URL, Talk, block, head, new_exchange
from tests.support.json_values import objects, values

NAMES = (
    "jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "tools",
    "nextCursor", "content", "text", "structuredContent", "isError", "resultType",
    "inputRequests", "requestState", "requestedSchema", "properties", "enum", "oneOf", "const",
    "items", "supportedVersions", "protocolVersion", "_meta", "results", "elicitations", "url",
)  # fmt: skip
TEXTS = (
    "2.0", "ping", "elicitation/create", "notifications/progress", "notifications/message",
    "input_required", "2026-07-28", "2025-06-18", '{"results": [1]}', "ask", "array", "integer",
)  # fmt: skip
PAYLOADS = values(NAMES, TEXTS)
#: Messages that get far: their id is that of one of the first calls.
MESSAGES = st.builds(
    lambda own_id, members: {"jsonrpc": "2.0", "id": own_id, **members},
    st.sampled_from([1, 2, 3, 4, "1", None]),
    objects(NAMES, TEXTS),
)
STATUSES = st.sampled_from([200, 200, 200, 202, 302, 400, 401, 404, 500])
REPLIES = st.tuples(STATUSES, st.lists(MESSAGES | PAYLOADS, max_size=4), st.booleans())
OPENINGS = st.sampled_from([None, MODERN, OLDER]) | objects(("url", "generation", "version"))
EXCHANGES = st.sampled_from(
    [
        lambda opening: new_exchange(handshake=opening),
        lambda opening: mcp.call_tool(Target(URL, handshake=opening), "add", {}),
        lambda opening: mcp.list_tools(Target(URL, handshake=opening)),
    ]
)


def answer(talk: Talk, status: int, payloads: list[Any], *, streamed: bool) -> None:
    """Answer the call that was made last."""
    if streamed:
        talk.frame(FrameKind.HEAD, head(status, "text/event-stream", mcp_session_id="s"))
        for payload in payloads:
            talk.frame(FrameKind.EVENT, block(payload))
    else:
        talk.frame(FrameKind.HEAD, head(status))
        body = json.dumps(payloads[0] if len(payloads) == 1 else payloads) if payloads else ""
        talk.frame(FrameKind.BODY, body.encode())
    talk.frame(FrameKind.END)


@given(EXCHANGES, OPENINGS, st.lists(REPLIES, max_size=6))
def test_no_replies_raise_and_a_stored_run_reads_the_same(
    make: Any, opening: Any, replies: list[tuple[int, list[Any], bool]]
) -> None:
    talk = Talk(make(opening))
    for status, payloads, streamed in replies:
        if (call := talk.exchange.next_call()) is None:
            break
        assert talk.exchange.next_call() is None  # One call at a time.
        answer(talk.send(call), status, payloads, streamed=streamed)
        talk.exchange.automatic_responses()
    again = make(opening)
    events: list[Event] = [event for frame in talk.frames for event in again.receive(frame)]
    assert events == talk.events
    assert again.outcome is talk.exchange.outcome
    assert again.problem == talk.exchange.problem
    json.dumps(talk.exchange.handshake)


@given(EXCHANGES, st.lists(REPLIES, min_size=1, max_size=4))
def test_every_talk_ends(make: Any, replies: list[tuple[int, list[Any], bool]]) -> None:
    """Within the pages of two tool lists, two openings and two calls, whatever is repeated."""
    talk = Talk(make(None))
    for status, payloads, streamed in islice(cycle(replies), 60):
        if (call := talk.exchange.next_call()) is None:
            return
        answer(talk.send(call), status, payloads, streamed=streamed)
    assert talk.exchange.next_call() is None


@given(st.lists(st.tuples(st.sampled_from(list(FrameKind)), st.binary(max_size=60)), max_size=20))
def test_no_frames_in_any_order_raise(frames: list[tuple[FrameKind, bytes]]) -> None:
    talk = Talk()
    for kind, data in frames:
        talk.frame(kind, data)
    assert talk.exchange.outcome is not None


@given(PAYLOADS, objects(NAMES, TEXTS), st.sampled_from(elicitation.ACTIONS))
def test_every_question_has_an_answer_that_can_be_sent(
    params: Any, answers: dict[str, Any], action: str
) -> None:
    asked: list[Elicitation | None] = [
        elicitation.elicitation_request(1, "x", params, "", ""),
        elicitation.url_elicitation(1, params),
    ]
    if isinstance(params, dict):
        asked.append(elicitation.input_requests(1, params))
    for event in asked:
        if event is None:
            continue
        assert event.resume is not None
        values = {
            question.id: answer
            for question, answer in zip(event.questions, answers.values(), strict=False)
        }
        resume = elicitation.resume_of(event.resume, action, values)
        assert new_exchange(resume=resume, handshake=MODERN).next_call() is not None
