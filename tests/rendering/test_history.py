"""Rows of the sidebar's history: what changed since the previous run with the same text."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from playground.models import Run
from playground.rendering import history
from playground.rendering.history import SidebarRun, sidebar_history

pytestmark = [pytest.mark.django_db, pytest.mark.database]

FIELDS: dict[str, Any] = {
    "agent_name": "Recipes", "url": "http://a.example", "protocol": "nlweb", "binding": "http",
    "version": "0.55", "text": "eggs", "state": "completed",
    "request": {"query": {"text": "eggs"}, "prefer": {"mode": "list"}},
}  # fmt: skip


def make(ago: int, **fields: Any) -> None:
    run = Run.objects.create(**FIELDS | fields)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(minutes=ago))


def changes() -> list[str]:
    rows = sidebar_history(AnonymousUser()).rows
    return [row.change for row in rows if isinstance(row, SidebarRun)]


def document(**prefer: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs"}, "prefer": {"mode": "list", **prefer}}


@pytest.mark.parametrize(
    ("fields", "change"),
    [
        ({}, ""),
        ({"text": "soup", "agent_name": "Other"}, ""),
        ({"agent_name": "Other"}, "to Other"),
        ({"version": "0.54"}, "NLWeb 0.55 → NLWeb 0.54"),
        ({"binding": "mcp"}, "HTTP → MCP"),
        ({"request": document(mode="summarize")}, "prefer.mode list → summarize"),
        ({"request": document(streaming=False)}, "+ prefer.streaming false"),
        ({"request": {"query": {"text": "eggs"}}}, "− prefer"),
        (
            {"agent_name": "Other", "binding": "mcp", "request": document(mode="summarize")},
            "to Other, HTTP → MCP, 1 more",
        ),
        ({"request": document(mode="x" * 9_000)}, ""),
    ],
    ids=[
        "same", "text", "agent", "version", "binding", "changed", "added", "removed", "many",
        "too-long",
    ],
)  # fmt: skip
def test_change(fields: dict[str, Any], change: str) -> None:
    make(2)
    make(1, **fields)
    assert changes() == [change, ""]


def test_each_run_is_compared_with_the_previous_one_of_its_text() -> None:
    make(4, request=document(mode="list"))
    make(3, text="soup")
    make(2, request=document(mode="summarize"))
    make(1, request=document(mode="generate"))
    assert changes() == [
        "prefer.mode summarize → generate", "prefer.mode list → summarize", "", "",
    ]  # fmt: skip


def test_no_more_documents_are_compared_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MAX_DOCUMENTS", 2)
    for number in range(4):
        make(9 - number, request=document(mode=str(number)))
    assert sum(bool(change) for change in changes()) <= 1
