"""Signals that stop a command: Ctrl-C, or SIGTERM of a CI server."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

#: Names of the signals. SIGTERM is sent by `timeout`, systemd and CI servers.
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
#: Seconds after which an event loop must have received a signal.
LOST_AFTER = 0.1


def on_stop_signal(stop: Callable[[signal.Signals], object]) -> None:
    """Call `stop` with the signal that stops the command; the second one ends it at once.

    Must be called on the event loop, in the main thread. Runs that `stop` ends are stored and
    reported; a second signal does not wait for that, nor for an event loop that is blocked.
    """
    loop = asyncio.get_running_loop()
    signals = [
        number
        for name in _NAMES
        if (number := getattr(signal, name, None))
        # Under `nohup` the end of the terminal does not stop the command.
        and (name != "SIGHUP" or signal.getsignal(number) is not signal.SIG_IGN)
    ]
    is_stopping = False

    def handle(received: signal.Signals) -> None:
        nonlocal is_stopping
        if is_stopping:  # Two came before Python could handle the first one.
            signal.raise_signal(received)
        is_stopping = True
        for number in signals:
            loop.remove_signal_handler(number)
        restore_defaults()
        stop(received)

    def restore_defaults() -> None:
        for number in signals:
            signal.signal(number, signal.SIG_DFL)

    def receive(received: int, _: object) -> None:
        """Let the second signal end the process. Python calls this even while the loop is blocked.

        The loop receives the signal through its pipe, unless that is full because many threads
        have just ended work for it.
        """
        restore_defaults()
        loop.call_soon_threadsafe(loop.call_later, LOST_AFTER, handle_lost, received)

    def handle_lost(received: int) -> None:
        if not is_stopping:
            handle(signal.Signals(received))

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers here.
        for number in signals:
            loop.add_signal_handler(number, handle, number)
            signal.signal(number, receive)
