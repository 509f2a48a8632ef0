"""Feeds: every viewer gets every frame once and in order, whenever and wherever it joins."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from playground.base.jobs import running_tasks
from playground.conversation import updates as live
from playground.conversation.updates import RunMessage, RunUpdates
from playground.engine.driver import Driver
from playground.engine.request import request_of_run
from playground.engine.writer import FrameWriter
from playground.live import broadcast
from playground.live.broadcast import RunFeed, run_feeds
from playground.models import Conversation, Run, RunKind
from playground.models.driving import local_runs
from playground.notifications import notifier, notify_viewers
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from tests.support.markup import read
from tests.support.metrics import Growth
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event, result

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

record = sync_to_async(Recording)


class DrivenRun:
    """A run that this process drives: its frames are decoded, stored together and passed on."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._driver = Driver(
            run, request_of_run(run, Target(**run.describe_target()), run.request, [])
        )
        self._writer = FrameWriter(run)
        self._writer.__enter__()
        local_runs.add(run.pk)

    def add(self, *frames: Frame) -> None:
        numbered = self._writer.number(frames)
        self._driver._put(self._writer, numbered, self._driver._read(numbered))

    async def store(self, *frames: Frame) -> None:
        self.add(*frames)
        await self._writer.drain()

    async def end(self, *frames: Frame) -> None:
        self.add(*frames, END)
        self._writer.add(state="completed", ended_us=1_000)
        await self._writer.drain()
        local_runs.discard(self.run.pk)


async def drive(**fields: Any) -> DrivenRun:
    return DrivenRun((await record(**fields)).run)


@pytest.fixture
async def driven(transactional_db: None) -> DrivenRun:
    return await drive()


class Viewer:
    """A page that watches a run, without a socket."""

    token = ""

    def __init__(self, after: int = 0) -> None:
        self.after = after
        self.messages: list[str] = []
        self.seen: list[int] = []
        self.error: BaseException | None = None
        self.ended = asyncio.Event()
        self._changed = asyncio.Event()
        self.feed: RunFeed | None = None

    async def join(self, run: Run, *, readonly: bool = False) -> Viewer:
        updates = RunUpdates(run.pk, self.after, readonly=readonly)
        self.feed = await run_feeds().join(self, updates)
        return self

    def leave(self) -> None:
        assert self.feed
        self.feed.leave(self)

    def send_html(self, html: str) -> None:
        self.messages.append(html)
        (cursor,) = read(html).find("run-cursor")
        first, last = (int(cursor.attributes[f"data-{n}"] or "") for n in ("first", "last"))
        self.seen += range(first, last + 1)
        self._changed.set()

    def end(self, error: BaseException | None = None) -> None:
        assert not self.ended.is_set()
        self.error = error
        self.ended.set()

    async def has(self, frames: int) -> None:
        """Wait until it was told of this many frames."""
        async with asyncio.timeout(10):
            while len(self.seen) < frames - self.after:
                self._changed.clear()
                await self._changed.wait()


async def no_task_is_left() -> None:
    """Wait until the tasks have ended, that of leaving a group of Redis among them."""
    async with asyncio.timeout(10):
        while running_tasks():
            await asyncio.sleep(0.01)


async def to_the_end(viewers: Sequence[Viewer], frames: int) -> None:
    """Wait for the end of each; nothing was lost, repeated or out of order."""
    async with asyncio.timeout(60):
        for viewer in viewers:
            await viewer.ended.wait()
    for viewer in viewers:
        assert viewer.error is None
        assert viewer.seen == list(range(viewer.after + 1, frames + 1))
        assert "data-settled" in viewer.messages[-1]


async def watching(driven: DrivenRun, count: int, *, frames: int) -> list[Viewer]:
    """Return so many viewers, who have all frames of a run."""
    viewers = [await Viewer().join(driven.run) for _ in range(count)]
    for viewer in viewers:
        await viewer.has(frames)
    return viewers


@pytest.fixture
def advances(monkeypatch: pytest.MonkeyPatch) -> list[RunUpdates]:
    """The positions for which the database was read, one for each time."""
    found: list[RunUpdates] = []
    plain = RunUpdates._read

    def read(self: RunUpdates, *args: Any, **kwargs: Any) -> RunMessage | None:
        found.append(self)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(RunUpdates, "_read", read)
    return found


async def test_viewers_at_the_same_frame_get_the_same_bytes(
    driven: DrivenRun, advances: list[RunUpdates], monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[RunUpdates] = []
    plain = RunUpdates._go_on

    def go_on(self: RunUpdates, *args: Any) -> RunMessage | None:
        rendered.append(self)
        return plain(self, *args)

    monkeypatch.setattr(RunUpdates, "_go_on", go_on)
    await driven.store(CALL, OPEN, HEAD)
    viewers = await watching(driven, 20, frames=3)
    reads, growth = len(advances), Growth()
    for number in range(10):
        await driven.store(result(number))
        for viewer in viewers:
            await viewer.has(4 + number)
    # Decoded by the driver, rendered once, and not read from the database.
    assert (len(advances), len(rendered)) == (reads, 10)
    for viewer in viewers:
        assert [id(html) for html in viewer.messages[-10:]] == [
            id(html) for html in viewers[0].messages[-10:]
        ]
    await driven.end()
    await to_the_end(viewers, 14)
    assert len(advances) == reads + 1
    # Each flush whose frames are handed over is one observation of the delay.
    assert growth.of("playground_delivery_seconds_count") >= 10
    assert 0 < growth.of("playground_delivery_seconds_sum") < 600


def delay_database(monkeypatch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Let some statements take longer before they begin, and some commits until they return."""

    def delayed(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            is_commit = plain.__name__ == "commit"
            if not is_commit:
                time.sleep(rng.choice((0, 0, 0, 0.002)))
            result = plain(*args)
            if is_commit:
                time.sleep(rng.choice((0, 0.002, 0.01)))
            return result

        return call

    for owner, name in ((CursorWrapper, "execute"), (BaseDatabaseWrapper, "commit")):
        monkeypatch.setattr(owner, name, delayed(getattr(owner, name)))


@pytest.mark.parametrize("seed", range(6))
async def test_everybody_gets_everything_once_and_in_order(
    transactional_db: None, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several runs stored together, with viewers who come and go at any time and frame.

    Also between storing frames and handing them on, while another one is reading what is stored
    and misses messages meanwhile, and after the end: the database takes its time at random.
    """
    monkeypatch.setattr(broadcast, "MAX_MISSED", 3_000)
    delay_database(monkeypatch, random.Random(seed))
    monkeypatch.setattr(broadcast, "FLOOD_INTERVAL", 0.001)
    monkeypatch.setattr(live, "WINDOW", 10)
    monkeypatch.setattr(live, "MAX_FRAMES_PER_MESSAGE", 7)
    rng = random.Random(seed)
    runs = [await drive() for _ in range(3)]
    viewers: list[list[Viewer]] = [[] for _ in runs]
    counts = [0] * len(runs)
    for _ in range(120):
        at = rng.randrange(len(runs))
        match rng.choice("add add burst join join leave wait".split()):
            case "add" | "burst" as how:
                frames = [CALL, OPEN, HEAD] if counts[at] == 0 else []
                frames += [result(counts[at] + n) for n in range(1 if how == "add" else 15)]
                runs[at].add(*frames)
                counts[at] += len(frames)
            case "join":
                stored = await Run.objects.aget(pk=runs[at].run.pk)
                viewer = Viewer(rng.randint(0, stored.frames))
                viewers[at].append(await viewer.join(stored))
            case "leave" if viewers[at]:
                viewers[at].pop(rng.randrange(len(viewers[at]))).leave()
            case "wait":
                await asyncio.sleep(rng.choice([0, 0.002, 0.01]))
    for at, run in enumerate(runs):
        viewers[at].append(await Viewer().join(run.run))
        await run.end()
        viewers[at].append(await Viewer(rng.randint(0, counts[at])).join(run.run))
        await to_the_end(viewers[at], counts[at] + 1)
        for viewer in viewers[at]:
            assert sum("#run-ending" in html for html in viewer.messages) == 1
    await no_task_is_left()


async def test_viewers_who_leave_while_others_get_a_message(driven: DrivenRun) -> None:
    await driven.store(CALL, OPEN, HEAD)
    viewers = await watching(driven, 3, frames=3)
    send = viewers[0].send_html

    def leave(html: str) -> None:
        send(html)
        for viewer in viewers:
            viewer.leave()

    viewers[0].send_html = leave  # type: ignore[method-assign]
    await driven.store(result(0))
    await viewers[0].has(4)
    assert not notifier().has_subscribers(driven.run.group)
    late = await Viewer().join(driven.run)
    await driven.end()
    await to_the_end([late], 5)


async def test_a_change_of_a_child_run_is_sent_to_everybody(driven: DrivenRun) -> None:
    await driven.store(CALL, OPEN, HEAD, result(0))
    viewers = await watching(driven, 2, frames=4)
    child = await Run.objects.acreate(
        parent=driven.run, parent_entry_seq=4, kind=RunKind.ACTION, agent_name="scripted",
        url="http://agent.example/act", protocol="action", binding="http", version="",
        request={"protocol": "HTTP", "method": "POST", "url": "http://agent.example/act",
                 "headers": []},
        text="order", state="streaming",
    )  # fmt: skip
    await notify_viewers(child)
    async with asyncio.timeout(5):
        while not all('id="children-entry-4-0"' in each.messages[-1] for each in viewers):
            await asyncio.sleep(0.01)
    # It goes on with what the driver decodes.
    await driven.store(result(1))
    for viewer in viewers:
        await viewer.has(5)
    await Run.objects.filter(pk=child.pk).aupdate(state="completed")
    await driven.end()
    await to_the_end(viewers, 6)


async def test_events_of_another_turn_need_no_reading(
    driven: DrivenRun, advances: list[RunUpdates]
) -> None:
    conversation = await Conversation.objects.acreate()
    await Run.objects.filter(pk=driven.run.pk).aupdate(conversation=conversation)
    other = await drive(conversation=conversation)
    await driven.store(CALL, OPEN, HEAD)
    viewer = Viewer()
    updates = RunUpdates(driven.run.pk, 0)
    await sync_to_async(updates.watch_other_turns)(await Run.objects.aget(pk=driven.run.pk))
    viewer.feed = await run_feeds().join(viewer, updates)
    await viewer.has(3)
    await other.store(CALL, OPEN, HEAD)
    await driven.store(result(0))
    await viewer.has(4)
    reads = len(advances)
    for number in range(5):
        await other.store(result(number))
    await driven.store(result(1))
    await viewer.has(5)
    assert len(advances) == reads
    await other.end()
    async with asyncio.timeout(5):
        while len(advances) == reads:
            await asyncio.sleep(0.01)
    await driven.end()
    await to_the_end([viewer], 6)


async def test_an_error_of_the_rendering_ends_its_run_only(
    driven: DrivenRun, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    other = await drive()
    viewers = []
    for run in (driven, other):
        await run.store(CALL, OPEN, HEAD)
        viewers.append(await Viewer().join(run.run))
        await viewers[-1].has(3)
    plain = RunUpdates._go_on

    def append(self: RunUpdates, *args: Any) -> RunMessage | None:
        if self.pk == driven.run.pk:
            raise RuntimeError("a bug")
        return plain(self, *args)

    monkeypatch.setattr(RunUpdates, "_go_on", append)
    for run in (driven, other):
        run.add(result(0))
    await viewers[1].has(4)
    await asyncio.wait_for(viewers[0].ended.wait(), 5)
    assert isinstance(viewers[0].error, RuntimeError)
    assert "a bug" in caplog.text
    await other.end()
    await to_the_end(viewers[1:], 5)
    local_runs.discard(driven.run.pk)


@pytest.mark.parametrize("is_member", [True, False])
async def test_a_read_that_fails_for_a_moment_is_repeated(
    driven: DrivenRun, is_member: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in the middle of a message: its frames come with the next attempt, once."""
    await driven.store(CALL, OPEN, HEAD, result(0))
    viewers = [await Viewer().join(driven.run)]
    await viewers[0].has(4)
    failures, plain = [1, 1], RunUpdates._changed_entries

    def fail(self: RunUpdates, *args: Any) -> Any:
        if failures:
            failures.pop()
            raise OperationalError("server closed the connection unexpectedly")
        return plain(self, *args)

    monkeypatch.setattr(RunUpdates, "_changed_entries", fail)
    if is_member:
        await driven.end(result(1))
    else:
        viewers.append(await Viewer().join(driven.run))
        await viewers[1].has(4)
        await driven.end(result(1))
    await to_the_end(viewers, 6)
    assert not failures


async def test_a_flood_is_sent_in_few_messages(
    driven: DrivenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcast, "FLOOD_INTERVAL", 0.05)
    await driven.store(CALL, OPEN, HEAD)
    viewers = await watching(driven, 3, frames=3)
    for burst in range(40):
        await driven.store(*(result(burst * 50 + n) for n in range(50)))
    await driven.end()
    await to_the_end(viewers, 3 + 2_000 + 1)
    assert len(viewers[0].messages) < 30


async def test_growing_messages_are_the_same_live_and_read(transactional_db: None) -> None:
    """A text that grows: who was there all the time, and who came later, see the same."""
    fields = {"protocol": "agent-api", "version": "1", "url": "http://agent.example/process"}
    run = await drive(**fields)

    def piece(number: int) -> Frame:
        return event(
            'data: {"object": "content", "type": "text", "index": 0, "delta": true, '
            f'"msg_id": "m", "text": "word {number} "}}'
        )

    await run.store(
        CALL, OPEN, HEAD, event('data: {"object": "message", "id": "m", "role": "assistant"}')
    )
    first = await Viewer(4).join(run.run)
    for number in range(6):
        await run.store(piece(number))
        await first.has(5 + number)
    late = await Viewer(4).join(run.run)
    await late.has(10)
    for number in range(6, 9):
        await run.store(piece(number))
        await first.has(5 + number)
    await run.end()
    await to_the_end([first, late], 14)

    words = [f"word {number} " for number in range(9)]
    for viewer in (first, late):
        html = "".join(viewer.messages)
        assert [html.count(word) for word in words] == [1] * 9, html
        assert sorted(words, key=html.index) == words


async def test_an_error_of_one_viewer_is_its_own(transactional_db: None) -> None:
    """Of the same run, and of runs that are rendered together with it."""
    runs = [await drive() for _ in range(3)]
    viewers = []
    for run in (runs[0], *runs):
        await run.store(CALL, OPEN, HEAD)
        viewers.append(await Viewer().join(run.run))
    frames = [6, 6, 3, 3]
    for viewer, count in zip(viewers, frames, strict=True):
        await viewer.has(count)

    def fail(html: str) -> None:
        raise RuntimeError("cannot be sent")

    viewers[0].send_html = fail  # type: ignore[method-assign]
    await asyncio.gather(*(run.store(result(0)) for run in runs))
    for viewer, count in zip(viewers[1:], frames[1:], strict=True):
        await viewer.has(count + 1)
    assert isinstance(viewers[0].error, RuntimeError)
    for run in runs:
        await run.end()
    for viewer, count in zip(viewers[1:], frames[1:], strict=True):
        await to_the_end([viewer], count + 2)


async def test_a_viewer_who_is_gone_while_it_joins(
    driven: DrivenRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    await driven.store(CALL, OPEN, HEAD)
    joining, gate = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        joining.set()
        await gate.wait()

    monkeypatch.setattr(notifier(), "_update_membership", hang)
    first = asyncio.ensure_future(Viewer().join(driven.run))
    await joining.wait()
    second = asyncio.ensure_future(Viewer().join(driven.run))
    await asyncio.sleep(0)
    first.cancel()
    gate.set()
    viewer = await asyncio.wait_for(second, 5)
    await viewer.has(3)
    await driven.end()
    await to_the_end([viewer], 4)
    assert not run_feeds()._feeds


async def test_what_waits_for_all_feeds_is_bounded(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty feeds with 4 MB each were not counted at all."""
    runs = [await drive() for _ in range(3)]
    viewers = []
    for driven in runs:
        await driven.store(CALL, OPEN, HEAD)
        viewers.append(await Viewer().join(driven.run))
        await viewers[-1].has(3)
    # Decoded, each result takes four times its size; six of them may wait.
    monkeypatch.setattr(broadcast, "MAX_ALL_WAITING_BYTES", 6 * 4 * len(result(10).data))
    feeds = [viewer.feed for viewer in viewers if viewer.feed]
    for feed in feeds:
        feed._is_busy = True  # As if a thread were rendering.
    for number in range(10, 20):
        for driven in runs:
            await driven.store(result(number))
            assert sum(feed._waiting for feed in feeds) <= 6
    for feed in feeds:
        feed._is_busy = False
        feed._schedule()
    for viewer in viewers:
        await viewer.has(13)
    assert run_feeds().waiting_bytes == 0
    for driven in runs:
        await driven.end()
    await to_the_end(viewers, 14)
