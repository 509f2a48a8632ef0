"""Faults inside a playground of `make faults`: wrong clock, other host, event loop that hangs.

Python imports this module by its name when it starts, if its folder is in `PYTHONPATH`.

`FAULTS_CLOCK` is added to the time, in seconds. `FAULTS_HOST` is the host whose process this one
claims to be, so that processes of other hosts judge it by its heartbeats. At SIGUSR1 the thread of
the event loop sleeps for the seconds that are in the file `FAULTS_HANG`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
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


class MovedToHost:
    """A finder that changes the host in the playground's module of liveness."""

    def __init__(self, host: str) -> None:
        self._host = host

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Find the module as usual, and change it once it is executed."""
        if name != "playground.models.liveness":
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec
        assert spec.loader
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            assert hasattr(module, "_this_host")
            module._this_host = lambda: self._host

        spec.loader.exec_module = execute_and_change  # type: ignore[method-assign]
        return spec


def hang(*_: object) -> None:
    """Block the main thread, which runs the event loop."""
    time.sleep(float(Path(os.environ["FAULTS_HANG"]).read_text()))


if "FAULTS_CLOCK" in os.environ:
    shift_clock(float(os.environ["FAULTS_CLOCK"]))
if "FAULTS_HOST" in os.environ:
    sys.meta_path.insert(0, MovedToHost(os.environ["FAULTS_HOST"]))  # type: ignore[arg-type]
if "FAULTS_HANG" in os.environ:
    signal.signal(signal.SIGUSR1, hang)
