"""Signals that stop a command."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from playground.cli.signals import on_stop_signal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = {each: signal.getsignal(each) for each in SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.mark.parametrize("how", SIGNALS)
async def test_the_first_one_stops_and_the_second_one_ends(how: signal.Signals) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    stopped = asyncio.Event()
    on_stop_signal(lambda _: stopped.set())
    assert signal.getsignal(how) is not signal.SIG_DFL
    os.kill(os.getpid(), how)
    await asyncio.wait_for(stopped.wait(), 10)
    assert [signal.getsignal(each) for each in SIGNALS] == [signal.SIG_DFL] * 3


# Python reports that the pipe is full.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_the_first_one_stops_while_many_threads_have_ended_work() -> None:
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    on_stop_signal(lambda _: stopped.set())
    for _ in range(1000):
        loop.call_soon_threadsafe(lambda: None)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(stopped.wait(), 10)


async def test_who_asked_to_outlive_the_terminal_does() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stopped = asyncio.Event()
    on_stop_signal(lambda _: stopped.set())
    os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(stopped.wait(), 10)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


#: A command whose event loop is blocked, first by Python and then by C, once it is told to go on.
BLOCKED = """
import asyncio, signal, sys, time
from playground.cli.signals import on_stop_signal

async def main():
    on_stop_signal(lambda _: None)
    print("blocked", flush=True)
    last = time.monotonic() + 20
    while signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL and time.monotonic() < last:
        pass
    print("received", flush=True)
    sum(range(10**11))

asyncio.run(main())
"""

#: A command that gets two signals while it cannot handle any.
TWO_AT_ONCE = """
import asyncio, os, signal
from playground.cli.signals import on_stop_signal

async def main():
    on_stop_signal(lambda _: None)
    both = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    for number in both:
        os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    await asyncio.sleep(20)

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_the_second_one_ends_a_blocked_command(second: signal.Signals) -> None:
    command = [sys.executable, "-c", BLOCKED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "blocked\n"
            process.send_signal(signal.SIGTERM)
            assert process.stdout.readline() == "received\n"
            process.send_signal(second)
            assert process.wait(20) == -second
        finally:
            process.kill()


@pytest.mark.process
def test_two_at_once_end_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", TWO_AT_ONCE], capture_output=True, timeout=60, check=False
    )
    assert -ended.returncode in {signal.SIGINT, signal.SIGTERM}
