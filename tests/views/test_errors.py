"""Error pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.contrib.staticfiles import finders
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError
from django.db.backends.utils import CursorWrapper
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from playground.engine import runs
from playground.models import Agent, CollectionRun, Environment, Run
from tests.support.collections import make_collection, saved
from tests.support.markup import read
from tests.support.stored_runs import past_run
from tests.views.conftest import form


def test_a_body_that_is_too_large(client: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    response = client.post("/agents/", {"notes": "a" * 1000}, "application/x-www-form-urlencoded")
    assert response.status_code == 400
    page = read(response)
    assert "The request is too large" in page.text
    assert [link.attributes["href"] for link in page.find("a")] == ["/"]


def test_another_hosts_name(client: Client) -> None:
    response = client.get("/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "Host header is not allowed" in read(response).text


def test_a_page_that_is_not_there(client: Client) -> None:
    response = client.get("/nowhere/")
    assert response.status_code == 404
    text = read(response).text
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
    assert words in read(response).text


@pytest.mark.parametrize("is_new", [True, False])
def test_a_session_that_cannot_be_saved(
    client: Client, is_new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("database is locked")

    Environment.objects.create(name="Test", slug="test")
    if not is_new:
        assert client.post(reverse("environment-choice"), {"environment": "test"}).status_code < 400
    monkeypatch.setattr(Session, "save", fail)
    client.raise_request_exception = False
    response = client.post(reverse("environment-choice"), {"environment": ""})
    assert response.status_code == 503
    assert "database is unavailable" in read(response).text


def test_a_session_that_ended_during_the_request(client: Client) -> None:
    """Somebody has logged out in another tab: the database is not to blame."""
    Environment.objects.create(name="Test", slug="test")
    client.post(reverse("environment-choice"), {"environment": "test"})
    with mock.patch.object(Session, "save", side_effect=DatabaseError("no rows")):
        response = client.post(reverse("environment-choice"), {"environment": ""})
    assert response.status_code == 400


def test_the_page_of_an_unavailable_database_needs_no_database(client: Client) -> None:
    client.raise_request_exception = False
    with mock.patch.object(CursorWrapper, "execute", side_effect=OperationalError("away")):
        response = client.get("/")
    assert response.status_code == 503


def test_the_files_of_standalone_pages_exist() -> None:
    markup = read(render_to_string("503.html"))
    links = [each.attributes["href"] for each in markup.find("link")]
    scripts = [each.attributes["src"] for each in markup.find("script")]
    for url in filter(None, links + scripts):
        assert finders.find(url.removeprefix("/static/"))
    assert len(links) == len(scripts) == 1


DOCUMENT = '{"query": {"text": "soup"}}'


@pytest.fixture
def _shutting_down() -> Iterator[None]:
    runs.refuse_new_runs()
    yield
    runs._refusing.clear()


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(name="Agent", url="http://127.0.0.1:9")


@pytest.mark.usefixtures("_shutting_down")
def test_nothing_is_sent_while_the_server_stops(client: Client, agent: Agent) -> None:
    saved(make_collection("Kept"), "first", agent=agent.slug)
    run = past_run(agent=agent)
    for name, arguments, fields in (
        ("runs", [], {"agent": agent.slug, "document": DOCUMENT}),
        ("run-repeat", [run.pk], {}),
        ("collection-runs", [], {"collection": "kept", "iterations": 1, "parallel": 1}),
    ):
        response = client.post(reverse(name, args=arguments), fields)
        assert (response.status_code, response["Retry-After"]) == (503, "5"), name
        assert "The playground is stopping" in response.text
    assert (Run.objects.count(), CollectionRun.objects.count()) == (1, 0)


def test_the_page_of_a_run_that_was_recorded_while_the_server_stopped(
    client: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = iter([False, True])
    monkeypatch.setattr(runs, "refuses_new_runs", lambda: next(checked, True))
    response = client.post("/runs/", {"agent": agent.slug, "document": DOCUMENT}, follow=True)
    run = Run.objects.get()
    assert response.redirect_chain == [(run.get_absolute_url(), 302)]
    assert (run.state, response.status_code) == ("interrupted", 200)
    assert "Interrupted" in read(response.text).text


@pytest.mark.usefixtures("_shutting_down")
def test_pages_while_the_server_stops(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/").status_code == 200
    assert client.get(f"/runs/{uuid4()}/").status_code == 404

    def broken(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr("playground.composer.views.list_runs", broken)
    client.raise_request_exception = False
    assert client.get("/runs/").status_code == 500
