"""Runs whose process died under them: told apart from runs that are under way."""

from __future__ import annotations

import os
import socket
from datetime import timedelta
from functools import cache
from pathlib import Path

from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from playground.engine.driver import HEARTBEAT
from playground.models import Run, RunState

#: A driver that has not shown a sign of life for this long is dead, wherever it ran.
SILENCE = timedelta(seconds=4 * HEARTBEAT)


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
    host, _, rest = driver.rpartition(":")[0].partition(":")
    pid, started = rest, driver.rpartition(":")[2]
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

    Called when a server starts, and when a page meets an unfinished run. Their frames stay.
    """
    try:
        unfinished = list(Run.objects.unfinished().values_list("pk", "driver"))
    except DatabaseError:
        return 0  # Not migrated yet: there are no runs either.
    dead = [pk for pk, driver in unfinished if _is_dead(driver)]
    silent_since = timezone.now() - SILENCE
    gone = Q(pk__in=dead) | Q(alive_at__lt=silent_since)
    return Run.objects.unfinished().filter(gone).update(state=RunState.INTERRUPTED)
