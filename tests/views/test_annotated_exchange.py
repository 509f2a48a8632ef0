"""The annotated exchange of a run, and its exports."""

from __future__ import annotations

import json
import re
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


def html(client: Client, run: Run) -> str:
    return client.get(reverse("run-annotations-html", args=[run.pk])).content.decode()


def markdown(client: Client, run: Run) -> str:
    return client.get(reverse("run-annotations-markdown", args=[run.pk])).content.decode()


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
    assert "Nothing was sent." in html(client, run)
    assert markdown(client, run).startswith("# eggs")


def test_an_error_is_described(client: Client, db: None) -> None:
    problem = Problem("failed", Stage.TLS, "It broke <b>.", "Mend it.", "SSL")
    run = recorded([[REQUEST, Frame(0, 5, K.ERROR, problem.to_bytes())]], state="failed")
    assert "It broke &lt;b&gt;." in page(client, run)
    assert "It broke" in markdown(client, run)


def test_many_names_are_shown_on_request(client: Client, db: None) -> None:
    members = {f"m{n}": n for n in range(400)}
    run = recorded([[CALL, OPEN, HEAD, Frame(0, 5, K.BODY, json.dumps(members).encode()), END]])
    assert "151 more names" in page(client, run, offset=3, count=1)
    assert "more names" not in page(client, run, offset=3, count=1, all=1)


def test_twenty_thousand_events(client: Client, db: None) -> None:
    events = [result(n) for n in range(20_000)]
    run = recorded([[REQUEST, OPEN, HEAD, START, *events, COMPLETE, END]])
    last = page(client, run, offset=19_980)
    assert last.count("<annotated-block") == 26
    assert last.count("data-closed") == 24
    text = html(client, run)
    assert "18,006 more frames are not in this file." in text
    assert len(text) < 3_000_000


class TestExports:
    def test_html_has_no_scripts_and_escapes_everything(self, client: Client, db: None) -> None:
        hostile = '<script>alert(1)</script>" onload="x'
        item = json.dumps({"index": 0, "item": {"@type": hostile, hostile: 1}})
        run = recorded([[REQUEST, OPEN, HEAD, event(f"event: {hostile}\ndata: {item}"), END]])
        text = html(client, run)
        assert "<script" not in text
        assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
        assert "Frame 1" in text

    def test_bytes_and_meanings_are_links_to_each_other(self, client: Client, run: Run) -> None:
        text = html(client, run)
        assert 'href="#f1-m1"' in text
        assert 'id="f1-m1"' in text
        assert 'href="#f1-b1"' in text
        assert 'id="f1-b1"' in text

    def test_markdown(self, client: Client, db: None) -> None:
        text = markdown(client, recorded([[REQUEST, OPEN, HEAD, result(0), END]]))
        assert "## Frame 1: request" in text
        assert '{"query": {"text": "eggs"}}\n```' in text
        assert "| name | meaning | section |" in text

    def test_markdown_cannot_be_left(self, client: Client, db: None) -> None:
        hostile = "````\n# Heading | x <img src=x> \x1b[2J"
        data = json.dumps({hostile: hostile}) + "\n```` |"
        run = recorded([[CALL, OPEN, HEAD, Frame(0, 5, K.BODY, data.encode()), END]])
        text = markdown(client, run)
        assert "\n`````\n" in text
        assert "\x1b" not in text
        rows = [line for line in text.splitlines() if line.startswith("| &nbsp;")]
        assert rows
        assert not any(re.search(r"(?<!\\)[<|`]", row[1:-1].replace(" | ", "")) for row in rows)

    def test_they_are_downloads(self, client: Client, run: Run) -> None:
        for name in ("run-annotations-html", "run-annotations-markdown"):
            response = client.get(reverse(name, args=[run.pk]))
            assert response["Content-Disposition"].startswith("attachment")


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=200) | st.text(alphabet='{}[]":,ab\u202e\x00<', max_size=60).map(str.encode),
    st.sampled_from([K.EVENT, K.BODY, K.TAIL, K.HEAD, K.COMMENT]),
)
def test_any_bytes(client: Client, db: None, data: bytes, kind: FrameKind) -> None:
    run = recorded([[CALL, OPEN, HEAD], [Frame(0, 5, kind, data)], [END]])
    assert page(client, run).count("<annotated-block") == 5
    assert "<main>" in html(client, run)
    assert "# eggs" in markdown(client, run)
