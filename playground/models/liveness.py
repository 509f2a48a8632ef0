"""Liveness of runs: which unfinished runs are being driven, and which have lost their process.

The only place that decides it; a task engine can replace it behind the same functions. Here because
the engine, the views and the consumers all need it. A driver is judged by the first of these that
is known:

1. **A process of this host by itself.** While it exists it is alive, however old its heartbeat: it
   may be suspended or busy. A run of a process that hangs for ever is in progress until that
   process is killed. Once it has ended, its runs are interrupted at once.
2. **Any other process by its heartbeat**, which is stored and compared by the database's clock:
   those of the hosts may be wrong. Heartbeats cannot be stored while the database is unavailable,
   so a process judges by them only after it has reached the database for as long as a heartbeat may
   be old.

A run that was interrupted stays so: its viewers and its collection run have continued without it.
If its driver lives, it can store nothing more but the number of frames that are lost.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from playground.database_timeout import response_timeout
from playground.models.clock import database_now
from playground.models.collection_runs import CollectionRun, end_interrupted
from playground.models.runs import Run, RunState

#: Seconds between two heartbeats of a run in progress, and between two checks of a server.
HEARTBEAT_INTERVAL = 5.0
#: A driver of another host without a heartbeat for this long is dead. One that hangs for half a
#: minute is not: its event loop may be busy, its host suspended, or its network interrupted.
HEARTBEAT_TIMEOUT = timedelta(seconds=9 * HEARTBEAT_INTERVAL)

#: The runs, and the collection runs, that this process drives.
local_runs: set[UUID] = set()


def driver_columns() -> dict[str, Any]:
    """Return the columns of a new run or collection run that this process drives."""
    return {"driver": this_driver(), "heartbeat_at": Now()}


def store_heartbeats(driven: QuerySet[Any]) -> int:
    """Store a heartbeat for the unfinished rows that this process drives; return their number."""
    return driven.update(heartbeat_at=Now())


def mark_interrupted() -> int:
    """Mark unfinished runs of dead processes as interrupted; return their number.

    Called when a server starts, every few seconds by each server, and when unfinished runs are
    read. Their frames stay. Collection runs are marked as well and not counted. Raises
    `DatabaseError` in a request only.
    """
    try:
        drivers = {*_drivers(Run), *_drivers(CollectionRun)}
        # Read once: if the database is away from now on, heartbeats do not get older meanwhile.
        now = database_now() if drivers else None
        database_contact.note()
        if now is None:
            return 0
        orphaned = _is_orphaned(drivers, now)
        end_interrupted(CollectionRun.objects.unfinished().filter(orphaned))
        return Run.objects.unfinished().filter(orphaned).update(state=RunState.INTERRUPTED)
    except DatabaseError:
        database_contact.lose()
        if response_timeout.get() is not None:
            raise  # The next statement of the request would wait for as long again.
        return 0  # Unavailable, or not migrated yet: then there are no runs either.


def _drivers(model: type[Run] | type[CollectionRun]) -> Iterable[str]:
    """Return the drivers of the unfinished rows that this process does not drive."""
    others = model.objects.unfinished().exclude(pk__in=tuple(local_runs)).order_by()
    return others.values_list("driver", flat=True).distinct()


def _is_orphaned(drivers: Iterable[str], now: datetime) -> Q:
    """Return the condition of unfinished rows that none of these drivers drives any more.

    A row of this process that it does not drive was given up: its heartbeat has ended.
    """
    alive = {driver: _is_alive(driver) for driver in drivers if driver != this_driver()}
    orphaned = Q(driver__in=[driver for driver in alive if alive[driver] is False])
    if database_contact.is_long:
        silent = Q(heartbeat_at__lt=now - HEARTBEAT_TIMEOUT)
        orphaned |= silent & ~Q(driver__in=[driver for driver in alive if alive[driver]])
    return orphaned & ~Q(pk__in=tuple(local_runs))


# Processes of this host


@cache
def this_driver() -> str:
    """Return the name of this process: host, process id and, where available, its start."""
    return f"{_this_host()}:{os.getpid()}:{_started(os.getpid())}"


@cache
def _this_host() -> str:
    """Return what the processes that see each other have in common.

    Containers may have the same host name, and have process ids of their own: on Linux it is the
    boot and the namespace of the process ids, elsewhere the host name.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/<pid>/stat from the state on, [] where not available."""
    try:
        # The name of a process is any bytes: the kernel may cut it within a character.
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return []


def _started(pid: int) -> str:
    """Return the start of a process in clock ticks since boot, "" where not available.

    Process ids are reused: after a reboot, and in containers at once.
    """
    fields = _stat(pid)
    return fields[19] if fields else ""


def _is_alive(driver: str) -> bool | None:
    """Return whether a driver's process exists; None if this process cannot know."""
    process, _, started = driver.rpartition(":")
    host, _, pid = process.rpartition(":")
    # On Windows `os.kill` would end the process.
    if host != _this_host() or not pid.isdecimal() or os.name != "posix":
        return None
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # A process of another user; or no process id at all, which has no stat.
    fields = _stat(int(pid))
    if not fields or not started:
        return None  # The id may have been reused.
    state = fields[0]
    return state not in "ZX" and fields[19] == started


# Heartbeats of other processes


@dataclass
class DatabaseContact:
    """The time for which this process has reached the database without interruption."""

    #: Moments of `time.monotonic`: of the first and the latest query.
    first: float = 0.0
    latest: float = float("-inf")

    def note(self) -> None:
        """Note that a query has succeeded."""
        now = time.monotonic()
        if now - self.latest > 2 * HEARTBEAT_INTERVAL:
            self.first = now
        self.latest = now

    def lose(self) -> None:
        """Note that a query has failed."""
        self.latest = float("-inf")

    @property
    def is_long(self) -> bool:
        """Return whether every living driver has had the time for a heartbeat."""
        return self.latest - self.first >= HEARTBEAT_TIMEOUT.total_seconds()


database_contact = DatabaseContact()
