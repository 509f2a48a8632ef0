"""Plays schedules, or plants races: `python -m tests.qa.simulation [races]`.

Schedules are played in as many processes as there are processors. Of one that fails its seed is
printed, with what happened in it. With `races` each race is planted by itself, and the schedules
are played until one fails.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.qa.simulation.races import RACES, Race
from tests.support.playground_server import ROOT

#: Schedules of one process of pytest, whose memory grows with each process that is killed in them.
_PORTION = 5_000
_SEED = re.compile(r"^Seed (\d+):\n(.*)$", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.qa.simulation", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["schedules", "races"], default="schedules")
    parser.add_argument("--schedules", type=int, help="schedules (100,000; of a race 2,000)")
    parser.add_argument("--seed", type=int, help="seed of the first one (drawn)")
    options = parser.parse_args()
    if options.what == "races":
        return _find_races(options.schedules or 2_000, options.seed or 0)
    first = random.randrange(10**9) if options.seed is None else options.seed
    return _play(first, options.schedules or 100_000)


def _play(first: int, count: int) -> int:
    print(f"{count:,} schedules from seed {first}", flush=True)
    begun, done = time.monotonic(), 0
    for start in range(first, first + count, _PORTION):
        portion = min(_PORTION, first + count - start)
        status, output = _pytest(start, portion, "--numprocesses=auto")
        if status:
            print(output)
            return 1
        done += portion
        print(f"{done:,} in {time.monotonic() - begun:.0f} s: nothing is wrong", flush=True)
    return 0


def _find_races(count: int, first: int) -> int:
    def find(race: Race) -> bool:
        begun = time.monotonic()
        status, output = _pytest(first, count, "-x", race=race.name)
        found = _SEED.search(output)
        is_found = status == 1 and found is not None
        if found:
            result = f"schedule {int(found[1]) - first + 1}: {found[2][:70]}"
        else:
            result = "NOT FOUND" if not status else output[-500:]
        history = f"  [{race.commit}]" if race.commit else ""
        seconds = time.monotonic() - begun
        print(f"{race.name}{history}\n    {result} ({seconds:.0f} s)", flush=True)
        return is_found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = sum(pool.map(find, RACES))
    corrected = sum(bool(race.commit) for race in RACES)
    print(f"{found} of {len(RACES)} races are found; {corrected} were defects once")
    return found < len(RACES)


def _pytest(first: int, count: int, *options: str, race: str = "") -> tuple[int, str]:
    """Play schedules with pytest; return its exit status and what it has printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    planted = {"SIMULATION_RACE": race} if race else {}
    ran = subprocess.run(
        [*command, "tests/qa/simulation"],
        cwd=ROOT,
        env={
            **os.environ,
            **planted,
            "SIMULATION_SEED": str(first),
            "SIMULATION_SCHEDULES": str(count),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return ran.returncode, ran.stdout


if __name__ == "__main__":
    sys.exit(main())
