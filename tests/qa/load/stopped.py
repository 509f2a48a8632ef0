"""Sockets that stop reading: what other viewers, and the memory, notice of hundreds of them.

In turns with as many sockets that read. At the end they read on, and must receive everything too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.qa.bench.clients import Started
from tests.qa.bench.memory import PeakMemory
from tests.qa.bench.table import Row
from tests.qa.load.comparison import FLOOR, percentiles
from tests.qa.load.sides import Options, Side, playground, run
from tests.qa.load.viewers import Audience

#: Runs, the viewers of each, and its other sockets.
RUNS, VIEWERS, OTHERS = 10, 5, 50
#: Results of a run, seconds between two of them, and the lines that each shows: at 15 KB a message,
#: more waits for a socket than the playground and the system keep.
RESULTS, PACE, LINES = 50, 0.2, 40
#: Turns with sockets that read, and with sockets that stop.
TURNS = 2
#: How many times as late the viewers may be.
LATER = 1.5
#: Megabytes by which the playground may grow: `playground.live.consumers.MAX_ALL_UNSENT`.
GROWTH = 128.0


@dataclass
class Measured:
    """What was measured beside sockets that read, or that stop."""

    others: Audience = field(default_factory=lambda: Audience(has_small_buffers=True))
    viewers: Audience = field(default_factory=Audience)
    #: Megabytes by which the playground has grown at most.
    growth: float = 0.0

    async def stream(self, side: Side, started: list[Started], *, stop: bool) -> None:
        """Let the runs stream; the others read at once, or only after the end."""
        await self.others.open(started * OTHERS, RESULTS)
        if stop:
            self.others.pause_reading()
        await self.viewers.open(started * VIEWERS, RESULTS)
        [pid] = side.cores.pids("server")
        with PeakMemory(pid) as memory:
            side.release()
            await self.viewers.finish()
            self.others.resume_reading()
            await self.others.finish()
        self.growth = max(self.growth, memory.growth)
        await self.viewers.close()
        await self.others.close()

    @property
    def faults(self) -> int:
        """Events that were lost or repeated."""
        both = (self.viewers, self.others)
        return sum(audience.lost + audience.repeated for audience in both)

    @property
    def p99(self) -> float:
        """Milliseconds until an event is at the viewers that always read."""
        return max(FLOOR, percentiles(self.viewers.latencies)[1])


def measure(options: Options) -> tuple[Row, int]:
    """Measure the viewers that always read, and the memory; return the row and the faults."""
    reading, stopped = Measured(), Measured()
    with playground(options) as side:
        for _ in range(TURNS):
            for measured in (reading, stopped):
                started = side.start(RUNS, RESULTS, PACE, lines=LINES)
                run(measured.stream(side, started, stop=measured is stopped))
    ratio = stopped.p99 / reading.p99
    faults = reading.faults + stopped.faults
    received = sum(
        len(audience.latencies)
        for measured in (reading, stopped)
        for audience in (measured.viewers, measured.others)
    )
    row = Row(
        f"{RUNS} runs of {1 / PACE:.0f} events/s, {RUNS * VIEWERS} viewers beside {RUNS * OTHERS} "
        "sockets that stop reading, compared with as many that read",
        f"p99 {stopped.p99:,.0f} to {reading.p99:,.0f} ms: {ratio:.1f}; "
        f"memory grows by {stopped.growth:.0f} and {reading.growth:.0f} MB; "
        f"lost or repeated {faults:,} of {received:,}; "
        f"{stopped.others.dropped:,} connections dropped and opened again",
        f"p99 ≤ {LATER}, memory ≤ {GROWTH:.0f} MB, nothing lost or repeated",
        ratio <= LATER and stopped.growth <= GROWTH and not faults,
    )
    return row, faults
