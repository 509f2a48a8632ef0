"""The frame writer: numbers, frames, one transaction for many runs, stored before notified."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError

from playground.engine import writer as writers
from playground.engine.writer import FramesLostError, FrameWriter
from playground.models import FrameBatch, Run, frames
from playground.models.frames import Batch, Flush
from playground.notifications import notifier
from playground.protocols.frames import Frame, FrameKind
from tests.engine.conftest import frames_of
from tests.support.outages import Commits, Outage

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
def commits(monkeypatch: pytest.MonkeyPatch) -> Commits:
    return Commits(monkeypatch)


@pytest.fixture
async def notified(run: Run, commits: Commits) -> list[int]:
    """The number of the last frame at each notification; its transaction was committed before."""
    numbers: list[int] = []
    before = commits.count

    def notify(stored: Flush | None) -> None:
        assert stored
        numbers.append(stored.columns.get("frames", 0))
        assert commits.count - before >= len(numbers)

    await notifier().subscribe(run.group, notify)
    return numbers


def event(number: int, size: int = 8) -> Frame:
    return Frame(0, number, FrameKind.EVENT, b"%08d" % number + b"." * (size - 8))


async def test_frames_are_stored_before_anyone_is_told(run: Run, notified: list[int]) -> None:
    with FrameWriter(run) as writer:
        for number in range(3):
            writer.add(Batch(writer.number([event(number)])))
            await writer.drain()
        writer.add(state="failed", ended_us=7)  # Columns change without frames, too.
        await writer.drain()
    assert notified[:3] == [1, 2, 3]
    assert [(b.first, b.last) async for b in FrameBatch.objects.all()] == [(1, 1), (2, 2), (3, 3)]
    await run.arefresh_from_db()
    assert (run.state, run.ended_us, run.frames) == ("failed", 7, 3)


async def test_a_transport_that_is_faster_than_the_database_waits(
    run: Run, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writers, "HIGH_WATER", 100)
    with FrameWriter(run) as writer:
        for number in range(5):
            writer.add(Batch(writer.number([event(number, 200)])))
            await writer.wait_for_capacity()
            assert (await Run.objects.aget(pk=run.pk)).frames == number + 1


async def test_rows_stay_small_enough_to_look_for_one_frame(
    run: Run, notified: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "ROW_FRAMES", 5)
    monkeypatch.setattr(frames, "ROW_BYTES", 100)
    sizes = [8] * 7 + [90] + [8] * 2 + [300]
    with FrameWriter(run) as writer:
        for number, size in enumerate(sizes):
            writer.add(Batch(writer.number([event(number, size)]), entries=1))
        await writer.drain()
    rows = [row async for row in FrameBatch.objects.order_by("first")]
    assert notified == [11]
    assert [(row.first, row.last, row.entries) for row in rows] == [
        (1, 5, 5), (6, 7, 2), (8, 9, 2), (10, 10, 1), (11, 11, 1),
    ]  # fmt: skip
    stored = [frame.data for row in rows for frame in row.frames()]
    assert stored == [event(n, s).data for n, s in enumerate(sizes)]


async def test_what_was_stored_is_passed_on_decoded(run: Run) -> None:
    found: list[Flush | None] = []
    await notifier().subscribe(run.group, found.append)
    with FrameWriter(run) as writer:
        frames = writer.number([event(0), event(1)])
        batch = Batch(frames, [(), ()])
        writer.add(batch, state="streaming")
        await writer.drain()
        (flush,) = found
        assert flush
        assert flush.batches == [batch]
        assert flush.columns == {"state": "streaming", "frames": 2}
        assert batch.events == [(), ()]
        # Nothing is kept for a run that nobody looks at.
        notifier().unsubscribe(run.group, found.append)
        batch = Batch(writer.number([event(2)]), [()])
        writer.add(batch)
        assert batch.events is None


@pytest.mark.parametrize("error", [OperationalError, DatabaseError])
async def test_a_database_that_fails_for_good_says_what_is_lost(
    run: Run, error: type[Exception], outage: Outage, settings: Any
) -> None:
    settings.DATABASE_PATIENCE = 0.1
    outage.begin(error=error("disk full"))
    with FrameWriter(run) as writer:
        writer.add(Batch(writer.number([event(0), event(1)])))
        with pytest.raises(FramesLostError) as lost:
            await asyncio.wait_for(writer.drain(), 20)
        writer.add(Batch(writer.number([event(2)])))
        with pytest.raises(FramesLostError, match="3 frames"):
            await asyncio.wait_for(writer.wait_for_capacity(), 20)
    assert (lost.value.frames, str(lost.value.__cause__)) == (2, "disk full")
    # Only a database that is unavailable is asked again.
    assert lost.value.is_unavailable == (outage.failures > 1) == (error is OperationalError)


@pytest.mark.parametrize("columns", [{}, {"state": "completed"}])
async def test_a_commit_whose_answer_is_lost_is_not_made_twice(
    run: Run, columns: dict[str, Any], commits: Commits
) -> None:
    with FrameWriter(run) as writer:
        commits.unanswered = 1
        writer.add(Batch(writer.number([event(0), event(1)])), **columns)
        await writer.drain()
        if not columns:
            writer.add(Batch(writer.number([event(2)])), state="completed")
            await writer.drain()
    await run.arefresh_from_db()
    assert (run.state, len(await frames_of(run))) == ("completed", run.frames)


class Group:
    """Runs whose frames become due at once; the second one can be flawed."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs

    async def store(self) -> list[str]:
        """Store a frame of each run. Return the error of each."""
        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(FrameWriter(run)) for run in self.runs]
            for number, writer in enumerate(opened):
                columns = {"state": "streaming", "events": number, "retry_after": f"flaw-{number}"}
                writer.add(Batch(writer.number([event(number)])), **columns)
            ends = await asyncio.gather(*(w.drain() for w in opened), return_exceptions=True)
        return [type(end).__name__ if end else "" for end in ends]

    async def frames(self) -> list[int]:
        """Return the number of stored frames of each run, by its row and by its frames."""
        counts = []
        for run in self.runs:
            stored = await Run.objects.filter(pk=run.pk).afirst()
            rows = await FrameBatch.objects.filter(run=run.pk).acount()
            assert rows == (stored.frames if stored else 0)
            counts.append(rows)
        return counts


@pytest.fixture
async def group(transactional_db: None) -> Group:
    return Group([await create() for _ in range(4)])


async def test_runs_that_are_due_are_stored_in_one_transaction(
    group: Group, commits: Commits
) -> None:
    before = commits.count
    assert await group.store() == [""] * 4
    assert commits.count - before == 1
    assert await group.frames() == [1, 1, 1, 1]
    assert [run.events async for run in Run.objects.order_by("created_at")] == [0, 1, 2, 3]


@pytest.mark.parametrize("state", ["cancelled", "interrupted", "deleted"])
async def test_a_run_that_has_ended_elsewhere_is_the_only_one_that_fails(
    group: Group, state: str
) -> None:
    """A final state is final, and a run that was deleted is not brought back."""
    ended = Run.objects.filter(pk=group.runs[1].pk)
    await (ended.adelete() if state == "deleted" else ended.aupdate(state=state))
    assert await group.store() == ["", "RunEndedError", "", ""]
    assert await group.frames() == [1, 0, 1, 1]
    assert state == "deleted" or (await ended.aget()).state == state


@pytest.mark.parametrize("error", [ValueError("NUL"), OperationalError("row size")], ids=repr)
@pytest.mark.parametrize("position", [0, 1, 3])
async def test_a_row_that_the_database_refuses_fails_its_own_run(
    group: Group, position: int, error: Exception, outage: Outage, settings: Any
) -> None:
    """PostgreSQL, for one, reports a row that exceeds a limit as an operational error."""
    settings.DATABASE_PATIENCE = 0.1
    outage.begin(f"flaw-{position}", error=error)
    errors = await group.store()
    assert errors.pop(position) == "FramesLostError"
    assert errors == [""] * 3
    assert (await group.frames())[position] == 0


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
async def test_a_database_that_was_away_for_a_moment_loses_nothing(
    group: Group, error: type[Exception], outage: Outage
) -> None:
    outage.begin(times=2, error=error("locked"))
    assert await group.store() == [""] * 4
    assert await group.frames() == [1, 1, 1, 1]
    assert outage.failures == 2


async def test_order_is_kept_under_group_commits(group: Group, commits: Commits) -> None:
    """Frames that arrive while a transaction is under way follow with the next one."""
    seen: dict[int, list[int]] = {number: [] for number in range(4)}

    def note(number: int, stored: Flush | None) -> None:
        assert stored
        seen[number] += [frame.seq for batch in stored.batches for frame in batch.frames]

    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(FrameWriter(run)) for run in group.runs]
        for number, run in enumerate(group.runs):
            await notifier().subscribe(run.group, partial(note, number))
        before = commits.count
        for number in range(200):
            writer = opened[number % 4]
            writer.add(Batch(writer.number([event(number)])))
            if number % 7 == 0:
                await asyncio.sleep(0.001)
        await asyncio.gather(*(writer.drain() for writer in opened))
    assert seen == {number: list(range(1, 51)) for number in range(4)}
    assert commits.count - before < 100
