"""Stored runs with a result that has an action, and stored runs of that action."""

from __future__ import annotations

import json
from typing import Any

from playground.models import Run, RunKind
from tests.support.stored_runs import CALL, HEAD, OPEN, Recording, event

PLACE = (4, 0)
ADD = {"name": "add", "endpoint": "http://shop.example/cart", "method": "POST"}


def offering(*items: Any, **fields: Any) -> Run:
    """Return a run with a result at `PLACE` that has an action."""
    shown = items or ({"name": "Soup", "actions": [ADD]},)
    recording = Recording(**fields)
    recording.add(CALL, OPEN, HEAD)
    for item in shown:
        recording.add(event(f"event: result\ndata: {json.dumps({'index': 0, 'item': item})}"))
    return recording.end()


def action(parent: Run, *items: Any, **fields: Any) -> Run:
    """Return a run of the action at `PLACE`; its response has an action again."""
    request = {"action": "add", "protocol": "HTTP", "method": "POST",
               "url": "http://shop.example/cart", "headers": []}  # fmt: skip
    run = offering(*items)
    changes = {"parent": parent, "kind": RunKind.ACTION, "request": request, "text": "add",
               "parent_entry_seq": 4, "parent_entry_part": 0, "url": request["url"]}  # fmt: skip
    Run.objects.filter(pk=run.pk).update(**{**changes, **fields})
    run.refresh_from_db()
    return run
