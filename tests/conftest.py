"""What all tests share, and the rule that a test that should have run is not skipped."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.conf import settings

from playground import generated
from tests.support import schema
from tests.support.isolation import DATABASE
from tests.support.playground_server import ROOT, PlaygroundServer

# Profiles of Hypothesis, chosen by HYPOTHESIS_PROFILE. `dev` is for the inner loop: few examples,
# others each time, and one that failed is tried again first. `ci` decides whether a change lands:
# its examples are derived from the test itself, so that a build fails because of the change and
# fails again when repeated. `nightly` looks for what the others have not met: many examples,
# others each time, and prints how to repeat one that fails.
#
# No profile limits the time of an example: it depends on how busy the machine is, and speed is
# measured by `make bench`.
_UNTIMED: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [hypothesis.HealthCheck.too_slow],
}
hypothesis.settings.register_profile("dev", max_examples=10, **_UNTIMED)
hypothesis.settings.register_profile("ci", max_examples=60, derandomize=True, **_UNTIMED)
hypothesis.settings.register_profile("nightly", max_examples=300, print_blob=True, **_UNTIMED)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "dev")


#: Fixtures that start a process.
_PROCESS_FIXTURES = {"hosted", "pair", "playground", "site"}


def pytest_configure(config: pytest.Config) -> None:
    """Serve pages without static files, and commit without waiting for the disk.

    In a checkout where `make setup` has not run, what it generates is generated first.

    The middleware for static files is asynchronous: with it, each request of Django's client
    takes a thread and an event loop of its own.
    """
    if generated.missing() and not hasattr(config, "workerinput"):
        subprocess.run([sys.executable, "-m", "tests.generated"], cwd=ROOT, check=True)
    backend = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES["staticfiles"] = {"BACKEND": backend}
    settings.MIDDLEWARE.remove("servestatic.middleware.ServeStaticMiddleware")
    if not _on_postgresql():
        settings.DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their directory, fixtures and markers, and put the browser's last.

    Playwright's event loop would be in the way of asyncio tests.

    On PostgreSQL, only tests marked `database` run, and those of tests/qa/scale.
    """
    has_browser = config.pluginmanager.hasplugin("playwright")
    for item in items:
        if "browser" in item.path.parts:
            if not has_browser:
                raise pytest.UsageError("Tests in Chromium need: pytest -p playwright")
            item.add_marker(pytest.mark.browser)
        if "scale" in item.path.parts:
            item.add_marker(pytest.mark.database)
        if _PROCESS_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.process)
        if _commits(item):
            item.add_marker(pytest.mark.commits)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if _on_postgresql():
        config.hook.pytest_deselected(
            items=[item for item in items if not _is_about_the_database(item)]
        )
        items[:] = filter(_is_about_the_database, items)


def _commits(item: pytest.Item) -> bool:
    """Whether the tables are emptied after a test, because it commits what it writes."""
    marker = item.get_closest_marker("django_db")
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return "transactional_db" in fixtures or bool(marker and marker.kwargs.get("transaction"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what stays to the end, modules and tests among it, out of garbage collections."""
    gc.collect()
    gc.freeze()


def _on_postgresql() -> bool:
    """Whether this is `make test-scale`."""
    return bool(os.environ.get(DATABASE))


def _is_about_the_database(item: pytest.Item) -> bool:
    """Whether a test is marked so itself or by its module, and touches the database at all."""
    if item.get_closest_marker("sqlite") or not item.get_closest_marker("database"):
        return False
    fixtures = set(getattr(item, "fixturenames", ()))
    marked = item.get_closest_marker("django_db") is not None
    return marked or "scale" in item.path.parts or bool(fixtures & {"db", "transactional_db"})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """On CI a skipped test is a failure, and so is `make test-scale` without tests of its own.

    A run of the browser's tests alone that finds none fails by itself.
    """
    if not os.environ.get("CI") or session.config.option.collectonly:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return  # One of several processes: the first one tells.
    skipped = len(reporter.stats.get("skipped", []))
    passed = [report.nodeid for report in reporter.stats.get("passed", [])]
    missing = _on_postgresql() and not any("tests/qa/scale/" in name for name in passed)
    if skipped or missing:
        why = ", and no test of tests/qa/scale" if missing else ""
        reporter.write_line(f"CI: {skipped} skipped{why}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def without_migrations() -> pytest.MonkeyPatch:
    """Let the models make the tables of the test database."""
    schema.disable_permissions()
    return schema.disable_migrations()


@pytest.fixture(scope="session")
def django_db_setup(
    without_migrations: pytest.MonkeyPatch, django_db_setup: None, django_db_blocker: Any
) -> None:
    """Make the test database look migrated."""
    without_migrations.undo()
    schema.delete_instead_of_truncate()
    with django_db_blocker.unblock():
        schema.record_migrations()


@pytest.fixture(scope="session")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlaygroundServer]:
    """One playground for all tests that only look at it."""
    with PlaygroundServer(tmp_path_factory.mktemp("playground")) as server:
        yield server


@pytest.fixture
def heartbeats_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the database had been reached for long enough to judge by heartbeats."""
    from playground.models import driving

    now = time.monotonic()
    contact = driving.DatabaseContact(now - 3600, now)
    monkeypatch.setattr(driving, "database_contact", contact)


@pytest.fixture
def captures() -> Path:
    """What real agents sent."""
    return Path(__file__).parent / "captures"
