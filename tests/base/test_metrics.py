"""Metrics: what is counted, gauges with callbacks, and the server on a port of its own."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator

import httpx
import pytest
from django.db import OperationalError

from playground.base import executors, metrics
from playground.base.executors import retry_while_unavailable
from playground.base.jobs import start_task
from tests.support.metrics import Growth, value


@pytest.fixture
def growth() -> Growth:
    return Growth()


@pytest.fixture
def name() -> Iterator[str]:
    """A name for a gauge, which is removed again."""
    name = f"test_{uuid.uuid4().hex}"
    before = set(metrics.registry._collector_to_names)
    yield name
    for collector in set(metrics.registry._collector_to_names) - before:
        metrics.registry.unregister(collector)


class TestGauges:
    def test_a_value_is_read_with_the_metrics(self, name: str) -> None:
        values = iter([1, 2])
        metrics.register_gauge(name, "A test.", lambda: next(values))
        assert [value(name), value(name)] == [1, 2]

    def test_one_that_fails_leaves_the_others(
        self, name: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail() -> float:
            raise OperationalError("away")

        metrics.register_gauge(name, "A test.", fail)
        text = metrics.exposition()[0].decode()
        assert f"{name} NaN\n" in text
        assert "playground_runs_in_progress 0.0\n" in text
        assert f"Reading the gauge {name} failed" in caplog.text

    def test_a_name_is_taken_once(self, name: str) -> None:
        metrics.register_gauge(name, "A test.", lambda: 0)
        with pytest.raises(ValueError, match=name):
            metrics.register_gauge(name, "A test.", lambda: 0)

    async def test_background_tasks(self) -> None:
        before = value("playground_background_tasks")
        task = start_task(asyncio.sleep(0))
        assert value("playground_background_tasks") == before + 1
        await task


class TestFormats:
    def test_text(self) -> None:
        body, content_type = metrics.exposition()
        assert content_type.startswith("text/plain; version=0.0.4")
        assert b"# TYPE playground_runs_in_progress gauge\n" in body
        assert b"process_resident_memory_bytes" in body
        assert b"_created" not in body

    def test_openmetrics(self) -> None:
        body, content_type = metrics.exposition("application/openmetrics-text; version=1.0.0")
        assert content_type.startswith("application/openmetrics-text")
        assert body.endswith(b"# EOF\n")


def test_a_server_of_its_own() -> None:
    with metrics.serve_metrics(0) as port:
        response = httpx.get(f"http://127.0.0.1:{port}/metrics")
        assert response.status_code == 200
        assert "playground_build_info" in response.text
        with pytest.raises(OSError, match="in use"), metrics.serve_metrics(port):
            pass
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics")


async def test_an_outage_of_the_database(monkeypatch: pytest.MonkeyPatch, growth: Growth) -> None:
    monkeypatch.setattr(executors, "FIRST_PAUSE", 0.01)
    left = iter([OperationalError, OperationalError])

    async def attempt() -> None:
        if error := next(left, None):
            raise error

    await retry_while_unavailable(attempt, 10)
    assert growth.of("playground_database_retries_total") == 2
    assert 0.03 <= growth.of("playground_database_wait_seconds_total") < 5
