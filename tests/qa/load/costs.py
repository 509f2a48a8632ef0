"""What the events of a measurement cost PostgreSQL and Redis."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

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
