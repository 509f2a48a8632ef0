"""The annotated exchange of a run."""

from __future__ import annotations

import json
from typing import Any

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


def page(client: Client, run: Run, **query: Any) -> str:
    return client.get(reverse("run-annotations", args=[run.pk]), query).content.decode()


def test_bytes_and_meanings_are_beside_each_other(client: Client, db: None) -> None:
    run = recorded([[REQUEST, OPEN, HEAD, result(0), END]])
    shown = page(client, run)
    assert "The question in the user" in shown
    assert 'data-explain="nlweb/0.55/ask-request#/query/text"' in shown
    assert shown.count("<annotated-block") == 5
    assert "127.0.0.1:80" in shown


def test_a_result_links_to_its_card(client: Client, run: Run) -> None:
    shown = page(client, run, offset=4, count=1)
    assert 'aria-label="Frame 5 in Results"' in shown
    assert "in Results" not in page(client, run, count=1)


def test_an_event_with_known_names_is_one_line_until_it_is_opened(client: Client, db: None) -> None:
    run = recorded([[REQUEST, OPEN, HEAD, START, *map(result, range(5)), COMPLETE, END]])
    closed = page(client, run, offset=6, count=1)
    assert "data-closed" in closed
    assert "Dish" in closed
    assert "annotated-bytes" not in closed
    assert "annotated-bytes" in page(client, run, offset=6, count=1, open=1)


def test_findings_are_beside_the_place(client: Client, db: None) -> None:
    bad = event('event: result\ndata: {"index": "first", "item": {"name": "x"}}')
    run = recorded([[REQUEST, OPEN, HEAD, bad, END]])
    shown = page(client, run, offset=3, count=1)
    assert "meaning-finding" in shown
    assert "/rules/nlweb/" in shown


def test_a_run_in_progress_has_no_findings(client: Client, db: None) -> None:
    bad = event('event: result\ndata: {"index": "first", "item": {"name": "x"}}')
    run = recorded([[REQUEST, OPEN, HEAD, bad]], state="streaming")
    assert "meaning-finding" not in page(client, run)


def test_a_body_in_progress_is_not_reported_as_incomplete(client: Client, db: None) -> None:
    frames = [REQUEST, OPEN, HEAD, Frame(0, 5, K.BODY, b'{"results": [')]
    assert "before it is complete" not in page(client, recorded([frames], state="streaming"))
    assert "before it is complete" in page(client, recorded([frames], state="truncated"))


def test_nothing_at_all(client: Client, db: None) -> None:
    run = recorded([], state="failed")
    assert page(client, run).strip() == ""


def test_an_error_is_described(client: Client, db: None) -> None:
    problem = Problem("failed", Stage.TLS, "It broke <b>.", "Mend it.", "SSL")
    run = recorded([[REQUEST, Frame(0, 5, K.ERROR, problem.to_bytes())]], state="failed")
    assert "It broke &lt;b&gt;." in page(client, run)


def test_many_names_are_shown_on_request(client: Client, db: None) -> None:
    members = {f"m{n}": n for n in range(400)}
    run = recorded([[CALL, OPEN, HEAD, Frame(0, 5, K.BODY, json.dumps(members).encode()), END]])
    assert "151 more names" in page(client, run, offset=3, count=1)
    assert "more names" not in page(client, run, offset=3, count=1, all=1)


def test_thousands_of_events(client: Client, db: None) -> None:
    events = [result(n) for n in range(3_000)]
    run = recorded([[REQUEST, OPEN, HEAD, START, *events, COMPLETE, END]])
    last = page(client, run, offset=2_980)
    assert last.count("<annotated-block") == 26
    assert last.count("data-closed") == 24


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,ab\u202e\x00<', max_size=60).map(str.encode),
    st.sampled_from([K.EVENT, K.BODY, K.TAIL, K.HEAD, K.COMMENT]),
)
def test_any_bytes(client: Client, db: None, data: bytes, kind: FrameKind) -> None:
    run = recorded([[CALL, OPEN, HEAD], [Frame(0, 5, kind, data)], [END]])
    assert page(client, run).count("<annotated-block") == 5
