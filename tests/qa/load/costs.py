"""Costs of a measurement: CPU time of its processes, and counters of PostgreSQL and Redis.

And what else the machine does meanwhile.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from itertools import chain

import psutil
import psycopg
import redis

_QUERY = """
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), sum(xact_commit),
           sum(pg_database_size(datname))
    FROM pg_stat_database WHERE datname IS NOT NULL
"""


class Costs:
    """Counters of both servers, before and after the blocks that are measured."""

    def __init__(self, database: str, layer: str) -> None:
        """Read the counters of the servers with these URLs."""
        self._database = database
        self._layer = redis.Redis.from_url(layer)
        self._used = [0.0] * 4

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Add what the block costs."""
        before = self._counters()
        yield
        after = self._counters()
        self._used = [
            total + new - old for total, new, old in zip(self._used, after, before, strict=True)
        ]

    def per_event(self, events: int) -> str:
        """Return the costs for each of so many events as a phrase."""
        wal, commits, size, published = (used / events for used in self._used)
        return (
            f"; for each event {wal:,.0f} bytes of WAL, {size:,.0f} bytes stored,"
            f" {commits:.1f} transactions, {published:.1f} Redis messages"
        )

    def _counters(self) -> list[float]:
        with psycopg.connect(self._database, autocommit=True) as connection:
            connection.execute("SELECT pg_stat_clear_snapshot()")
            row = connection.execute(_QUERY).fetchone()
        assert row
        published = self._layer.info("commandstats").get("cmdstat_publish", {}).get("calls", 0)
        return [*map(float, row), float(published)]


class Cores:
    """The CPU time of some processes, or groups of them, for each second of measurement."""

    def __init__(self, **pids: int | Sequence[int]) -> None:
        self._groups = {
            name: [given] if isinstance(given, int) else given for name, given in pids.items()
        }
        self._processes = {pid: psutil.Process(pid) for pid in chain(*self._groups.values())}
        self._used = dict.fromkeys(self._processes, 0.0)
        self._seconds = 0.0
        #: Seconds for which processors were idle.
        self._idle = 0.0

    def pids(self, name: str) -> Sequence[int]:
        """Return the ids of a process or a group."""
        return self._groups[name]

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Add the time of the block."""
        before, idle, began = self._seconds_used(), psutil.cpu_times().idle, time.perf_counter()
        yield
        self._seconds += time.perf_counter() - began
        self._idle += psutil.cpu_times().idle - idle
        for pid, used in self._seconds_used().items():
            self._used[pid] += used - before[pid]

    def seconds_of(self, name: str) -> float:
        """Return the processor time that a process or a group used."""
        return sum(self._used[pid] for pid in self._groups[name])

    def of(self, name: str) -> float:
        """Return the mean number of cores that a process or a group used."""
        return self.seconds_of(name) / self._seconds

    def others(self, name: str) -> str:
        """Return the figures of all other processes that are measured."""
        return ", ".join(f"{other} {self.of(other):.2f}" for other in self._groups if other != name)

    @property
    def idle(self) -> float:
        """The mean number of cores of the machine that were idle."""
        return self._idle / self._seconds

    @property
    def unknown(self) -> float:
        """The mean number of cores that programs used which are not measured."""
        used = sum(self._used.values()) / self._seconds
        return max(0.0, psutil.cpu_count() - self.idle - used)

    def _seconds_used(self) -> dict[int, float]:
        used = {}
        for pid, process in self._processes.items():
            times = [process.cpu_times()]
            if pid != os.getpid():
                times += [child.cpu_times() for child in process.children(recursive=True)]
            used[pid] = sum(time.user + time.system for time in times)
        return used
