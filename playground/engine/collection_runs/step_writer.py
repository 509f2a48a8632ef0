"""Writer of the steps' rows: many changes, few transactions."""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from uuid import UUID

from django.db import transaction

from playground.base.executors import UNAVAILABLE, write_when_available
from playground.base.jobs import log_errors
from playground.models import CollectionRun, Run, Step
from playground.notifications import notify_viewers

logger = logging.getLogger(__name__)

#: Seconds between two transactions: more often than viewers can read.
INTERVAL = 0.2
#: The reason in the row of a step of which the database accepts the verdict only.
NOT_STORED = "The result could not be stored. See the playground’s log."
_COLUMNS = ("verdict", "checks", "reason", "duration_ms", "run_id")

Row = dict[str, Any]


class StepWriter:
    """The writer of the changed steps of one collection run; notifies its viewers."""

    def __init__(self, collection_run: CollectionRun) -> None:
        self._collection_run = collection_run
        self._changed: dict[int, Step] = {}
        self._wake = asyncio.Event()

    def add(self, step: Step) -> None:
        """Queue the step for the next transaction."""
        self._changed[step.number] = step
        self._wake.set()

    async def run(self) -> None:
        """Store changes until cancelled."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(INTERVAL)
            with log_errors("Storing steps"):
                await self.store()

    async def store(self) -> None:
        """Store the queued steps now. After an exception of the database they stay queued."""
        self._wake.clear()
        changed, self._changed = self._changed, {}
        if not changed:
            return
        # Copied: steps change while they are stored in another thread.
        rows = [(step.pk, _columns(step)) for step in changed.values()]
        try:
            await write_when_available(_store_all, self._collection_run.pk, rows)
        except BaseException:  # Cancelled, too: the next call stores them.
            self._changed = changed | self._changed
            self._wake.set()
            raise
        await notify_viewers(self._collection_run)


def _columns(step: Step) -> Row:
    return {name: getattr(step, name) for name in _COLUMNS}


def _store_all(key: UUID, rows: list[tuple[int, Row]]) -> None:
    """Store rows; of a row that the database refuses, store the verdict."""
    try:
        _store(key, rows)
    except UNAVAILABLE:
        raise  # All of them are retried.
    except Exception:
        logger.exception("Storing %d steps failed; each is stored by itself", len(rows))
        for pk, columns in rows:
            _store_one(key, pk, columns)


def _store_one(key: UUID, pk: int, columns: Row) -> None:
    try:
        _store(key, [(pk, columns)])
    except UNAVAILABLE:
        raise
    except Exception:
        logger.exception("Storing step %s failed; only its verdict is stored", pk)
        _store(key, [(pk, columns | {"checks": [], "reason": NOT_STORED})])


def _store(key: UUID, rows: list[tuple[int, Row]]) -> None:
    """Store rows unless the collection run has ended elsewhere, or was deleted."""
    with transaction.atomic():
        # Locked, so that it does not end before its steps are stored.
        unfinished = CollectionRun.objects.unfinished().filter(pk=key).select_for_update()
        if not unfinished.values_list("pk"):
            logger.warning("Steps of collection run %s were not stored: it has ended", key)
            return
        # The runs may have been deleted meanwhile.
        keys = [columns["run_id"] for _, columns in rows if columns["run_id"]]
        known = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
        for pk, columns in rows:
            if columns["run_id"] not in known:
                columns["run_id"] = None
            Step.objects.filter(pk=pk).update(**columns)
