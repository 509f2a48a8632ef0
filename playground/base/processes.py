"""Names of processes: by them a process is known to those that share its database.

A name has the host, the process id and, where available, the start of the process.
"""

from __future__ import annotations

import hashlib
import os
import socket
from functools import cache
from pathlib import Path


@cache
def this_process() -> str:
    return f"{_this_host()}:{os.getpid()}:{_started(os.getpid())}"


def connection_name(process: str) -> str:
    """Return the `application_name` of a process's connections to PostgreSQL, of 63 bytes at most.

    Users of the database see it in `pg_stat_activity`.
    """
    return f"nlweb-playground {hashlib.sha256(process.encode()).hexdigest()[:16]}"


def is_running(process: str) -> bool | None:
    """Return whether a process exists, given its name; None if this process cannot know."""
    name, _, started = process.rpartition(":")
    host, _, pid = name.rpartition(":")
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
