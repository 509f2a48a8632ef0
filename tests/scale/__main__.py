"""Run the tests that need a database on PostgreSQL and Redis; `make test-scale` is the way here.

Arguments are pytest's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

from tests.isolation import DATABASE, REDIS
from tests.scale.services import MissingError, find_postgresql, find_redis, postgresql, redis_server

#: What touches the database and the channel layer. Tests that need neither are left out of it.
PATHS = """
    tests/models tests/library tests/engine tests/rendering tests/views tests/test_consumers.py
    tests/test_collection_run_consumer.py tests/scale
""".split()


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
        database = stack.enter_context(postgresql())
        layer = stack.enter_context(redis_server())
        environment = {**os.environ, DATABASE: database, REDIS: layer}
        chosen = [] if any(os.path.exists(a.partition("::")[0]) for a in arguments) else PATHS
        command = [sys.executable, "-m", "pytest", "--reuse-db", *chosen, *arguments]
        return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
