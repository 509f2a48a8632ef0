"""The annotated exchange of a run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.support.stored_runs import CALL, END, HEAD, OPEN, event, recorded, result

K = FrameKind
REQUEST = Frame(0, 0, K.CALL, b'POST /ask HTTP/1.1\r\nHost: a\r\n\r\n{"query": {"text": "eggs"}}')

START = event('event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}')
COMPLETE = event('event: complete\ndata: {"_meta": {"response_type": "answer"}}')


def page(run: Run, **query: Any) -> str:
    return Client().get(reverse("run-annotations", args=[run.pk]), query).text


BAD = event('event: result\ndata: {"index": "first", "item": {"name": "x"}}')
BROKEN = Frame(0, 5, K.ERROR, Problem("failed", Stage.TLS, "It broke <b>.", "", "").to_bytes())
UNFINISHED = Frame(0, 5, K.BODY, b'{"results": [')
MANY = Frame(0, 5, K.BODY, json.dumps({f"m{n}": n for n in range(400)}).encode())
LIKE_EARLIER = (START, *map(result, range(5)), COMPLETE)


@pytest.mark.parametrize(
    ("frames", "query", "shown", "hidden"),
    [
        ((result(0), END), {},
         ["The question in the user", 'data-explain="nlweb/0.55/ask-request#/query/text"',
          "127.0.0.1:80"], []),
        ((START, result(0)), {"offset": 4, "count": 1}, ['aria-label="Frame 5 in Results"'], []),
        ((START, result(0)), {"count": 1}, [], ["in Results"]),
        (LIKE_EARLIER, {"offset": 6, "count": 1}, ["data-closed", "Dish"], ["annotated-bytes"]),
        (LIKE_EARLIER, {"offset": 6, "count": 1, "open": 1}, ["annotated-bytes"], []),
        ((BAD, END), {"offset": 3, "count": 1}, ["meaning-finding", "/rules/nlweb/"], []),
        ((BROKEN,), {}, ["It broke &lt;b&gt;."], ["<b>"]),
        ((MANY, END), {"offset": 3, "count": 1}, ["151 more names"], []),
        ((MANY, END), {"offset": 3, "count": 1, "all": 1}, [], ["more names"]),
    ],
    ids=["bytes and meanings", "link to its card", "no card", "like earlier ones",
         "opened", "finding", "error", "many names", "all names"],
)  # fmt: skip
def test_a_block_shows(
    db: None, frames: Any, query: Any, shown: list[str], hidden: list[str]
) -> None:
    html = page(recorded([[REQUEST, OPEN, HEAD, *frames]]), **query)
    assert [text for text in shown if text not in html] == []
    assert [text for text in hidden if text in html] == []
    assert html.count("<annotated-block") == query.get("count", 3 + len(frames))


@pytest.mark.parametrize(
    ("frame", "state", "text", "is_shown"),
    [
        (BAD, "streaming", "meaning-finding", False),
        (UNFINISHED, "streaming", "before it is complete", False),
        (UNFINISHED, "truncated", "before it is complete", True),
    ],
    ids=["no findings", "more may follow", "nothing follows"],
)
def test_a_run_in_progress(db: None, frame: Frame, state: str, text: str, is_shown: bool) -> None:
    run = recorded([[REQUEST, OPEN, HEAD, frame]], state=state)
    assert (text in page(run)) is is_shown


def test_nothing_at_all(db: None) -> None:
    assert page(recorded([], state="failed")).strip() == ""


def test_thousands_of_events(db: None) -> None:
    events = [result(n) for n in range(3_000)]
    run = recorded([[REQUEST, OPEN, HEAD, START, *events, COMPLETE, END]])
    last = page(run, offset=2_980)
    assert last.count("<annotated-block") == 26
    assert last.count("data-closed") == 24


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,ab\u202e\x00<', max_size=60).map(str.encode),
    st.sampled_from([K.EVENT, K.BODY, K.TAIL, K.HEAD, K.COMMENT]),
)
def test_any_bytes(db: None, data: bytes, kind: FrameKind) -> None:
    run = recorded([[CALL, OPEN, HEAD], [Frame(0, 5, kind, data)], [END]])
    assert page(run).count("<annotated-block") == 5
