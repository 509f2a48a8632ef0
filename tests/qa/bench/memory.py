"""What a process takes of memory."""

from __future__ import annotations

import threading

import psutil

MIB = 1024 * 1024


class PeakMemory:
    """The highest resident size of a process while this is open, in bytes."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._stop = threading.Event()
        self.before = self.peak = self._process.memory_info().rss

    def __enter__(self) -> PeakMemory:
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def growth(self) -> float:
        """How much more there was at most than at the beginning, in MB."""
        return (self.peak - self.before) / MIB

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self.peak = max(self.peak, self._process.memory_info().rss)
