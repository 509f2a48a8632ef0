"""Who asks after a promise: whoever claims it, until he lets go of it or dies."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta

from django.db import DatabaseError
from django.utils import timezone

from playground.models import Tracker, TrackerStatus
from playground.threads import in_writer

logger = logging.getLogger(__name__)

#: How long a claim is good when whoever claimed a promise dies; alive, he renews it.
CLAIM = timedelta(seconds=15)


def claim(pk: int, at_once: bool) -> bool:
    """Claim a promise that is due, with `at_once` any that is open; False if nobody may now."""
    trackers = Tracker.objects.free() if at_once else Tracker.objects.due()
    until = timezone.now() + CLAIM
    return bool(trackers.filter(pk=pk).update(next_at=None, leased_until=until))


def claim_cancellation(pk: int) -> bool:
    """Stop following a promise to have its task cancelled; False if that is under way already.

    As one statement: of two that press the button, one has it.
    """
    trackers = Tracker.objects.open().filter(pk=pk, cancelling=False)
    paused = {"status": TrackerStatus.PAUSED, "next_at": None, "note": ""}
    return bool(trackers.update(cancelling=True, **paused))


@contextlib.asynccontextmanager
async def kept(pk: int) -> AsyncIterator[None]:
    """Renew a claim, if there is one, while the block runs.

    The run of a check ends before its reply is taken in: meanwhile only the claim says that
    nobody else is to ask.
    """
    renewing = asyncio.create_task(_renew(pk))
    try:
        yield
    finally:
        renewing.cancel()


async def _renew(pk: int) -> None:
    claimed = Tracker.objects.filter(pk=pk, leased_until__isnull=False)
    while True:
        await asyncio.sleep(CLAIM.total_seconds() / 3)
        try:
            await in_writer(claimed.update, leased_until=timezone.now() + CLAIM)
        except DatabaseError:
            logger.warning("a claim could not be renewed", exc_info=True)
