"""Error pages."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.db.backends.utils import CursorWrapper
from django.test import Client

from playground.models import Agent, Run
from tests.support.markup import read
from tests.views.conftest import form

pytestmark = pytest.mark.django_db


def test_a_body_that_is_too_large(client: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    response = client.post("/agents/", {"notes": "a" * 1000}, "application/x-www-form-urlencoded")
    assert response.status_code == 400
    page = read(response.content.decode())
    assert "The request is too large" in page.text
    assert [link.attributes["href"] for link in page.find("a")] == ["/"]


def test_another_hosts_name(client: Client) -> None:
    response = client.get("/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "Host header is not allowed" in read(response.content.decode()).text


def test_a_page_that_is_not_there(client: Client) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    text = read(response.content.decode()).text
    assert "Page not found" in text
    assert "belongs to another user" in text


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("database is locked"), 503, "database is unavailable"),
        (InterfaceError("connection already closed"), 503, "is not sent"),
        (IntegrityError("a bug"), 500, "bug in the playground"),
    ],
)
def test_a_send_that_cannot_be_recorded(
    client: Client, error: Exception, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(Run, "save", fail)
    Agent.objects.create(name="Recipes", url="http://127.0.0.1:9")
    client.raise_request_exception = False
    response = client.post("/runs/", form())
    assert response.status_code == status
    assert ("Retry-After" in response) == (status == 503)
    assert words in read(response.content.decode()).text


def test_the_page_of_an_unavailable_database_needs_no_database(client: Client) -> None:
    client.raise_request_exception = False
    with mock.patch.object(CursorWrapper, "execute", side_effect=OperationalError("away")):
        response = client.get("/")
    assert response.status_code == 503
