"""What all tests share, and the rule that a test that should have run is not skipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.playground_server import PlaygroundServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright's event loop would be in the way of asyncio tests."""
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """On CI a skipped test, or a whole run without a browser test, is a failure."""
    if not os.environ.get("CI") or session.config.option.collectonly:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = len(reporter.stats.get("skipped", []))
    browser = sum(1 for item in session.items if item.get_closest_marker("browser"))
    if skipped or not browser:
        reporter.write_line(f"CI: {skipped} skipped, {browser} browser tests", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """One playground for all tests that only look at it."""
    with PlaygroundServer(tmp_path_factory.mktemp("playground")) as server:
        yield server


@pytest.fixture
def captures() -> Path:
    """What real agents sent."""
    return Path(__file__).parent / "captures"
