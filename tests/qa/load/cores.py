"""The CPU time of the processes of a measurement."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence

import psutil


class Cores:
    """The CPU time of some processes, or groups of them, for each second of measurement."""

    def __init__(self, **pids: int | Sequence[int]) -> None:
        self._processes = {
            name: [psutil.Process(pid) for pid in ([given] if isinstance(given, int) else given)]
            for name, given in pids.items()
        }
        self._used = dict.fromkeys(pids, 0.0)
        self._seconds = 0.0

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Add the time of the block."""
        before, began = self._seconds_used(), time.perf_counter()
        yield
        self._seconds += time.perf_counter() - began
        for name, used in self._seconds_used().items():
            self._used[name] += used - before[name]

    def of(self, name: str) -> float:
        """Return the mean number of cores that a process or a group used."""
        return self._used[name] / self._seconds

    def others(self, name: str) -> str:
        """Return the figures of all other processes."""
        return ", ".join(f"{other} {self.of(other):.2f}" for other in self._used if other != name)

    def _seconds_used(self) -> dict[str, float]:
        used = {}
        for name, processes in self._processes.items():
            times = []
            for process in processes:
                times.append(process.cpu_times())
                if process.pid != os.getpid():
                    times += [child.cpu_times() for child in process.children(recursive=True)]
            used[name] = sum(time.user + time.system for time in times)
        return used
