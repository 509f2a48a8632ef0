"""Polls that fail: an answer that is a failure ends the promise, a poll that fails is repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from playground.engine import promises
from playground.models import PolledPromise
from tests.cases import Answer, ask, page_text
from tests.support.commands import run_command
from tests.support.servers import CLOSE, HOLD, RESET, Script, head, reply, serving

HOSTILE = "<script>alert(1)</script>\x1b[31m"


def nlweb(kind: str, status: str = "200 OK", **content: Any) -> bytes:
    document = {"_meta": {"response_type": kind, "version": "0.55"}, **content}
    return reply(json.dumps(document).encode(), status=status)


def failure(code: str, status: str = "200 OK", message: str = "") -> bytes:
    return nlweb("failure", status, error={"code": code, "message": message})


PROMISE = nlweb("promise", "202 Accepted", promise={"token": "p1"})
ANSWER = nlweb("answer", results=[{"name": "Plan"}])


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "poll_interval", lambda estimated, polls: 0.01)
    monkeypatch.setattr(promises, "MIN_POLL_INTERVAL", 0.01)


def follow(*polls: Script | bytes, arguments: tuple[str, ...] = ()) -> Answer:
    """Follow a promise whose n-th poll gets the n-th script, and each later one the last."""
    scripts: Iterator[Script] = iter(
        [(PROMISE,), *((each,) if isinstance(each, bytes) else each for each in polls)]
    )
    last: list[Script] = [()]

    def answer(_: bytes) -> Script:
        last[0] = next(scripts, last[0])
        return last[0]

    return ask(arguments=("--follow", *arguments), answer=answer)


def messages(answer: Answer) -> list[str]:
    """What each poll says of the one before."""
    return [line.get("message", "") for line in answer.of("run")]


def polled() -> PolledPromise:
    return PolledPromise.objects.get()


@pytest.mark.parametrize(
    "response",
    [
        failure("TIMEOUT"),
        failure("TIMEOUT", "504 Gateway Timeout"),
        failure("timeout", "408 Request Timeout"),
        failure("INTERNAL_ERROR", "503 Service Unavailable"),
        failure("KITCHEN_CLOSED", "503 Service Unavailable"),
        failure("TOKEN_LIMIT", "429 Too Many Requests"),
        failure("INVALID_QUERY", "400 Bad Request", HOSTILE),
        failure("NO_RESULTS", message="x" * 1_000_000),
        reply(b'{"error": "No such token"}', status="422 Unprocessable"),
        reply(b'{"detail": "No such token"}', status="422 Unprocessable"),
        reply(b'{"type": "about:blank", "title": "Gone", "status": 410}', status="410 Gone"),
        reply(b'{"error": {"code": "INTERNAL_ERROR"}}', status="502 Bad Gateway"),
    ],
)
def test_a_failure_ends_the_promise(response: bytes) -> None:
    answer = follow(response, ANSWER)
    assert answer.ending == ("completed", "failure", 1)
    assert (len(answer.requests), polled().status, polled().polls) == (2, "failed", 1)
    assert "Agent error" in answer.page
    assert "Promise failed" in page_text(f"/runs/{polled().run_id}/", "response")


#: What concerns the poll, with a part of what is said of it.
ATTEMPTS: list[tuple[Any, str]] = [
    ((CLOSE,), "The server closed the connection without a response."),
    ((RESET,), "The server closed the connection without a response."),
    ((head(content_type="application/json", content_length="9"), b"{", RESET), "was lost before"),
    ((HOLD,), "No data received for 0.2 seconds."),
    (reply(b"", status="408 Request Timeout"), "(HTTP 408)"),
    (reply(b"slow down", "text/plain", "429 Too Many Requests"), "(HTTP 429)"),
    (reply(b"<h1>Bad gateway</h1>", "text/html", "502 Bad Gateway"), "(HTTP 502)"),
    (reply(b'{"message": "no healthy upstream"}', status="503 Busy"), "503"),
    (reply(b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"x"}}', status="503 Busy"), ""),
    (reply(b"x" * 1_000_000, "text/plain", "503 Service Unavailable"), "(HTTP 503)"),
    (head("504 Gateway Timeout", content_length="0"), "(HTTP 504)"),
    (failure("RATE_LIMITED", "429 Too Many Requests"), "returned the error RATE_LIMITED."),
    (failure("rate_limited"), "returned the error rate_limited."),
]


@pytest.fixture
def short_idle_timeout(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, idle_timeout=0.2)


@pytest.mark.usefixtures("short_idle_timeout")
@pytest.mark.parametrize(("poll", "reason"), ATTEMPTS)
def test_what_concerns_the_poll_is_tried_again(poll: Any, reason: str) -> None:
    answer = follow(poll, poll, ANSWER)
    assert answer.ending == ("completed", "answer", 0)
    first, *others = messages(answer)
    assert first == ""
    assert all(reason in each for each in others)
    assert [each.rpartition(". ")[2] for each in others] == [
        "Attempt 2 of 5 follows.",
        "Attempt 3 of 5 follows.",
    ]
    assert (polled().status, polled().polls) == ("fulfilled", 3)


@pytest.mark.parametrize("poll", [(CLOSE,), reply(b"", status="503 Busy"), failure("RATE_LIMITED")])
def test_a_bounded_number_of_times(poll: Any) -> None:
    answer = follow(poll)
    assert answer.code == 3
    assert (len(answer.requests), polled().status, polled().polls) == (6, "paused", 5)
    assert "That was attempt 5 of 5." in answer.stderr
    page = page_text(f"/runs/{polled().run_id}/", "response")
    assert "Polling paused" in page
    assert "That was attempt 5 of 5." in page


def test_an_update_in_between_begins_again() -> None:
    busy = reply(b"", status="503 Busy")
    answer = follow(*[busy] * 4, PROMISE, *[busy] * 4, ANSWER)
    assert answer.ending == ("completed", "answer", 0)
    assert [each.rpartition(". ")[2] for each in messages(answer)[1:]] == [
        *(f"Attempt {number} of 5 follows." for number in range(2, 6)),
        "",
        *(f"Attempt {number} of 5 follows." for number in range(2, 6)),
    ]


@pytest.mark.parametrize(
    ("poll", "reason"),
    [
        (reply(b"<html>Hello", "text/html"), "HTML page"),
        (reply(b"gone", "text/plain", "404 Not Found"), "(HTTP 404)"),
        (reply(b"<h1>Oh</h1>", "text/html", "500 Internal Server Error"), "(HTTP 500)"),
        (head("401 Unauthorized", www_authenticate="Bearer", content_length="0"), "(HTTP 401)"),
        (reply(b"", status="425 Too Early"), "(HTTP 425)"),
        (reply(b"{}"), "not an NLWeb response"),
    ],
)
def test_what_cannot_be_read_pauses_polling(poll: bytes, reason: str) -> None:
    answer = follow(poll, ANSWER)
    assert (answer.code, len(answer.requests), polled().status) == (3, 2, "paused")
    assert reason in answer.stderr
    assert "ttempt" not in answer.stderr


def test_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    schedule = promises.schedule_next_poll

    def note(promise: PolledPromise, wait: float | None = None) -> None:
        waits.append(wait)
        schedule(promise, None)

    monkeypatch.setattr(promises, "schedule_next_poll", note)
    busy = reply(b"", status="503 Busy").replace(b"\r\n\r\n", b"\r\nRetry-After: 7\r\n\r\n", 1)
    assert follow(busy, ANSWER).code == 0
    assert waits[-1] == 7


def test_the_terminal_and_the_page_show_the_attempts() -> None:
    scripts = iter([PROMISE, reply(b"", status="503 Busy"), ANSWER])
    with serving(answer=lambda _: (next(scripts),)) as server:
        done = run_command("send", server.url, "--text", "x", "--follow")
    assert done.returncode == 0
    assert "(HTTP 503) is empty. Attempt 2 of 5 follows.\n" in done.stdout
