"""Liveness of runs: which unfinished runs are being driven, and which have lost their process.

Here because the engine, the views and the consumers all need it.
"""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q, QuerySet
from django.utils import timezone

from playground.models.collection_runs import CollectionRun, end_interrupted
from playground.models.runs import Run, RunState

#: Seconds between two heartbeats of a run in progress.
HEARTBEAT_INTERVAL = 5.0
#: A driver without a heartbeat for this long is dead, on whatever host it ran.
HEARTBEAT_TIMEOUT = timedelta(seconds=4 * HEARTBEAT_INTERVAL)

#: The runs, and the collection runs, that this process drives. They are alive even if a suspended
#: machine or a busy event loop has delayed their heartbeats.
local_runs: set[UUID] = set()


@cache
def this_driver() -> str:
    """Return the name of this process: host, process id and, where available, its start."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def _started(pid: int) -> str:
    """Return the start of a process in clock ticks since boot, "" where not available.

    Process ids are reused: after a reboot, and in containers at once.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19]


def _is_dead(driver: str) -> bool:
    """Return whether the driver is a process of this host that no longer exists."""
    process, _, started = driver.rpartition(":")
    host, _, pid = process.rpartition(":")
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return _started(int(pid)) != started


def mark_interrupted() -> int:
    """Mark unfinished runs of dead processes as interrupted; return their number.

    Called when a server starts and when unfinished runs are read. Their frames stay. Collection
    runs are marked as well and not counted.
    """
    try:
        end_interrupted(_orphaned(CollectionRun.objects.unfinished()))
        return _orphaned(Run.objects.unfinished()).update(state=RunState.INTERRUPTED)
    except DatabaseError:
        return 0  # Not migrated yet: there are no runs either.


def _orphaned(unfinished: QuerySet[Any]) -> QuerySet[Any]:
    """Return the unfinished rows that no process drives any more."""
    others = unfinished.exclude(pk__in=local_runs)
    drivers = list(others.values_list("pk", "driver"))
    if not drivers:
        return unfinished.none()
    dead = [pk for pk, driver in drivers if _is_dead(driver)]
    return others.filter(Q(pk__in=dead) | Q(heartbeat_at__lt=timezone.now() - HEARTBEAT_TIMEOUT))
