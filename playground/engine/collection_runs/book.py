"""The rows of the steps, kept up to date sparingly: many changes, few transactions."""

from __future__ import annotations

import asyncio
import logging

from channels.layers import get_channel_layer
from django.db import transaction

from playground.models import CollectionRun, Run, Step
from playground.threads import in_writer

logger = logging.getLogger(__name__)

#: Seconds between two times that changes are stored: as often as anybody can look.
INTERVAL = 0.2
_COLUMNS = ("verdict", "checks", "reason", "took_ms", "run")


class Book:
    """Stores what changes of the steps, and tells the viewers."""

    def __init__(self, collection_run: CollectionRun) -> None:
        self._collection_run = collection_run
        self._changed: dict[int, Step] = {}
        self._wake = asyncio.Event()

    def note(self, step: Step) -> None:
        """Have the step stored with the next ones."""
        self._changed[step.number] = step
        self._wake.set()

    async def keep(self) -> None:
        """Store changes until cancelled."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(INTERVAL)
            await self.store()

    async def store(self) -> None:
        """Store what has changed, now; what cannot be stored is tried again the next time."""
        self._wake.clear()
        changed, self._changed = self._changed, {}
        if not changed:
            return
        try:
            await in_writer(_store, list(changed.values()))
        except Exception:
            logger.warning("steps could not be stored", exc_info=True)
            self._changed = changed | self._changed
            return
        await nudge(self._collection_run)


def _store(steps: list[Step]) -> None:
    with transaction.atomic():
        # Somebody may have cleared the history meanwhile.
        keys = [step.run_id for step in steps if step.run_id]
        known = set(Run.objects.filter(pk__in=keys).values_list("pk", flat=True))
        for step in steps:
            if step.run_id and step.run_id not in known:
                step.run = None
            # As an update: of a collection run that was deleted there is nothing to store.
            columns = {name: getattr(step, name) for name in _COLUMNS}
            Step.objects.filter(pk=step.pk).update(**columns)


async def nudge(collection_run: CollectionRun) -> None:
    """Tell the viewers that there is something to read; carries no data, and may fail."""
    try:
        layer = get_channel_layer()
        await layer.group_send(collection_run.group, {"type": "collection.run.nudge"})
    except Exception:
        logger.warning("viewers of a collection run could not be nudged", exc_info=True)
