"""Stored runs with a result that has an action, and stored runs of that action."""

from __future__ import annotations

from typing import Any

from playground.models import Run, RunKind
from tests.support.run_page import result_of, streamed

PLACE = (4, 0)
ADD = {"name": "add", "endpoint": "http://shop.example/cart", "method": "POST"}


def offering(*items: Any, **fields: Any) -> Run:
    """Return a run with a result at `PLACE` that has an action."""
    shown = items or ({"name": "Soup", "actions": [ADD]},)
    return streamed(*(result_of(item, index=0) for item in shown), **fields)


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
