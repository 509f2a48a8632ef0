"""The frame writer: numbers, batches, stored before viewers are notified."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.db import DatabaseError

from playground.engine import writer as writers
from playground.engine.writer import FrameWriter, RunEndedError, notify_viewers
from playground.models import FrameBatch, Run, batches
from playground.models.batches import FramePart
from playground.protocols.frames import Frame, FrameKind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture
async def run(transactional_db: None) -> Run:
    return await Run.objects.acreate(
        agent_name="scripted", url="http://a.example/ask", protocol="nlweb", binding="http",
        version="0.55", request={}, state="connecting",
    )  # fmt: skip


@pytest.fixture
def notified(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many frames were stored at each notification."""
    counts: list[int] = []

    async def record(run: Run) -> None:
        counts.append((await Run.objects.aget(pk=run.pk)).frames)

    monkeypatch.setattr(writers, "notify_viewers", record)
    return counts


def event(number: int, size: int = 8) -> Frame:
    return Frame(0, number, FrameKind.EVENT, b"%08d" % number + b"." * (size - 8))


async def test_frames_are_stored_before_anyone_is_told(run: Run, notified: list[int]) -> None:
    with FrameWriter(run) as writer:
        for number in range(3):
            writer.add(FramePart(writer.number([event(number)])))
            await writer.drain()
    assert notified == [1, 2, 3]
    assert [(b.first, b.last) async for b in FrameBatch.objects.all()] == [(1, 1), (2, 2), (3, 3)]


async def test_a_fast_stream_is_stored_in_few_batches(run: Run, notified: list[int]) -> None:
    with FrameWriter(run) as writer:
        for number in range(500):
            writer.add(FramePart(writer.number([event(number)])), events=number + 1)
            await asyncio.sleep(0)
        await writer.drain()
    await run.arefresh_from_db()
    assert (run.frames, run.events) == (500, 500)
    assert notified[-1] == 500
    assert await FrameBatch.objects.acount() == len(notified) < 100


async def test_numbers_go_on_where_they_stopped(run: Run, notified: list[int]) -> None:
    for expected in ([1, 2], [3, 4]):
        with FrameWriter(run) as writer:
            frames = writer.number([event(0), event(1)])
            assert [frame.seq for frame in frames] == expected
            writer.add(FramePart(frames))
            await writer.drain()
        await run.arefresh_from_db()


async def test_columns_change_without_frames(run: Run, notified: list[int]) -> None:
    with FrameWriter(run) as writer:
        writer.add(state="failed", ended_us=7)
        await writer.drain()
    await run.arefresh_from_db()
    assert (run.state, run.ended_us, run.frames) == ("failed", 7, 0)
    assert not await FrameBatch.objects.aexists()


async def test_nothing_to_store_is_drained_at_once(run: Run) -> None:
    with FrameWriter(run) as writer:
        await asyncio.wait_for(writer.drain(), 1)
        await asyncio.wait_for(writer.wait_for_capacity(), 1)


async def test_a_transport_that_is_faster_than_the_database_waits(
    run: Run, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "HIGH_WATER", 100)
    with FrameWriter(run) as writer:
        for number in range(5):
            writer.add(FramePart(writer.number([event(number, 200)])))
            await writer.wait_for_capacity()
            assert (await Run.objects.aget(pk=run.pk)).frames == number + 1


async def test_a_database_that_fails_is_not_waited_for(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[int] = []

    def fail(*_: Any) -> None:
        attempts.append(1)
        raise DatabaseError("disk full")

    monkeypatch.setattr(writers, "store", fail)
    monkeypatch.setattr(writers, "RETRIES", (0.0, 0.0))
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0)])))
        with pytest.raises(DatabaseError, match="disk full"):
            await asyncio.wait_for(writer.drain(), 2)
        with pytest.raises(DatabaseError, match="disk full"):
            await asyncio.wait_for(writer.wait_for_capacity(), 2)
    assert len(attempts) == 3


async def test_a_database_that_was_away_for_a_moment_loses_nothing(
    run: Run, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, failures = writers.store, [1, 1]

    def shaky(*arguments: Any) -> None:
        if failures:
            failures.pop()
            raise DatabaseError("locked")
        plain(*arguments)

    monkeypatch.setattr(writers, "store", shaky)
    monkeypatch.setattr(writers, "RETRIES", (0.0, 0.0))
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0), event(1)])))
        await writer.drain()
    assert notified == [2]


@pytest.mark.parametrize("state", ["cancelled", "interrupted"])
async def test_final_means_final(run: Run, notified: list[int], state: str) -> None:
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0)])))
        await writer.drain()
        await Run.objects.aupdate(state=state)
        writer.add(FramePart(writer.number([event(1)])), state="completed")
        with pytest.raises(RunEndedError):
            await writer.drain()
    await run.arefresh_from_db()
    assert (run.state, run.frames, notified) == (state, 1, [1])
    assert await FrameBatch.objects.acount() == 1


async def test_a_run_that_was_deleted_is_not_brought_back(run: Run, notified: list[int]) -> None:
    with FrameWriter(run) as writer:
        await Run.objects.all().adelete()
        writer.add(FramePart(writer.number([event(0)])))
        with pytest.raises(RunEndedError):
            await writer.drain()
    assert not await FrameBatch.objects.aexists()


async def test_rows_stay_small_enough_to_look_for_one_frame(
    run: Run, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "ROW_FRAMES", 5)
    monkeypatch.setattr(batches, "ROW_BYTES", 100)
    sizes = [8] * 7 + [90] + [8] * 2 + [300]
    with FrameWriter(run) as writer:
        for number, size in enumerate(sizes):
            writer.add(FramePart(writer.number([event(number, size)]), entries=1))
        await writer.drain()
    rows = [row async for row in FrameBatch.objects.order_by("first")]
    assert notified == [11]
    assert [(row.first, row.last, row.entries) for row in rows] == [
        (1, 5, 5), (6, 7, 2), (8, 9, 2), (10, 10, 1), (11, 11, 1),
    ]  # fmt: skip
    stored = [frame.data for row in rows for frame in row.frames()]
    assert stored == [event(n, s).data for n, s in enumerate(sizes)]


async def test_counts_are_stored_with_the_frames_they_count(run: Run, notified: list[int]) -> None:
    frames = [event(0), Frame(0, 1, FrameKind.COMMENT, b": x\n\n")]
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number(frames), entries=2, pinned=1))
        await writer.drain()
        writer.add(FramePart(writer.number([event(2)]), changes_reading=True))
        await writer.drain()
        writer.add(FramePart(writer.number([Frame(0, 3, FrameKind.BODY, b"{}")])))
        await writer.drain()
    rows = FrameBatch.objects.order_by("first").values_list("entries", "pinned", "is_independent")
    assert [row async for row in rows] == [(2, 1, True), (0, 0, False), (0, 0, False)]


async def test_a_nudge_carries_no_data(run: Run) -> None:
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.group_add(run.group, channel)
    await notify_viewers(run)
    assert await layer.receive(channel) == {"type": "run.changed"}


async def test_a_channel_layer_that_is_down_stops_no_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr(get_channel_layer(), "group_send", refuse)
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0)])))
        await asyncio.wait_for(writer.drain(), 2)
    assert (await Run.objects.aget(pk=run.pk)).frames == 1


@pytest.mark.parametrize(
    ("failures", "attempts", "raised"),
    [
        ([], 1, None),
        ([DatabaseError], 2, None),
        ([DatabaseError, OSError], 3, None),
        ([DatabaseError, OSError, DatabaseError], 3, DatabaseError),
        ([writers.RunEndedError], 1, writers.RunEndedError),
        ([DatabaseError, writers.RunEndedError], 2, writers.RunEndedError),
        ([asyncio.CancelledError], 1, asyncio.CancelledError),
    ],
)
async def test_a_failed_attempt_is_retried_a_few_times(
    failures: list[type[BaseException]],
    attempts: int,
    raised: type[BaseException] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writers, "RETRIES", (0.0, 0.0))
    left, made = iter(failures), []

    async def attempt() -> None:
        made.append(1)
        if error := next(left, None):
            raise error

    with pytest.raises(raised) if raised else contextlib.nullcontext():
        await writers.with_retries(attempt, "an attempt")
    assert len(made) == attempts


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """A channel layer that drops a cancellation; set while it sends.

    So does redis-py by `asyncio.wait_for`, before Python 3.12 and where what it writes is written.
    """
    sending = asyncio.Event()

    async def group_send(*_: Any) -> None:
        sending.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(get_channel_layer(), "group_send", group_send)
    return sending


async def test_the_writer_ends_although_the_channel_layer_drops_its_cancellation(
    run: Run, deaf: asyncio.Event
) -> None:
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0)])))
        await asyncio.wait_for(deaf.wait(), 5)
        [pump] = [task for task in asyncio.all_tasks() if task.get_name() == f"writer-{run.pk}"]
    await asyncio.wait([pump], timeout=2)
    assert pump.cancelled()


async def test_a_cancellation_that_was_heard_before_is_no_new_one(run: Run) -> None:
    steps: list[str] = []

    async def finish() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await notify_viewers(run)
            steps.append("to the end")

    task = asyncio.create_task(finish())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=2)
    assert steps == ["to the end"]
