"""Driving: the process that drives each unfinished run, and the time on which all processes agree.

**Clock.** The clocks of hosts may be wrong. A time that decides something for several processes (a
lease, an expiry, a retention period) is stored and compared by the clock of the database: in
queries with `django.db.models.functions.Now`, in Python with `database_now`. With SQLite it is the
clock of the host that all of them share. Times that are only shown are the process's own
(`timezone.now`).

**Queue.** A run that waits for a worker has a row of `QueuedWork`. The worker that deletes it
drives the run: a job that is delivered twice finds no row the second time.

**Liveness** is decided here and nowhere else, as the engine, the views and the consumers all need
it. A driver is judged by the first of these that is known:

1. **A process of this host by itself.** Once it has ended, its runs are interrupted at once. While
   it exists it is alive, however old its heartbeat: it may be suspended or busy. A run of a process
   that hangs for ever is in progress until that process is killed. With workers it is different:
   there another process can continue the work, so one that exists is judged by its heartbeat.
2. **Any other process by its heartbeat**, which is stored and compared by the database's clock:
   those of the hosts may be wrong. Heartbeats cannot be stored while the database is unavailable,
   so a process judges by them only after it has reached the database for as long as a heartbeat may
   be old.

A run that was interrupted stays so: its viewers and its collection run have continued without it.
If its driver lives, it can store nothing more but the number of frames that are lost. A run that
waits for a worker has neither driver nor heartbeat, and is not orphaned.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, models
from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now
from django.db.models.sql import Query

from playground.base.executors import response_timeout
from playground.base.processes import connection_name, is_running, this_process
from playground.models.collection_runs import CollectionRun, end_interrupted
from playground.models.columns import EncryptedJSONField
from playground.models.runs import Run, RunState

# The clock of the database


def database_now() -> datetime:
    """Return the current time of the database, with time zone; it takes a query."""
    query = Query(None)
    query.add_annotation(Now(), "now")
    ((now,),) = query.get_compiler(DEFAULT_DB_ALIAS).results_iter()
    assert isinstance(now, datetime)
    return now


# Work that waits for a worker


class QueuedWork(models.Model):
    """The request of a run, or the plan of a collection run, that waits for a worker."""

    run = models.OneToOneField(Run, null=True, on_delete=models.CASCADE, related_name="queued")
    collection_run = models.OneToOneField(
        CollectionRun, null=True, on_delete=models.CASCADE, related_name="queued"
    )
    #: With the values of secrets, so encrypted. A worker with another key reads {}.
    payload = EncryptedJSONField(default=dict)
    #: The version of the playground that has written the payload.
    version = models.CharField(max_length=40)
    #: By the clock of the database.
    queued_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(run__isnull=True, collection_run__isnull=False)
                | models.Q(run__isnull=False, collection_run__isnull=True),
                name="queued_work_of_one",
            )
        ]

    def __str__(self) -> str:
        return f"queued {self.run_id or self.collection_run_id}"


# Liveness

#: Seconds between two heartbeats of a run in progress, and between two checks of a server.
HEARTBEAT_INTERVAL = 1.0 if settings.WORKERS else 5.0
#: A driver of another host without a heartbeat for this long is dead. One that hangs for half a
#: minute is not: its event loop may be busy, its host suspended, or its network interrupted. With
#: workers another one is ready: a network that is interrupted for ten seconds is waited for.
HEARTBEAT_TIMEOUT = timedelta(seconds=13 if settings.WORKERS else 45)
#: Seconds between two queries after which the database may have been unavailable in between.
CONTACT_GAP = max(5.0, 2 * HEARTBEAT_INTERVAL)

#: Milliseconds that the end of one connection is waited for.
END_TIMEOUT_MS = 1000
#: The heartbeat of a driver without one.
_NEVER = datetime.min.replace(tzinfo=UTC)

#: The runs, and the collection runs, that this process drives.
local_runs: set[UUID] = set()


def driver_columns() -> dict[str, Any]:
    """Return the columns of a new run or collection run that this process drives."""
    return {"driver": this_process(), "heartbeat_at": Now()}


def store_heartbeats(driven: QuerySet[Any]) -> int:
    """Store a heartbeat for the unfinished rows that this process drives; return their number."""
    return driven.update(heartbeat_at=Now())


def mark_interrupted() -> int:
    """Mark unfinished runs of dead processes as interrupted; return their number.

    Called when a server starts, every few seconds by each server, and when unfinished runs are
    read. Their frames stay. Collection runs are marked as well and not counted. First, the
    connections of silent processes to PostgreSQL are ended. Raises `DatabaseError` in a request
    only.
    """
    try:
        drivers = _drivers()
        # Read once: if the database is away from now on, heartbeats do not get older meanwhile.
        now = database_now() if drivers else None
        database_contact.note()
        if now is None:
            return 0
        orphaned = _end_drivers(drivers, now)
        end_interrupted(CollectionRun.objects.unfinished().filter(orphaned))
        return Run.objects.unfinished().filter(orphaned).update(state=RunState.INTERRUPTED)
    except DatabaseError:
        database_contact.lose()
        if response_timeout.get() is not None:
            raise  # The next statement of the request would wait for as long again.
        if not connection.in_atomic_block:
            connection.close()  # It may be lost, and the next call needs a new one.
        return 0  # Unavailable, or not migrated yet: then there are no runs either.


def _drivers() -> dict[str, datetime]:
    """Return the drivers of the unfinished rows that this process does not drive.

    Each with its latest heartbeat.
    """
    found: dict[str, datetime] = {}
    for model in (Run, CollectionRun):
        others = model.objects.unfinished().exclude(pk__in=tuple(local_runs)).order_by()
        for driver, latest in others.values_list("driver").annotate(Max("heartbeat_at")):
            found[driver] = max(filter(None, (found.get(driver), latest)), default=_NEVER)
    return found


def _end_drivers(drivers: Mapping[str, datetime], now: datetime) -> Q:
    """Return the condition of unfinished rows that none of these drivers drives any more.

    A row of this process that it does not drive was given up: its heartbeat has ended. Other silent
    drivers may hold locks on their rows, so their connections are ended first.
    """
    others = {driver: is_running(driver) for driver in drivers if driver != this_process()}
    orphaned = Q(driver__in=[driver for driver, alive in others.items() if alive is False])
    if database_contact.is_long:
        existing = [driver for driver, alive in others.items() if alive and not settings.WORKERS]
        oldest = now - HEARTBEAT_TIMEOUT
        _end_connections(
            [each for each in others if each not in existing and _NEVER < drivers[each] < oldest]
        )
        orphaned |= Q(heartbeat_at__lt=oldest) & ~Q(driver__in=existing)
    return orphaned & ~Q(pk__in=tuple(local_runs))


def _end_connections(processes: Collection[str]) -> None:
    """End the connections of processes to PostgreSQL, whose transactions are rolled back.

    A process that is suspended in a transaction keeps the locks on its rows. Should it continue, it
    connects again, as it does after an outage.
    """
    if processes and connection.vendor == "postgresql":
        names = [connection_name(process) for process in processes]
        with connection.cursor() as cursor:
            cursor.execute(_END_CONNECTIONS, [END_TIMEOUT_MS, names])


_END_CONNECTIONS = """
    SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity
    WHERE application_name = ANY(%s) AND datname = current_database() AND usename = current_user
"""


# Heartbeats of other processes


@dataclass
class DatabaseContact:
    """The time for which this process has reached the database without interruption."""

    #: Moments of `time.monotonic`: of the first and the latest query.
    first: float = 0.0
    latest: float = float("-inf")

    def note(self) -> None:
        now = time.monotonic()
        if now - self.latest > CONTACT_GAP:
            self.first = now
        self.latest = now

    def lose(self) -> None:
        self.latest = float("-inf")

    @property
    def is_long(self) -> bool:
        """Return whether every living driver has had the time for a heartbeat."""
        return self.latest - self.first >= HEARTBEAT_TIMEOUT.total_seconds()


database_contact = DatabaseContact()
