"""Signs of life that a database which fails for a moment does not end.

A run whose heart stopped would be taken for one whose process died, although it goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

from django.utils import timezone

from playground.engine.writer import FrameWriter
from playground.models import Run
from playground.models.liveness import HEARTBEAT
from playground.threads import in_reader

logger = logging.getLogger(__name__)

#: Seconds between two looks for a Stop that came in by another process.
LOOK = 1.0


@contextlib.contextmanager
def forgiving(what: str) -> Iterator[None]:
    """Log what goes wrong inside, and go on; a cancellation is no such thing."""
    try:
        yield
    except Exception:
        logger.warning("%s was left out this time", what, exc_info=True)


async def beat(run: Run, writer: FrameWriter, stop: Callable[[], None]) -> None:
    """Show signs of life of a run for as long as it goes on, and listen for a Stop from elsewhere.

    Goes on until it is cancelled.
    """
    wanted = Run.objects.filter(pk=run.pk, stop_requested=True)
    while True:
        for _ in range(round(HEARTBEAT / LOOK)):
            await asyncio.sleep(LOOK)
            with forgiving("a look for Stop"):
                if await in_reader(wanted.exists):
                    stop()
        writer.put(alive_at=timezone.now())
