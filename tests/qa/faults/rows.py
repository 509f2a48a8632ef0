"""The table of faults: what happens to which playgrounds, for how long, and what must follow."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit
from uuid import UUID

import httpx
import psycopg
import redis

from tests.qa.bench import clients
from tests.qa.faults.stages import (
    DAY,
    FULL_CLUSTER,
    SHORT_CLUSTER,
    Stage,
    cluster,
    locked,
    no_space,
    one_host,
    small_disk,
    two_hosts,
    uvicorn,
)
from tests.qa.faults.trial import LEAD, RUNS, UNFINISHED, Fault, Result, Trial
from tests.support.playground_server import PlaygroundServer

#: Trials at a tenth of the duration, and those of rows that vary others.
LOOPS, FEW = 20, 5
#: Seconds between two pages that are read while a process does not answer.
READING = 0.5
#: Seconds in which a process must end that needs no time for its runs.
AT_ONCE = 5.0
#: Seconds after a signal, when the process must have received it.
SOON = 0.5
#: Seconds in which the runs of a silent worker must be interrupted, and in which runs must complete
#: after a fault.
GIVEN_UP, AFTERWARDS = 15.0, 30.0
#: The longest fault of a cluster that is short; seconds by which clocks are apart.
SHORTENED, CLOCK = 6.0, 30
#: Seconds in which there must be a response while PostgreSQL hangs or is away.
RESPONDING = 20.0


async def postgresql_away(stage: Stage, seconds: float) -> Result:
    """Kill PostgreSQL and start it again, while runs flood.

    The process of the other host reaches it first, when all heartbeats are old.
    """
    trial = Trial(stage)
    trial.add_usual(seconds)
    trial.add_flood()
    assert stage.database
    away = stage.database.away(signal.SIGQUIT)

    async def wait() -> None:
        await asyncio.sleep(seconds)
        stage.server.send_signal(signal.SIGSTOP)

    async def cause() -> None:
        try:
            await _within(away, wait)()
            await _read(stage, 1, READING)
        finally:
            stage.server.send_signal(signal.SIGCONT)

    return await trial.run(_noticed(trial, cause))


async def sqlite_locked(stage: Stage, seconds: float) -> Result:
    """Lock the database from another process for much longer than SQLite waits, while runs flood.

    SQLite adds up what it meant to sleep: on a busy machine it waits for longer than it was told.
    """
    stage.restart(FAULTS_LOCK=f"{seconds / 6:g}")
    return await _without_storage(stage, seconds, locked(stage), _RETRY)


async def disk_full(stage: Stage, seconds: float) -> Result:
    """Fill the disk, and delete the file that fills it, while runs flood."""
    return await _without_storage(stage, seconds, no_space(stage), _NO_SPACE)


async def _without_storage(
    stage: Stage, seconds: float, fault: AbstractContextManager[None], logged: re.Pattern[str]
) -> Result:
    trial = Trial(stage)
    trial.add_usual(seconds)
    trial.add_flood()

    async def send() -> None:
        await asyncio.gather(_send_refused(trial, _UNAVAILABLE), asyncio.sleep(seconds))

    result = await trial.run(_noticed(trial, _within(fault, send), logged))
    stage.prune()
    return result


_RETRY = re.compile("The database is unavailable, retrying")
_NO_SPACE = re.compile("retrying.*(disk is full|disk I/O error)")


def _noticed(trial: Trial, fault: Fault, logged: re.Pattern[str] = _RETRY) -> Fault:
    """Return a fault that fails unless the playground has logged it."""

    async def cause() -> None:
        lines = trial.stage.server.log
        before = len(lines)
        await fault()
        if not any(logged.search(line) for line in lines[before:]):
            trial.fail("the playground has not noticed it")

    return cause


async def drain(stage: Stage, seconds: float) -> Result:
    """End the process with SIGTERM, which gives the runs so many seconds."""
    stage.restart(PLAYGROUND_DRAIN_SECONDS=f"{seconds:g}")
    return await _stop(stage, signal.SIGTERM, seconds)


async def interrupt(stage: Stage, seconds: float) -> Result:
    """End the process with SIGINT, which gives the runs two seconds."""
    stage.restart(PLAYGROUND_DRAIN_SECONDS="600")
    return await _stop(stage, signal.SIGINT, seconds)


async def _stop(stage: Stage, number: signal.Signals, seconds: float) -> Result:
    """End the process with a signal: runs that need longer than it waits are interrupted.

    Meanwhile it refuses new ones. A second signal does not wait.
    """
    drain_seconds = stage.server.environment["PLAYGROUND_DRAIN_SECONDS"]
    trial = Trial(stage)
    short = trial.add(RUNS // 2, LEAD + seconds / 2)
    long = trial.add(RUNS // 2, LEAD + 4 * seconds, state="interrupted")
    trial.add_collection_run(LEAD + 4 * seconds, "interrupted")
    trial.add_promise(seconds / 2)

    async def stop() -> None:
        began = time.monotonic()
        stage.server.send_signal(number)
        await asyncio.sleep(SOON)
        await _send_refused(trial, _STOPPING)
        if status := await asyncio.to_thread(_wait_or_kill, stage.server):
            trial.fail(f"the exit status after {number.name} is {status}")
        if not seconds <= (took := time.monotonic() - began) <= seconds + AT_ONCE:
            trial.fail(f"the process has ended {took:.1f} s after {number.name}")
        stored = stage.runs()
        for run in (*short, *long):
            if (state := stored[UUID(run.run)].state) not in ("completed", "interrupted"):
                trial.fail(f"the process has ended and run {run.run} is {state}")
        await asyncio.to_thread(stage.server.start, PLAYGROUND_DRAIN_SECONDS="600")

    result = await trial.run(stop, same_process=False)
    twice = Trial(stage)
    twice.add(2, 10, state="interrupted")

    async def stop_twice() -> None:
        stage.server.send_signal(number)
        await asyncio.sleep(SOON)
        stage.server.send_signal(number)
        # Only a process that the signal itself has ended has not waited for its runs.
        if (status := await asyncio.to_thread(_wait_or_kill, stage.server)) != -number:
            twice.fail(f"the exit status after a second {number.name} is {status}")
        await asyncio.to_thread(stage.server.start, PLAYGROUND_DRAIN_SECONDS=drain_seconds)

    result.failures += (await twice.run(stop_twice, same_process=False)).failures
    return result


def _wait_or_kill(server: PlaygroundServer) -> int | None:
    """Return the exit status of a playground that ends, -9 if it had to be killed."""
    try:
        return server.wait()
    except subprocess.TimeoutExpired:
        return server.stop(signal.SIGKILL)


async def killed(stage: Stage, seconds: float) -> Result:
    """Kill the process, and start it again."""
    trial = Trial(stage)
    trial.add(RUNS, LEAD + seconds + 30, state="interrupted")
    trial.add_collection_run(LEAD + seconds + 30, "interrupted")
    trial.add_promise(seconds / 2)

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

    async def send() -> None:
        await asyncio.gather(_send_refused(trial, _UNAVAILABLE), asyncio.sleep(seconds))

    result = await trial.run(_within(stage.database.away(signal.SIGQUIT), send))
    await asyncio.to_thread(stage.streams().form.watch, clients.results(5))
    return result


async def postgresql_hanging(stage: Stage, seconds: float) -> Result:
    """Suspend PostgreSQL: runs go on within the memory budget, and pages wait."""
    trial = Trial(stage)
    trial.add_usual(seconds)
    assert stage.database
    return await trial.run(_within(stage.database.hanging(), _seconds(seconds)))


async def starting(stage: Stage, seconds: float) -> Result:
    """Start a playground while PostgreSQL is away: an error names its host and port."""
    assert stage.database
    result = Result()
    address = urlsplit(stage.database.url)
    with stage.database.away(signal.SIGQUIT):
        began = time.monotonic()
        done = await asyncio.to_thread(stage.server.manage, "serve", "--port", "0")
        took = time.monotonic() - began
    output = done.stdout + done.stderr
    if done.returncode == 0:
        result.failures.append("the exit status is 0")
    if took > max(seconds, RESPONDING):
        result.failures.append(f"the process has ended after {took:.0f} s")
    if "Traceback" in output or str(address.port) not in output:
        result.failures.append(f"the error is not a sentence with the port: {output[-300:]!r}")
    if str(address.password) in output:
        result.failures.append("the password was printed")
    return result


async def _cluster_trial(
    stage: Stage,
    seconds: float,
    cause: Callable[[Trial], Awaitable[None]],
    *,
    rest: float = 0.0,
    host: str = "worker-2",
    clock: float = 0.0,
    soon: bool = False,
) -> Result:
    """Cause a fault while requests are sent to both playgrounds; new runs must work afterwards.

    Runs outlive the fault by `rest` seconds. `host` is that of the second worker, `clock` what is
    added to the clocks of both. With `soon`, workers are given up sooner in a short fault; those of
    a busy machine are, too.
    """
    timing = SHORT_CLUSTER if soon and seconds <= SHORTENED else FULL_CLUSTER
    for process in stage.processes:
        own = {"FAULTS_CLOCK": f"{clock:g}"} if process in stage.workers else {}
        if process is stage.workers[1]:
            own["FAULTS_HOST"] = host
        await asyncio.to_thread(stage.configure, process, **timing, **own)
    await asyncio.to_thread(_wait_until_all_drive, stage)
    trial = Trial(stage)
    trial.add_usual(seconds + rest)
    result = await trial.run(lambda: trial.keep_sending(lambda: cause(trial)))
    for server in range(len(stage.servers)):
        await _send_until_completed(trial, server)
    return result


def _wait_until_all_drive(stage: Stage) -> None:
    """Send requests until each worker has taken one: one that has just started may not yet."""
    form, deadline = stage.streams().form, time.monotonic() + AFTERWARDS
    waiting = {worker.pid for worker in stage.workers}
    while waiting:
        assert time.monotonic() < deadline, "a worker has taken no run"
        form.start(clients.results(1))
        time.sleep(SOON)
        runs = stage.runs().values()
        waiting -= {pid for pid in waiting if any(run.is_driven_by([pid]) for run in runs)}


async def _send_until_completed(trial: Trial, server: int) -> None:
    """Send a request until its run completes, as a user does who has got a page with status 503."""
    stage, deadline = trial.stage, time.monotonic() + AFTERWARDS
    problem = "no request was accepted"
    while time.monotonic() < deadline:
        try:
            started = await asyncio.to_thread(stage.streams(server).form.start, clients.results(5))
            while (state := stage.runs()[UUID(started.run)].state) in UNFINISHED:
                problem = f"the run {started.run} is {state}"
                if time.monotonic() > deadline:
                    break
                await asyncio.sleep(SOON)
            else:
                if state == "completed":
                    return
                problem = f"the run {started.run} is {state}"
        except (AssertionError, httpx.TransportError, psycopg.OperationalError) as error:
            problem = str(error)
        await asyncio.sleep(SOON)
    trial.fail(f"{AFTERWARDS:g} s after the fault {problem}"[:300])


async def web_killed(stage: Stage, seconds: float) -> Result:
    """Kill a web process, and start it again: nobody but its viewers notices."""

    async def kill(trial: Trial) -> None:
        await asyncio.to_thread(stage.servers[1].stop, signal.SIGKILL)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(stage.servers[1].start)

    return await _cluster_trial(stage, seconds, kill)


async def worker_killed(stage: Stage, seconds: float) -> Result:
    """Kill a worker: its heartbeats are missed. Start it again."""
    return await _kill_worker(stage, seconds, GIVEN_UP, "worker-2")


async def worker_of_host_killed(stage: Stage, seconds: float) -> Result:
    """Kill a worker on the host of a web process, which notices it at once. Start it again."""
    return await _kill_worker(stage, seconds, 2 * AT_ONCE, "web-1")


async def _kill_worker(stage: Stage, seconds: float, given_up: float, host: str) -> Result:
    worker = stage.workers[1]

    async def kill(trial: Trial) -> None:
        lost = trial.give_up(worker.pid)
        await asyncio.to_thread(worker.stop, signal.SIGKILL)
        await trial.wait_until_interrupted(lost, given_up)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(worker.start)

    # The last runs need not end by themselves before it is given up.
    rest = min(given_up, GIVEN_UP if seconds > SHORTENED else AT_ONCE)
    return await _cluster_trial(stage, seconds, kill, rest=rest, host=host, soon=host == "worker-2")


async def worker_suspended(stage: Stage, seconds: float) -> Result:
    """Suspend a worker until it is given up: it stores nothing more, and takes new runs."""
    worker = stage.workers[1]

    async def suspend(trial: Trial) -> None:
        lost = trial.give_up(worker.pid)
        worker.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            await trial.wait_until_interrupted(lost, GIVEN_UP)
            stored = stage.runs()
            await asyncio.sleep(max(0, began + seconds - time.monotonic()))
        finally:
            worker.send_signal(signal.SIGCONT)
        await _take_new_run(trial, worker.pid)
        after = stage.runs()
        if changed := [key for key in lost if stored[key] != after[key]]:
            trial.fail(f"the worker has stored something for {len(changed)} runs it was not given")

    return await _cluster_trial(stage, seconds, suspend, soon=True)


async def _take_new_run(trial: Trial, pid: int) -> None:
    """Wait until a worker has taken a run that was sent after now."""
    before = trial.stage.runs().keys()
    deadline = time.monotonic() + AFTERWARDS
    while time.monotonic() < deadline:
        runs = trial.stage.runs()
        if any(runs[key].is_driven_by([pid]) for key in runs.keys() - before):
            return
        await asyncio.sleep(SOON)
    trial.fail(f"the worker has taken no run within {AFTERWARDS:g} s")


async def redis_killed(stage: Stage, seconds: float) -> Result:
    """Kill Redis, and start it again."""
    assert stage.layer
    away = _within(stage.layer.away(signal.SIGKILL), _seconds(seconds))
    return await _cluster_trial(stage, seconds, lambda trial: away())


async def redis_flushed(stage: Stage, seconds: float) -> Result:
    """Delete everything in Redis, again and again."""
    assert stage.layer
    client = redis.Redis.from_url(stage.layer.url)

    async def flush(trial: Trial) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.to_thread(client.flushall)
            await asyncio.sleep(0.1)

    return await _cluster_trial(stage, seconds, flush)


async def postgresql_killed(stage: Stage, seconds: float) -> Result:
    """Kill all processes of PostgreSQL, and start it again."""
    assert stage.database
    away = _within(stage.database.away(signal.SIGKILL), _seconds(seconds))
    return await _cluster_trial(stage, seconds, lambda trial: away())


async def postgresql_restarted(stage: Stage, seconds: float) -> Result:
    """Restart PostgreSQL, which ends all connections."""
    assert stage.database
    restart = _within(stage.database.away(signal.SIGINT), _seconds(0))

    async def cause(trial: Trial) -> None:
        await restart()
        await asyncio.sleep(seconds)

    return await _cluster_trial(stage, seconds, cause)


async def network_cut(stage: Stage, seconds: float) -> Result:
    """Cut a worker off from PostgreSQL and Redis for less time than it is waited for."""
    assert stage.relay
    cut = _within(stage.relay.cut(), _seconds(seconds))
    return await _cluster_trial(stage, seconds, lambda trial: cut())


async def clocks_apart(stage: Stage, seconds: float) -> Result:
    """Let the clocks of the workers be wrong by half a minute."""

    return await _cluster_trial(stage, seconds, lambda trial: asyncio.sleep(seconds), clock=CLOCK)


_UNAVAILABLE = re.compile("database[^.]*(cannot be reached|unavailable|not available)", re.I)
_STOPPING = re.compile("playground is stopping")


async def _send_refused(trial: Trial, reason: re.Pattern[str]) -> None:
    """Send a request as a page and as a form: a page with status 503 must give the reason."""
    form = trial.stage.streams().form

    async def send(**headers: str) -> None:
        response = await asyncio.to_thread(form.request, clients.results(5), **headers)
        if response.status_code != 503 or not reason.search(response.text):
            text = " ".join(re.sub("<[^>]*>", " ", response.text).split())[:200]
            trial.fail(f"a request to send returned {response.status_code}: {text}")

    await asyncio.gather(send(), send(**{"HX-Request": "true"}))


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
    loops: int = LOOPS


_NOTHING_LOST = "completed; every event once"
_GIVEN_UP = "its runs interrupted in time, others completed; no request twice"
_STOPPED = "completed or interrupted, none begun; at once the second time"

ROWS: dict[str, Row] = {
    "1": Row("PostgreSQL away", 30, two_hosts, postgresql_away, _NOTHING_LOST, 12),
    "2": Row("SQLite locked", 30, small_disk, sqlite_locked, f"503; {_NOTHING_LOST}"),
    "3": Row("disk full", 60, small_disk, disk_full, f"503; {_NOTHING_LOST}"),
    "4": Row("SIGTERM", 10, small_disk, drain, _STOPPED, 4),
    "5": Row("kill -9", 3, small_disk, killed, "interrupted; what was shown is stored"),
    "6": Row("process suspended", 25, one_host, suspended, _NOTHING_LOST, 4),
    "7": Row("event loop hangs", 25, one_host, hanging, _NOTHING_LOST, 4),
    "8": Row("clock wrong by a day", 30, two_hosts, wrong_clock, _NOTHING_LOST, 12),
    "9": Row("Redis away", 30, two_hosts, redis_away, _NOTHING_LOST),
    "10": Row("sending without PostgreSQL", 30, two_hosts, sending, "503 with a page, and as in 1"),
    "11": Row("SIGINT", 2, small_disk, interrupt, _STOPPED, 2, FEW),
    "12": Row("SIGTERM to uvicorn", 10, uvicorn, drain, _STOPPED, 4, FEW),
    "13": Row("SIGINT to uvicorn", 2, uvicorn, interrupt, _STOPPED, 2, FEW),
    "14": Row("PostgreSQL hangs", 30, two_hosts, postgresql_hanging, _NOTHING_LOST, loops=FEW),
    "15": Row(
        "start without PostgreSQL", 30, two_hosts, starting, "an error with its port", loops=FEW
    ),
    "16": Row("web process killed", 10, cluster, web_killed, _NOTHING_LOST),
    "17": Row("worker killed", 10, cluster, worker_killed, _GIVEN_UP),
    "18": Row("worker killed on the same host", 10, cluster, worker_of_host_killed, _GIVEN_UP),
    "19": Row("worker suspended", 60, cluster, worker_suspended, _GIVEN_UP),
    "20": Row("worker without network", 10, cluster, network_cut, _NOTHING_LOST),
    "21": Row("Redis killed", 30, cluster, redis_killed, _NOTHING_LOST),
    "22": Row("Redis flushed", 10, cluster, redis_flushed, _NOTHING_LOST),
    "23": Row("PostgreSQL killed", 30, cluster, postgresql_killed, _NOTHING_LOST),
    "24": Row("PostgreSQL restarted", 10, cluster, postgresql_restarted, _NOTHING_LOST),
    "25": Row("clocks of workers wrong by 30 s", 30, cluster, clocks_apart, _NOTHING_LOST),
}
#: The rows of `--short`. Row 10 includes row 1.
SHORT = "2,3,4,5,9,10,16,18"
