"""The rows of the steps, kept up to date sparingly: many changes, few transactions."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from playground.engine.heartbeat import forgiving
from playground.engine.writer import notify_viewers
from playground.executors import run_in_writer
from playground.models import CollectionRun, Run, Step

logger = logging.getLogger(__name__)

#: Seconds between two times that changes are stored: as often as anybody can look.
INTERVAL = 0.2
#: What stands in the row of a step of which the database takes no more than the verdict.
NOT_STORED = "What came of it could not be stored; the playground's log says why."
_COLUMNS = ("verdict", "checks", "reason", "duration_ms", "run_id")

Row = dict[str, Any]


class StepWriter:
    """Stores what changes of the steps, and tells the viewers."""

    def __init__(self, collection_run: CollectionRun) -> None:
        self._collection_run = collection_run
        self._changed: dict[int, Step] = {}
        self._wake = asyncio.Event()

    def add(self, step: Step) -> None:
        """Have the step stored with the next ones."""
        self._changed[step.number] = step
        self._wake.set()

    async def run(self) -> None:
        """Store changes until cancelled."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(INTERVAL)
            with forgiving("storing steps"):
                await self.store()

    async def store(self) -> None:
        """Store what has changed, now. Raises what the database raises, and forgets nothing."""
        self._wake.clear()
        changed, self._changed = self._changed, {}
        if not changed:
            return
        # As they are now: they go on changing while they are stored in another thread.
        rows = [(step.pk, _columns(step)) for step in changed.values()]
        try:
            await run_in_writer(_store_all, rows)
        except BaseException:  # Cancelled, too: whoever stores next stores them as well.
            self._changed = changed | self._changed
            self._wake.set()
            raise
        await notify_viewers(self._collection_run)


def _columns(step: Step) -> Row:
    return {name: getattr(step, name) for name in _COLUMNS}


def _store_all(rows: list[tuple[int, Row]]) -> None:
    """Store rows; of one that the database refuses the verdict, so that it takes none along."""
    try:
        _store(rows)
    except (OperationalError, InterfaceError):
        raise  # All of them are tried again.
    except Exception:
        logger.exception("steps were refused by the database")
        for pk, columns in rows:
            _store_one(pk, columns)


def _store_one(pk: int, columns: Row) -> None:
    try:
        _store([(pk, columns)])
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("step %s was refused by the database", pk)
        _store([(pk, columns | {"checks": [], "reason": NOT_STORED})])


def _store(rows: list[tuple[int, Row]]) -> None:
    with transaction.atomic():
        # Somebody may have cleared the history meanwhile.
        keys = [columns["run_id"] for _, columns in rows if columns["run_id"]]
        known = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
        for pk, columns in rows:
            if columns["run_id"] not in known:
                columns["run_id"] = None
            # As an update: of a collection run that was deleted there is nothing to store.
            Step.objects.filter(pk=pk).update(**columns)
