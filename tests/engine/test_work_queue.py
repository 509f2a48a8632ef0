"""The queue of work for workers, driven without procrastinate: each job by its function."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import LazySettings
from django.db.models.functions import Now

from playground.base import jobs
from playground.base.processes import this_process
from playground.engine import heartbeat, process, promise_polling, runs, tasks, work_queue
from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import CollectionRunOptions, record
from playground.engine.request import PreparedRequest
from playground.models import (
    Agent,
    CollectionRun,
    Environment,
    PolledPromise,
    QueuedWork,
    Run,
    SavedRequest,
    Variable,
)
from playground.models.driving import mark_interrupted
from playground.notifications import notifier
from playground.protocols.exchange import Target
from tests.engine.conftest import Begin, record_run, until, working
from tests.support.background_tasks import wait_for_tasks
from tests.support.collection_runs import new_collection, request
from tests.support.servers import HOLD, Script, Server, reply, serve

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = reply(
    b'{"_meta": {"response_type": "answer"}, "results": [{"@type": "Recipe", "name": "Eggs"}]}'
)
Deferred = list[tuple[jobs.Job, str]]


@pytest.fixture
def deferred(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Deferred:
    """The jobs that were deferred, as with workers."""
    found: Deferred = []

    def store(job: jobs.Job, key: str, before: Callable[[], None] | None) -> None:
        if before:
            before()
        found.append((job, key))

    settings.WORKERS = True
    monkeypatch.setattr(jobs.Job, "_store", store)
    return found


async def submit(url: str, **agent: Any) -> Run:
    """Submit a run of a request to an address."""
    run, prepared = await record_run(Agent(name="A", url=url, **agent), headers=[("X-Own", "1")])
    await tasks.send(run, prepared)
    return run


def _read(payload: dict[str, Any]) -> PreparedRequest:
    """Read a payload as a worker does."""
    work = QueuedWork(payload={"format": work_queue.FORMAT, **payload})
    return work_queue.read_request(Run(request={}), work)


async def do(deferred: Deferred) -> None:
    """Do what was deferred, and forget it."""
    while deferred:
        job, key = deferred.pop(0)
        await job.function(key)


class TestPayload:
    def test_it_is_the_same_after_json(self) -> None:
        target = Target(
            "http://a.example",
            binding="mcp",
            headers=(("A", "1"), ("A", "2")),
            tools=("ask", ""),
            handshake={"tools": []},
            session=("2025-06-18", "s"),
            resume={"id": 1},
        )
        prepared = PreparedRequest(
            headers=[("B", "2")],
            target=target,
            document={"query": "\ud800"},
            other_credentials=["secret"],
        )
        read = _read(work_queue.payload_of(prepared))
        assert (read.target, read.document) == (target, prepared.document)
        assert (read.headers, read.redact) == ([("B", "2")], ["secret"])

    def test_members_of_a_later_version_are_left_out(self) -> None:
        value = work_queue.payload_of(PreparedRequest(target=Target("http://a")))
        value["target"]["invented"] = True
        assert _read(value).target == Target("http://a")


class TestRuns:
    async def test_one_waits_until_a_worker_takes_it(self, deferred: Deferred) -> None:
        async with serve(ANSWER) as server:
            run = await submit(server.url, auth="bearer", auth_secret="very secret")
            stored = await Run.objects.aget()
            assert (stored.state, stored.driver, stored.heartbeat_at) == ("queued", "", None)
            assert server.requests == []
            await do(deferred)
            (request,) = server.requests
            assert b"\r\nX-Own: 1\r\n" in request
            assert b"\r\nAuthorization: Bearer very secret\r\n" in request
        await run.arefresh_from_db()
        assert (run.state, run.results, run.driver) == ("completed", 1, this_process())
        frames = await sync_to_async(lambda: list(run.read_frames()))()
        assert not any(b"very secret" in frame.data for frame in frames)
        assert not await QueuedWork.objects.aexists()

    async def test_its_secrets_are_encrypted(self, deferred: Deferred) -> None:
        await submit("http://127.0.0.1:9", auth="bearer", auth_secret="very secret")

        def raw() -> str:
            from django.db import connection

            with connection.cursor() as cursor:
                cursor.execute("SELECT payload FROM playground_queuedwork")
                return str(cursor.fetchone()[0])

        assert "very secret" not in await sync_to_async(raw)()
        assert "very secret" in str((await QueuedWork.objects.aget()).payload)

    async def test_a_job_that_is_delivered_twice_sends_once(self, deferred: Deferred) -> None:
        async with serve(ANSWER) as server:
            await submit(server.url)
            job, key = deferred[0]
            await asyncio.gather(*(job.function(key) for _ in range(5)))
            await job.function(key)
            assert len(server.requests) == 1

    async def test_the_job_of_a_deleted_run(self, deferred: Deferred) -> None:
        await submit("http://127.0.0.1:9")
        await Run.objects.all().adelete()
        await do(deferred)
        assert not await QueuedWork.objects.aexists()

    async def test_one_that_is_stopped_is_never_sent(self, deferred: Deferred) -> None:
        async with serve(ANSWER) as server:
            run = await submit(server.url)
            assert not await tasks.cancel(run)
            await run.arefresh_from_db()
            assert run.state == "cancelled"
            await do(deferred)
            assert server.requests == []

    async def test_one_that_waits_is_not_interrupted(self, deferred: Deferred) -> None:
        run = await submit("http://127.0.0.1:9")
        await Run.objects.aupdate(created_at=Now() - timedelta(days=1))
        assert await sync_to_async(mark_interrupted)() == 0
        await run.arefresh_from_db()
        assert run.state == "queued"

    async def test_it_is_queued_once(self, deferred: Deferred) -> None:
        """Also if the commit was made, its answer lost, and the job done before the retry."""
        async with serve(ANSWER) as server:
            run = await submit(server.url)
            await do(deferred)
            await sync_to_async(work_queue.enqueue)(run, {})
            assert not await QueuedWork.objects.aexists()
            await run.arefresh_from_db()
            assert run.state == "completed"

    @pytest.mark.parametrize(
        ("payload", "cause", "fix"),
        [
            ({}, "The worker cannot decrypt the request.", "PLAYGROUND_KEY"),
            ({"format": 2}, "queued by version 9.0", "same version"),
            ({"format": 1}, "queued by version 9.0", "same version"),
            ({"format": 1, "target": 1}, "queued by version 9.0", "same version"),
        ],
    )
    async def test_a_worker_with_another_key_or_version(
        self, payload: dict[str, Any], cause: str, fix: str, deferred: Deferred
    ) -> None:
        run = await submit("http://127.0.0.1:9")
        await QueuedWork.objects.aupdate(payload=payload, version="9.0")
        await do(deferred)
        await run.arefresh_from_db()
        assert run.state == "failed"
        assert cause in run.problem["cause"]
        assert fix in run.problem["fix"]

    async def test_a_worker_that_shuts_down_leaves_it(
        self, deferred: Deferred, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = await submit("http://127.0.0.1:9")
        monkeypatch.setattr("playground.engine.runs.refuses_new_runs", lambda: True)
        with pytest.raises(runs.ShuttingDownError):
            await do(deferred)
        await run.arefresh_from_db()
        assert run.state == "queued"
        assert await QueuedWork.objects.aexists()

    async def test_a_server_without_workers_drives_it(
        self, deferred: Deferred, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They were turned off: nobody else would."""
        monkeypatch.setattr(process, "MIN_WAITING", timedelta(seconds=0.05))
        monkeypatch.setattr(process.waiting_runs, "seconds", 0.05)
        async with serve(ANSWER) as server:
            run = await submit(server.url)
            settings.WORKERS = False
            async with working(process.waiting_runs):
                await until(Run.objects.filter(pk=run.pk, state="completed").aexists)
            assert len(server.requests) == 1
        assert not await QueuedWork.objects.aexists()

    async def test_what_waits(self, deferred: Deferred) -> None:
        assert await sync_to_async(work_queue.waiting_work)() == (0, 0.0)
        for _ in range(2):
            await submit("http://127.0.0.1:9")
        first = (await QueuedWork.objects.afirst()).pk  # type: ignore[union-attr]
        await QueuedWork.objects.filter(pk=first).aupdate(queued_at=Now() - timedelta(seconds=60))
        count, seconds = await sync_to_async(work_queue.waiting_work)()
        assert count == 2
        assert 60 <= seconds < 70


class TestCollectionRuns:
    async def submit(self, **options: Any) -> CollectionRun:
        """Submit a run of three requests, two of them in a folder."""
        requests = [request(f"{{{{word}}}} {number}", "F" * bool(number)) for number in range(3)]
        builder = await new_collection("http://127.0.0.1:9", *requests)
        plan = await sync_to_async(builder.plan)(CollectionRunOptions(**options))
        run = await sync_to_async(record)(plan)
        await runner.submit(run, plan)
        return run

    async def verdicts(self, run: CollectionRun) -> list[tuple[str, str]]:
        await run.arefresh_from_db()
        return [(step.verdict, step.reason) async for step in run.steps.all()]

    async def test_a_worker_drives_it_as_planned(self, deferred: Deferred) -> None:
        environment = await Environment.objects.acreate(name="E", slug="e")
        await Variable.objects.acreate(environment=environment, name="word", value="from E")
        async with serve(ANSWER) as server:
            agent = Agent(name="Other", url=server.url, protocol="nlweb", binding="http")
            rows = [{"word": "one"}, {}]
            run = await self.submit(agent=agent, environment=environment, rows=rows)
            assert await self.verdicts(run) == [("waiting", "")] * 6
            await do(deferred)
            documents = (request.partition(b"\r\n\r\n")[2] for request in server.requests)
            sent = sorted(json.loads(document)["query"]["text"] for document in documents)
        words = ("from E", "one")
        assert sent == sorted(f"{word} {number}" for word in words for number in range(3))
        assert await self.verdicts(run) == [("met", "")] * 6
        assert run.state == "completed"
        assert await Run.objects.filter(source="collection").acount() == 6

    async def test_what_was_deleted_meanwhile(self, deferred: Deferred) -> None:
        async with serve(ANSWER) as server:
            agent = Agent(name="Other", url=server.url)
            run = await self.submit(agent=agent, variables={"word": "a"})
            await SavedRequest.objects.filter(name="{{word}} 1").adelete()
            await do(deferred)
        assert await self.verdicts(run) == [
            ("met", ""), ("unsent", "The request was deleted."), ("met", "")
        ]  # fmt: skip

    @pytest.mark.parametrize("what", ["agent", "environment"])
    async def test_an_agent_or_environment_that_was_deleted(
        self, what: str, deferred: Deferred
    ) -> None:
        given: Any
        if what == "agent":
            given = await Agent.objects.acreate(name="Saved", url="http://127.0.0.1:9")
        else:
            given = await Environment.objects.acreate(name="E", slug="e")
        run = await self.submit(**{what: given})
        await type(given).objects.all().adelete()
        await do(deferred)
        assert await self.verdicts(run) == [("unsent", f"The {what} was deleted.")] * 3
        assert run.is_final

    async def test_one_that_is_stopped(self, deferred: Deferred) -> None:
        run = await self.submit()
        await runner.cancel(run)
        await do(deferred)
        reason = "Not started: the run was stopped."
        assert await self.verdicts(run) == [("skipped", reason)] * 3
        assert run.state == "stopped"
        assert not await Run.objects.aexists()


class TestPromises:
    PROMISE = reply(
        b'{"_meta": {"response_type": "promise"}, "promise": {"token": "t", "progress": 0.5}}'
    )

    def script(self, second: Any) -> Callable[[bytes], Script]:
        """A promise, and then the same step for every request."""
        return lambda request: [second if b"promise_token" in request else self.PROMISE]

    async def promise(self, server: Server, deferred: Deferred) -> PolledPromise:
        await Agent.objects.acreate(name="A", slug="a", url=server.url)
        run = await submit(server.url)
        await do(deferred)
        return await PolledPromise.objects.aget(run=run)

    async def test_a_cancellation_that_is_delivered_twice_is_sent_once(
        self, deferred: Deferred
    ) -> None:
        async with serve(answer=self.script(HOLD)) as server:
            promise = await self.promise(server, deferred)
            await promise_polling.cancel_promise(promise.pk)
            [(job, key)] = deferred
            first = asyncio.ensure_future(job.function(key))
            await until(lambda: len(server.requests) == 2)
            await job.function(key)
            assert len(server.requests) == 2
            tasks.stop_all()
            await first

    async def test_one_is_polled_once_by_several_jobs(self, deferred: Deferred) -> None:
        async with serve(answer=self.script(ANSWER)) as server:
            promise = await self.promise(server, deferred)
            await promise_polling.poll_now(promise.pk)
            [(job, key)] = deferred
            await asyncio.gather(*(job.function(key) for _ in range(3)))
            await promise.arefresh_from_db()
            assert (promise.status, len(server.requests)) == ("fulfilled", 2)


class TestJobs:
    async def test_without_workers_they_are_tasks(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        done: list[str] = []

        async def work(key: str) -> None:
            done.append(key)
            if key == "2":
                raise RuntimeError("broken")

        job = jobs.Job("work", jobs.SHORT, work)
        before: list[int] = []
        await job.defer(1, lambda: before.append(1))
        await job.defer(2)
        await wait_for_tasks()
        assert (done, before) == (["1", "2"], [1])
        assert "Job work 2 failed" in caplog.text

    async def test_a_job_that_is_given_up_continues(self) -> None:
        """Between taking a run and driving it, above all."""
        gate, done = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            await gate.wait()
            done.set()

        job = asyncio.ensure_future(jobs._finish(asyncio.ensure_future(work())))
        await asyncio.sleep(0)
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
        gate.set()
        async with asyncio.timeout(5):
            await done.wait()

    async def test_a_periodic_job_goes_on_after_an_error(self) -> None:
        times = 0

        async def work() -> None:
            nonlocal times
            times += 1
            raise RuntimeError("broken")

        periodic = jobs.PeriodicJob("work", 0.001, work)
        async with working(periodic):
            await until(lambda: times >= 3)


async def test_a_stop_request_is_known_at_once(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has stored it: its notification arrives through the channel layer."""
    for interval in ("HEARTBEAT_INTERVAL", "STOP_REQUEST_INTERVAL"):
        monkeypatch.setattr(heartbeat, interval, 3600.0)  # Nothing else looks for it.
    async with working(heartbeat.liveness_checks), serve(HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        await Run.objects.filter(pk=run.pk).aupdate(stop_requested=True)
        notifier().deliver(heartbeat.STOP_REQUESTS)
        await asyncio.wait_for(task, 20)
    await run.arefresh_from_db()
    assert run.state == "cancelled"
