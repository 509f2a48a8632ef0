"""The one writer of a run: numbers frames, stores them in batches, nudges the viewers.

Frames are saved before anyone is told of them. A calm stream is flushed at once; a fast one
at most every 25 ms, so that a flood costs one row per flush and not a row per frame.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from channels.layers import get_channel_layer
from django.db import transaction

from playground.models import FrameBatch, Run
from playground.protocols.frames import Frame, FrameKind, pack
from playground.threads import in_writer

#: Seconds between two flushes of a fast stream.
FLUSH_INTERVAL = 0.025
#: Kinds of frames that are read without those before them.
SEPARATE = frozenset({FrameKind.EVENT, FrameKind.COMMENT})
#: Bytes waiting for the database beyond which the transport is made to wait.
HIGH_WATER = 4 * 1024 * 1024


@dataclass(slots=True)
class Pending:
    """What waits for the next flush."""

    frames: list[Frame] = field(default_factory=list)
    #: Columns of the run that change with the frames.
    changes: dict[str, Any] = field(default_factory=dict)
    entries: int = 0
    pinned: int = 0
    #: Whether what follows is read differently after these frames than without them.
    opening: bool = False
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.frames or self.changes)


class FrameWriter:
    """Numbers and stores the frames of one run, together with the run's own columns."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._pending = Pending()
        self._last_seq = run.frames
        self._wake = asyncio.Event()
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
        """The same frames with the next numbers of the run."""
        first = self._last_seq + 1
        self._last_seq += len(frames)
        # Built anew: dataclasses.replace() costs four times as much, for every event.
        return [Frame(seq, f.at_us, f.kind, f.data) for seq, f in enumerate(frames, first)]

    def put(
        self,
        frames: Sequence[Frame] = (),
        *,
        entries: int = 0,
        pinned: int = 0,
        opening: bool = False,
        **changes: Any,
    ) -> None:
        """Queue numbered frames with their counts, and columns of the run that change."""
        pending = self._pending
        pending.frames.extend(frames)
        pending.bytes += sum(len(frame.data) for frame in frames)
        pending.entries += entries
        pending.pinned += pinned
        pending.opening |= opening
        pending.changes.update(changes)
        self._drained.clear()
        self._wake.set()

    async def room(self) -> None:
        """Wait while too much is waiting for the database. Raises what a flush raised."""
        if self._pump and self._pump.done():
            self._pump.result()
        if self._pending.bytes > HIGH_WATER:
            await self.drain()

    async def drain(self) -> None:
        """Wait until everything that was put is stored and announced."""
        assert self._pump is not None
        drained = asyncio.ensure_future(self._drained.wait())
        try:
            await asyncio.wait({drained, self._pump}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            drained.cancel()
        if self._pump.done():
            self._pump.result()

    async def _run_pump(self) -> None:
        loop = asyncio.get_running_loop()
        last = loop.time() - FLUSH_INTERVAL
        while True:
            await self._wake.wait()
            if (pause := last + FLUSH_INTERVAL - loop.time()) > 0:
                await asyncio.sleep(pause)
            self._wake.clear()
            last = loop.time()
            batch, self._pending = self._pending, Pending()
            await in_writer(store, self._run, batch)
            await nudge(self._run)
            if not self._pending:
                self._drained.set()


def store(run: Run, batch: Pending) -> None:
    """Store numbered frames and the run's changed columns in one transaction."""
    frames, changes = batch.frames, batch.changes
    with transaction.atomic():
        if frames:
            changes = {**changes, "frames": frames[-1].seq}
            FrameBatch.objects.create(
                run=run,
                first=frames[0].seq,
                last=frames[-1].seq,
                data=pack(frames),
                entries=batch.entries,
                pinned=batch.pinned,
                separate=not batch.opening and all(f.kind in SEPARATE for f in frames),
            )
        if changes:
            Run.objects.filter(pk=run.pk).update(**changes)


async def nudge(run: Run) -> None:
    """Tell the run's viewers that there is something to read. Carries no data on purpose."""
    layer = get_channel_layer()
    # A viewer that misses a nudge reads the store on the next one, or after a short while.
    with contextlib.suppress(OSError):
        await layer.group_send(run.group, {"type": "run.nudge"})
