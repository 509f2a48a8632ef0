"""The metrics of a process: who may read them, and how."""

from __future__ import annotations

from typing import Any

from django.test import Client


def test_without_a_login(client: Client, settings: Any) -> None:
    settings.METRICS = True
    response = client.get("/metrics")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "playground_runs_in_progress" in response.text
    assert client.head("/metrics").status_code == 200
    assert Client(enforce_csrf_checks=True).post("/metrics").status_code == 405


def test_openmetrics(client: Client, settings: Any) -> None:
    settings.METRICS = True
    response = client.get("/metrics", headers={"accept": "application/openmetrics-text"})
    assert response["Content-Type"].startswith("application/openmetrics-text")


def test_off(client: Client, settings: Any) -> None:
    settings.METRICS = False
    assert client.get("/metrics").status_code == 404
    assert client.head("/metrics").status_code == 404
