"""Figures from inside the server of `make load ARGS="--soak 20"`: a line of JSON for each SIGUSR1.

Python imports this module by its name when it starts, if its folder is in `PYTHONPATH`.
`SOAK_FIGURES` names the file of the lines. They are written between two callbacks of the event
loop, and after a garbage collection.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
from typing import Any


def figures() -> dict[str, Any]:
    """Return numbers of what the process has."""
    from django.db.backends.base.base import BaseDatabaseWrapper

    from playground import broadcast, notifications, task_registry
    from playground.engine import heartbeat
    from playground.models.liveness import local_runs

    loop = asyncio.get_running_loop()
    gc.collect()
    objects = gc.get_objects()
    driven = heartbeat._driven.get(loop)
    daphne = sys.modules.get("daphne.server")
    servers = [each for each in objects if daphne and issubclass(type(each), daphne.Server)]
    databases = [each for each in objects if issubclass(type(each), BaseDatabaseWrapper)]
    return {
        "asyncio tasks": len(asyncio.all_tasks(loop)),
        "background tasks": len(task_registry._running),
        "feeds": len(broadcast.run_feeds()._feeds),
        "subscribers": sum(map(len, notifications.notifier()._subscribers.values())),
        "runs in progress": len(local_runs),
        "heartbeats": sum(map(len, driven._stops.values())) if driven else 0,
        "connections of Daphne": sum(len(server.connections) for server in servers),
        "database connections": sum(each.connection is not None for each in databases),
    }


def write() -> None:
    """Append the figures to the file, at once."""
    with open(os.environ["SOAK_FIGURES"], "a", buffering=1024 * 1024) as file:
        file.write(json.dumps(figures()) + "\n")


if "SOAK_FIGURES" in os.environ:
    signal.signal(signal.SIGUSR1, lambda *_: asyncio.get_running_loop().call_soon_threadsafe(write))
