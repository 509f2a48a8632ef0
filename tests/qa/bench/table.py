"""The table that `make bench`, `make load` and `make faults` print."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable
from dataclasses import dataclass

import psutil


@dataclass
class Row:
    """One line of the table."""

    what: str
    figure: str
    aim: str
    #: None for a baseline, which has no aim.
    met: bool | None

    @property
    def verdict(self) -> str:
        """The last column."""
        if self.met is None:
            return ""
        return "met" if self.met else "**missed**"


def print_table(rows: list[Row], what: str = "benchmark") -> None:
    """Print rows with their targets, and the machine."""
    print_machine()
    lines = [[row.what, row.figure, row.aim, row.verdict] for row in rows]
    print_markdown([what, "result", "target", ""], lines)


def print_machine() -> None:
    """Print when and where the figures were measured."""
    machine = f"{psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB"
    today = datetime.datetime.now(tz=datetime.UTC).date()
    print(f"Measured on {today}, {platform.system()} {platform.machine()}, {machine}, ", end="")
    print(f"Python {platform.python_version()}.\n")


def print_markdown(header: list[str], lines: Iterable[list[str]]) -> None:
    """Print a table, ready for docs/benchmarks.md."""
    for cells in (header, ["---"] * len(header), *lines):
        print(f"| {' | '.join(cells)} |")
