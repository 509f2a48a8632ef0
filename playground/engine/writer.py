"""Writer of a run's frames: numbers them, stores them in batches and notifies the viewers.

Frames are stored before viewers are notified. A slow stream is flushed at once, a fast one at most
every 25 ms, so that a flood costs a few rows per flush and not a row per frame. `drain` flushes
without that pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction

from playground.executors import run_in_writer
from playground.models import CollectionRun, FrameBatch, Run
from playground.models.batches import FramePart, build_batches
from playground.protocols.frames import Frame

logger = logging.getLogger(__name__)

#: Seconds between two flushes of a fast stream.
FLUSH_INTERVAL = 0.025
#: Seconds to wait before each retry of a failed flush.
RETRIES = (0.05, 0.3, 1.0)
#: Bytes waiting for the database beyond which the transport has to wait.
HIGH_WATER = 4 * 1024 * 1024


class RunEndedError(Exception):
    """Another process has given the run a final state; nothing may be added to it."""


@dataclass(slots=True)
class PendingFlush:
    """Frames and columns that wait for the next flush."""

    parts: list[FramePart] = field(default_factory=list)
    #: Columns of the run that change with the frames.
    changes: dict[str, Any] = field(default_factory=dict)
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.parts or self.changes)


class FrameWriter:
    """Numbers and stores the frames of one run, together with the run's own columns."""

    def __init__(self, run: Run, *, eager: bool = True) -> None:
        """Write the frames of `run`; if `eager`, the first ones without a pause."""
        self._run = run
        self._eager = eager
        self._pending = PendingFlush()
        self._last_seq = run.frames
        self._wake = asyncio.Event()
        #: Set while `drain` waits.
        self._hurry = asyncio.Event()
        self._drained = asyncio.Event()
        self._drained.set()
        self._pump: asyncio.Task[None] | None = None

    def __enter__(self) -> FrameWriter:
        self._pump = asyncio.create_task(self._run_pump(), name=f"writer-{self._run.pk}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._pump:
            self._pump.cancel()

    def number(self, frames: Sequence[Frame]) -> list[Frame]:
        """Return the frames with the next numbers of the run."""
        first = self._last_seq + 1
        self._last_seq += len(frames)
        # Built anew: dataclasses.replace() costs four times as much, for every event.
        return [Frame(seq, f.at_us, f.kind, f.data) for seq, f in enumerate(frames, first)]

    def add(self, part: FramePart | None = None, **changes: Any) -> None:
        """Queue numbered frames, and columns of the run that change with them."""
        if part and part.frames:
            self._pending.parts.append(part)
            self._pending.bytes += part.bytes
        self._pending.changes.update(changes)
        self._drained.clear()
        self._wake.set()

    async def wait_for_capacity(self) -> None:
        """Wait while too much is waiting for the database. Raises what a flush raised."""
        if self._pump and self._pump.done():
            self._pump.result()
        if self._pending.bytes > HIGH_WATER:
            await self.drain()

    async def drain(self) -> None:
        """Wait until everything that was added is stored and the viewers are notified."""
        assert self._pump is not None
        self._hurry.set()
        drained = asyncio.ensure_future(self._drained.wait())
        try:
            await asyncio.wait({drained, self._pump}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()
        if self._pump.done():
            self._pump.result()

    async def _run_pump(self) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time() - (FLUSH_INTERVAL if self._eager else 0.0)
        while True:
            await self._wake.wait()
            if (pause := last + FLUSH_INTERVAL - loop.time()) > 0:
                await self._rest(pause)
            self._wake.clear()
            last = loop.time()
            batch, self._pending = self._pending, PendingFlush()
            await with_retries(
                partial(run_in_writer, store, self._run, batch),
                f"Storing frames of run {self._run.pk}",
            )
            await notify_viewers(self._run)
            if not self._pending:
                self._hurry.clear()
                self._drained.set()

    async def _rest(self, pause: float) -> None:
        """Collect more frames for `pause` seconds, unless `drain` waits."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._hurry.wait()


async def with_retries(attempt: Callable[[], Awaitable[None]], operation: str) -> None:
    """Await an attempt; retry it after each pause of `RETRIES`, and raise the last exception.

    For a database that is busy or unavailable for a moment. `RunEndedError` is raised at once: no
    retry changes it. `operation` names the attempt in the log.
    """
    for pause in RETRIES:
        try:
            return await attempt()
        except RunEndedError:
            raise
        except Exception:
            logger.warning("%s failed and is retried", operation, exc_info=True)
            await asyncio.sleep(pause)
    return await attempt()


def store(run: Run, batch: PendingFlush) -> None:
    """Store numbered frames and the run's changed columns in one transaction.

    Raises `RunEndedError` when the run has a final state already.
    """
    changes = dict(batch.changes)
    if batch.parts:
        changes["frames"] = batch.parts[-1].frames[-1].seq
    with transaction.atomic():
        if not Run.objects.unfinished().filter(pk=run.pk).update(**changes):
            raise RunEndedError(f"run {run.pk} has ended or was deleted")
        FrameBatch.objects.bulk_create(build_batches(run, batch.parts))


async def notify_viewers(run: Run | CollectionRun) -> None:
    """Notify the run's viewers that something was stored; the notification carries no data.

    An error of the channel layer is logged only: a viewer that misses a notification reads the
    database on the next one, or after a moment.
    """
    if isinstance(run, Run):
        groups, message = run.viewer_groups, "run.changed"
    else:
        groups, message = (run.group,), "collection.run.changed"
    try:
        for group in groups:
            await send_to_group(group, {"type": message})
    except Exception:
        name = run._meta.verbose_name
        logger.warning("Notifying the viewers of %s %s failed", name, run.pk, exc_info=True)


async def send_to_group(group: str, message: Mapping[str, Any]) -> None:
    """Send a message to a group of the channel layer.

    Raises `asyncio.CancelledError` when the task was cancelled meanwhile, also where the channel
    layer does not: redis-py writes with `asyncio.wait_for`, which before Python 3.12 returns a
    result that is ready and drops the cancellation (gh-86296). The task would never end.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    try:
        await get_channel_layer().group_send(group, message)
    finally:
        if task.cancelling() > before:
            raise asyncio.CancelledError
