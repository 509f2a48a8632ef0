"""Retention limits: what is deleted, what is retained and why, and what else goes with it."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from playground.engine import retention
from playground.engine.retention import RetentionLimits, RetentionReason, with_descendants
from playground.models import (
    Collection,
    CollectionRun,
    Conversation,
    FrameBatch,
    PolledPromise,
    Retention,
    Run,
    SavedRequest,
    Share,
    Step,
    Twin,
)
from playground.models.conversations import branch_to
from tests.engine.conftest import until, working
from tests.support.commands import run_command

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]


def run(days: float = 0, **fields: Any) -> Run:
    """A run that was made some days ago."""
    found: Run = Run.objects.create(
        **{
            "agent_name": "A", "url": "http://a.example", "request": {"query": {"text": "eggs"}},
            "state": "completed", "bytes": 2**20, **fields,
        }
    )  # fmt: skip
    FrameBatch.objects.create(run=found, first=1, last=1, data=b"")
    found.created_at = timezone.now() - timedelta(days=days)
    found.save(update_fields=["created_at"])
    return found


def promise(of: Run, status: str, **fields: Any) -> PolledPromise:
    return PolledPromise.objects.create(
        run=of, entry_seq=1, token="t", polling_seconds=9, status=status, **fields
    )


def share(of: Run, **fields: Any) -> Share:
    return Share.objects.create(run=of, **fields)


def prune(*arguments: str, **limits: int) -> int:
    """Delete what exceeds the limits, as the command does; the number of runs."""
    if limits:
        Retention.objects.update_or_create(owner=None, defaults=limits)
    done = run_command("prune_history", *arguments)
    assert done.returncode == 0, done.stderr
    found = re.search(r"(?:Deleted|To be deleted:) (\d+)", done.stdout)
    return int(found[1]) if found else 0


def left() -> set[Any]:
    return set(Run.objects.values_list("pk", flat=True))


#: Runs as (days old, whether it is shared), the limits, and which are deleted.
DECISIONS: dict[str, tuple[list[tuple[Any, ...]], tuple[str, ...], list[int]]] = {
    "by age": ([(30.1,), (29.9,)], ("--days", "30"), [0]),
    "by number, the oldest first": ([(1,), (3,), (2,)], ("--runs", "1"), [1, 2]),
    "just as many": ([(1,), (2,)], ("--runs", "2"), []),
    "whichever limit is reached": ([(9,), (5,), (1,)], ("--days", "8", "--runs", "1"), [0, 1]),
    "another in the place of what is retained": (
        [(9, True), (8,), (7,)], ("--runs", "2"), [1],
    ),
    "retained ones alone are too many": ([(2, True), (1, True)], ("--runs", "1"), []),
}  # fmt: skip


@pytest.mark.parametrize(("there", "limits", "deleted"), DECISIONS.values(), ids=DECISIONS)
def test_decisions(
    there: list[tuple[Any, ...]], limits: tuple[str, ...], deleted: list[int]
) -> None:
    runs = []
    for days, *is_shared in there:
        runs.append(run(days))
        if is_shared:
            share(runs[-1])
    assert prune("--dry-run", *limits) == len(deleted)
    assert prune(*limits) == len(deleted)
    assert left() == {each.pk for at, each in enumerate(runs) if at not in deleted}
    assert prune(*limits) == 0


def test_whats_said_is_what_goes() -> None:
    for number in range(12):
        turn = run(number, bytes=number)
        if number % 4 == 0:
            run(number, kind="check", parent=turn, bytes=3)
    there = {each.pk: each for each in Run.objects.all()}
    Retention.objects.create(max_days=5)
    said = retention.preview(None, RetentionLimits.of(None))
    assert prune() == said.runs
    gone = [each for pk, each in there.items() if pk not in left()]
    assert (said.runs, said.bytes, said.all_runs) == (len(gone), sum(r.bytes for r in gone), 15)
    assert said.oldest == min(each.created_at for each in gone)


class TestRetained:
    def test_for_a_reason(self) -> None:
        active = run(state="streaming", heartbeat_at=timezone.now())
        polled, settled, shared, expired, recorded, sent, done = (run() for _ in range(7))
        promise(polled, "polling")
        promise(settled, "fulfilled")
        share(shared)
        share(expired, expires_at=timezone.now() - timedelta(days=1))
        collection = Collection.objects.create(name="C")
        SavedRequest.objects.create(collection=collection, name="R", recorded_run=recorded)
        running = CollectionRun.objects.create(name="C")
        Step.objects.create(collection_run=running, number=1, name="R", run=sent)
        ended = CollectionRun.objects.create(name="C", state="completed")
        Step.objects.create(collection_run=ended, number=1, name="R", run=done)
        assert retention.retention_reasons_by_id(left()) == {
            active.pk: RetentionReason.IN_PROGRESS,
            polled.pk: RetentionReason.POLLED,
            shared.pk: RetentionReason.SHARED,
            recorded.pk: RetentionReason.RECORDED,
            sent.pk: RetentionReason.COLLECTION_RUN,
        }
        Run.objects.update(created_at=timezone.now() - timedelta(days=9))
        assert prune(max_days=1) == 3
        assert not left() & {settled.pk, expired.pk, done.pk}
        assert not CollectionRun.objects.filter(pk=ended.pk).exists()

    @pytest.mark.parametrize("busy", ["in progress", "promise"])
    def test_with_what_follows(self, busy: str) -> None:
        """What is active retains the turns before it, and no others."""
        conversation = Conversation.objects.create()
        first = run(9, conversation=conversation)
        check = run(9, conversation=conversation, parent=first, kind="check")
        second = run(8, conversation=conversation, parent=check, kind="answer")
        branch = run(8, conversation=conversation, parent=first)
        state = "completed" if busy == "promise" else "streaming"
        last = run(
            7,
            conversation=conversation,
            parent=second,
            state=state,
            heartbeat_at=timezone.now(),
        )
        if busy == "promise":
            promise(last, "polling")
        elsewhere = run(9, conversation=Conversation.objects.create())
        assert prune("--dry-run", max_days=1) == 2
        assert "3 retained: " in run_command("prune_history", "--dry-run").stdout
        assert prune() == 2
        assert left() == {first.pk, check.pk, second.pk, last.pk}
        assert not {branch.pk, elsewhere.pk} & left()
        assert [turn.run for turn in branch_to(last)] == [first, second, last]

    @pytest.mark.parametrize("state", ["completed", "streaming"])
    def test_a_ring_of_turns_has_an_end(self, state: str) -> None:
        conversation = Conversation.objects.create()
        one = run(9, conversation=conversation, state=state, heartbeat_at=timezone.now())
        other = run(9, conversation=conversation, parent=one, kind="check")
        Run.objects.filter(pk=one.pk).update(parent=other)
        assert prune(max_days=1) == (2 if state == "completed" else 0)

    def test_a_turn_with_its_children(self) -> None:
        turn = run(9)
        check = run(9, kind="check", parent=turn)
        shared = share(run(9, kind="action", parent=check))
        run(9)
        assert prune(max_days=1) == 1
        assert len(left()) == 3
        shared.delete()
        # Somebody runs an action of it now.
        new = run(0, kind="action", parent=turn)
        assert prune() == 0
        new.delete()
        assert prune() == 3

    def test_what_was_shared_meanwhile(self) -> None:
        old = run(9)
        Retention.objects.create(max_days=1)
        (batch,) = retention.deletion_batches(retention.runs_to_delete(None))
        share(old)
        assert retention.delete(batch) == 0
        assert retention.delete(batch, also=frozenset({RetentionReason.SHARED})) == 1
        assert retention.delete(batch) == 0


class TestDeleted:
    def test_everything_that_belongs_to_a_run(self) -> None:
        conversation = Conversation.objects.create()
        old, new = run(9, conversation=conversation), run()
        Twin.objects.create(left=old, right=new)
        found = promise(new, "fulfilled", final_run=old)
        assert prune(max_days=1) == 1
        found.refresh_from_db()
        assert found.final_run is None
        assert not Twin.objects.exists()
        assert not Conversation.objects.exists()
        assert FrameBatch.objects.get().run == new

    def test_a_turn_in_the_middle_leaves_the_rest_readable(self) -> None:
        conversation = Conversation.objects.create()
        first = run(9, conversation=conversation)
        middle = run(8, conversation=conversation, parent=first)
        check = run(8, conversation=conversation, parent=middle, kind="check")
        last = run(7, conversation=conversation, parent=middle)
        answer = run(6, conversation=conversation, parent=last, kind="answer", answers={"q": "me"})
        assert with_descendants([check.pk]) == {check.pk}
        assert retention.delete(with_descendants([middle.pk])) == 2
        last, answer = (Run.objects.get(pk=each.pk) for each in (last, answer))
        assert last.parent is None
        assert [turn.run for turn in branch_to(answer)] == [last, answer]
        assert [turn.run for turn in branch_to(first)] == [first]
        assert Conversation.objects.exists()

    def test_a_collection_run_with_the_last_of_its_requests(self) -> None:
        done = CollectionRun.objects.create(name="C", state="completed")
        for number, days in enumerate((9, 5)):
            Step.objects.create(collection_run=done, number=number, name="R", run=run(days))
        assert prune(max_days=7) == 1
        assert CollectionRun.objects.exists()
        assert prune(max_days=3) == 1
        assert not CollectionRun.objects.exists()

    def test_a_collection_run_that_sent_nothing_by_its_age(self) -> None:
        old = timezone.now() - timedelta(days=9)
        kept: list[dict[str, Any]] = [
            {"name": "new", "state": "stopped"},
            {"name": "in progress", "created_at": old},
            {"name": "with a request", "state": "completed", "created_at": old},
            {"name": "of another", "state": "stopped", "created_at": old,
             "owner": User.objects.create_user("owner")},
        ]  # fmt: skip
        for fields in kept:
            CollectionRun.objects.create(**fields)
        sent = CollectionRun.objects.get(name="with a request")
        Step.objects.create(collection_run=sent, number=1, name="R", run=run(1))
        CollectionRun.objects.create(name="unsent", state="interrupted", created_at=old)
        assert prune(max_days=7) == 0
        names = set(CollectionRun.objects.values_list("name", flat=True))
        assert names == {fields["name"] for fields in kept}


class TestHousekeeping:
    async def test_limits_are_applied_from_the_start(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """To every owner by himself, also after an error with another."""
        to_delete = retention.runs_to_delete

        def failing(owner: int | None, *given: Any) -> Any:
            if owner is None:
                raise RuntimeError("broken")
            return to_delete(owner, *given)

        monkeypatch.setattr(retention, "runs_to_delete", failing)
        user = await User.objects.acreate(username="next")
        for owner in (user, None):
            await asyncio.to_thread(run, 9, owner=owner)
            await Retention.objects.acreate(owner=owner, max_days=1)
        async with working(retention.pruning):

            async def is_done() -> bool:
                return await Run.objects.acount() == 1

            await until(is_done)
        assert (await Run.objects.aget()).owner_id is None

    async def test_the_trash_is_purged(self) -> None:
        for hours in (23, 25):
            moment = timezone.now() - timedelta(hours=hours)
            await Collection.objects.acreate(name=f"{hours} hours", deleted_at=moment)
        await retention.pruning.do()
        kept = [each.name async for each in Collection.with_trashed.all()]
        assert kept == ["23 hours"]

    async def test_limits_that_are_lifted_end_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first to be deleted is, while somebody lifts the limits."""
        monkeypatch.setattr(retention, "BATCH_RUNS", 1)
        delete = retention.delete

        def lifting(keys: Any) -> int:
            Retention.objects.update(max_days=None)
            return delete(keys)

        monkeypatch.setattr(retention, "delete", lifting)
        for _ in range(4):
            await asyncio.to_thread(run, 9)
        await Retention.objects.acreate(max_days=1)
        assert await retention.prune(None) == 1

    async def test_two_at_once_do_the_work_of_one(self) -> None:
        await asyncio.to_thread(run, 9)
        await Retention.objects.acreate(max_days=1)
        both = retention.prune(None), retention.prune(None)
        assert both[0] is both[1]
        assert await both[0] == 1


@pytest.mark.parametrize(
    ("setting", "own", "days"),
    [(0, None, None), (0, 7, 7), (90, None, 90), (90, 7, 7), (90, 365, 90)],
)
def test_an_owners_choice_may_be_shorter_than_the_default(
    settings: Any, setting: int, own: int | None, days: int | None
) -> None:
    settings.RETENTION_DAYS = setting
    Retention.objects.create(max_days=own, max_runs=5)
    assert RetentionLimits.of(None) == RetentionLimits(days, 5)
    assert RetentionLimits.set_by(None) == RetentionLimits(own, 5)
    owner = User.objects.create_user("owner")  # Who has set nothing.
    assert (owner.pk in retention.owners_with_limits()) is bool(setting)
