"""Which unfinished runs are still being driven, and which were left behind by a process that died.

Beside the models, because the engine, the pages and the websocket all have to ask.
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

#: Seconds between two signs of life of a run that is under way.
HEARTBEAT_INTERVAL = 5.0
#: A driver that has not shown a sign of life for this long is dead, wherever it ran.
HEARTBEAT_TIMEOUT = timedelta(seconds=4 * HEARTBEAT_INTERVAL)

#: The runs, and the collection runs, that this very process drives. It knows better than any
#: clock, which a suspended machine or a busy event loop can make look silent.
local_runs: set[UUID] = set()


@cache
def this_driver() -> str:
    """Names this process: host, process id and, where the system tells it, its start."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def _started(pid: int) -> str:
    """A process's start, in clock ticks since boot; "" where the system does not tell.

    Process ids are used again, after a reboot and in containers at once.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return fields[19]


def _is_dead(driver: str) -> bool:
    """Whether the driver is certainly gone: a process of this machine that no longer is."""
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
    """Mark unfinished runs of dead processes as interrupted; return how many there were.

    Called when a server starts and when somebody looks at unfinished runs. Their frames stay.
    So are collection runs, which do not count.
    """
    try:
        end_interrupted(_left_behind(CollectionRun.objects.unfinished()))
        return _left_behind(Run.objects.unfinished()).update(state=RunState.INTERRUPTED)
    except DatabaseError:
        return 0  # Not migrated yet: there are no runs either.


def _left_behind(unfinished: QuerySet[Any]) -> QuerySet[Any]:
    """Those of the unfinished that nobody drives any more."""
    others = unfinished.exclude(pk__in=local_runs)
    drivers = list(others.values_list("pk", "driver"))
    if not drivers:
        return unfinished.none()
    dead = [pk for pk, driver in drivers if _is_dead(driver)]
    return others.filter(Q(pk__in=dead) | Q(heartbeat_at__lt=timezone.now() - HEARTBEAT_TIMEOUT))
