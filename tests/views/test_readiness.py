"""The readiness of a process: its database, the channel layer, and whether it stops."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from playground.engine import runs
from playground.site import readiness


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

    monkeypatch.setattr(readiness, "database_now", away)
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
    monkeypatch.setattr(readiness, "get_channel_layer", lambda: Layer(error))
    problems = {"channel_layer": "It does not respond."} if error else {}
    assert ready(client) == (503 if error else 200, {"ready": not error, "problems": problems})
