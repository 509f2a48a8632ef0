"""Graceful stop of the server: the runs in progress end, and the viewers are told to come back."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable

from django.conf import settings

from playground.engine.process import begin_shutdown, finish_shutdown
from playground.live.consumers import open_sockets

logger = logging.getLogger(__name__)

#: Most seconds for the runs after Ctrl+C: the user waits.
INTERRUPT_SECONDS = 2
#: Seconds after which the process ends although a thread still works.
EXIT_SECONDS = 10.0


async def stop_gracefully(received: signal.Signals, stop: Callable[[], None]) -> None:
    """Start no new runs, let those in progress end, close the WebSockets, and call `stop`.

    The pages, and the demo agent of this process, respond until then. Runs that do not end within
    `PLAYGROUND_DRAIN_SECONDS` end as interrupted.
    """
    seconds = seconds_for(received)
    try:
        if count := begin_shutdown():
            logger.info(
                "%s: waiting up to %s s for %s; a second signal stops at once",
                received.name, seconds, _runs(count),
            )  # fmt: skip
        result = await finish_shutdown(seconds)
        await open_sockets().close_all(result.keys)
        logger.info("Stopped: %s ended, %s interrupted", _runs(result.ended), result.interrupted)
    except Exception:
        logger.exception("Stopping gracefully failed")
    finally:
        _end_process_after(EXIT_SECONDS)
        stop()


def seconds_for(received: signal.Signals) -> int:
    """Return the seconds that the runs in progress get."""
    seconds: int = settings.DRAIN_SECONDS
    return min(seconds, INTERRUPT_SECONDS) if received is signal.SIGINT else seconds


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _end_process_after(seconds: float) -> None:
    """End the process if it has not ended by then: Python waits for threads without limit.

    One that waits for a database that does not respond would keep it.
    """

    def end() -> None:
        logger.error("A thread did not end within %s s", seconds)
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
