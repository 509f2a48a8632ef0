"""Signals that stop a command."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from playground.cli.signals import on_stop

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
    on_stop(stopped.set)
    assert signal.getsignal(how) is not signal.SIG_DFL
    os.kill(os.getpid(), how)
    await asyncio.wait_for(stopped.wait(), 10)
    assert [signal.getsignal(each) for each in SIGNALS] == [signal.SIG_DFL] * 3


async def test_who_asked_to_outlive_the_terminal_does() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stopped = asyncio.Event()
    on_stop(stopped.set)
    os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(stopped.wait(), 10)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
