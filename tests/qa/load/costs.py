"""Costs of a measurement: CPU time of its processes, and counters of PostgreSQL and Redis."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence

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
