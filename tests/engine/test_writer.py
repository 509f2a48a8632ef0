"""The frame writer: numbers, batches, one transaction for many runs, stored before notified."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.test.utils import CaptureQueriesContext

from playground import executors
from playground.engine import writer as writers
from playground.engine.writer import FramesLostError, FrameWriter, PendingFlush, RunEndedError
from playground.models import FrameBatch, Run, batches
from playground.models.batches import FramePart
from playground.notifications import Stored, notifier
from playground.protocols.frames import Frame, FrameKind

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


async def create() -> Run:
    return await Run.objects.acreate(
        agent_name="scripted", url="http://a.example/ask", protocol="nlweb", binding="http",
        version="0.55", request={}, state="connecting",
    )  # fmt: skip


@pytest.fixture
async def run(transactional_db: None) -> Run:
    return await create()


@pytest.fixture
async def notified(run: Run, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of the last frame at each notification; its row was stored before."""
    numbers: list[int] = []
    committed: list[int] = []
    plain = writers._store

    def record(flushes: Any) -> None:
        plain(flushes)
        committed.append(flushes[-1].columns.get("frames", 0))

    def notify(stored: Stored | None) -> None:
        assert stored
        assert stored.columns.get("frames", 0) in committed
        numbers.append(stored.columns.get("frames", 0))

    monkeypatch.setattr(writers, "_store", record)
    await notifier().subscribe(run.group, notify)
    return numbers


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


@pytest.mark.parametrize("error", [OperationalError, DatabaseError])
async def test_a_database_that_fails_for_good_says_what_is_lost(
    run: Run, error: type[Exception], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    attempts: list[int] = []

    def fail(*_: Any) -> None:
        attempts.append(1)
        raise error("disk full")

    monkeypatch.setattr(writers, "_store", fail)
    monkeypatch.setattr(executors, "FIRST_PAUSE", 0.001)
    settings.DATABASE_PATIENCE = 0.5
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0), event(1)])))
        with pytest.raises(FramesLostError) as lost:
            await asyncio.wait_for(writer.drain(), 20)
        writer.add(FramePart(writer.number([event(2)])))
        with pytest.raises(FramesLostError, match="3 frames"):
            await asyncio.wait_for(writer.wait_for_capacity(), 20)
    assert (lost.value.frames, str(lost.value.__cause__)) == (2, "disk full")
    # Only a database that is unavailable is asked again.
    assert lost.value.is_unavailable == (len(attempts) > 1) == (error is OperationalError)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
async def test_a_database_that_was_away_for_a_moment_loses_nothing(
    run: Run, notified: list[int], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, failures = writers._store, [1, 1]

    def shaky(flushes: Any) -> None:
        if failures:
            failures.pop()
            raise error("locked")
        plain(flushes)

    monkeypatch.setattr(writers, "_store", shaky)
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0), event(1)])))
        await writer.drain()
    assert notified == [2]
    assert not failures


@pytest.mark.parametrize("columns", [{}, {"state": "completed"}])
async def test_a_commit_whose_answer_is_lost_is_not_made_twice(
    run: Run, columns: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, failures = writers._store, [1]

    def store(flushes: Any) -> None:
        plain(flushes)
        if failures:
            failures.pop()
            raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(writers, "_store", store)
    with FrameWriter(run) as writer:
        writer.add(FramePart(writer.number([event(0), event(1)])), **columns)
        await writer.drain()
        if not columns:
            writer.add(FramePart(writer.number([event(2)])), state="completed")
            await writer.drain()
    await run.arefresh_from_db()
    stored = [frame.seq for frame in await sync_to_async(list)(run.read_frames())]
    assert (run.state, stored) == ("completed", list(range(1, run.frames + 1)))


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


async def test_what_was_stored_is_passed_on_decoded(run: Run) -> None:
    found: list[Stored | None] = []
    await notifier().subscribe(run.group, found.append)
    with FrameWriter(run) as writer:
        frames = writer.number([event(0), event(1)])
        part = FramePart(frames)
        writer.add(part, [(frame, ()) for frame in frames], state="streaming")
        await writer.drain()
        assert found == [
            Stored([part], [(frame, ()) for frame in frames], {"state": "streaming", "frames": 2})
        ]
        # Nothing is kept for a run that nobody looks at.
        notifier().unsubscribe(run.group, found.append)
        writer.add(FramePart(writer.number([event(2)])), [(event(2), ())])
        assert not writer._pending.readings


class Group:
    """Writers of several runs that become due at once."""

    def __init__(self, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
        self.runs = runs
        self.transactions: list[int] = []
        plain = writers._store

        def record(flushes: list[PendingFlush]) -> None:
            self.transactions.append(len(flushes))
            plain(flushes)

        monkeypatch.setattr(writers, "_store", record)

    async def store(self, *, flaw: str = "", state: str = "streaming") -> list[str]:
        """Store a frame of each run; the second one has a flaw. Return the error of each."""
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(FrameWriter(run)) for run in self.runs]
            for number, writer in enumerate(opened):
                columns: dict[str, Any] = {"state": state, "events": number}
                if flaw and number == 1:
                    columns["retry_after"] = flaw
                writer.add(FramePart(writer.number([event(number)])), **columns)
            ends = await asyncio.gather(*(w.drain() for w in opened), return_exceptions=True)
        return [type(end).__name__ if end else "" for end in ends]

    async def frames(self) -> list[int]:
        """Return the number of stored frames of each run, by its row and by its batches."""
        counts = []
        for run in self.runs:
            stored = await Run.objects.filter(pk=run.pk).afirst()
            rows = await FrameBatch.objects.filter(run=run.pk).acount()
            assert rows == (stored.frames if stored else 0)
            counts.append(rows)
        return counts


@pytest.fixture
async def group(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Group:
    return Group([await create() for _ in range(4)], monkeypatch)


async def test_runs_that_are_due_are_stored_in_one_transaction(group: Group) -> None:
    assert await group.store() == [""] * 4
    assert group.transactions == [4]
    assert await group.frames() == [1, 1, 1, 1]
    assert [run.events async for run in Run.objects.order_by("created_at")] == [0, 1, 2, 3]


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "deleted"])
async def test_a_run_that_has_ended_elsewhere_is_the_only_one_that_fails(
    group: Group, state: str
) -> None:
    ended = Run.objects.filter(pk=group.runs[1].pk)
    await (ended.adelete() if state == "deleted" else ended.aupdate(state=state))
    assert await group.store() == ["", "RunEndedError", "", ""]
    assert group.transactions == [4, 1, 1, 1, 1]
    assert await group.frames() == [1, 0, 1, 1]


async def test_a_value_that_the_database_refuses_fails_its_own_run(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = writers._update_runs

    def refuse(flushes: Any) -> int:
        # As PostgreSQL does; SQLite stores it.
        if any("\0" in str(flush.changes.get("retry_after")) for flush in flushes):
            raise ValueError("A string literal cannot contain NUL (0x00) characters.")
        return plain(flushes)

    monkeypatch.setattr(writers, "_update_runs", refuse)
    assert await group.store(flaw="\0") == ["", "FramesLostError", "", ""]
    assert await group.frames() == [1, 0, 1, 1]
    assert group.transactions == [4, 1, 1, 1, 1]


@pytest.mark.parametrize("position", [0, 1, 3])
async def test_a_row_for_which_the_database_seems_unavailable_fails_its_own_run(
    group: Group, position: int, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """PostgreSQL, for one, reports a row that exceeds a limit as an operational error."""
    plain = writers._update_runs

    def refuse(flushes: Any) -> int:
        if any(flush.run.pk == group.runs[position].pk for flush in flushes):
            raise OperationalError("index row size exceeds the maximum")
        return plain(flushes)

    settings.DATABASE_PATIENCE = 0.1
    monkeypatch.setattr(writers, "_update_runs", refuse)
    errors = await group.store()
    assert errors.pop(position) == "FramesLostError"
    assert errors == [""] * 3


async def test_a_database_that_is_unavailable_is_retried_with_all_runs(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, failures = writers._store, [1, 1]

    def shaky(flushes: Any) -> None:
        if failures:
            failures.pop()
            raise OperationalError("database is locked")
        plain(flushes)

    monkeypatch.setattr(writers, "_store", shaky)
    assert await group.store() == [""] * 4
    assert await group.frames() == [1, 1, 1, 1]


async def test_an_error_of_the_playground_leaves_nobody_waiting(
    group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise RuntimeError("cannot schedule new futures after shutdown")

    with monkeypatch.context() as patch:
        patch.setattr(writers, "write_when_available", fail)
        assert await asyncio.wait_for(group.store(), 5) == ["FramesLostError"] * 4
    assert await group.store() == [""] * 4


async def test_order_is_kept_under_group_commits(group: Group) -> None:
    """Frames that arrive while a transaction is under way follow with the next one."""
    seen: dict[int, list[int]] = {number: [] for number in range(4)}

    def note(number: int, stored: Stored | None) -> None:
        assert stored
        seen[number] += [frame.seq for part in stored.parts for frame in part.frames]

    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(FrameWriter(run)) for run in group.runs]
        for number, run in enumerate(group.runs):
            await notifier().subscribe(run.group, partial(note, number))
        for number in range(200):
            writer = opened[number % 4]
            writer.add(FramePart(writer.number([event(number)])))
            if number % 7 == 0:
                await asyncio.sleep(0.001)
        await asyncio.gather(*(writer.drain() for writer in opened))
    assert seen == {number: list(range(1, 51)) for number in range(4)}
    assert len(group.transactions) < 100


async def test_rows_are_inserted_by_one_statement_however_many_there_are(run: Run) -> None:
    """A cached statement keeps its values: one for each number of rows fills the memory."""

    def store() -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            for start, end in ((0, 1), (1, 4), (4, 9)):
                rows = [FrameBatch(run=run, first=n, last=n, data=b"") for n in range(start, end)]
                writers._insert(rows)
        return [query["sql"].rpartition("times: ")[2] for query in captured]

    assert len(set(await sync_to_async(store)())) == 1
    assert await FrameBatch.objects.acount() == 9
