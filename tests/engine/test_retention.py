"""Retention limits: the plan by table and property, then the deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.engine import retention
from playground.engine.retention import (
    BATCH_BYTES,
    BATCH_RUNS,
    RetentionLimits,
    RetentionReason,
    RunTree,
    deletion_batches,
    plan_pruning,
    preview,
    retention_reasons_by_id,
    run_trees,
    with_descendants,
)
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

pytestmark = pytest.mark.database

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def run_tree(
    number: int, days: float, size: int = 10, hold: RetentionReason | None = None
) -> RunTree:
    return RunTree(UUID(int=number), "A", NOW - timedelta(days=days), 1, size, hold)


def numbers(trees: Sequence[RunTree]) -> list[int]:
    return [each.root.int for each in trees]


SHARED = RetentionReason.SHARED

#: (what there is as (days old, bytes, hold)), the limits, what goes and what is held, by its place.
DECISIONS: list[tuple[str, list[tuple[Any, ...]], RetentionLimits, list[int], list[int]]] = [
    ("no limit", [(900,), (1,)], RetentionLimits(), [], []),
    ("nothing there", [], RetentionLimits(1, 1, 1), [], []),
    ("by age, to the second", [(30.001,), (30,), (29,)], RetentionLimits(max_days=30), [0], []),
    ("by number, the oldest first", [(1,), (3,), (2,)], RetentionLimits(max_runs=1), [1, 2], []),
    ("just as many", [(1,), (2,)], RetentionLimits(max_runs=2), [], []),
    ("by size", [(3, 50), (2, 30), (1, 20)], RetentionLimits(max_bytes=50), [0], []),
    ("one that is larger than all may be", [(1, 500)], RetentionLimits(max_bytes=50), [0], []),
    ("whichever limit is reached", [(9,), (5,), (1,)], RetentionLimits(8, 1, None), [0, 1], []),
    ("held by age", [(9, 1, SHARED), (8,)], RetentionLimits(max_days=7), [1], [0]),
    (
        "another goes in the place of what is held",
        [(9, 1, SHARED), (8,), (7,)],
        RetentionLimits(max_runs=2),
        [1],
        [0],
    ),
    (
        "held ones alone are too many",
        [(2, 9, SHARED), (1, 9, SHARED)],
        RetentionLimits(None, 1),
        [],
        [0, 1],
    ),
]


@pytest.mark.parametrize(
    ("there", "limits", "to_delete", "held"),
    [row[1:] for row in DECISIONS],
    ids=[r[0] for r in DECISIONS],
)
def test_decisions(
    there: list[tuple[Any, ...]], limits: RetentionLimits, to_delete: list[int], held: list[int]
) -> None:
    found = plan_pruning([run_tree(place, *each) for place, each in enumerate(there)], limits, NOW)
    assert numbers(found.to_delete) == to_delete
    assert numbers(found.retained) == held


few = st.none() | st.integers(1, 8)
any_limits = st.builds(RetentionLimits, few, few, st.none() | st.integers(1, 100))
any_trees = st.lists(
    st.tuples(
        st.integers(0, 12), st.integers(0, 40), st.none() | st.sampled_from(list(RetentionReason))
    ),
    max_size=12,
).map(lambda rows: [run_tree(place, *row) for place, row in enumerate(rows)])


@given(any_trees, any_limits)
def test_no_more_goes_than_the_limits_ask_for(
    trees: list[RunTree], limits: RetentionLimits
) -> None:
    found = plan_pruning(trees, limits, NOW)
    to_delete = {each.root for each in found.to_delete}
    assert not any(each.retention_reason for each in found.to_delete)
    assert all(each.retention_reason for each in found.retained)
    retained = [each for each in trees if each.root not in to_delete]
    free = [each for each in retained if not each.retention_reason]
    if free:  # As long as there is something that could go, the limits are kept.
        assert _within(retained, limits)
    if found.to_delete:  # And with the newest of what goes, they were not.
        assert not _within([*retained, found.to_delete[-1]], limits)
    assert all(a.age <= b.age for a, b in zip(found.to_delete, found.to_delete[1:], strict=False))


def _within(trees: Sequence[RunTree], limits: RetentionLimits) -> bool:
    free = [each for each in trees if not each.retention_reason]
    old = limits.max_days is not None and any(
        each.latest < NOW - timedelta(days=limits.max_days) for each in free
    )
    many = limits.max_runs is not None and len(trees) > limits.max_runs
    size = sum(each.bytes for each in trees)
    return not old and not many and not (limits.max_bytes is not None and size > limits.max_bytes)


@given(any_trees, any_limits)
def test_applied_again_nothing_is_left_to_do(trees: list[RunTree], limits: RetentionLimits) -> None:
    gone = set(map(id, plan_pruning(trees, limits, NOW).to_delete))
    rest = [each for each in trees if id(each) not in gone]
    assert plan_pruning(rest, limits, NOW).to_delete == ()


def test_days_beyond_the_calendar_are_no_limit() -> None:
    assert plan_pruning([run_tree(1, 9)], RetentionLimits(max_days=10**9), NOW).to_delete == ()


def test_a_transaction_is_small_and_cuts_no_family() -> None:
    large = [RunTree(UUID(int=n), "A", NOW, 30, 1, None, [UUID(int=n)] * 30) for n in range(10)]
    assert [len(batch) for batch in deletion_batches(large)] == [90, 90, 90, 30]
    heavy = [run_tree(n, 1, BATCH_BYTES) for n in range(3)]
    for each in heavy:
        each.members.append(each.root)
    assert [len(batch) for batch in deletion_batches(heavy)] == [1, 1, 1]
    assert BATCH_RUNS >= 90
    assert list(deletion_batches([])) == []


# --- for real ---------------------------------------------------------------------------------


def run(days: float = 0, **fields: Any) -> Run:
    """A run that was made some days ago."""
    found: Run = Run.objects.create(
        **{
            "agent_name": "A", "url": "http://a.example", "protocol": "nlweb", "binding": "http",
            "version": "0.55", "request": {"query": {"text": "eggs"}}, "text": "eggs",
            "state": "completed", "bytes": 10, **fields,
        }
    )  # fmt: skip
    FrameBatch.objects.create(run=found, first=1, last=1, data=b"")
    found.created_at = timezone.now() - timedelta(days=days)
    found.save(update_fields=["created_at"])
    return found


def prune(owner: int | None = None) -> int:
    trees = retention.runs_to_delete(owner)
    deleted = sum(retention.delete(batch) for batch in deletion_batches(trees))
    retention.delete_unsent_collection_runs(owner, RetentionLimits.of(owner), trees)
    return deleted


def limit(**limits: int) -> None:
    Retention.objects.update_or_create(owner=None, defaults=limits)


@pytest.mark.django_db
def test_a_summary_goes_with_the_last_of_its_requests() -> None:
    done = CollectionRun.objects.create(name="C", state="completed")
    unsent = CollectionRun.objects.create(name="D", state="completed")
    Step.objects.create(collection_run=unsent, number=1, name="R")
    for number, days in enumerate((9, 5)):
        Step.objects.create(collection_run=done, number=number, name="R", run=run(days))
    limit(max_days=7)
    assert prune() == 1
    assert CollectionRun.objects.filter(pk=done.pk).exists()
    limit(max_days=3)
    assert prune() == 1
    assert list(CollectionRun.objects.all()) == [unsent]


@pytest.mark.django_db
def test_a_collection_run_that_sent_nothing_goes_by_its_age() -> None:
    owner = User.objects.create_user("owner")
    old = timezone.now() - timedelta(days=9)
    kept = {
        CollectionRun.objects.create(name="new", state="stopped"),
        CollectionRun.objects.create(name="in progress", created_at=old),
        CollectionRun.objects.create(name="with a request", state="completed", created_at=old),
        CollectionRun.objects.create(
            name="of another", state="stopped", created_at=old, owner=owner
        ),
    }
    sent = CollectionRun.objects.get(name="with a request")
    Step.objects.create(collection_run=sent, number=1, name="R", run=run(1))
    for state in ("completed", "stopped", "interrupted"):
        unsent = CollectionRun.objects.create(name=state, state=state, created_at=old)
        Step.objects.create(collection_run=unsent, number=1, name="R", verdict="skipped")
    assert prune() == 0
    assert CollectionRun.objects.count() == 7
    limit(max_days=7)
    assert prune() == 0
    assert set(CollectionRun.objects.all()) == kept


@pytest.mark.django_db
def test_a_collection_run_that_sent_nothing_goes_with_the_runs_after_it() -> None:
    for days in (9, 2):
        created_at = timezone.now() - timedelta(days=days)
        CollectionRun.objects.create(name=f"{days}", state="stopped", created_at=created_at)
    run(5)
    run(1)
    limit(max_runs=1)
    assert prune() == 1
    assert [each.name for each in CollectionRun.objects.all()] == ["2"]


@pytest.mark.django_db
class TestFamilies:
    def test_children_belong_to_their_turn_and_turns_to_themselves(self) -> None:
        turn = run(9)
        check = run(8, kind="check", parent=turn, bytes=5)
        action = run(7, kind="action", parent=check)
        answer = run(6, kind="answer", parent=check)
        lost = run(5, kind="check", parent=None)
        found = {each.root: each for each in run_trees(None)}
        assert set(found) == {turn.pk, answer.pk, lost.pk}
        assert set(found[turn.pk].members) == {turn.pk, check.pk, action.pk}
        assert (found[turn.pk].runs, found[turn.pk].bytes) == (3, 25)
        assert found[turn.pk].latest == action.created_at
        assert with_descendants([turn.pk]) == {turn.pk, check.pk, action.pk}

    def test_a_ring_of_parents_has_an_end(self) -> None:
        one = run(kind="check")
        other = run(kind="check", parent=one)
        Run.objects.filter(pk=one.pk).update(parent=other)
        assert with_descendants([one.pk]) == {one.pk, other.pk}
        assert sum(each.runs for each in run_trees(None)) == 2

    def test_what_holds_a_run(self) -> None:
        under_way = run(state="streaming", heartbeat_at=timezone.now())
        followed, settled = run(), run()
        PolledPromise.objects.create(
            run=followed, entry_seq=1, token="t", polling_seconds=9, status="polling"
        )
        PolledPromise.objects.create(
            run=settled, entry_seq=1, token="t", polling_seconds=9, status="fulfilled"
        )
        shared, expired = run(), run()
        Share.objects.create(run=shared)
        Share.objects.create(run=expired, expires_at=timezone.now() - timedelta(days=1))
        recorded = run()
        collection = Collection.objects.create(name="C")
        SavedRequest.objects.create(collection=collection, name="R", recorded_run=recorded)
        sent, done = run(), run()
        running = CollectionRun.objects.create(name="C")
        Step.objects.create(collection_run=running, number=1, name="R", run=sent)
        ended = CollectionRun.objects.create(name="C", state="completed")
        Step.objects.create(collection_run=ended, number=1, name="R", run=done)
        assert retention_reasons_by_id(each.pk for each in Run.objects.all()) == {
            under_way.pk: RetentionReason.IN_PROGRESS,
            followed.pk: RetentionReason.POLLED,
            shared.pk: RetentionReason.SHARED,
            recorded.pk: RetentionReason.RECORDED,
            sent.pk: RetentionReason.COLLECTION_RUN,
        }
        limit(max_days=1)
        Run.objects.update(created_at=timezone.now() - timedelta(days=9))
        assert prune() == 3
        assert not Run.objects.filter(pk__in=[settled.pk, expired.pk, done.pk]).exists()
        assert not CollectionRun.objects.filter(pk=ended.pk).exists()
        assert Run.objects.count() == 5

    @pytest.mark.parametrize("busy", ["under way", "promise"])
    def test_what_is_still_going_on_holds_the_turns_before_it(self, busy: str) -> None:
        conversation = Conversation.objects.create()
        first = run(9, conversation=conversation)
        check = run(9, conversation=conversation, parent=first, kind="check")
        second = run(8, conversation=conversation, parent=check, kind="answer")
        branch = run(8, conversation=conversation, parent=first)
        if busy == "promise":
            last = run(7, conversation=conversation, parent=second)
            PolledPromise.objects.create(
                run=last, entry_seq=1, token="t", polling_seconds=9, status="polling"
            )
        else:
            last = run(0, conversation=conversation, parent=second, state="streaming",
                       heartbeat_at=timezone.now())  # fmt: skip
        elsewhere = run(9, conversation=Conversation.objects.create())
        holds = retention_reasons_by_id(each.pk for each in Run.objects.all())
        assert {
            pk for pk, hold in holds.items() if hold == RetentionReason.HAS_ACTIVE_FOLLOW_UP
        } == {
            first.pk,
            check.pk,
            second.pk,
        }
        limit(max_days=1)
        said = preview(None, RetentionLimits.of(None))
        assert said.retained[RetentionReason.HAS_ACTIVE_FOLLOW_UP] == 3
        assert said.runs == 2
        assert prune() == 2
        left = set(Run.objects.values_list("pk", flat=True))
        assert left == {first.pk, check.pk, second.pk, last.pk}
        assert not {branch.pk, elsewhere.pk} & left
        assert [turn.run for turn in branch_to(last)] == [first, second, last]

    def test_a_ring_of_turns_that_is_going_on_has_an_end(self) -> None:
        conversation = Conversation.objects.create()
        one = run(9, conversation=conversation, state="streaming", heartbeat_at=timezone.now())
        other = run(9, conversation=conversation, parent=one)
        Run.objects.filter(pk=one.pk).update(parent=other)
        limit(max_days=1)
        assert prune() == 0

    def test_a_child_holds_its_turn(self) -> None:
        turn = run(9)
        Share.objects.create(run=run(9, kind="action", parent=turn))
        limit(max_days=1)
        assert prune() == 0


@pytest.mark.django_db
class TestDeleting:
    def test_everything_that_belongs_to_a_run_goes(self) -> None:
        conversation = Conversation.objects.create()
        old, new = run(9, conversation=conversation), run()
        Twin.objects.create(left=old, right=new)
        tracker = PolledPromise.objects.create(
            run=new, entry_seq=1, token="t", polling_seconds=9, status="fulfilled", final_run=old
        )
        limit(max_days=1)
        assert prune() == 1
        tracker.refresh_from_db()
        assert tracker.final_run is None
        assert not Twin.objects.exists()
        assert not Conversation.objects.exists()
        assert FrameBatch.objects.get().run == new

    def test_a_turn_in_the_middle_leaves_the_rest_readable(self) -> None:
        conversation = Conversation.objects.create()
        first = run(9, conversation=conversation)
        middle = run(8, conversation=conversation, parent=first)
        run(8, conversation=conversation, parent=middle, kind="check")
        last = run(7, conversation=conversation, parent=middle)
        answer = run(6, conversation=conversation, parent=last, kind="answer", answers={"q": "me"})
        assert retention.delete(with_descendants([middle.pk])) == 2
        last, answer = (Run.objects.get(pk=each.pk) for each in (last, answer))
        assert last.parent is None
        assert [turn.run for turn in branch_to(answer)] == [last, answer]
        assert [turn.run for turn in branch_to(first)] == [first]
        assert Conversation.objects.exists()

    def test_what_was_shared_meanwhile_stays(self) -> None:
        old = run(9)
        limit(max_days=1)
        found = list(deletion_batches(retention.runs_to_delete(None)))
        Share.objects.create(run=old)
        assert retention.delete(found[0]) == 0
        assert retention.delete(found[0], also=frozenset({RetentionReason.SHARED})) == 1
        assert retention.delete(found[0]) == 0

    def test_a_family_goes_as_a_whole_or_stays(self) -> None:
        turn = run(9)
        check = run(9, kind="check", parent=turn)
        action = run(9, kind="action", parent=check)
        free = run(9)
        limit(max_days=1)
        (found,) = deletion_batches(retention.runs_to_delete(None))
        share = Share.objects.create(run=action)
        assert retention.delete(found) == 1
        assert set(Run.objects.all()) == {turn, check, action}
        assert free not in Run.objects.all()
        share.delete()
        # Somebody has run an action of it since it was found to be old.
        new = run(0, kind="action", parent=turn)
        assert retention.delete(found) == 0
        new.refresh_from_db()
        assert new.parent == turn
        new.delete()
        assert retention.delete(found) == 3

    def test_a_check_by_itself_goes_without_its_turn(self) -> None:
        turn = run()
        check = run(kind="check", parent=turn)
        assert retention.delete(with_descendants([check.pk])) == 1
        assert Run.objects.get() == turn

    def test_every_owner_by_himself(self) -> None:
        user = User.objects.create(username="owner")
        run(9, owner=user)
        run(9)
        Retention.objects.create(owner=user, max_days=1)
        assert retention.owners_with_limits() == [user.pk]
        assert prune(None) == 0
        assert prune(user.pk) == 1
        assert Run.objects.get().owner is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("limits", [{"max_days": 5}, {"max_runs": 4}, {"max_bytes": 55}], ids=str)
def test_what_is_said_to_go_is_exactly_what_goes(limits: dict[str, int]) -> None:
    for number in range(12):
        turn = run(number, agent_name=f"Agent {number % 3}", bytes=number)
        if number % 4 == 0:
            run(number, agent_name=turn.agent_name, kind="check", parent=turn, bytes=3)
        if number % 5 == 4:
            Share.objects.create(run=turn)
    limit(**limits)
    there = {each.pk: each for each in Run.objects.all()}
    said = preview(None, RetentionLimits.of(None))
    gone = prune()
    left = set(Run.objects.values_list("pk", flat=True))
    missing = [each for pk, each in there.items() if pk not in left]
    assert said.runs == gone == len(missing) > 0
    assert said.bytes == sum(each.bytes for each in missing)
    assert said.all_runs == len(there)
    assert said.oldest == min(each.created_at for each in missing)
    assert said.newest == max(each.created_at for each in missing)
    by_agent = {each.agent: (each.runs, each.bytes) for each in said.agents}
    for name, (runs, size) in by_agent.items():
        own = [each for each in missing if each.agent_name == name]
        assert (len(own), sum(each.bytes for each in own)) == (runs, size)
    assert preview(None, RetentionLimits.of(None)).runs == 0


@pytest.mark.django_db(transaction=True)
class TestHousekeeping:
    async def test_limits_are_applied_from_the_start(self) -> None:
        await asyncio.to_thread(run, 9)
        kept = await asyncio.to_thread(run)
        await Retention.objects.acreate(max_days=1)
        pruner = retention.pruning.begin()
        try:
            assert retention.pruning.begin() is pruner
            async with asyncio.timeout(20):
                while await Run.objects.acount() > 1:
                    await asyncio.sleep(0.05)
        finally:
            pruner.cancel()
        assert await Run.objects.aget() == kept

    async def test_limits_that_are_lifted_end_what_is_under_way(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
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
        assert await Run.objects.acount() == 3

    async def test_narrower_limits_count_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        delete = retention.delete

        def narrowing(keys: Any) -> int:
            Retention.objects.update(max_days=3)
            return delete(keys)

        monkeypatch.setattr(retention, "delete", narrowing)
        for days in (9, 5, 1):
            await asyncio.to_thread(run, days)
        await Retention.objects.acreate(max_days=7)
        assert await retention.prune(None) == 2

    async def test_the_trouble_of_one_owner_is_not_that_of_the_next(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        to_delete = retention.runs_to_delete

        def failing(owner: int | None, *given: Any) -> Any:
            if owner is None:
                raise RuntimeError("broken")
            return to_delete(owner, *given)

        monkeypatch.setattr(retention, "runs_to_delete", failing)
        user = await User.objects.acreate(username="next")
        await asyncio.to_thread(run, 9, owner=user)
        await Retention.objects.acreate(max_days=1)
        await Retention.objects.acreate(owner=user, max_days=1)
        pruner = retention.pruning.begin()
        try:
            async with asyncio.timeout(20):
                while await Run.objects.aexists():
                    await asyncio.sleep(0.05)
        finally:
            pruner.cancel()

    async def test_two_at_once_do_the_work_of_one(self) -> None:
        for _ in range(3):
            await asyncio.to_thread(run, 9)
        await Retention.objects.acreate(max_days=1)
        both = retention.prune(None), retention.prune(None)
        assert both[0] is both[1]
        assert await both[0] == 3
        assert await retention.prune(None) == 0


@pytest.mark.django_db
class TestDefaultDays:
    @pytest.mark.parametrize(
        ("setting", "own", "days"),
        [(0, None, None), (0, 7, 7), (90, None, 90), (90, 7, 7), (90, 365, 90)],
    )
    def test_an_owners_choice_may_be_shorter(
        self, settings: Any, setting: int, own: int | None, days: int | None
    ) -> None:
        settings.RETENTION_DAYS = setting
        Retention.objects.create(max_days=own, max_runs=5)
        assert RetentionLimits.of(None) == RetentionLimits(days, 5)
        assert RetentionLimits.set_by(None) == RetentionLimits(own, 5)

    def test_applies_to_owners_who_have_set_nothing(self, settings: Any) -> None:
        settings.RETENTION_DAYS = 90
        owner = User.objects.create_user("owner")
        old, new = run(91, owner=owner), run(89, owner=owner)
        assert owner.pk in retention.owners_with_limits()
        assert prune(owner.pk) == 1
        assert set(Run.objects.all()) == {new}
        assert not Run.objects.filter(pk=old.pk).exists()
