"""The timeout of requests for the threads of the database."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from playground.database_timeout import response_timeout


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[float | None]:
    """The timeouts of the requests for the history."""
    found: list[float | None] = []

    def view(*_: Any) -> HttpResponse:
        found.append(response_timeout.get())
        return HttpResponse()

    settings.DATABASE_TIMEOUT = 7
    monkeypatch.setattr("playground.views.runs._list", view)
    return found


@pytest.mark.django_db
def test_a_request(client: Client, shown: list[float | None]) -> None:
    client.get("/runs/")
    assert (shown, response_timeout.get()) == ([7], None)
