"""Responses to requests that would start a run while the server stops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from playground.engine import runs
from playground.models import Agent, Collection, CollectionRun, Run, SavedRequest
from tests.support.stored_runs import Recording

pytestmark = pytest.mark.django_db

DOCUMENT = '{"query": {"text": "soup"}}'


@pytest.fixture(autouse=True)
def _shutting_down() -> Iterator[None]:
    runs.refuse_new_runs()
    yield
    runs._refusing.clear()


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(name="Agent", url="http://127.0.0.1:9")


def test_send(client: Client, agent: Agent) -> None:
    response = client.post("/runs/", {"agent": agent.slug, "document": DOCUMENT})
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "The playground is stopping" in response.text
    assert not Run.objects.exists()


def test_resend(client: Client, agent: Agent) -> None:
    run = Recording().run
    Run.objects.filter(pk=run.pk).update(agent=agent)
    response = client.post(reverse("run-repeat", args=[run.pk]))
    assert response.status_code == 503
    assert Run.objects.count() == 1


def test_collection_runs(client: Client, agent: Agent) -> None:
    collection = Collection.objects.create(name="Kept")
    SavedRequest.objects.create(
        collection=collection, name="first", agent=agent, document={"query": {"text": "soup"}}
    )
    fields = {"collection": collection.slug, "iterations": 1, "parallel": 1}
    response = client.post(reverse("collection-runs"), fields)
    assert response.status_code == 503
    assert not CollectionRun.objects.exists()


def test_pages_and_other_errors(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/").status_code == 200
    assert client.get(f"/runs/{uuid4()}/").status_code == 404

    def broken(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr("playground.views.runs._list", broken)
    client.raise_request_exception = False
    assert client.get("/runs/").status_code == 500
