"""State that protocols keep between two requests: sessions, open questions, tasks.

It is stored in the database, because the next request may reach another process. A key
gives access to its row: keys are long and random where it matters. Rows expire and are bounded: the
oldest are deleted first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async

from playground.demo.models import StoredState, prune

#: Rows that are kept of each area.
ROWS = 512
_MAX_KEY = 200

now = time.time


@sync_to_async
def save(area: str, key: str, state: Mapping[str, Any]) -> None:
    """Store `state` under `key`, replacing what was stored there."""
    values = {"state": json.dumps(dict(state)), "used_at": now()}
    StoredState.objects.update_or_create(area=area, key=key, defaults=values)
    prune(StoredState.objects.filter(area=area), ROWS)


@sync_to_async
def load(area: str, key: str, seconds: float) -> dict[str, Any] | None:
    """Return the state under `key`, or None if it is missing or unused for `seconds`."""
    if not _is_valid(key):
        return None
    row = StoredState.objects.filter(area=area, key=key, used_at__gte=now() - seconds).first()
    if row is None:
        return None
    state: dict[str, Any] = json.loads(row.state)
    return state


@sync_to_async
def touch(area: str, key: str) -> None:
    """Set the time of last use of the state under `key` to now."""
    StoredState.objects.filter(area=area, key=key).update(used_at=now())


@sync_to_async
def delete(area: str, key: str) -> bool:
    """Delete the state under `key`; return True if it existed."""
    if not _is_valid(key):
        return False
    deleted, _ = StoredState.objects.filter(area=area, key=key).delete()
    return bool(deleted)


def _is_valid(key: str) -> bool:
    """Return True if a database can look `key` up: callers may send anything."""
    return len(key) <= _MAX_KEY and key.isascii() and key.isprintable()
