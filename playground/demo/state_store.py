"""What the protocols with a memory keep between two requests, in the database.

The next request may come to another process. Whoever knows a key may use it: keys are long
and random where it matters. Rows expire and are bounded: the oldest go first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async

from playground.demo.models import StoredState
from playground.demo.storage import prune

#: Rows that are kept of each area.
ROWS = 512
_MAX_KEY = 200

now = time.time


@sync_to_async
def save(area: str, key: str, state: Mapping[str, Any]) -> None:
    """Keep `state` under `key`, in the place of what was there."""
    values = {"state": json.dumps(dict(state)), "used_at": now()}
    StoredState.objects.update_or_create(area=area, key=key, defaults=values)
    prune(StoredState.objects.filter(area=area), ROWS)


@sync_to_async
def load(area: str, key: str, seconds: float) -> dict[str, Any] | None:
    """What is kept under `key`; None if there is nothing, or nothing used for `seconds`."""
    if not _possible(key):
        return None
    row = StoredState.objects.filter(area=area, key=key, used_at__gte=now() - seconds).first()
    if row is None:
        return None
    found: dict[str, Any] = json.loads(row.state)
    return found


@sync_to_async
def touch(area: str, key: str) -> None:
    """Note that what is kept under `key` has been used just now."""
    StoredState.objects.filter(area=area, key=key).update(used_at=now())


@sync_to_async
def delete(area: str, key: str) -> bool:
    """Keep it no longer; whether it was there."""
    gone, _ = StoredState.objects.filter(area=area, key=key).delete() if _possible(key) else (0, {})
    return bool(gone)


def _possible(key: str) -> bool:
    """Whether a database can be asked for it: callers may send anything."""
    return len(key) <= _MAX_KEY and key.isascii() and key.isprintable()
