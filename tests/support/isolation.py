"""A pytest plugin: tests see nothing of the developer's settings, and leave his data alone.

Loaded with `-p` (pyproject.toml), because pytest-django reads the settings before any conftest.

In a run without the tests that start processes (`make quick`), a test that starts one all the
same fails.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.environment import without_settings

#: Where the tests of `make test-scale` find a PostgreSQL server and, in the order of the workers,
#: a Redis for each; set, they are used.
DATABASE, REDIS = "PLAYGROUND_TEST_DATABASE_URL", "PLAYGROUND_TEST_REDIS_URL"
#: Names a directory that all processes of one run of pytest share.
SHARED = "PYTEST_SHARED_DIRECTORY"
_DATA = pytest.StashKey[Path]()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Give this process defaults, and a data directory that no other run of pytest shares.

    The addresses of the tests' own stay, and are what the settings find; Django makes a test
    database of its own there for each worker. A Redis cannot be shared: what is published in one
    of its databases is heard in all.
    """
    data = early_config.stash[_DATA] = Path(tempfile.mkdtemp(prefix="playground-tests-"))
    (data / "static").mkdir()  # Where files would be collected; missing, each client warns.
    ours = {DATABASE, REDIS}
    for name in os.environ.keys() - without_settings(os.environ).keys() - ours:
        del os.environ[name]
    if DATABASE in os.environ:
        os.environ["DATABASE_URL"] = os.environ[DATABASE]
    os.environ["PLAYGROUND_WORKERS"] = "false"  # Those of `tests.qa.scale` are processes.
    if REDIS in os.environ:
        worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        os.environ["REDIS_URL"] = os.environ[REDIS].split()[worker]
    os.environ["PLAYGROUND_DATA_DIR"] = str(data)
    os.environ.setdefault(SHARED, str(data / "shared"))  # Workers inherit it.
    return (yield)


#: The audit events of Python that a new process raises.
_STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}
_UNMARKED_PROCESS = """\
this test starts a process ({}), which `make quick` leaves out: mark it with @pytest.mark.process"""
_without_processes = False
"""Whether a test is running that must not start a process."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Allow no process while an unmarked test runs, its fixtures included."""
    global _without_processes
    unmarked = item.get_closest_marker("process") is None
    _without_processes = unmarked and "not process" in item.config.option.markexpr
    try:
        return (yield)
    finally:
        _without_processes = False


def _refuse_processes(event: str, arguments: tuple[object, ...]) -> None:
    if _without_processes and event in _STARTS:
        pytest.fail(_UNMARKED_PROCESS.format(event))


def pytest_configure(config: pytest.Config) -> None:
    """Listen for starts of processes; what has begun to listen cannot be told to stop."""
    if "not process" in config.option.markexpr:
        sys.addaudithook(_refuse_processes)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the data directory."""
    if data := config.stash.get(_DATA, None):
        shutil.rmtree(data, ignore_errors=True)
