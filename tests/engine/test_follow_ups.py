"""Follow-ups: the id of their request."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine.follow_ups import follow_up_document
from playground.models import Run, RunKind

pytestmark = pytest.mark.django_db


def asked(**fields: Any) -> Run:
    return Run.objects.create(
        url="http://agent.example/ask",
        protocol="nlweb",
        version="0.55",
        state="completed",
        request={"query": {"text": "soup"}, "meta": {"version": "0.55", "request_id": "req_1"}},
        **fields,
    )


def request_id(run: Run) -> str:
    return follow_up_document(run, "and dessert?")["meta"]["request_id"]


def test_is_the_same_until_a_turn_follows() -> None:
    turn = asked()
    before = request_id(turn)
    assert before != "req_1"
    asked(parent=turn, kind=RunKind.POLL)
    assert request_id(turn) == before
    asked(parent=turn)
    assert request_id(turn) != before


def test_is_new_after_an_earlier_follow_up_was_deleted() -> None:
    turn = asked()
    used = [request_id(turn)]
    first = asked(parent=turn)
    used.append(request_id(turn))
    asked(parent=turn)
    first.delete()
    assert request_id(turn) not in used
