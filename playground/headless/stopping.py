"""Being asked to stop, by Ctrl-C or by whoever runs the command, such as a CI server."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

#: What asks a command to stop. SIGTERM is what `timeout`, systemd and CI servers send.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def on_stop(stop: Callable[[], object]) -> None:
    """Have `stop` called when the command is asked to stop; asked again, it ends at once.

    Must be called on the event loop, in the main thread. What is ended by `stop` is reported and
    stored; whatever still holds that up is not waited for by somebody who asks twice.
    """
    loop = asyncio.get_running_loop()
    wanted = [found for name in _NAMES if (found := getattr(signal, name, None)) and _counts(found)]

    def first() -> None:
        for each in wanted:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
        stop()

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers here.
        for each in wanted:
            loop.add_signal_handler(each, first)


def _counts(wanted: signal.Signals) -> bool:
    """Whether a signal asks to stop: under `nohup` the end of the terminal does not."""
    return wanted.name != "SIGHUP" or signal.getsignal(wanted) is not signal.SIG_IGN
