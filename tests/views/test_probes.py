"""The readiness and the metrics of a process, for monitors."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from playground.engine import runs
from playground.site import probes


def ready(client: Client) -> tuple[int, dict[str, Any]]:
    response = client.get("/ready/")
    found: dict[str, Any] = response.json()
    return response.status_code, found


@pytest.mark.database
def test_all_is_well(client: Client) -> None:
    assert ready(client) == (200, {"ready": True, "problems": {}})
    assert client.head("/ready/").status_code == 200
    assert Client(enforce_csrf_checks=True).post("/ready/").status_code == 405


def test_without_a_database(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise OperationalError("away")

    monkeypatch.setattr(probes, "database_now", away)
    problems = {"database": "It does not respond."}
    assert ready(client) == (503, {"ready": False, "problems": problems})


def test_a_process_that_stops(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "refuses_new_runs", lambda: True)
    problems = {"process": "It is stopping."}
    assert ready(client) == (503, {"ready": False, "problems": problems})


class Layer:
    """A channel layer whose server is away, or hangs."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def group_send(self, *_: Any) -> None:
        if self._error:
            raise self._error


@pytest.mark.parametrize("error", [None, ConnectionError("away"), TimeoutError()])
def test_the_channel_layer(
    client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1"
    monkeypatch.setattr(probes, "get_channel_layer", lambda: Layer(error))
    problems = {"channel_layer": "It does not respond."} if error else {}
    assert ready(client) == (503 if error else 200, {"ready": not error, "problems": problems})


def test_metrics_need_no_login(client: Client, settings: Any) -> None:
    settings.METRICS = True
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "playground_runs_in_progress" in response.text
    assert client.head("/metrics").status_code == 200
    assert Client(enforce_csrf_checks=True).post("/metrics").status_code == 405


def test_metrics_as_openmetrics(client: Client, settings: Any) -> None:
    settings.METRICS = True
    response = client.get("/metrics", headers={"accept": "application/openmetrics-text"})
    assert response["Content-Type"].startswith("application/openmetrics-text")


def test_metrics_that_are_off(client: Client, settings: Any) -> None:
    settings.METRICS = False
    assert client.get("/metrics").status_code == 404
    assert client.head("/metrics").status_code == 404
