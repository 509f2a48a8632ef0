"""Memory budget: the bytes that all runs of a process have received and not stored.

Beyond PLAYGROUND_MAX_MEMORY nothing more is read from the agents' connections, so that TCP's flow
control slows them down. A wait ends, because it depends on the database and not on an agent.
"""

from __future__ import annotations

import asyncio

from django.conf import settings

from playground.base import metrics
from playground.base.jobs import PerLoop

#: Bytes that a run may always hold: a slow stream does not wait for others.
MINIMUM = 64 * 1024


class _Total:
    """The bytes that all runs and downloads of an event loop hold."""

    def __init__(self) -> None:
        self.held = 0
        self.fell = asyncio.Event()


_total = PerLoop(_Total)


class RunMemory:
    """The received bytes that one run or download holds; whoever creates it closes it."""

    def __init__(self) -> None:
        self.held = 0

    def add(self, size: int) -> None:
        self.held += size
        _total().held += size

    def release(self, size: int) -> None:
        self.add(-size)
        _total().fell.set()

    def close(self) -> None:
        """Release everything: the run has ended."""
        self.release(self.held)

    async def wait_for_room(self) -> None:
        """Wait while all runs together hold too much, and this one more than the minimum."""
        total = _total()
        while self.held > MINIMUM and total.held > settings.MAX_MEMORY:
            total.fell.clear()
            await total.fell.wait()


metrics.register_gauge(
    "playground_held_bytes",
    "Received bytes that runs and downloads hold in memory",
    lambda: sum(total.held for total in _total.all()),
)
