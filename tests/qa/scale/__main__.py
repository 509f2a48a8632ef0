"""Run the tests that need a database on PostgreSQL and Redis; `make test-scale` is the way here.

Arguments are pytest's.

Those are run that are marked `database`, and those of this directory. The others touch the
database as well, but by queries of the kinds that these make.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.qa.scale.services import (
    MissingError,
    find_postgresql,
    find_redis,
    postgresql,
    redis_server,
)
from tests.support.isolation import DATABASE, REDIS

HERE = Path(__file__).parent
TESTS = HERE.parent.parent
#: Processes of pytest. Each has a database and a Redis of its own.
WORKERS = 2


def find_files() -> list[str]:
    """Return the files with a test that is marked `database`, and the directory of this one.

    The thousands of tests in other files are not even collected.
    """
    marked = [
        path for path in TESTS.rglob("test_*.py") if "pytest.mark.database" in path.read_text()
    ]
    return [*map(str, sorted(marked)), str(HERE)]


def main(arguments: list[str]) -> int:
    """Start both, run pytest, stop both; returns pytest's exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that both are stopped.
    try:
        find_postgresql()
        find_redis()
    except MissingError as error:
        print(error, file=sys.stderr)
        return 1
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(postgresql()).url
        layers = [stack.enter_context(redis_server()).url for _ in range(WORKERS)]
        environment = {**os.environ, DATABASE: database, REDIS: " ".join(layers)}
        named = any(os.path.exists(argument.partition("::")[0]) for argument in arguments)
        options = ["--reuse-db", f"--numprocesses={WORKERS}", "--dist=worksteal"]
        chosen = [] if named else find_files()
        command = [sys.executable, "-m", "pytest", *options, *chosen, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
