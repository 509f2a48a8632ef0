"""Faults inside a playground of `make faults`: wrong clock, other host, event loop that hangs.

Python imports this module by its name when it starts, if its folder is in `PYTHONPATH`.

`FAULTS_CLOCK` is added to the time, in seconds. `FAULTS_HOST` is the host whose process this one
claims to be, so that processes of other hosts judge it by its heartbeats. At SIGUSR1 the thread of
the event loop sleeps for the seconds that are in the file `FAULTS_HANG`.

Some times are shorter, so that a short fault exceeds them as a long one does. `FAULTS_HEARTBEAT` is
the number of seconds between two heartbeats, a quarter of that after which one is missed;
`FAULTS_LOCK` is the number of seconds for which SQLite itself waits for a lock.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any


def shift_clock(seconds: float) -> None:
    """Add seconds to the time of day; `time.monotonic` stays."""
    from django.utils import timezone

    clock, now = time.time, timezone.now
    time.time = lambda: clock() + seconds
    timezone.now = lambda: now() + timedelta(seconds=seconds)


def replace(module: ModuleType, **values: object) -> None:
    """Replace names that a module has."""
    for name, value in values.items():
        assert hasattr(module, name)
        setattr(module, name, value)


def change_host(module: ModuleType) -> None:
    """Change the host that processes are compared by."""
    if host := os.environ.get("FAULTS_HOST"):
        replace(module, _this_host=lambda: host)


def change_liveness(module: ModuleType) -> None:
    """Change the times of heartbeats."""
    if seconds := float(os.environ.get("FAULTS_HEARTBEAT", "0")):
        timeout = timedelta(seconds=4 * seconds)
        replace(module, HEARTBEAT_INTERVAL=seconds, HEARTBEAT_TIMEOUT=timeout)
        replace(module, CONTACT_GAP=2 * seconds)


def change_heartbeats(module: ModuleType) -> None:
    """Look for stop requests twice between two heartbeats."""
    if seconds := float(os.environ.get("FAULTS_HEARTBEAT", "0")):
        replace(module, STOP_REQUEST_INTERVAL=seconds / 2)


def change_settings(module: ModuleType) -> None:
    """Change the time for which SQLite waits for a lock."""
    if seconds := float(os.environ.get("FAULTS_LOCK", "0")):
        options = module.DATABASES["default"]["OPTIONS"]
        assert "timeout" in options
        options["timeout"] = seconds


class ChangedModules:
    """A finder that changes modules once they are executed."""

    CHANGES: Mapping[str, Callable[[ModuleType], None]] = {
        "playground.settings": change_settings,
        "playground.base.processes": change_host,
        "playground.models.driving": change_liveness,
        "playground.engine.heartbeat": change_heartbeats,
    }

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find the module as usual, and change it once it is executed."""
        if (change := self.CHANGES.get(name)) is None:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec
        assert spec.loader
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def hang(*_: object) -> None:
    """Block the main thread, which runs the event loop."""
    time.sleep(float(Path(os.environ["FAULTS_HANG"]).read_text()))


if any(name in os.environ for name in ("FAULTS_HOST", "FAULTS_HEARTBEAT", "FAULTS_LOCK")):
    sys.meta_path.insert(0, ChangedModules())  # type: ignore[arg-type]
if "FAULTS_CLOCK" in os.environ:
    shift_clock(float(os.environ["FAULTS_CLOCK"]))
if "FAULTS_HANG" in os.environ:
    signal.signal(signal.SIGUSR1, hang)
