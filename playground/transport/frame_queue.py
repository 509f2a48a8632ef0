"""Frames on their way from the task that reads the network to whoever asks for them."""

from __future__ import annotations

import asyncio
from collections import deque

from playground.protocols.frames import Frame

#: Frames and bytes that wait before the reading of the network pauses.
_FRAMES, _BYTES = 5_000, 4 * 1024 * 1024
#: Frames and bytes of one list: what whoever takes them can work on without a pause.
_LIST_FRAMES, _LIST_BYTES = 500, 256 * 1024


class FrameQueue:
    """Frames that one task puts in and another takes out, a list at a time."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._closed = False
        self._filled = asyncio.Event()
        self._taken = asyncio.Event()

    def put(self, frames: list[Frame]) -> None:
        """Add frames, to be taken at once."""
        if frames:
            self._frames += frames
            self._bytes += sum(len(frame.data) for frame in frames)
            self._filled.set()

    async def wait_for_space(self) -> None:
        """Wait until whoever takes has caught up; costs nothing while it keeps up."""
        while len(self._frames) > _FRAMES or self._bytes > _BYTES:
            self._taken.clear()
            await self._taken.wait()

    async def get(self) -> list[Frame]:
        """Frames that are waiting, a bounded list of them; waits for the first.

        Empty once closed and empty. Others get their turn even if nobody has to wait.
        """
        if self._frames:
            await asyncio.sleep(0)
        while not self._frames and not self._closed:
            self._filled.clear()
            await self._filled.wait()
        return self.get_nowait()

    def get_nowait(self) -> list[Frame]:
        """As `take`, without waiting: empty if nothing is there."""
        taken: list[Frame] = []
        size, frames = 0, self._frames
        while frames and len(taken) < _LIST_FRAMES:
            size += len(frames[0].data)
            if taken and size > _LIST_BYTES:
                break
            taken.append(frames.popleft())
        self._bytes -= sum(len(frame.data) for frame in taken)
        self._taken.set()
        return taken

    def close(self) -> None:
        """Nothing more will be put."""
        self._closed = True
        self._filled.set()
