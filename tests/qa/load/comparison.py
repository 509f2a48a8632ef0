"""The rows of `make load`: figures of the playground beside those of a bare server, and ratios.

Milliseconds depend on the core; both servers have the same one, in turns, so targets are ratios.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Milliseconds that are compared at least. A message that takes less is not late for a reader, and
#: what a timer adds does not depend on the core.
FLOOR = 5.0
#: Cores of the viewers' process, which has one at most, from which on the times are its own.
CLIENT_LIMIT = 0.85
#: Cores that other programs may use. With more, latencies are those of the machine's scheduler.
OTHERS_LIMIT = 0.5


@dataclass(frozen=True)
class Figures:
    """What was measured of a server."""

    #: Milliseconds from the agent to the viewers.
    p50: float
    p99: float
    cores: float
    #: Milliseconds of processor time for each event of the agent.
    cpu: float
    #: Cores of the viewers' process, of programs that are not measured, and those that were idle.
    viewers: float
    unknown: float
    idle: float
    lost: int
    repeated: int
    #: How many events the viewers have received, and how often a connection was dropped.
    received: int
    dropped: int = 0
    #: Other costs, as a phrase.
    costs: str = ""

    def __str__(self) -> str:
        dropped = f"; {self.dropped:,} connections dropped" if self.dropped else ""
        return (
            f"p50 {_milliseconds(self.p50)}, p99 {_milliseconds(self.p99)}; "
            f"{self.cores:.2f} cores, {self.cpu:.2f} ms an event{dropped}{self.costs}"
        )


def _milliseconds(time: float) -> str:
    return f"{time:,.0f} ms" if time >= 10 else f"{time:.1f} ms"


def percentiles(latencies: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile; infinite if too little has been received."""
    if len(latencies) < 2:
        return float("inf"), float("inf")
    return statistics.median(latencies), statistics.quantiles(latencies, n=100)[98]


@dataclass(frozen=True)
class Ratios:
    """Figures of the playground as multiples of the bare server's: measured ones, or targets."""

    p99: float
    cpu: float
    p50: float | None = None

    def __str__(self) -> str:
        median = "" if self.p50 is None else f"p50 {self.p50:.1f}, "
        return f"{median}p99 {self.p99:.1f}, CPU {self.cpu:.1f}"


@dataclass(frozen=True)
class Comparison:
    """A row: what both servers did under the same load."""

    what: str
    playground: Figures
    bare: Figures
    target: Ratios
    #: The machine's load average over the last minute.
    load_average: float

    @property
    def ratios(self) -> Ratios:
        """The playground's figures as multiples of the bare server's."""
        ours, theirs = self.playground, self.bare
        return Ratios(
            p50=max(ours.p50, FLOOR) / max(theirs.p50, FLOOR),
            p99=max(ours.p99, FLOOR) / max(theirs.p99, FLOOR),
            cpu=ours.cpu / theirs.cpu if theirs.cpu else float("inf"),
        )

    @property
    def faults(self) -> int:
        """Events that were lost or repeated by either: then what was measured is not the load."""
        sides = (self.playground, self.bare)
        return sum(side.lost + side.repeated for side in sides)

    @property
    def verdict(self) -> str:
        """Whether the target is met, or why that cannot be said."""
        if self.faults:
            return "**events lost or repeated**"
        ratios, target = self.ratios, self.target
        if ratios.cpu > target.cpu:
            return "**missed**"
        if max(self.playground.viewers, self.bare.viewers) > CLIENT_LIMIT:
            return "inconclusive: the viewers were the limit"
        if max(self.playground.unknown, self.bare.unknown) > OTHERS_LIMIT:
            return "inconclusive: other programs used the cores"
        return "met" if ratios.p99 <= target.p99 else "**missed**"

    @property
    def cells(self) -> list[str]:
        """The cells of the row, see `HEADER`."""
        received = self.playground.received + self.bare.received
        return [
            self.what,
            str(self.playground),
            str(self.bare),
            str(self.ratios),
            str(self.target),
            f"{self.faults:,} of {received:,}",
            *(
                f"{ours:.2f}, {theirs:.2f}"
                for ours, theirs in (
                    (self.playground.viewers, self.bare.viewers),
                    (self.playground.unknown, self.bare.unknown),
                    (self.playground.idle, self.bare.idle),
                )
            ),
            f"{self.load_average:.1f}",
            self.verdict,
        ]


HEADER = [
    "load",
    "playground",
    "bare server",
    "ratio",
    "target ratio",
    "lost or repeated",
    "cores of viewers",
    "of other programs",
    "idle",
    "load average",
    "",
]
