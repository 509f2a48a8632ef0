"""Pages of a run never fail, with any JSON value anywhere in any response."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import read
from tests.support.nlweb_values import VALUES
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded

pytestmark = pytest.mark.database

META = {"version": "0.55", "session_context": {"turn": 1, "topics": ["eggs"]}}
ACTION = {
    "name": "add", "description": "Add it", "protocol": "HTTP", "method": "POST",
    "endpoint": "http://127.0.0.1:9/cart", "params": {"items": [1]}, "headers": {"X-A": "1"},
}  # fmt: skip
ITEM = {
    "@context": "https://schema.org", "@type": ["Recipe", "Thing"], "name": "Soup",
    "description": "Hot", "image": {"url": "https://example.com/a.png"},
    "grounding": {"source_urls": ["https://example.com/"], "rating": 0.9},
    "hasPart": [{"@type": "HowToStep", "text": "Stir", "actions": [ACTION]}],
    "actions": [ACTION, {**ACTION, "protocol": "MCP", "server": "s", "tool": "t", "arguments": {}}],
}  # fmt: skip
DOCUMENTS: list[dict[str, Any]] = [
    {"_meta": {**META, "response_type": "answer", "summary": "S"}, "results": [ITEM]},
    {
        "_meta": {**META, "response_type": "answer", "response_format": "chatgpt_app",
                  "openai/outputTemplate": "ui://widget", "openai/widgetAccessible": True},
        "content": [{"type": "text", "text": "For you"}],
        "structuredData": [ITEM],
    },
    {
        "_meta": {**META, "response_type": "elicitation"},
        "elicitation": {"text": "Say", "questions": [
            {"id": "a", "text": "Which?", "type": "single_select", "options": ["x", "y"],
             "default": "x"},
            {"id": "b", "text": "How many?", "type": "number", "default": 3},
            {"id": "c", "text": "Password?", "type": "free_text"},
            {"id": "d", "text": "All?", "type": "multi_select", "options": ["x", "y"]},
            {"id": "e", "text": "Yes?", "type": "boolean", "default": True},
        ]},
    },
    {
        "_meta": {**META, "response_type": "promise"},
        "promise": {"token": "t", "estimated_time": 5, "message": "Soon", "progress": 0.1},
    },
    {
        "_meta": {**META, "response_type": "failure"},
        "error": {"code": "INVALID_PARAMETER", "message": "No", "details": {"parameter": "a"}},
    },
]  # fmt: skip
STREAM: list[tuple[str, dict[str, Any]]] = [
    ("start", {"_meta": {**META, "response_type": "answer", "streaming": True}}),
    ("result", {"index": 0, "item": {"@type": "SearchSummary", "text": "In short"}}),
    ("result", {"index": 1, "item": ITEM}),
    ("error", {"error": {"code": "TIMEOUT", "message": "Late"}}),
    ("complete", {"_meta": {**META, "response_type": "answer"}}),
]

Path = tuple[Any, ...]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Every place of a JSON value, the value itself included."""
    yield path
    members: Any = value.items() if isinstance(value, dict) else ()
    for name, inner in enumerate(value) if isinstance(value, list) else members:
        yield from places(inner, (*path, name))


@st.composite
def spoilt(draw: st.DrawFn, base: Any) -> Any:
    """The value with any other in one of its places."""
    path = draw(st.sampled_from(list(places(base))))
    value = draw(VALUES)
    if not path:
        return value
    whole = copy.deepcopy(base)
    inner = whole
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return whole


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


@st.composite
def replies(draw: st.DrawFn) -> list[Frame]:
    """A reply, whole or streamed, that is wrong in one place."""
    if draw(st.booleans()):
        document = draw(st.sampled_from(DOCUMENTS).flatmap(spoilt))
        return [HEAD, Frame(0, 60, FrameKind.BODY, dumped(document).encode()), END]
    at = draw(st.integers(0, len(STREAM) - 1))
    stream = [
        event(f"event: {name}\ndata: {dumped(draw(spoilt(data)) if place == at else data)}")
        for place, (name, data) in enumerate(STREAM)
    ]
    return [HEAD, *stream, END]


@pytest.mark.slow
@hypothesis(suppress_health_check=list(HealthCheck))
@given(replies())
def test_every_view_of_a_run(frames: list[Frame]) -> None:
    run = recorded([[CALL, OPEN], frames])
    client = Client()
    reports = [f"conformance/?version={version}" for version in ("0.54", "0.55")]
    for view in ("", *reports, "session/", "timeline/", "events/", "wire/"):
        found = client.get(f"/runs/{run.pk}/{view}")
        assert found.status_code == 200, view
        read(found)
