"""Requests to the pages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.engine import tasks
from playground.models import Agent, Run
from tests.support.stored_runs import CALL, END, HEAD, OPEN, PIECES, event, recorded, result


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give every test of a page a database."""
    if not item.get_closest_marker("django_db"):
        item.add_marker(pytest.mark.django_db)


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(name="Recipes", url="http://agent.example/api")


@pytest.fixture
def run(db: None) -> Run:
    """A run that is over: a summary, a question that is unknown, and results out of order."""
    start, summary, unknown = PIECES[0], PIECES[7], PIECES[11]
    return recorded(
        [
            [CALL, OPEN, HEAD],
            [event(start), result(2), event(unknown)],
            [result(0), result(1), event(summary)],
            [END],
        ]
    )


def form(document: Any = None, agent: str = "recipes", **fields: str) -> dict[str, str]:
    """The composer's fields."""
    shown = {"query": {"text": "eggs"}} if document is None else document
    text = shown if isinstance(shown, str) else json.dumps(shown)
    return {"agent": agent, "version": "0.55", "document": text, "headers": "[]", **fields}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The runs and targets that the engine was to drive, instead of driving them."""
    found: list[Any] = []

    async def send(run: Any, prepared: Any) -> None:
        found.append((run, prepared.target))

    monkeypatch.setattr(tasks, "send", send)
    return found
