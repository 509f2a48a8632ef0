"""`run_collection` beside newman and the Bruno CLI, all of them sending the same requests.

Each is started as its user starts it and judged by the clock on the wall, from the start of the
process to its end. They take turns, and of each the best of a few times counts, so that whatever
else the machine does hits all alike.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.qa.bench.runners import sources
from tests.qa.bench.serving import served
from tests.support.playground_server import ROOT, PlaygroundServer

HERE = Path(__file__).parent
#: The module of an agent that answers at once.
AGENT = "tests.qa.bench.runners.agent"
#: How often each of them runs.
TURNS = 3
#: How often a command is tried.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds, the best of each."""

    ours: float
    newman: float
    bruno: float


def install() -> None:
    """Fetch the two others, once: nothing else needs them."""
    if not (HERE / "node_modules" / ".bin" / "newman").exists():
        npm = ["npm", "ci", "--silent", "--no-fund", "--no-audit"]
        subprocess.run(npm, cwd=HERE, check=True)


def measure(count: int) -> Times:
    """Send `count` requests with each of the three. Raises where one of them fails."""
    install()
    with tempfile.TemporaryDirectory() as data, served(AGENT) as agent:
        folder = Path(data)
        playground = PlaygroundServer(folder / "data")
        assert playground.manage("migrate", "-v", "0").returncode == 0
        ours = sources.for_us(folder, agent.url, count)
        newman = sources.for_newman(folder, agent.url, count)
        bruno = sources.for_bruno(folder, agent.url, count)
        programs = HERE / "node_modules" / ".bin"
        commands = [
            ([sys.executable, "manage.py", "run_collection", str(ours)], ROOT),
            ([str(programs / "newman"), "run", str(newman)], folder),
            ([str(programs / "bru"), "run"], bruno),
        ]
        turns = [
            [_seconds(command, place, playground.environment) for command, place in commands]
            for _ in range(TURNS)
        ]
    return Times(*(min(times) for times in zip(*turns, strict=True)))


def _seconds(command: list[str], place: Path, environment: dict[str, str]) -> float:
    """How long a command takes that does what it should; one that does not is tried again.

    The Bruno CLI sometimes begins before its own sandbox is there, and fails its first request.
    """
    for _ in range(TRIES):
        began = time.perf_counter()
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return time.perf_counter() - began
    raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])
