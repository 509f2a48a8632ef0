"""The two servers that a row compares, a playground and a bare one, with one agent and one client.

They are measured in turns, so that both meet the same machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path

import uvloop

from tests.qa.bench.clients import Started
from tests.qa.bench.serving import Served, served
from tests.qa.cluster.processes import cluster
from tests.qa.load.comparison import Figures, percentiles
from tests.qa.load.costs import Cores, Costs
from tests.qa.load.streams import Streams
from tests.qa.load.viewers import Audience
from tests.support.playground_server import PlaygroundServer

#: Settings of every playground. A stream is silent until all have started.
SETTINGS = {"PLAYGROUND_MAX_RUNS": "1200", "PLAYGROUND_IDLE_TIMEOUT": "600"}


@dataclass(frozen=True)
class Options:
    """What is measured, and how."""

    short: bool
    server: tuple[str, ...]
    tree: Path
    python: str
    compression: bool
    #: Whether the playground is a cluster.
    cluster: bool = False


class Side(Streams):
    """A server, its agent, and everybody who has watched its runs."""

    def __init__(
        self, url: str, agent: str, cores: Cores, audience: Audience, costs: Costs | None = None
    ) -> None:
        super().__init__(url, agent)
        self.cores = cores
        self.audience = audience
        self._costs = costs
        self._events = 0

    def measure(self, runs: int, results: int, pace: float, viewers: int) -> None:
        """Start runs, connect viewers to each, let the agent stream, and wait for the end."""
        started = self.start(runs, results, pace)
        self._events += runs * results
        run(self._stream(started * viewers, results))

    async def _stream(self, watched: list[Started], results: int) -> None:
        await self.audience.open(watched, results)
        with self.measuring():
            self.release()
            await self.audience.finish()
        await self.audience.close()

    @contextlib.contextmanager
    def measuring(self) -> Iterator[None]:
        """Measure the CPU time of the block, and what it costs the servers of a cluster."""
        measuring_costs = self._costs.measuring() if self._costs else contextlib.nullcontext()
        with measuring_costs, self.cores.measuring():
            yield

    @property
    def figures(self) -> Figures:
        """What was measured."""
        audience, costs = self.audience, ""
        if self._costs:
            costs = f"; {self.cores.others('server')}{self._costs.per_event(self._events)}"
        p50, p99 = percentiles(audience.latencies)
        return Figures(
            p50=p50,
            p99=p99,
            cores=self.cores.of("server"),
            cpu=1000 * self.cores.seconds_of("server") / self._events,
            viewers=self.cores.of("viewers"),
            unknown=self.cores.unknown,
            idle=self.cores.idle,
            lost=audience.lost,
            repeated=audience.repeated,
            received=len(audience.latencies),
            dropped=audience.dropped,
            costs=costs,
        )


def run(measurement: Coroutine[None, None, None]) -> None:
    """Run what needs an event loop; with that of uvloop the viewers need half of the time."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measurement)


@contextlib.contextmanager
def sides(options: Options) -> Iterator[tuple[Side, Side]]:
    """A new playground and a bare server, with the same agent."""
    with (
        served("tests.qa.bench.source") as agent,
        _playground(options, agent) as ours,
        served("tests.qa.load.baseline") as server,
    ):
        cores = Cores(server=server.pid, agent=agent.pid, viewers=os.getpid())
        yield ours, Side(server.url, agent.url, cores, Audience(options.compression))


@contextlib.contextmanager
def playground(options: Options) -> Iterator[Side]:
    """A new playground and its agent."""
    with served("tests.qa.bench.source") as agent, _playground(options, agent) as side:
        yield side


@contextlib.contextmanager
def _playground(options: Options, agent: Served) -> Iterator[Side]:
    """A new playground as a process, or a cluster."""
    audience = Audience(options.compression)
    with tempfile.TemporaryDirectory() as data, contextlib.ExitStack() as stack:
        if options.cluster:
            parts = stack.enter_context(
                cluster(
                    Path(data), tree=options.tree, python=options.python,
                    server_options=options.server, **SETTINGS,
                )
            )  # fmt: skip
            cores = Cores(
                server=[process.pid for process in (*parts.servers, *parts.workers)],
                web=[process.pid for process in parts.servers],
                workers=[process.pid for process in parts.workers],
                postgresql=parts.database.pid,
                redis=parts.layer.pid,
                nginx=parts.proxy.pid,
                agent=agent.pid,
                viewers=os.getpid(),
            )
            costs = Costs(parts.settings["DATABASE_URL"], parts.settings["REDIS_URL"])
            yield Side(parts.url, agent.url, cores, audience, costs)
            return
        server = stack.enter_context(
            PlaygroundServer(
                Path(data), tree=options.tree, python=options.python, options=options.server,
                **SETTINGS,
            )
        )  # fmt: skip
        cores = Cores(server=server.pid, agent=agent.pid, viewers=os.getpid())
        yield Side(server.url, agent.url, cores, audience)
