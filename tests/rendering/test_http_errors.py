"""HTTP errors of a run on its page."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.template.loader import get_template
from django.utils import timezone

from playground.models import Agent, Run
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.http_errors import http_error_view
from playground.rendering.run_status import status_context
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, OPEN, Recording, event

pytestmark = pytest.mark.django_db

FAILURE = '{"_meta": {"response_type": "failure"}, "error": {"code": "TIMEOUT"}}'
ANSWER = '{"_meta": {"response_type": "answer"}, "results": []}'


def replied(status: int, body: str, *headers: str, state: str = "completed", **fields: str) -> Run:
    """Return a run whose response has this status and body; an event stream if it begins so."""
    lines = "".join(f"{line}\r\n" for line in headers)
    recording = Recording(started_at=timezone.now(), **fields)
    recording.add(
        CALL, OPEN, Frame(0, 20, FrameKind.HEAD, f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())
    )
    if body.startswith("data:"):
        recording.add(event(body))
    elif body:
        recording.add(Frame(0, 60, FrameKind.BODY, body.encode()))
    recording.add(END)
    return recording.end(state)


def shown(run: Run) -> str:
    """Return the text of the end of its thread."""
    html = get_template("runs/ending.html").render(status_context(run))
    return " ".join(read(html).text.split())


@pytest.mark.parametrize(
    ("body", "headers", "came"),
    [
        (FAILURE, (), "A failure as NLWeb defines it"),
        (ANSWER, (), "An NLWeb answer, in spite of the status"),
        ('{"detail": "no"}', (), "JSON, but not an NLWeb response"),
        ('{"detail": "' + "x" * 70_000 + '"}', (), "JSON, but not an NLWeb response"),
        ("<!doctype html><p>no", ("Content-Type: text/html; charset=utf-8",),
         "An HTML page (text/html)"),
        ("<html>no", ("Content-Type: application/json",), "An HTML page (application/json)"),
        ("{broken", (), "Text that is no JSON"),
        ("no", ("Content-Type: text/plain",), "Text that is no JSON (text/plain)"),
        ("", (), "Nothing: the reply has no body"),
        ("data: {}", (), "An event stream that holds no answer"),
    ],
)  # fmt: skip
def test_what_came_is_told_apart(body: str, headers: tuple[str, ...], came: str) -> None:
    refusal = http_error_view(replied(500, body, *headers))
    assert refusal
    assert refusal.received == came
    assert (refusal.status, refusal.phrase) == (500, "Internal Server Error")


@pytest.mark.parametrize(
    ("body", "came"),
    [
        ('{"detail": "no"}', "An error that the agent puts into words"),
        ('{"object": "response", "id": "r", "status": "completed", "output": []}',
         "An Agent API response, in spite of the status"),
        ('{"surprise": 1}', "JSON, but not an Agent API response"),
        ("<html>no", "An HTML page"),
    ],
)  # fmt: skip
def test_what_came_is_put_into_the_words_of_its_protocol(body: str, came: str) -> None:
    refusal = http_error_view(replied(422, body, protocol="agent-api", version="1"))
    assert refusal
    assert refusal.received == came


@pytest.mark.parametrize(
    ("status", "state"), [(200, "completed"), (202, "completed"), (302, "failed")]
)
def test_a_status_that_refuses_nothing_needs_no_words(status: int, state: str) -> None:
    assert http_error_view(replied(status, ANSWER, "Retry-After: 5", state=state)) is None


def test_nothing_is_said_before_the_end() -> None:
    run = replied(500, FAILURE)
    run.state = "streaming"
    assert http_error_view(run) is None


def test_a_status_that_nobody_defines() -> None:
    refusal = http_error_view(replied(499, ""))
    assert refusal
    assert (refusal.phrase, refusal.meaning) == ("", "")
    assert refusal.advice.endswith(".")


@pytest.mark.parametrize("status", [401, 403])
def test_credentials_lead_to_the_agent(status: int) -> None:
    agent = Agent.objects.create(name="Members", url="http://m.example")
    run = replied(status, FAILURE, 'WWW-Authenticate: Bearer realm="<b>"')
    run.agent = agent
    html = get_template("runs/ending.html").render(status_context(run))
    markup = read(html)
    assert 'Bearer realm="<b>"' in markup.text
    links = [link.attributes["href"] for link in markup.find("a")]
    assert links == ["/agents/members/#id_auth"]
    assert "Set the authentication of Members" in markup.text


def test_no_agent_nothing_to_set_and_nobody_to_send_to() -> None:
    html = get_template("runs/ending.html").render(status_context(replied(401, FAILURE)))
    assert not read(html).find("a")
    assert not read(html).find("button")


@pytest.mark.parametrize(
    ("value", "date", "least", "most"),
    [
        ("120", "", 100, 120),
        ("Wed, 21 Oct 2026 07:30:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 100, 120),
        ("0", "", 0, 0),
        ("99999999999999999", "", 999_999_000, 1_000_000_000),
    ],
)
def test_how_long_to_wait(value: str, date: str, least: int, most: int) -> None:
    headers = [f"Retry-After: {value}", *([f"Date: {date}"] if date else [])]
    refusal = http_error_view(replied(429, FAILURE, *headers))
    assert refusal
    assert refusal.wait is not None
    assert least <= refusal.wait <= most
    assert refusal.retry_after == value


def test_the_wait_goes_on_while_nobody_looks() -> None:
    run = replied(503, "", "Retry-After: 120", state="failed")
    run.started_at = timezone.now() - timedelta(seconds=100)
    assert 10 <= (getattr(http_error_view(run), "wait", None) or 0) <= 20
    run.started_at = timezone.now() - timedelta(days=1)
    assert "is over" in shown(run)


def test_a_wait_that_cannot_be_read_is_shown_as_it_came() -> None:
    run = replied(429, FAILURE, "Retry-After: after lunch")
    assert getattr(http_error_view(run), "wait", 0) is None
    assert "Retry-After after lunch" in shown(run).replace("Retry-Afterafter", "Retry-After after")
    assert "asked to wait" not in shown(run)


def test_retry_after_beside_a_status_that_is_about_something_else() -> None:
    refusal = http_error_view(replied(404, "no", "Retry-After: 5", state="failed"))
    assert refusal
    assert (refusal.retry_after, refusal.wait) == ("", None)


def test_a_failure_without_a_refusing_status_can_be_sent_again() -> None:
    run = replied(200, FAILURE)
    run.agent = Agent.objects.create(name="A", url="http://a.example")
    (button,) = read(get_template("runs/ending.html").render(status_context(run))).find("button")
    assert button.attributes["hx-post"] == f"/runs/{run.pk}/repetition/"
