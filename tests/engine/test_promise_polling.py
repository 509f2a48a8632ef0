"""Polling of promises until they are fulfilled, failed, timed out or cancelled; its decisions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from playground.engine import promise_polling, promises, runs, tasks
from playground.engine.promises import (
    PollResult,
    apply_poll_result,
    poll_interval,
    schedule_next_poll,
)
from playground.engine.request import Headers
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind, RunState, storage
from playground.protocols.events import Outcome
from tests.engine.conftest import finish_run, until, working
from tests.support.background_tasks import wait_for_tasks
from tests.support.outages import Outage
from tests.support.servers import HOLD, Server, free_port, reply, serve

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

REQUEST = {
    "query": {"text": "a week of meals"},
    "meta": {"user": "u1", "session_context": {"old": True}},
}


def promise(progress: Any = None, **more: Any) -> bytes:
    block = {"token": "p1", "progress": progress, **more}
    return document("promise", promise=block, status="202 Accepted")


def document(kind: str, status: str = "200 OK", session: Any = None, **content: Any) -> bytes:
    meta = {"response_type": kind, "version": "0.55"}
    if session is not None:
        meta["session_context"] = session
    return reply(json.dumps({"_meta": meta, **content}).encode(), status=status)


def failure(code: str, status: str = "200 OK") -> bytes:
    return document("failure", error={"code": code}, status=status)


ANSWER = document("answer", results=[{"@type": "Recipe", "name": "Plan"}])
ASKS = document("elicitation", elicitation={"text": "For whom?"})


class Script:
    """Answers the n-th request with the n-th reply, and every later one with the last."""

    def __init__(self, *replies: bytes) -> None:
        self._replies = list(replies)

    def __call__(self, _: bytes) -> Sequence[bytes]:
        return [self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]]


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "poll_interval", lambda estimated, checks: 0.01)


async def ask(server: Server, saved: bool = True, headers: Headers = ()) -> tuple[Run, Any]:
    """Send a request that is answered with a promise: its run and its polled promise."""
    agent = Agent(name="scripted", url=server.url)
    if saved:
        await agent.asave()
    run = await finish_run(agent, REQUEST, headers=headers)
    return run, await PolledPromise.objects.filter(run=run).afirst()


async def children(run: Run, *kinds: str) -> list[Run]:
    found = Run.objects.filter(parent=run, kind__in=kinds or ("check", "cancel"))
    return [child async for child in found.order_by("created_at")]


def sent(server: Server) -> list[dict[str, Any]]:
    """The documents of the requests, the first one included."""
    return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]


async def test_a_promise_is_followed_to_its_answer() -> None:
    """With the latest token and session context, and the headers of the request."""
    second = document("promise", session={"turn": 1}, promise={"token": "p2", "progress": 0.5})
    script = Script(promise(0.1, estimated_time=5), second, promise(0.9, token="p3"), ANSWER)
    headers = [["X-Api-Key", "s3cret"], ["X-Trace", "1"]]
    async with serve(answer=script) as server:
        run, polled = await ask(server, headers=headers)
        assert (run.outcome, polled.status, polled.token) == ("promise", "polling", "p1")
        assert polled.headers == headers
        polled = await promise_polling.poll_until_settled(polled.pk)
    assert (polled.status, polled.polls, polled.headers) == ("fulfilled", 3, [])
    assert polled.progress == [0.1, 0.5, 0.9]
    checks = await children(run)
    assert [check.outcome for check in checks] == ["promise", "promise", "answer"]
    assert polled.final_run == checks[-1]
    assert all(check.parent_entry == (polled.entry_seq, polled.entry_part) for check in checks)
    assert {check.conversation_id for check in checks} == {run.conversation_id}
    sessions = [{"old": True}, {"turn": 1}, {"turn": 1}]
    assert sent(server)[1:] == [
        {
            "promise_token": token,
            "action": "checkin",
            "meta": {"version": "0.55", "user": "u1", "session_context": session},
        }
        for token, session in zip(("p1", "p2", "p3"), sessions, strict=True)
    ]
    for request in server.requests:
        assert b"X-Api-Key: s3cret\r\n" in request
    assert server.requests[1].startswith(b"POST /await ")


async def test_following_ends_when_the_patience_does() -> None:
    async with serve(answer=Script(promise(0.5, estimated_time=31_536_000))) as server:
        _, polled = await ask(server)
        began = timezone.now() - timedelta(seconds=polled.polling_seconds)
        await PolledPromise.objects.filter(pk=polled.pk).aupdate(started_at=began)
        polled = await promise_polling.poll_until_settled(polled.pk)
        assert (polled.status, polled.next_poll_at) == ("timed_out", None)
        assert "not fulfilled" in polled.status_message
        await promise_polling.resume_polling(polled.pk, 60)
        await polled.arefresh_from_db()
        assert polled.status == "polling"
        assert polled.deadline > timezone.now()


async def test_a_promise_without_a_token_cannot_be_followed() -> None:
    async with serve(promise(token="")) as server:
        _, polled = await ask(server)
    assert polled.status == "paused"
    assert "no token" in polled.status_message


async def test_a_moved_agent_gets_no_credentials_and_one_that_is_down_is_asked_again() -> None:
    async with serve(answer=Script(promise())) as server, serve(answer=Script(ANSWER)) as other:
        _, polled = await ask(server, headers=[("X-Api-Key", "s3cret"), ("X-Trace", "1")])
        await Agent.objects.aupdate(url=f"http://127.0.0.1:{free_port()}")
        assert await promise_polling.poll(polled.pk, at_once=True)
        await polled.arefresh_from_db()
        assert polled.status == "polling"
        assert " failed: " in polled.status_message
        await Agent.objects.aupdate(url=other.url)
        polled = await promise_polling.poll_until_settled(polled.pk)
    assert polled.status == "fulfilled"
    assert b"s3cret" in server.requests[0]
    assert b"s3cret" not in other.requests[0]
    assert b"X-Trace: 1\r\n" in other.requests[0]


ENDS: list[tuple[str, tuple[bytes, ...], str, str]] = [
    ("an answer", (ANSWER,), "fulfilled", ""),
    ("a question", (ASKS,), "fulfilled", ""),
    ("a failure", (failure("INTERNAL_ERROR", "500 Internal Server Error"),), "failed", ""),
    ("cancelled by the agent", (failure("CANCELLED"),), "cancelled", "The agent reported"),
    (
        "busy, and then an answer",
        (failure("RATE_LIMITED", "429 Too Many Requests"), reply(b"", status="503 Busy"), ANSWER),
        "fulfilled",
        "",
    ),
    ("a task that took too long", (failure("TIMEOUT"), ANSWER), "failed", ""),
    ("another token", (promise(token="p2"), ANSWER), "fulfilled", ""),
]


@pytest.mark.parametrize(("replies", "status", "note"), [row[1:] for row in ENDS],
                         ids=[row[0] for row in ENDS])  # fmt: skip
async def test_how_a_promise_ends(replies: tuple[bytes, ...], status: str, note: str) -> None:
    async with serve(answer=Script(promise(), *replies)) as server:
        _, polled = await ask(server)
        polled = await promise_polling.poll_until_settled(polled.pk)
    assert polled.status == status
    assert polled.status_message.startswith(note) if note else not polled.status_message
    assert polled.final_run
    assert polled.next_poll_at is None


CANCELLATIONS: list[tuple[str, bytes, str, str]] = [
    ("confirmed", failure("CANCELLED"), "cancelled", ""),
    ("another failure", failure("INVALID_QUERY"), "failed", "returned INVALID_QUERY instead"),
    ("a promise", promise(0.3), "paused", "with a CANCELLED failure. It returned a promise"),
    ("the answer", ANSWER, "fulfilled", "but the agent returned an answer"),
    ("nothing", reply(b"{}"), "paused", " failed: "),
]


@pytest.mark.parametrize(("answer", "status", "note"), [row[1:] for row in CANCELLATIONS],
                         ids=[row[0] for row in CANCELLATIONS])  # fmt: skip
async def test_a_task_is_cancelled(answer: bytes, status: str, note: str) -> None:
    async with serve(answer=Script(promise(), answer)) as server:
        run, polled = await ask(server)
        await promise_polling.cancel_promise(polled.pk)
        await wait_for_tasks()
        await polled.arefresh_from_db()
        (sent,) = await children(run, RunKind.CANCEL)
    assert json.loads(server.requests[1].partition(b"\r\n\r\n")[2])["action"] == "cancel"
    assert sent.request["action"] == "cancel"
    assert (polled.status, polled.cancel_requested) == (status, False)
    assert note in polled.status_message
    assert bool(polled.status_message) == bool(note)


async def test_only_one_asks_at_a_time() -> None:
    async with serve(answer=lambda request: [promise() if b"query" in request else HOLD]) as server:  # type: ignore[list-item]
        run, polled = await ask(server)
        first = asyncio.create_task(promise_polling.poll(polled.pk, at_once=True))
        await until(lambda: len(server.requests) == 2)
        assert not await promise_polling.poll(polled.pk, at_once=True)
        # Also once the claim itself has run out: the check that it led to is under way.
        await PolledPromise.objects.filter(pk=polled.pk).aupdate(leased_until=None)
        assert not await promise_polling.poll(polled.pk, at_once=True)
        (check,) = await children(run)
        await tasks.cancel(check)
        await first
        await polled.arefresh_from_db()
        assert polled.status == "paused"


async def test_a_check_that_takes_long_stays_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else another process asks between the end of its run and what is made of the reply."""
    monkeypatch.setattr(promise_polling, "LEASE", timedelta(seconds=0.2))
    released = asyncio.Event()
    steps: list[Any] = [[promise()], [released, ANSWER]]
    async with serve(answer=lambda _: steps.pop(0)) as server:
        _, polled = await ask(server)
        check = asyncio.create_task(promise_polling.poll(polled.pk, at_once=True))
        await until(lambda: len(server.requests) == 2)
        await polled.arefresh_from_db()
        await until(PolledPromise.objects.filter(leased_until__gt=polled.leased_until).aexists)
        released.set()
        await check
    await polled.arefresh_from_db()
    assert (polled.status, polled.leased_until) == ("fulfilled", None)


@pytest.mark.usefixtures("heartbeats_count")
async def test_the_supervisor_follows_what_is_due() -> None:
    """Also what a process that died was asking after when it died."""
    async with serve(answer=Script(promise(), ANSWER)) as server:
        run, polled = await ask(server)
        await Run.objects.acreate(
            parent=run, kind="check", state="streaming", driver="elsewhere:1:1",
            agent_name="scripted", protocol="nlweb", binding="http", version="0.55",
            request={}, heartbeat_at=timezone.now() - timedelta(hours=1),
        )  # fmt: skip
        await PolledPromise.objects.filter(pk=polled.pk).aupdate(
            next_poll_at=None, leased_until=None
        )
        async with working(promise_polling.poller):
            await until(PolledPromise.objects.filter(status="fulfilled").aexists)


@pytest.mark.parametrize("is_deleted", [False, True], ids=["not saved", "deleted"])
async def test_a_promise_that_nobody_can_ask_after(is_deleted: bool) -> None:
    """Also where a process died that was asking."""
    async with serve(promise()) as server:
        _, polled = await ask(server, saved=is_deleted)
    await Agent.objects.all().adelete()
    due = timezone.now() - timedelta(minutes=2)
    left = {"leased_until": due, "next_poll_at": None} if is_deleted else {"next_poll_at": due}
    await PolledPromise.objects.filter(pk=polled.pk).aupdate(**left)
    async with working(promise_polling.poller):
        await until(PolledPromise.objects.filter(status="paused").aexists)
    await polled.arefresh_from_db()
    assert "the agent is not saved" in polled.status_message
    await promise_polling.cancel_promise(polled.pk)
    await wait_for_tasks()
    await polled.arefresh_from_db()
    assert not polled.cancel_requested
    assert (polled.status_message == "The agent was deleted.") is is_deleted


QUOTA = 1_000_000


@pytest.mark.parametrize(
    ("act", "size", "is_sent"),
    [
        (promise_polling.poll_until_settled, QUOTA, True),
        (promise_polling.poll_until_settled, QUOTA * 12 // 10, False),
        (promise_polling.cancel_promise, QUOTA * 12 // 10, False),
        (promise_polling.poll_now, QUOTA, False),
    ],
    ids=["a poll", "a poll far beyond it", "a cancellation", "a poll by hand"],
)
async def test_beyond_the_quota(
    settings: Any, act: Callable[..., Any], size: int, is_sent: bool
) -> None:
    """A poll may complete a turn beyond the quota, but not for ever, and not by hand."""
    async with serve(answer=Script(promise(), ANSWER)) as server:
        run, polled = await ask(server)
        if act is promise_polling.poll_now:
            await promise_polling.stop_polling(polled.pk)
        storage._counts.clear()
        settings.QUOTA = QUOTA
        await Run.objects.acreate(
            agent_name="A", url="http://a.example", request={}, state="completed", bytes=size
        )
        await act(polled.pk)
        await wait_for_tasks()
        assert (len(server.requests), len(await children(run))) == (1 + is_sent, is_sent)
    await polled.arefresh_from_db()
    assert polled.status == ("fulfilled" if is_sent else "paused")
    assert (polled.leased_until, polled.cancel_requested) == (None, False)
    assert is_sent or polled.status_message.startswith("No room left")


async def test_no_more_are_followed_than_may_be(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_promises=1)
    async with serve(answer=Script(promise())) as server:
        _, first = await ask(server)
        _, second = await ask(server)
        assert (first.status, second.status) == ("polling", "paused")
        assert "PLAYGROUND_MAX_PROMISES" in second.status_message
        await promise_polling.resume_polling(second.pk)
        await second.arefresh_from_db()
        assert second.status == "paused"
        await promise_polling.stop_polling(first.pk)
        await promise_polling.resume_polling(second.pk)
        await second.arefresh_from_db()
        assert (second.status, second.status_message) == ("polling", "")


async def test_checks_that_hang_keep_nobody_from_sending(settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=1)
    hang = lambda request: [promise() if b"query" in request else HOLD]  # noqa: E731
    async with serve(answer=hang) as server:
        run, polled = await ask(server)
        polling = asyncio.create_task(promise_polling.poll(polled.pk, at_once=True))
        await until(lambda: len(server.requests) == 2)
        other, _ = await ask(server)
        assert other.state == "completed"
        (check,) = await children(run)
        await tasks.cancel(check)
        await polling


async def test_a_settled_promise_stays_so() -> None:
    async with serve(answer=Script(promise(), failure("CANCELLED"), ANSWER)) as server:
        _, polled = await ask(server)
        assert (await promise_polling.poll_until_settled(polled.pk)).status == "cancelled"
        for act in (
            promise_polling.resume_polling,
            promise_polling.stop_polling,
            promise_polling.cancel_promise,
        ):
            await act(polled.pk)
        assert not await promise_polling.poll(polled.pk, at_once=True)
        assert len(server.requests) == 2


async def test_a_task_is_cancelled_once() -> None:
    async with serve(answer=Script(promise(), failure("CANCELLED"))) as server:
        run, polled = await ask(server)
        await asyncio.gather(*(promise_polling.cancel_promise(polled.pk) for _ in range(3)))
        await wait_for_tasks()
        assert len(await children(run, RunKind.CANCEL)) == 1


async def lost_poll(run: Run, polled: PolledPromise, kind: str, **fields: Any) -> Run:
    """A check or a cancellation that was sent, and whose reply nobody took in."""

    link = runs.RunParent(RunKind(kind), run, polled.entry_seq, polled.entry_part)
    document = {"promise_token": "p1", "action": "checkin"}
    child = await finish_run(await Agent.objects.aget(), document, link, version=run.version)
    await Run.objects.filter(pk=child.pk).aupdate(**fields)
    return child


@pytest.mark.parametrize(
    ("end", "status"),
    [(ANSWER, "fulfilled"), (failure("CANCELLED"), "cancelled"), (failure("NO_RESULTS"), "failed")],
    ids=["answer", "cancelled", "failure"],
)
async def test_a_reply_that_a_dead_process_did_not_take_in(end: bytes, status: str) -> None:
    """An agent need not say twice what a promise became."""
    async with serve(answer=Script(promise(), end)) as server:
        run, polled = await ask(server)
        child = await lost_poll(run, polled, "check")
        polled = await promise_polling.poll_until_settled(polled.pk)
        assert (polled.status, polled.final_run, polled.polls) == (status, child, 1)
        assert len(server.requests) == 2


CUT_OFF: list[tuple[str, dict[str, Any] | None, str, str]] = [
    ("before it was sent", None, "paused", "before the cancellation was sent"),
    ("under way", {"state": "streaming", "heartbeat_at": timezone.now() - timedelta(hours=1)},
     "paused", "The cancellation failed: interrupted"),
    ("after the reply", {}, "cancelled", ""),
]  # fmt: skip


@pytest.mark.usefixtures("heartbeats_count")
@pytest.mark.parametrize(("left", "status", "note"), [row[1:] for row in CUT_OFF],
                         ids=[row[0] for row in CUT_OFF])  # fmt: skip
async def test_a_process_died_that_was_cancelling(
    monkeypatch: pytest.MonkeyPatch,
    left: dict[str, Any] | None, status: str, note: str,
) -> None:  # fmt: skip
    async with serve(answer=Script(promise(), failure("CANCELLED"))) as server:
        run, polled = await ask(server)
        await PolledPromise.objects.filter(pk=polled.pk).aupdate(
            status="paused", next_poll_at=None, cancel_requested=True
        )
        if left is not None:
            await lost_poll(run, polled, "cancel", **left)
    settle = sync_to_async(promise_polling.recover_cancellations)
    assert await settle() == []  # It may be between two steps.
    monkeypatch.setattr(promise_polling, "LEASE", timedelta())
    assert await settle() == [polled]
    await polled.arefresh_from_db()
    assert (polled.status, polled.cancel_requested) == (status, False)
    assert note in polled.status_message
    assert await settle() == []


async def test_a_bug_does_not_keep_a_promise_claimed(
    outage: Outage, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(promise()) as server:
        _, polled = await ask(server)
        outage.begin(times=1, error=ZeroDivisionError("a bug"))
        await promise_polling.poll(polled.pk, at_once=True)
    await polled.arefresh_from_db()
    assert (polled.status, polled.leased_until) == ("polling", None)
    assert polled.next_poll_at is not None
    assert "Internal playground error" in polled.status_message
    assert "ZeroDivisionError" in caplog.text


# The interval, and the result of a poll


def unsaved(**fields: Any) -> PolledPromise:
    return PolledPromise(entry_seq=1, token="p1", polling_seconds=900, **fields)


@pytest.mark.parametrize(
    ("estimated", "checks", "least", "most"),
    [
        (None, 0, 2, 2),
        (None, 5, 2, 3),
        (0, 0, 1, 1),
        (12, 0, 2, 2),
        (31_536_000, 0, 30, 30),
        (-5, 0, 2, 2),
        (1, 10, 6, 7),
        (1, 10_000, 30, 30),
    ],
)
def test_the_wait_before_a_check(
    estimated: float | None, checks: int, least: float, most: float
) -> None:
    assert least <= poll_interval(estimated, checks) <= most


@pytest.mark.parametrize(
    ("asked", "seconds"), [(0.0, 1), (7.0, 7), (3600.0, 900), (1e12, 900), (1e18, 900)]
)
def test_an_agent_asks_to_wait(asked: float, seconds: float) -> None:
    """Within reason: not at once again and again, and not beyond the end of following."""
    followed = unsaved()
    schedule_next_poll(followed, asked)
    assert followed.next_poll_at is not None
    wait = (followed.next_poll_at - followed.started_at).total_seconds()
    assert wait == pytest.approx(seconds, abs=0.5)


@pytest.mark.parametrize(
    ("kind", "words"),
    [(RunKind.POLL, "The last poll failed: {} Attempt 2 of 5 follows."),
     (RunKind.CANCEL, "The cancellation failed: {}")],
)  # fmt: skip
def test_what_went_wrong_is_said_of_what_was_sent(kind: RunKind, words: str) -> None:
    followed = unsaved()
    problem = {"cause": "The agent said a\0b."}
    run = Run(kind=kind, state=RunState.FAILED, outcome=Outcome.NONE, problem=problem)
    apply_poll_result(followed, PollResult(run))
    assert followed.status_message == words.format("The agent said a\ufffdb.")


def test_a_check_that_was_stopped_leaves_a_cancellation_alone() -> None:
    followed = unsaved(status=PollingStatus.PAUSED, cancel_requested=True)
    apply_poll_result(followed, PollResult(Run(kind=RunKind.POLL, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancel_requested) == (PollingStatus.PAUSED, True)
    apply_poll_result(followed, PollResult(Run(kind=RunKind.CANCEL, state=RunState.CANCELLED)))
    assert (followed.status, followed.cancel_requested) == (PollingStatus.PAUSED, False)
