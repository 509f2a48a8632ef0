"""Bounded queue of frames, from the task that reads the network to their consumer."""

from __future__ import annotations

import asyncio
from collections import deque

from playground.base.memory_budget import RunMemory
from playground.protocols.frames import Frame

#: Frames and bytes in the queue at which reading of the network pauses.
_FRAMES, _BYTES = 5_000, 4 * 1024 * 1024
#: The most frames and bytes of one list, which a consumer processes without a pause.
_LIST_FRAMES, _LIST_BYTES = 500, 256 * 1024


class FrameQueue:
    """A queue of frames with one producer and one consumer, which gets lists."""

    def __init__(self, memory: RunMemory | None = None) -> None:
        """Count the bytes in the queue as held by a run, in its `memory`."""
        self._memory = memory
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._closed = False
        self._filled = asyncio.Event()
        self._taken = asyncio.Event()

    def put(self, frames: list[Frame]) -> None:
        if frames:
            self._frames += frames
            size = sum(len(frame.data) for frame in frames)
            self._bytes += size
            if self._memory:
                self._memory.add(size)
            self._filled.set()

    async def wait_for_space(self) -> None:
        """Wait until the consumer has caught up; returns at once if it keeps up.

        Waits as well while all runs together hold too much.
        """
        while len(self._frames) > _FRAMES or self._bytes > _BYTES:
            self._taken.clear()
            await self._taken.wait()
        if self._memory:
            await self._memory.wait_for_room()

    async def get(self) -> list[Frame]:
        """Wait for the first frame and return a bounded list of those in the queue.

        Empty if the queue is closed and empty. Yields to other tasks even if it does not wait.
        """
        if self._frames:
            await asyncio.sleep(0)
        while not self._frames and not self._closed:
            self._filled.clear()
            await self._filled.wait()
        return self.get_nowait()

    def get_nowait(self) -> list[Frame]:
        """Return a list as `get` does, without waiting: empty if the queue is empty."""
        taken: list[Frame] = []
        size, frames = 0, self._frames
        while frames and len(taken) < _LIST_FRAMES:
            size += len(frames[0].data)
            if taken and size > _LIST_BYTES:
                break
            taken.append(frames.popleft())
        size = sum(len(frame.data) for frame in taken)
        self._bytes -= size
        if self._memory:
            self._memory.release(size)
        self._taken.set()
        return taken

    def close(self) -> None:
        self._closed = True
        self._filled.set()
