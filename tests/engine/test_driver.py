"""Runs through the driver: state, outcome, counts and stored frames."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from playground import engine, executors, memory_budget
from playground.engine import driver, writer
from playground.engine.driver import Driver
from playground.limits import RunLimits
from playground.models import FrameBatch, Run
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from tests.engine.conftest import Send
from tests.support import mcp_servers
from tests.support.servers import (
    CLOSE,
    HOLD,
    LAST_CHUNK,
    RESET,
    STREAM_HEAD,
    Step,
    chunk,
    free_port,
    head,
    reply,
    serve,
)
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, result

pytestmark = pytest.mark.database

Begin = Callable[..., Awaitable[Any]]

START = b'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55"}}\n\n'
RESULT = b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Eggs"}}\n\n'
COMPLETE = (
    b'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55", '
    b'"session_context": {"conversation_id": "c1"}}}\n\n'
)
FAILURE = {
    "_meta": {"response_type": "failure", "version": "0.55"},
    "error": {"code": "NO_RESULTS"},
}


async def kinds(run: Run) -> list[FrameKind]:
    frames = await sync_to_async(lambda: list(run.read_frames()))()
    assert [frame.seq for frame in frames] == list(range(1, run.frames + 1))
    return [frame.kind for frame in frames]


async def test_a_stream_is_stored_counted_and_completed(send: Send) -> None:
    async with serve(
        STREAM_HEAD, chunk(START), chunk(RESULT), chunk(COMPLETE), LAST_CHUNK
    ) as server:
        run = await send(server.url)
    assert (run.state, run.outcome, run.status) == ("completed", "answer", 200)
    assert (run.events, run.results) == (3, 1)
    assert run.bytes == len(START + RESULT + COMPLETE)
    assert run.session_context == {"conversation_id": "c1"}
    assert 0 < run.headers_us <= run.first_event_us <= run.ended_us
    assert await kinds(run) == [
        FrameKind.CALL, FrameKind.OPEN, FrameKind.HEAD,
        FrameKind.EVENT, FrameKind.EVENT, FrameKind.EVENT, FrameKind.END,
    ]  # fmt: skip


SCRIPTS: list[tuple[str, tuple[Step, ...], str, str, str | None]] = [
    (
        "a failure of the agent",
        (reply(json.dumps(FAILURE).encode()),),
        "completed", "failure", None,
    ),
    (
        "a failure with an HTTP status",
        (reply(json.dumps(FAILURE).encode(), status="400 Bad Request"),),
        "completed", "failure", None,
    ),
    ("an HTML page", (reply(b"<html>oops</html>", "text/html"),), "failed", "none", "decode"),
    ("an empty body", (reply(b""),), "failed", "none", "decode"),
    ("broken JSON", (reply(b'{"_meta": '),), "failed", "none", "decode"),
    ("JSON nested too deep", (reply(b"[" * 5000 + b"]" * 5000),), "refused", "none", "limit"),
    (
        "a body that breaks off",
        (STREAM_HEAD, chunk(START), chunk(RESULT), RESET),
        "truncated", "answer", "body",
    ),
    (
        "a stream that stops in the middle of an event",
        (STREAM_HEAD, chunk(START), chunk(RESULT[:30]), LAST_CHUNK),
        "truncated", "none", "body",
    ),
    ("no response at all", (RESET,), "failed", "none", "headers"),
    (
        "a redirect",
        (head("307 Temporary Redirect", location="http://127.0.0.1:1/", content_length="0"),),
        "failed", "none", "decode",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("script", "state", "outcome", "stage"),
    [row[1:] for row in SCRIPTS],
    ids=[row[0] for row in SCRIPTS],
)
async def test_every_ending_has_its_state(
    send: Send, script: tuple[Step, ...], state: str, outcome: str, stage: str | None
) -> None:
    async with serve(*script) as server:
        run = await send(server.url)
    assert (run.state, run.outcome) == (state, outcome)
    assert (run.problem or {}).get("stage") == stage
    if run.problem:
        assert run.problem["cause"]
        assert run.problem["fix"]


async def test_what_came_before_the_break_is_kept(send: Send, captures: Path) -> None:
    """The public ask agent writes a second response head into the chunked body."""
    capture = (captures / "ask_agent" / "rawsocket_stream_failure_midstream.txt").read_bytes()
    async with serve(capture) as server:
        run = await send(server.url)
    assert run.state == "truncated"
    assert FrameKind.EVENT in await kinds(run)
    assert "HTTP/1.1 200 OK" in run.problem["detail"]


async def test_nobody_listens(send: Send) -> None:
    run = await send(f"http://127.0.0.1:{free_port()}")
    assert (run.state, run.problem["stage"]) == ("failed", "connect")
    assert run.status is None


async def test_stop_closes_the_connection_and_keeps_what_came(begin: Begin) -> None:
    async with serve(STREAM_HEAD, chunk(START), chunk(RESULT), HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        while not await Run.objects.filter(pk=run.pk, results=1).aexists():
            await asyncio.sleep(0.01)
        assert await engine.cancel(run)
        await asyncio.wait_for(server.gone.wait(), 20)
        assert task.done()
    await run.arefresh_from_db()
    assert (run.state, run.results, run.problem) == ("cancelled", 1, None)
    assert await kinds(run)


async def test_stop_keeps_an_event_that_had_not_ended(begin: Begin) -> None:
    async with serve(STREAM_HEAD, chunk(START), chunk(RESULT[:30]), HOLD) as server:
        run, _ = await begin(server.url)
        while not await Run.objects.filter(pk=run.pk, events=1).aexists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        assert await engine.cancel(run)
    await run.arefresh_from_db()
    assert (run.state, run.bytes, run.problem) == ("cancelled", len(START) + 30, None)
    assert (await kinds(run))[-1] is FrameKind.TAIL


@pytest.mark.slow
async def test_a_stop_at_another_process_is_seen(begin: Begin) -> None:
    async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        await Run.objects.filter(pk=run.pk).aupdate(stop_requested=True)
        await asyncio.wait_for(task, 5)
    await run.arefresh_from_db()
    assert run.state == "cancelled"


async def test_a_second_stop_loses_nothing_of_what_the_first_one_stores(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one comes while what was received is parsed in a thread."""
    parsing, proceed = threading.Event(), threading.Event()
    plain = Driver._read

    def read(self: Driver, frames: Any) -> Any:
        if any(frame.kind is FrameKind.EVENT for frame in frames):
            parsing.set()
            proceed.wait(10)
        return plain(self, frames)

    async def calls(*_: Any, **__: Any) -> Any:
        yield [CALL, OPEN, HEAD]
        yield [result(0), result(1)]
        await asyncio.Event().wait()

    monkeypatch.setattr("playground.engine.driver.LARGE", 10)
    monkeypatch.setattr("playground.engine.driver.make_calls", calls)
    monkeypatch.setattr(Driver, "_read", read)
    run = (await sync_to_async(Recording)()).run
    driver = Driver(run, Target(**run.describe_target()))
    task = asyncio.create_task(driver.drive())
    await asyncio.to_thread(parsing.wait, 10)
    for _ in range(2):
        driver.stop()
        await asyncio.sleep(0)
    proceed.set()
    await asyncio.wait_for(task, 10)
    await run.arefresh_from_db()
    assert (run.state, run.frames) == ("cancelled", 5)


async def test_a_database_that_fails_for_good_leaves_nobody_waiting(
    send: Send, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr("playground.engine.writer._store", broken)
    async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
        run = await send(server.url)
    assert (run.state, run.problem["stage"]) == ("failed", "internal")


@pytest.mark.parametrize("seconds", [0.5, 20])
async def test_a_database_that_is_away_ends_no_run(
    send: Send, seconds: float, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Beyond the patience of the settings the run says what was not stored."""
    plain, began = writer._store, time.monotonic()

    def away(flushes: Any) -> None:
        if time.monotonic() - began < seconds and any(flush.parts for flush in flushes):
            raise OperationalError("connection refused")
        plain(flushes)

    settings.DATABASE_PATIENCE = 1
    monkeypatch.setattr(writer, "_store", away)
    async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
        run = await send(server.url)
    if seconds < 1:
        assert (run.state, run.problem, run.frames) == ("completed", None, 6)
        return
    assert (run.state, run.problem["stage"], run.frames) == ("failed", "internal", 0)
    assert run.problem["cause"] == (
        "The playground’s database was unavailable for more than 1 seconds: 6 received frames "
        "were not stored."
    )


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Callable[[int], None]:
    """Return a function that makes the next writes fail; each is tried once, but for the end."""
    left = 0
    plain = executors.run_in_writer

    def begin(writes: int) -> None:
        nonlocal left
        left = writes

    async def run_in_writer(*args: Any, **options: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            for _ in range(10):  # The driver waits for the agent meanwhile.
                await asyncio.sleep(0)
            raise OperationalError("connection refused")
        return await plain(*args, **options)

    settings.DATABASE_PATIENCE = 0
    monkeypatch.setattr(executors, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(executors, "LONGEST_PAUSE", 0.001)
    monkeypatch.setattr(executors, "run_in_writer", run_in_writer)
    return begin


async def test_an_outage_at_the_end_loses_nothing(
    begin: Begin, outage: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Driver._finish

    async def finish(driver: Driver, frames: writer.FrameWriter, final: Any) -> Any:
        await frames.drain()
        outage(20)
        return await plain(driver, frames, final)

    monkeypatch.setattr(Driver, "_finish", finish)
    async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
        run, task = await begin(server.url)
        await asyncio.wait_for(task, 20)
    await run.arefresh_from_db()
    assert (run.state, run.problem, run.frames) == ("completed", None, 6)


async def test_a_run_that_waits_to_store_its_end_holds_no_frames(
    begin: Begin, outage: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest keeps what is logged, with tracebacks.
    monkeypatch.setattr(driver.logger, "disabled", True)
    monkeypatch.setattr(writer.logger, "disabled", True)
    go_on = asyncio.Event()
    # Frames of other tests are in memory, too.
    result = RESULT.replace(b"Eggs", b"Only in this test")
    async with serve(STREAM_HEAD, chunk(START), go_on, chunk(result * 20), HOLD) as server:
        run, task = await begin(server.url)
        await stored_frames(run)
        outage(10**9)
        go_on.set()
        while "_store_end" not in _waiting_in(task) or "sleep" not in _waiting_in(task):
            await asyncio.sleep(0)
        gc.collect()
        assert memory_budget.held_bytes() == 0
        frames = [each for each in gc.get_objects() if type(each) is Frame]
        assert [frame for frame in frames if b"Only in this test" in frame.data] == []
        outage(0)
        await asyncio.wait_for(task, 20)


def _waiting_in(task: asyncio.Task[Any]) -> list[str]:
    """The names of the coroutines that a task waits in, the outermost first."""
    found, each = [], task.get_coro()
    while each is not None and hasattr(each, "cr_await"):
        found.append(each.__name__)
        each = each.cr_await
    return found


@pytest.mark.parametrize("writes", [1, 20])
async def test_frames_that_cannot_be_stored_end_the_call_to_a_silent_agent(
    begin: Begin, outage: Callable[[int], None], writes: int
) -> None:
    """The run says so, however long the database is away then."""
    go_on = asyncio.Event()
    async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT), HOLD) as server:
        run, task = await begin(server.url)
        await stored_frames(run)
        outage(writes)
        go_on.set()
        await asyncio.wait_for(task, 20)
        await server.gone.wait()
    await run.arefresh_from_db()
    assert run.state == "failed"
    assert "1 received frame was not stored" in run.problem["cause"]


async def stored_frames(run: Run) -> None:
    """Wait until all frames are stored that a server sends before it waits."""
    while run.frames < 4:
        await run.arefresh_from_db()


async def test_a_stop_of_a_run_whose_frames_are_lost(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Storing fails while the frames are stored that had arrived when it was stopped."""

    def broken(flushes: Any) -> None:
        raise RuntimeError("disk full")

    async def take_unread(self: Driver, frames: writer.FrameWriter) -> None:
        monkeypatch.setattr(writer, "_store", broken)
        await self._take(frames, [Frame(0, 1, FrameKind.EVENT, b"data: 1")])
        await frames.drain()

    monkeypatch.setattr(Driver, "_take_unread_frames", take_unread)
    async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        engine.stop(run)
        await asyncio.wait({task})
    await run.arefresh_from_db()
    assert (run.state, run.problem["stage"]) == ("failed", "internal")


async def test_what_an_interrupted_run_received_afterwards_is_in_the_run(begin: Begin) -> None:
    """Another process took this one for dead: its driver could not reach the database."""
    go_on = asyncio.Event()
    async with serve(STREAM_HEAD, chunk(START), go_on, chunk(RESULT * 2), HOLD) as server:
        run, task = await begin(server.url)
        await stored_frames(run)
        await Run.objects.filter(pk=run.pk).aupdate(state="interrupted")
        go_on.set()
        await asyncio.wait_for(task, 20)
        await server.gone.wait()
    await run.arefresh_from_db()
    assert run.state == "interrupted"
    assert "2 received frames were not stored" in run.problem["cause"]


async def test_a_final_state_stays(begin: Begin) -> None:
    async with serve(STREAM_HEAD, chunk(START), HOLD) as server:
        run, task = await begin(server.url)
        await server.asked.wait()
        await Run.objects.filter(pk=run.pk).aupdate(state="interrupted")
        engine.stop(run)
        await asyncio.wait({task})
    await run.arefresh_from_db()
    assert run.state == "interrupted"


async def test_a_stop_before_the_first_step_is_kept(begin: Begin) -> None:
    async with serve(STREAM_HEAD, HOLD) as server:
        run, task = await begin(server.url)
        engine.stop(run)
        await asyncio.wait({task})
    await run.arefresh_from_db()
    assert run.state == "cancelled"
    assert not server.requests


async def test_summaries_beyond_a_few_are_entries_like_all_others(send: Send) -> None:
    summary = b'event: result\ndata: {"item": {"@type": "SearchSummary", "text": "s"}}\n\n'
    async with serve(STREAM_HEAD, chunk(START), chunk(summary * 300), LAST_CHUNK) as server:
        run = await send(server.url)
    pinned = [b.pinned async for b in run.frame_batches.all()]
    assert (run.results, run.entries, sum(pinned)) == (300, 300, 10)


async def test_text_that_databases_refuse_is_kept(send: Send) -> None:
    document = {"query": {"text": "nul \0 and half a pair \ud800"}}
    async with serve(reply(b'{"a": "\\u0000 \\ud800"}')) as server:
        run = await send(server.url, document)
    assert run.request == document
    assert run.state == "failed"


async def test_stopping_a_run_that_has_ended_does_nothing(send: Send) -> None:
    async with serve(reply(json.dumps(FAILURE).encode())) as server:
        run = await send(server.url)
    assert not await engine.cancel(run)
    await run.arefresh_from_db()
    assert run.state == "completed"


async def test_two_sends_are_two_runs(begin: Begin) -> None:
    async with serve(STREAM_HEAD, chunk(START), chunk(COMPLETE), LAST_CHUNK) as server:
        (one, first), (two, second) = await begin(server.url), await begin(server.url)
        await asyncio.gather(first, second)
    assert one.pk != two.pk
    assert await Run.objects.filter(state="completed").acount() == 2
    assert len(server.requests) == 2


async def test_more_runs_than_the_limit_are_refused(begin: Begin, settings: Any) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, max_runs=1)
    async with serve(STREAM_HEAD, HOLD) as server:
        run, _ = await begin(server.url)
        late, task = await begin(server.url)
        await task
        await late.arefresh_from_db()
        assert (late.state, late.problem["limit"]) == ("refused", "max_runs")
        await server.asked.wait()
        await engine.cancel(run)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("limit", "value", "state", "name"),
    [
        ("max_bytes", 200, "refused", "max_bytes"),
        ("max_frames", 5, "refused", "max_frames"),
        ("total_timeout", 0.3, "failed", "total_timeout"),
        ("idle_timeout", 0.3, "failed", "idle_timeout"),
    ],
)
async def test_crossing_a_limit_names_it(
    send: Send, settings: Any, limit: str, value: float, state: str, name: str
) -> None:
    settings.RUN_LIMITS = replace(settings.RUN_LIMITS, **{limit: value})
    script = (STREAM_HEAD, chunk(b": hello\n\n"), *[chunk(RESULT)] * 10, HOLD)
    async with serve(*script) as server:
        run = await send(server.url)
    assert (run.state, run.problem["limit"]) == (state, name)
    assert FrameKind.COMMENT in await kinds(run)


async def test_a_secret_is_sent_and_never_stored(send: Send) -> None:
    secret = "canary-5e1f0c"
    echo = json.dumps({**FAILURE, "error": {"code": "X", "message": f"bad {secret}"}}).encode()
    async with serve(reply(echo)) as server:
        await send(server.url, agent={"auth": "bearer", "auth_secret": secret})
    assert f"Authorization: Bearer {secret}".encode() in server.requests[0]
    stored = b"".join([bytes(d) async for d in FrameBatch.objects.values_list("data", flat=True)])
    assert secret.encode() not in stored
    run = await Run.objects.aget()
    assert secret not in json.dumps([run.request, run.headers, run.problem, run.session_context])


async def test_a_flood_is_stored_in_few_rows(send: Send) -> None:
    async with serve(
        STREAM_HEAD, chunk(START), *[chunk(RESULT * 100)] * 50, chunk(COMPLETE), LAST_CHUNK
    ) as server:
        run = await send(server.url)
    assert (run.results, run.frames) == (5000, 5000 + 6)
    assert len(await kinds(run)) == run.frames
    assert await FrameBatch.objects.acount() < run.frames / 20


async def test_keys_that_an_older_server_sends_by_mistake_are_not_stored(send: Send) -> None:
    leak = b'data: {"message_type": "api_key", "key_name": "maps", "key_value": "leaked-7f3"}\n\n'
    async with serve(STREAM_HEAD, chunk(leak), chunk(RESULT), LAST_CHUNK) as server:
        run = await send(server.url)
    assert run.state == "completed"
    frames = await sync_to_async(lambda: list(run.read_frames()))()
    assert not any(b"leaked-7f3" in frame.data for frame in frames)


@pytest.mark.parametrize(
    ("indexes", "out_of_order"),
    [([0, 1, 2], False), ([0, 2, 1], True), ([1, 1], False), ([None, 0, None], False), ([], False)],
)
async def test_it_is_noted_when_results_come_out_of_order(
    send: Send, indexes: list[int | None], out_of_order: bool
) -> None:
    results = [
        chunk(b"event: result\ndata: %b\n\n" % json.dumps({"index": i, "item": {}}).encode())
        for i in indexes
    ]
    async with serve(STREAM_HEAD, chunk(START), *results, chunk(COMPLETE), LAST_CHUNK) as server:
        run = await send(server.url)
    assert run.out_of_order is out_of_order


def large_answer(size: int) -> tuple[bytes, int]:
    """A document of about `size` bytes, and its number of results."""
    item = {"@type": "Recipe", "name": "Eggs", "description": "x" * 1000}
    count = size // 1000
    document = {"_meta": {"response_type": "answer", "version": "0.55"}, "results": [item] * count}
    return json.dumps(document).encode(), count


class TestLargeBodies:
    """Beyond a limit the pieces of a body are not held; they are read from the database."""

    @pytest.mark.parametrize("size", [900_000, 1_100_000, 3_000_000])
    async def test_is_read_when_it_is_complete(self, send: Send, size: int) -> None:
        body, results = large_answer(size)
        async with serve(reply(body)) as server:
            run = await send(server.url)
        assert (run.state, run.outcome, run.results) == ("completed", "answer", results)
        assert (run.bytes, run.failures) == (len(body), 0)
        stored = await sync_to_async(list)(run.read_frames())
        assert b"".join(each.data for each in stored if each.kind is FrameKind.BODY) == body

    @pytest.mark.parametrize("json_response", [True, False])
    async def test_over_mcp(
        self, send: Send, json_response: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runs = []
        server = mcp_servers.serving(mcp_servers.Recipes(), json_response=json_response)
        with server as url:
            for most in (driver.MAX_HELD, 0):
                monkeypatch.setattr(driver, "MAX_HELD", most)
                runs.append(await send(url, agent={"binding": "mcp"}))
        held, left_out = ((r.state, r.outcome, r.results, r.events, r.problem) for r in runs)
        assert held == left_out
        assert held[:2] == ("completed", "answer")

    async def test_is_read_from_the_database_while_nobody_else_decodes(
        self, send: Send, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was read before it waited for pages to decode theirs, and held meanwhile."""
        locked: list[bool] = []
        plain = Run.read_frames

        def read(run: Run, after: int = 0) -> Iterator[Frame]:
            locked.append(memory_budget._decoding.locked())
            return plain(run, after)

        monkeypatch.setattr(Run, "read_frames", read)
        body, _ = large_answer(1_300_000)
        async with serve(reply(body)) as server:
            await send(server.url)
        assert locked == [True]

    async def test_that_is_larger_than_the_limit_is_not_read(
        self, send: Send, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: Any) -> None:
            raise AssertionError("read")

        monkeypatch.setattr(Driver, "_read_pieces", fail)
        body, _ = large_answer(3_000_000)
        async with serve(reply(body)) as server:
            run = await send(server.url, limits=RunLimits(max_bytes=2_000_000))
        assert (run.state, run.problem["limit"], run.bytes) == ("refused", "max_bytes", 2_000_000)

    async def test_that_was_complete_when_the_transfer_failed(self, send: Send) -> None:
        body, results = large_answer(2_000_000)
        start = head(content_type="application/json", content_length=str(len(body) + 10))
        async with serve(start, body, CLOSE) as server:
            run = await send(server.url)
        assert (run.state, run.results) == ("truncated", results)

    async def test_a_stop_while_it_is_read_leaves_no_gap(
        self, begin: Begin, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reading, proceed = threading.Event(), threading.Event()
        plain = Driver._read_pieces

        def slow(self: Driver, *args: Any) -> Any:
            reading.set()
            proceed.wait(10)
            return plain(self, *args)

        monkeypatch.setattr(Driver, "_read_pieces", slow)
        body, results = large_answer(2_000_000)
        async with serve(reply(body)) as server:
            run, task = await begin(server.url)
            await asyncio.to_thread(reading.wait, 10)
            engine.stop(run)
            await asyncio.sleep(0)
            proceed.set()
            await asyncio.wait({task})
        await run.arefresh_from_db()
        assert (run.state, run.results) == ("cancelled", results)
        assert (await kinds(run))[-1] is FrameKind.END
