"""Memory budget: what all runs of a process may hold at once.

A run holds what it has received until it is stored. Beyond the budget nothing more is read from
the agents' connections, so that TCP's flow control slows them down. Large responses are decoded one
after the other, from the database. Sockets of viewers share another part of the budget.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from playground import metrics
from playground.task_registry import PerLoop

#: Shares of the budget: received data that is not stored yet, which is copied when it is stored,
#: and messages that viewers have not read. The rest is for the response that is being decoded.
RECEIVED_SHARE, UNSENT_SHARE = 0.125, 0.5
#: Bytes that a run may always hold: a slow stream does not wait for others.
MINIMUM = 64 * 1024
#: Bytes of a body that a reader holds; a larger one is read from the database when it is complete.
#: More than an agent card may have, which ends its call before that.
MAX_HELD = 1024 * 1024


class ReceivedBytes:
    """The received bytes that all runs of an event loop hold."""

    def __init__(self) -> None:
        self.held = 0
        self._fell = asyncio.Event()

    @property
    def is_exceeded(self) -> bool:
        """Return whether the runs together hold more than their share."""
        return self.held > settings.MAX_MEMORY * RECEIVED_SHARE

    def change(self, size: int) -> None:
        """Add `size` bytes; a negative number releases some."""
        self.held += size
        if size < 0:
            self._fell.set()

    async def wait_for_release(self) -> None:
        """Wait until some bytes are released."""
        self._fell.clear()
        await self._fell.wait()


def held_bytes() -> int:
    """Return the received bytes that all runs and downloads hold."""
    return _received().held


class RunMemory:
    """The received bytes that one run or download holds."""

    def __init__(self) -> None:
        self.held = 0

    def __enter__(self) -> RunMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, size: int) -> None:
        """Note that `size` bytes were received."""
        self.held += size
        _received().change(size)

    def release(self, size: int) -> None:
        """Note that `size` bytes were stored or dropped."""
        self.held -= size
        _received().change(-size)

    def close(self) -> None:
        """Release everything: the run has ended."""
        self.release(self.held)

    async def wait_for_room(self) -> None:
        """Wait while all runs together hold too much, and this one more than the minimum."""
        received = _received()
        while self.held > MINIMUM and received.is_exceeded:
            await received.wait_for_release()


#: Seconds after a large response until free memory is returned, because others may end as well; and
#: the most seconds if others do.
TRIM_DELAY, MAX_TRIM_DELAY = 1.0, 5.0
#: Parameters of mallopt(3), and the size of blocks that are returned as soon as they are free.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _THRESHOLD = -1, -3, 1024 * 1024


def limit_free_memory() -> None:
    """Make glibc return large blocks of free memory to the system; call it once, at the start.

    By default it adapts the size to the largest block that was freed, and then each of its arenas,
    one for a thread, keeps up to 64 MB.
    """
    if mallopt := _function_of_glibc("mallopt"):
        mallopt(_M_MMAP_THRESHOLD, _THRESHOLD)
        mallopt(_M_TRIM_THRESHOLD, _THRESHOLD)


def return_free_memory() -> None:
    """Return free memory between used blocks to the system before long; from any thread."""
    _trimming.begin()


class _Trimming:
    """The next return of free memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._begun = 0.0

    def begin(self) -> None:
        now = time.monotonic()
        with self._lock:
            if self._timer is None:
                self._begun = now
            elif now - self._begun > MAX_TRIM_DELAY:
                return
            else:
                self._timer.cancel()
            self._timer = timer = threading.Timer(TRIM_DELAY, self._trim)
            timer.daemon = True
            timer.start()

    def _trim(self) -> None:
        with self._lock:
            self._timer = None
        if malloc_trim := _function_of_glibc("malloc_trim"):
            malloc_trim(0)


_trimming = _Trimming()


def _function_of_glibc(name: str) -> Any:
    """Return a C function; None where the C library has no such function."""
    return getattr(ctypes.CDLL(None), name, None)


_received = PerLoop(ReceivedBytes)
metrics.register_gauge(
    "playground_held_bytes",
    "Received bytes that runs and downloads hold in memory",
    lambda: sum(received.held for received in _received.all()),
)
#: Returns the lock under which the driver of one run after the other decodes a large response.
decoding_turn = PerLoop(asyncio.Lock)
_decoding = threading.Lock()


@contextlib.contextmanager
def large_decoding() -> Iterator[None]:
    """Decode a large response in the block, of a run or for a page: one at a time in the process.

    In parallel none of them would be finished sooner. Not for the event loop's thread: it waits.
    """
    with _decoding:
        yield
    return_free_memory()
