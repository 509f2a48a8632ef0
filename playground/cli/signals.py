"""Signals that stop a command: Ctrl-C, or SIGTERM of a CI server."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

#: Names of the signals. SIGTERM is sent by `timeout`, systemd and CI servers.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


def on_stop(stop: Callable[[], object]) -> None:
    """Call `stop` when the command receives a signal to stop: see `on_stop_signal`."""
    on_stop_signal(lambda _: stop())


def on_stop_signal(stop: Callable[[signal.Signals], object]) -> None:
    """Call `stop` with the signal that stops the command; the second one ends it at once.

    Must be called on the event loop, in the main thread. Runs that `stop` ends are stored and
    reported; a second signal does not wait for that.
    """
    loop = asyncio.get_running_loop()
    signals = [
        number
        for name in _NAMES
        if (number := getattr(signal, name, None)) and _is_stop_signal(number)
    ]

    def first(received: signal.Signals) -> None:
        for number in signals:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        stop(received)

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers here.
        for number in signals:
            loop.add_signal_handler(number, first, number)


def _is_stop_signal(number: signal.Signals) -> bool:
    """Return whether a signal stops the command: under `nohup` the terminal's end does not."""
    return number.name != "SIGHUP" or signal.getsignal(number) is not signal.SIG_IGN
