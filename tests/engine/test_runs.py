"""Runs that the quota refuses: cheap, small, and only those that begin something."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from playground.engine.request import request_to
from playground.engine.runs import MAX_REFUSED_REQUEST, MAX_REFUSED_RUNS, RunParent, create_run
from playground.models import Agent, Conversation, Run, RunKind, storage
from playground.models.storage import MAKE_ROOM, RUN_BYTES
from tests.engine.conftest import Send, frames_of
from tests.support.servers import STREAM_HEAD, serve

QUOTA = 100_000
#: Kinds of runs that begin something.
BEGINNING = (RunKind.ASK, RunKind.ANSWER, RunKind.ACTION)


@pytest.fixture(autouse=True)
def _full(settings: Any) -> None:
    settings.QUOTA = QUOTA
    storage._counts.clear()


def fill(owner: User | None = None) -> Run:
    """A run that takes all the room of its owner."""
    return Run.objects.create(
        owner=owner, agent_name="A", url="http://a.example", request={}, state="completed",
        bytes=QUOTA,
    )  # fmt: skip


def create(owner: User | None = None, text: str = "eggs", **parent: Any) -> Run:
    agent = Agent(name="A", url="http://a.example")
    prepared = request_to(agent, {"query": {"text": text}})
    return create_run(prepared, owner, RunParent(**parent) if parent else None)


@pytest.mark.django_db
def test_what_is_stored_with_a_run_is_counted() -> None:
    assert create(text="x" * 20_000).other_bytes > 20_000


@pytest.mark.django_db
class TestQuota:
    def test_refused_with_its_reason(self, settings: Any) -> None:
        assert create().state == "queued"
        full = fill()
        storage._counts.clear()
        run = create()
        assert (run.state, run.request) == ("refused", {"query": {"text": "eggs"}})
        problem = dict(run.problem or {})
        assert problem.pop("cause").startswith("No room left: ")
        assert problem == {
            "state": "refused", "stage": "limit", "limit": "quota", "detail": "", "fix": MAKE_ROOM,
        }  # fmt: skip
        prepared = request_to(Agent(name="A", url="http://a.example"), {})
        assert create_run(prepared, has_room=True).state == "refused"  # Of a collection.
        assert create(User.objects.create_user("other")).state == "queued"
        full.delete()
        assert create().state == "queued"
        fill()
        settings.QUOTA = 0
        assert create().state == "queued"

    def test_what_is_refused_takes_little_room(self) -> None:
        fill()
        before = storage.stored_bytes(None)
        run = create(text="x" * 1_000_000)
        assert (run.request, run.headers, len(run.text)) == ({}, [], 500)
        assert run.problem
        assert run.problem["detail"] == "The request is too large to be stored with the run."
        for number in range(3):
            create(text="x" * (MAX_REFUSED_REQUEST // 2 - 100 + number))
        assert storage.stored_bytes(None) - before < 4 * (RUN_BYTES + MAX_REFUSED_REQUEST)
        prepared = request_to(Agent(name="A", url="http://a.example"), {})
        template = {"document": {"query": "{{name}}"}, "headers": [["X", "x" * 20_000]]}
        run = create_run(replace(prepared, request_template=template))
        run.refresh_from_db()
        assert run.request_template is None

    def test_many_that_are_refused_take_little_room(self) -> None:
        """Those that were refused for another reason stay."""
        turn = fill()
        other = Run.objects.create(
            agent_name="A", request={}, state="refused", problem={"limit": "max_runs"}
        )
        runs = [create(text=f"{number} {'x' * 900}") for number in range(MAX_REFUSED_RUNS + 20)]
        assert not Run.objects.filter(pk__in=[run.pk for run in runs[:5]]).exists()
        assert Run.objects.filter(state="refused").count() == MAX_REFUSED_RUNS + 1
        assert set(Run.objects.filter(pk__in=[turn.pk, other.pk, runs[-1].pk])) == {
            turn, other, runs[-1],
        }  # fmt: skip
        assert Conversation.objects.count() == MAX_REFUSED_RUNS

    @pytest.mark.parametrize("kind", RunKind)
    def test_a_turn_that_was_admitted_can_be_completed(self, kind: RunKind) -> None:
        turn = fill()
        refused = "refused" if kind in BEGINNING else "queued"
        assert create(kind=kind, parent=turn).state == refused
        Run.objects.update(bytes=QUOTA * 1.2)  # But not without end.
        storage._counts.clear()
        assert create(kind=kind, parent=turn).state == "refused"


async def test_every_frame_is_counted(send: Send, settings: Any) -> None:
    settings.QUOTA = 0
    head = STREAM_HEAD.replace(b"\r\n", b"\r\nX-Long: " + b"x" * 20_000 + b"\r\n", 1)
    async with serve(head + b'data: {"message_type": "complete"}\n\n') as server:
        run = await send(server.url)
    size = sum(len(frame.data) for frame in await frames_of(run))
    assert size > 20_000
    # With what was stored before the first frame: little more than the request.
    assert 0 <= run.bytes + run.other_bytes - size - len(json.dumps(run.request)) < 50
    assert await sync_to_async(storage.stored_bytes)(None) >= size
