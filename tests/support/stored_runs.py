"""Runs with frames stored as the engine stores them, without an agent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from playground.engine.driver import Driver
from playground.engine.request import request_of_run
from playground.engine.writer import FrameWriter, store
from playground.models import Run
from playground.models.frames import Batch, Flush
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind

K = FrameKind

CALL = Frame(0, 0, K.CALL, b"POST /ask HTTP/1.1\r\n\r\n{}")
OPEN = Frame(0, 10, K.OPEN, b'{"peer": "127.0.0.1:80", "tls": null}')
HEAD = Frame(0, 20, K.HEAD, b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
END = Frame(0, 90, K.END)


class DirectWriter(FrameWriter):
    """A writer that stores at once, without an event loop."""

    #: What was stored last.
    stored_last: Flush

    def add(self, batch: Batch | None = None, **changes: Any) -> None:
        """Store frames and columns."""
        self.stored_last = Flush(self._run, [batch] if batch and batch.frames else [], changes)
        store(self.stored_last)


class Recording:
    """A run that grows batch by batch."""

    def __init__(self, **fields: Any) -> None:
        self.run = Run.objects.create(
            **{
                "agent_name": "scripted",
                "url": "http://agent.example/ask",
                "protocol": "nlweb",
                "binding": "http",
                "version": "0.55",
                "request": {"query": {"text": "eggs"}},
                "text": "eggs",
                "state": "connecting",
                **fields,
            }
        )
        self._driver = Driver(
            self.run,
            request_of_run(self.run, Target(**self.run.describe_target()), self.run.request, []),
        )
        self._writer = DirectWriter(self.run)

    @property
    def stored(self) -> Flush:
        """Return what was stored last, as the engine passes it to viewers."""
        return self._writer.stored_last

    def add(self, *frames: Frame) -> None:
        """Store the frames in one batch; the run's counts follow."""
        numbered = self._writer.number(frames)
        self._driver._put(self._writer, numbered, self._driver._read(numbered))
        self.run.refresh_from_db()

    def end(self, state: str = "completed") -> Run:
        """Put the run into a final state."""
        self._writer.add(state=state, ended_us=1_000)
        self.run.refresh_from_db()
        return self.run


def past_run(*, days: float = 0, minutes: float = 0, **fields: Any) -> Run:
    """Return a run without frames that was created, and completed, so long ago."""
    own = {"agent_name": "Recipes", "state": "completed", "outcome": "answer", "request": {}}
    run = Recording(**{**own, **fields}).run
    run.created_at = timezone.now() - timedelta(days=days, minutes=minutes)
    run.save(update_fields=["created_at"])
    return run


def recorded(batches: Iterable[Sequence[Frame]], state: str = "completed") -> Run:
    """Return a run with these batches in a final state."""
    recording = Recording()
    for batch in batches:
        recording.add(*batch)
    return recording.end(state)


def event(text: str) -> Frame:
    """Return the frame of an SSE event from its lines."""
    return Frame(0, 50, K.EVENT, text.encode() + b"\n\n")


def result(number: int) -> Frame:
    """Return the frame of a result event."""
    item = {"@type": "Recipe", "name": f"Dish {number}"}
    return event(f"event: result\ndata: {json.dumps({'index': number, 'item': item})}")


#: Events of a stream, valid and invalid ones.
PIECES = (
    'event: start\ndata: {"_meta": {"response_type": "answer"}}',
    'event: start\ndata: {"_meta": {"summary": "In short"}}',
    'data: {"_meta": {"version": "0.55"}, "item": {"name": "A"}}',
    'data: {"_meta": {"version": "0.55", "summary": "In short"}, "content": "words"}',
    'data: {"_meta": {"summary": "In other words"}, "results": [{"name": "B"}, "C"]}',
    'event: result\ndata: {"index": 3, "item": {"@type": "Recipe", "name": "D"}}',
    'event: result\ndata: [{"name": "E"}, {"@type": "SearchSummary", "text": "All of it"}]',
    'event: content\ndata: {"type": "summary", "text": "To sum up"}',
    'event: content\ndata: {"type": "text", "text": "Hello"}',
    'event: error\ndata: {"error": {"code": "NO_RESULTS"}}',
    'event: elicitation\ndata: {"text": "For whom?", "questions": []}',
    'event: ping\ndata: {"n": 1}',
    "event: result\ndata: not json",
    "id: 7",
    'event: complete\ndata: {"_meta": {"response_type": "answer"}}',
    'event: end\ndata: {"message": "Bye"}',
)
_streams = st.lists(
    st.sampled_from(PIECES).map(event) | st.just(Frame(0, 50, K.COMMENT, b": here\n\n")),
    max_size=25,
)
_documents = st.sampled_from(
    (
        b'{"_meta": {"response_type": "answer", "summary": "S"}, "results": ["a", "b", "c"]}',
        b"<html>",
        b"",
    )
).map(lambda body: [Frame(0, 60, K.BODY, body[n : n + 9]) for n in range(0, len(body), 9)])
_endings = st.sampled_from(
    ([], [END], [Frame(0, 80, K.TAIL, b'event: result\ndata: {"item": "half')], [END])
)


@st.composite
def batches(draw: st.DrawFn) -> list[list[Frame]]:
    """Draw the frames of a run in any batches."""
    body = draw(_streams | _documents)
    frames = [CALL, OPEN, HEAD, *body, *draw(_endings)]
    cuts = sorted(draw(st.sets(st.integers(1, len(frames) - 1), max_size=len(frames))))
    edges = [0, *cuts, len(frames)]
    return [frames[a:b] for a, b in pairwise(edges)]
