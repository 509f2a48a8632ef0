"""Notifications before an answer: progress, log and tools."""

from __future__ import annotations

import math
from typing import Any

import pytest

from playground.protocols import events as ev
from playground.protocols.placement import Placement, PlacementAssigner
from playground.rendering.events import event_text, payload_of
from playground.rendering.progress import ProgressLine, progress_of

ASK = {"query": {"text": "eggs"}}
TOOLS = [{"name": "ask", "description": "<i>Asks</i>"}, {"name": "later"}, "nonsense", {"name": 7}]


@pytest.mark.parametrize(
    ("progress", "total", "message", "line"),
    [
        (1, 4, "Searching", ProgressLine(25, "Searching")),
        (0, 4, "", ProgressLine(0, "0 of 4")),
        (2.5, None, "", ProgressLine(None, "2.5 done")),
        (5, 4, "", ProgressLine(None, "5 of 4")),
        (-1, 4, "x", ProgressLine(None, "x")),
        (1, 0, "x", ProgressLine(None, "x")),
        (None, 4, "x", ProgressLine(None, "x")),
        (None, None, "", ProgressLine(None, "")),
        (math.nan, 4, "x", ProgressLine(None, "x")),
        (math.inf, math.inf, "", ProgressLine(None, "")),
        (10**400, 10**401, "x", ProgressLine(None, "x")),
        (1, 2, "w" * 500, ProgressLine(50, "w" * 119 + "…")),
    ],
)
def test_how_far(progress: Any, total: Any, message: str, line: ProgressLine) -> None:
    assert progress_of(ev.Progress(1, progress, total, message)) == line


@pytest.mark.parametrize(
    ("found", "text", "payload"),
    [
        (ev.Progress(1, 1, 4, "Searching", {"progress": 1}), "25 % · Searching", {"progress": 1}),
        (ev.Progress(1, None), "", None),
        (
            ev.Log(1, "info", {"a": 1}, "web"),
            'info · web · {"a": 1}',
            {"level": "info", "logger": "web", "data": {"a": 1}},
        ),
        (ev.Tools(1, tuple(TOOLS), more=True), "ask, later, 7 and more", TOOLS),
    ],
)
def test_rows_of_the_events_list(found: ev.Event, text: str, payload: Any) -> None:
    assert event_text(found) == text
    assert payload_of(found) == payload


def test_places() -> None:
    placer = PlacementAssigner()
    placed = [
        placer.assign(each)
        for each in (
            ev.Progress(1, 1), ev.Log(1, "info", "a"), ev.Log(1, "info", "b"),
            ev.Note(1, "intent", {"message_type": "intent"}), *[ev.Tools(1, ())] * 7,
        )
    ]  # fmt: skip
    log, tools = (
        [Placement.ASIDE, Placement.NONE, Placement.NONE],
        [Placement.ASIDE] * 5 + [Placement.NONE] * 2,
    )
    assert placed == [Placement.NONE, *log, *tools]
