"""Rows of the sidebar's history: what changed since the previous run with the same text."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.support.markup import read
from tests.support.stored_runs import past_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def document(**prefer: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs"}, "prefer": {"mode": "list", **prefer}}


def make(ago: int, **fields: Any) -> None:
    past_run(minutes=ago, **{"request": document(), **fields})


def changes() -> list[str]:
    """Return what each row says of a change, the newest first."""
    page = read(Client().get("/runs/").content.decode())
    return [
        " ".join(each.words for each in row.select(class_="history-change"))
        for row in page.select("a", data_run=None)
    ]


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
        ({"agent_name": "Other", "binding": "mcp", "request": document(mode="summarize")},
         "to Other, HTTP → MCP, 1 more"),
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
    make(4)
    make(3, text="soup")
    make(2, request=document(mode="summarize"))
    make(1, request=document(mode="generate"))
    assert changes() == [
        "prefer.mode summarize → generate", "prefer.mode list → summarize", "", "",
    ]  # fmt: skip
