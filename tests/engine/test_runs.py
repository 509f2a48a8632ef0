"""Runs that the quota refuses: cheap, small, and only those that begin something."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from playground import engine
from playground.engine.runs import MAX_REFUSED_REQUEST, MAX_REFUSED_RUNS
from playground.models import Agent, Conversation, FrameBatch, Run, RunKind, storage
from playground.models.storage import MAKE_ROOM, RUN_BYTES
from tests.engine.conftest import Send
from tests.support.servers import HOLD, STREAM_HEAD, serve

QUOTA = 100_000
#: Bytes of an empty request: the document, and three empty lists.
EMPTY = 8


@pytest.fixture(autouse=True)
def _full(settings: Any) -> None:
    settings.QUOTA = QUOTA
    storage._counts.clear()


def fill(owner: User | None = None) -> Run:
    """A run that takes all the room of its owner."""
    found: Run = Run.objects.create(
        owner=owner, agent_name="A", url="http://a.example", protocol="nlweb", binding="http",
        version="0.55", request={}, state="completed", bytes=QUOTA,
    )  # fmt: skip
    return found


def create(owner: User | None = None, text: str = "eggs", **parent: Any) -> Run:
    agent = Agent(name="A", url="http://a.example")
    prepared = engine.request_to(agent, {"query": {"text": text}})
    return engine.create_run(prepared, owner, engine.RunParent(**parent) if parent else None)


@pytest.mark.django_db
class TestQuota:
    def test_refused_with_its_reason(self) -> None:
        fill()
        run = create()
        assert run.state == "refused"
        assert run.problem == {
            "state": "refused", "stage": "limit", "limit": "quota", "detail": "",
            "cause": "No room left: 98.7 KB of 97.7 KB used.", "fix": MAKE_ROOM,
        }  # fmt: skip
        assert run.request == {"query": {"text": "eggs"}}

    def test_admitted_below_it_and_again_after_a_deletion(self) -> None:
        assert create().state == "queued"
        full = fill()
        storage._counts.clear()
        assert create().state == "refused"
        full.delete()
        assert create().state == "queued"

    def test_each_owner_has_a_quota(self) -> None:
        fill(User.objects.create_user("full"))
        assert create(User.objects.create_user("other")).state == "queued"
        assert create().state == "queued"

    def test_what_is_refused_takes_little_room(self) -> None:
        fill()
        before = storage.stored_bytes(None)
        run = create(text="x" * 1_000_000)
        assert (run.request, run.headers, len(run.text)) == ({}, [], 500)
        assert run.problem
        assert run.problem["detail"] == "The request is too large to be stored with the run."
        assert storage.stored_bytes(None) - before <= RUN_BYTES + EMPTY
        for number in range(3):
            create(text="x" * (MAX_REFUSED_REQUEST // 2 - 100 + number))
        assert storage.stored_bytes(None) - before < 4 * (RUN_BYTES + MAX_REFUSED_REQUEST)

    def test_many_that_are_refused_take_little_room(self) -> None:
        turn = fill()
        full = storage.stored_bytes(None)
        runs = [create(text=f"{number} {'x' * 900}") for number in range(MAX_REFUSED_RUNS + 20)]
        for run in runs[:5]:
            assert not Run.objects.filter(pk=run.pk).exists()
        assert Run.objects.filter(state="refused").count() == MAX_REFUSED_RUNS
        assert Run.objects.filter(pk=runs[-1].pk).exists()
        assert Conversation.objects.count() == MAX_REFUSED_RUNS
        taken = storage.stored_bytes(None) - full
        assert taken < MAX_REFUSED_RUNS * (RUN_BYTES + 2 * MAX_REFUSED_REQUEST)
        assert Run.objects.filter(pk=turn.pk).exists()

    def test_runs_that_were_refused_for_another_reason_stay(self) -> None:
        other = Run.objects.create(
            agent_name="A", url="http://a.example", protocol="nlweb", binding="http",
            version="0.55", request={}, state="refused", problem={"limit": "max_runs"},
        )  # fmt: skip
        fill()
        for _ in range(MAX_REFUSED_RUNS + 1):
            create()
        assert Run.objects.filter(pk=other.pk).exists()

    def test_nothing_of_a_large_template_is_stored(self) -> None:
        fill()
        prepared = engine.request_to(Agent(name="A", url="http://a.example"), {})
        template = {"document": {"query": "{{name}}"}, "headers": [["X", "x" * 20_000]]}
        provenance = replace(prepared.provenance, request_template=template)
        run = engine.create_run(replace(prepared, provenance=provenance))
        run.refresh_from_db()
        assert run.request_template is None
        assert run.stored_bytes < 10

    @pytest.mark.parametrize("kind", RunKind)
    def test_a_turn_that_was_admitted_can_be_completed(self, kind: RunKind) -> None:
        turn = fill()
        begins = kind in (RunKind.ASK, RunKind.ANSWER, RunKind.ACTION)
        assert create(kind=kind, parent=turn).state == ("refused" if begins else "queued")

    @pytest.mark.parametrize("kind", RunKind)
    def test_not_without_end(self, kind: RunKind) -> None:
        turn = fill()
        Run.objects.update(bytes=QUOTA * 1.2)
        assert create(kind=kind, parent=turn).state == "refused"

    def test_requests_of_a_collection_run_are_refused_as_well(self) -> None:
        fill()
        prepared = engine.request_to(Agent(name="A", url="http://a.example"), {})
        assert engine.create_run(prepared, has_room=True).state == "refused"

    def test_no_quota(self, settings: Any) -> None:
        settings.QUOTA = 0
        fill()
        assert create().state == "queued"


async def test_nothing_is_sent(send: Send, transactional_db: None) -> None:
    from asgiref.sync import sync_to_async

    await sync_to_async(fill)()
    async with serve(STREAM_HEAD, HOLD) as server:
        run = await send(server.url)
    assert (run.state, run.frames) == ("refused", 0)
    assert server.requests == []
    assert not await FrameBatch.objects.aexists()


async def test_every_frame_is_counted(send: Send, transactional_db: None, settings: Any) -> None:
    from asgiref.sync import sync_to_async

    settings.QUOTA = 0
    head = STREAM_HEAD.replace(b"\r\n", b"\r\nX-Long: " + b"x" * 20_000 + b"\r\n", 1)
    async with serve(head + b'data: {"message_type": "complete"}\n\n') as server:
        run = await send(server.url)
    batches = [batch async for batch in FrameBatch.objects.filter(run=run)]
    frames = [frame for batch in batches for frame in batch.frames()]
    size = sum(len(frame.data) for frame in frames)
    assert (size > 20_000, run.bytes + run.other_bytes) == (True, size)
    counted = await sync_to_async(storage.stored_bytes)(None)
    assert counted >= sum(len(batch.data) for batch in batches)
