"""The table of faults: what happens to which playgrounds, for how long, and what must follow."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import httpx

from tests.bench import clients
from tests.faults.stages import (
    DAY,
    Stage,
    locked,
    no_space,
    one_host,
    small_disk,
    two_hosts,
)
from tests.faults.trial import LEAD, RUNS, Fault, Result, Trial

#: Seconds between two pages that are read while a process does not answer.
READING = 0.5
#: Seconds in which a process must end that needs no time for its runs.
AT_ONCE = 5.0


async def postgresql_away(stage: Stage, seconds: float) -> Result:
    """Kill PostgreSQL and start it again."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    assert stage.database
    return await trial.run(_within(stage.database.away(signal.SIGQUIT), _seconds(seconds)))


async def sqlite_locked(stage: Stage, seconds: float) -> Result:
    """Lock the database from another process."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    return await trial.run(_within(locked(stage), _seconds(seconds)))


async def disk_full(stage: Stage, seconds: float) -> Result:
    """Fill the disk, and delete the file that fills it."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    logged = len(stage.server.log)
    result = await trial.run(_within(no_space(stage), _seconds(seconds)))
    if not any(_NO_SPACE.search(line) for line in stage.server.log[logged:]):
        trial.fail("the playground has not noticed it")
    return result


_NO_SPACE = re.compile("disk is full|disk I/O error")


async def drain(stage: Stage, seconds: float) -> Result:
    """End the process with SIGTERM: runs that need longer than it waits are interrupted.

    A second SIGTERM does not wait.
    """
    _restart(stage, PLAYGROUND_DRAIN_SECONDS=f"{seconds:g}")
    trial = Trial(stage)
    short = trial.add(RUNS // 2, LEAD + seconds / 2)
    long = trial.add(RUNS // 2, LEAD + 4 * seconds, state="interrupted")

    async def terminate() -> None:
        await asyncio.to_thread(stage.server.stop, signal.SIGTERM)
        stored = {str(key): state for key, (state, _) in stage.runs().items()}
        for run in (*short, *long):
            if (state := stored[run.run]) not in ("completed", "interrupted"):
                trial.fail(f"the process has ended and run {run.run} is {state}")
        await asyncio.to_thread(stage.server.start, PLAYGROUND_DRAIN_SECONDS="600")

    result = await trial.run(terminate, same_process=False)
    twice = Trial(stage)
    twice.add(2, 10, state="interrupted")

    async def terminate_twice() -> None:
        os.kill(stage.server.pid, signal.SIGTERM)
        await asyncio.sleep(0.5)
        began = time.monotonic()
        await asyncio.to_thread(stage.server.stop, signal.SIGTERM)
        if (took := time.monotonic() - began) > AT_ONCE:
            twice.fail(f"the process has ended {took:.0f} s after the second SIGTERM")
        await asyncio.to_thread(stage.server.start)

    result.failures += (await twice.run(terminate_twice, same_process=False)).failures
    return result


def _restart(stage: Stage, **environment: str) -> None:
    stage.server.stop()
    stage.server.start(**environment)


async def killed(stage: Stage, seconds: float) -> Result:
    """Kill the process, and start it again."""
    trial = Trial(stage)
    trial.add(RUNS, LEAD + seconds + 30, state="interrupted")

    async def kill() -> None:
        await asyncio.to_thread(stage.server.stop, signal.SIGKILL)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(stage.server.start)

    return await trial.run(kill, same_process=False)


async def suspended(stage: Stage, seconds: float) -> Result:
    """Suspend the process of the runs, and read them with another one of the same host."""
    trial = Trial(stage)
    trial.add_usual(seconds)

    async def suspend() -> None:
        os.kill(stage.server.pid, signal.SIGSTOP)
        # It may hold locks for which the other process waits: it continues in any case.
        reading = asyncio.create_task(_read(stage, 1, seconds))
        await asyncio.sleep(seconds)
        os.kill(stage.server.pid, signal.SIGCONT)
        await reading

    return await trial.run(suspend)


async def hanging(stage: Stage, seconds: float) -> Result:
    """Block the event loop of the runs, and read them with another process of the same host."""
    trial = Trial(stage)
    trial.add_usual(seconds)

    async def hang() -> None:
        assert stage.hang
        stage.hang.write_text(str(seconds))
        began = time.monotonic()
        os.kill(stage.server.pid, signal.SIGUSR1)
        await _read(stage, 1, seconds)
        await asyncio.to_thread(stage.get, "/runs/")
        if time.monotonic() - began < seconds:
            trial.fail("the event loop did not hang")

    return await trial.run(hang)


async def wrong_clock(stage: Stage, seconds: float) -> Result:
    """Drive runs in processes of two hosts whose clocks differ by a day, and read them in both."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    trial.add(RUNS, LEAD + seconds, server=1)
    times = [moment for (moment,) in stage.query("SELECT created_at FROM playground_run")]
    if max(times) - min(times) < timedelta(seconds=DAY * 0.9):
        trial.fail("the clocks do not differ by a day")

    async def read() -> None:
        await asyncio.gather(_read(stage, 0, seconds), _read(stage, 1, seconds))

    return await trial.run(read)


async def redis_away(stage: Stage, seconds: float) -> Result:
    """Stop Redis and start it again."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    assert stage.layer
    return await trial.run(_within(stage.layer.away(signal.SIGTERM), _seconds(seconds)))


async def sending(stage: Stage, seconds: float) -> Result:
    """Send a request while PostgreSQL is away: a page says so, and sending works after that."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    assert stage.database
    form = stage.streams().form

    async def send() -> None:
        for headers in ({}, {"HX-Request": "true"}):
            response = await asyncio.to_thread(form.request, clients.results(5), **headers)
            if response.status_code != 503 or not _AWAY.search(response.text):
                text = " ".join(re.sub("<[^>]*>", " ", response.text).split())[:200]
                trial.fail(f"a request to send returned {response.status_code}: {text}")
        await asyncio.sleep(seconds)

    result = await trial.run(_within(stage.database.away(signal.SIGQUIT), send))
    await asyncio.to_thread(form.watch, clients.results(5))
    return result


_AWAY = re.compile("database[^.]*(cannot be reached|unavailable|not available)", re.I)


def _within(context: AbstractContextManager[None], work: Fault) -> Fault:
    """Return the fault that lasts as long as a context, and the work in it."""

    async def enter() -> None:
        await asyncio.to_thread(context.__enter__)
        try:
            await work()
        finally:
            await asyncio.to_thread(context.__exit__, None, None, None)

    return enter


def _seconds(seconds: float) -> Fault:
    """Return the work that waits for so long."""
    return partial(asyncio.sleep, seconds)


async def _read(stage: Stage, server: int, seconds: float) -> None:
    """Read the history at a playground, again and again for so long."""
    url = f"{stage.servers[server].url}/runs/"
    end = time.monotonic() + seconds
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        while time.monotonic() < end:
            (await client.get(url)).raise_for_status()
            await asyncio.sleep(READING)


@dataclass(frozen=True)
class Row:
    """A fault."""

    what: str
    #: Its full duration.
    seconds: float
    stage: Callable[[], AbstractContextManager[Stage]]
    cause: Callable[[Stage, float], Awaitable[Result]]
    expected: str
    #: The shortest duration with which it shows anything.
    least: float = 0.0


_NOTHING_LOST = "completed; every event once"

ROWS: dict[str, Row] = {
    "1": Row("PostgreSQL away", 30, two_hosts, postgresql_away, _NOTHING_LOST),
    "2": Row("SQLite locked", 30, small_disk, sqlite_locked, _NOTHING_LOST),
    "3": Row("disk full", 60, small_disk, disk_full, _NOTHING_LOST),
    "4": Row(
        "SIGTERM", 10, small_disk, drain, "completed or interrupted; at once the second time", 2
    ),
    "5": Row("kill -9", 3, small_disk, killed, "interrupted; what was shown is stored"),
    "6": Row("process suspended", 25, one_host, suspended, _NOTHING_LOST),
    "7": Row("event loop hangs", 25, one_host, hanging, _NOTHING_LOST),
    "8": Row("clock wrong by a day", 30, two_hosts, wrong_clock, _NOTHING_LOST),
    "9": Row("Redis away", 30, two_hosts, redis_away, _NOTHING_LOST),
    "10": Row("sending without PostgreSQL", 30, two_hosts, sending, "503 with a page, and as in 1"),
}
#: The rows of `--short`. Row 10 includes row 1; a tenth of rows 6 to 8 is shorter than the time
#: after which a heartbeat is missed.
SHORT = "2,3,4,5,9,10"
