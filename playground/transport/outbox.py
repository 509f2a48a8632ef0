"""Frames on their way from the task that reads the network to whoever asks for them."""

from __future__ import annotations

import asyncio

from playground.protocols.frames import Frame

#: Frames and bytes that wait before the reading of the network pauses.
_FRAMES, _BYTES = 5_000, 4 * 1024 * 1024


class Outbox:
    """A list of frames that one task fills and another takes as a whole."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []
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

    async def room(self) -> None:
        """Wait until whoever takes has caught up; costs nothing while it keeps up."""
        while len(self._frames) > _FRAMES or self._bytes > _BYTES:
            self._taken.clear()
            await self._taken.wait()

    async def take(self) -> list[Frame]:
        """All frames that are waiting; waits for the first. Empty once closed."""
        while not self._frames and not self._closed:
            self._filled.clear()
            await self._filled.wait()
        frames, self._frames, self._bytes = self._frames, [], 0
        self._taken.set()
        return frames

    def close(self) -> None:
        """Nothing more will be put."""
        self._closed = True
        self._filled.set()
