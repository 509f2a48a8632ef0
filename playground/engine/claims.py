"""Who asks after a promise: whoever claims it, until he lets go of it or dies."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from datetime import timedelta

from django.db import DatabaseError
from django.utils import timezone

from playground.executors import run_in_writer
from playground.models import PolledPromise, PollingStatus

logger = logging.getLogger(__name__)

#: How long a claim is good when whoever claimed a promise dies; alive, he renews it.
LEASE = timedelta(seconds=15)


def acquire_lease(pk: int, at_once: bool) -> bool:
    """Claim a promise that is due, with `at_once` any that is open; False if nobody may now."""
    trackers = PolledPromise.objects.unleased() if at_once else PolledPromise.objects.due()
    until = timezone.now() + LEASE
    return bool(trackers.filter(pk=pk).update(next_poll_at=None, leased_until=until))


def acquire_cancellation(pk: int) -> bool:
    """Stop following a promise to have its task cancelled; False if that is under way already.

    As one statement: of two that press the button, one has it.
    """
    trackers = PolledPromise.objects.open().filter(pk=pk, cancel_requested=False)
    paused = {"status": PollingStatus.PAUSED, "next_poll_at": None, "status_message": ""}
    return bool(trackers.update(cancel_requested=True, **paused))


@contextlib.asynccontextmanager
async def hold_lease(pk: int) -> AsyncIterator[None]:
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
    claimed = PolledPromise.objects.filter(pk=pk, leased_until__isnull=False)
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 3)
        try:
            await run_in_writer(claimed.update, leased_until=timezone.now() + LEASE)
        except DatabaseError:
            logger.warning("a claim could not be renewed", exc_info=True)
