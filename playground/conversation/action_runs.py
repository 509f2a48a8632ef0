"""Actions that were run, below the card that offers them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playground.conversation.action_buttons import action_key
from playground.conversation.thread import Thread
from playground.models import RunKind
from playground.protocols.events import EntryRef

#: Actions below one card, the newest.
MAX_ACTIONS = 10


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the actions of a card that were run, oldest first."""
    runs = thread.runs_at(ref, RunKind.ACTION)[-MAX_ACTIONS:]
    latest = {action_key(run): run.pk for run in runs}
    children = [
        replace(thread.child(run), is_outdated=latest[action_key(run)] != run.pk) for run in runs
    ]
    return {"actions": children}
