"""Retention of runs: an owner's limits, which runs they delete, and the deletion itself.

`plan_pruning` alone decides what is deleted, as a function of the stored runs and the limits, so a
preview and the deletion cannot disagree. `pruning` applies the limits of every owner when a server
starts and every hour, `prune` applies those of one owner at once.

Deletion happens in small transactions in the thread that writes frames, with pauses between them:
a request that is sent meanwhile waits for one of them at most. Two processes that prune at the same
time find less to delete.

**Run trees.** A turn that is deleted leaves the turns that follow it, which can be read by
themselves. Polls, cancellations, client responses and actions mean nothing without their turn, and
a turn is incomplete without them: a tree is deleted or retained as a whole. A request that is still
to be sent in a conversation includes what earlier turns said, so those are retained until then.
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from playground.base.executors import run_in_reader, run_in_writer
from playground.base.jobs import PeriodicJob, SingleTask, log_errors
from playground.models import (
    CollectionRun,
    Conversation,
    PolledPromise,
    PollingStatus,
    Retention,
    Run,
    SavedRequest,
    Share,
    Step,
)
from playground.models.collections import purge_trash
from playground.models.driving import database_now, mark_interrupted
from playground.models.runs import TURNS

logger = logging.getLogger(__name__)

#: The largest limits: days and runs.
MAX_DAYS, MAX_RUNS = 36_500, 100_000_000
#: The most that one transaction deletes: runs, and bytes that they received.
BATCH_RUNS, BATCH_BYTES = 100, 20 * 1024 * 1024
#: Seconds between two times that the limits are applied, and between two transactions.
EVERY, PAUSE = 3600.0, 0.02
#: Levels of child runs in a tree: a question of an action's action has a few.
MAX_LEVELS = 20
#: Keys in one query.
_CHUNK = 500


# Limits


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """The most that is retained; None for no limit."""

    max_days: int | None = None
    #: Run trees: polls and actions are deleted with their turn and not counted.
    max_runs: int | None = None

    @classmethod
    def of(cls, owner: int | None) -> RetentionLimits:
        return cls.set_by(owner).within_setting()

    @classmethod
    def set_by(cls, owner: int | None) -> RetentionLimits:
        found = Retention.objects.filter(owner=owner).first()
        return cls(found.max_days, found.max_runs) if found else cls()

    def within_setting(self) -> RetentionLimits:
        days = [each for each in (self.max_days, settings.RETENTION_DAYS) if each]
        return replace(self, max_days=min(days, default=None))

    @property
    def any(self) -> bool:
        return self != RetentionLimits()


def owners_with_limits() -> list[int | None]:
    if settings.RETENTION_DAYS:
        return [None, *User.objects.order_by("pk").values_list("pk", flat=True)]
    return list(Retention.objects.order_by("pk").values_list("owner_id", flat=True))


# Run trees, and the reasons to retain them


class RetentionReason(enum.StrEnum):
    """Reason why a run is retained beyond the limits, the strongest reason first."""

    IN_PROGRESS = "in progress"
    COLLECTION_RUN = "part of a collection run in progress"
    POLLED = "waiting for a promise that is being polled"
    HAS_ACTIVE_FOLLOW_UP = "continued by a run in progress or a promise that is being polled"
    SHARED = "shared with a link"
    RECORDED = "the recorded response of a saved request"


@dataclass(slots=True)
class RunTree:
    """A turn, or a child run whose turn was deleted, with all child runs below it."""

    root: UUID
    agent: str
    #: When the latest of the runs was created.
    latest: datetime
    runs: int = 0
    #: Bytes received.
    bytes: int = 0
    retention_reason: RetentionReason | None = None
    members: list[UUID] = field(default_factory=list)

    @property
    def age(self) -> tuple[datetime, UUID]:
        """The sort key, the oldest tree first."""
        return self.latest, self.root


def run_trees(owner: int | None) -> list[RunTree]:
    """Return all runs of an owner as trees, in no order; reads a few columns of every run."""
    names = ("pk", "parent_id", "kind", "agent_name", "created_at", "bytes")
    rows = list(Run.objects.filter(owner=owner).order_by().values_list(*names))
    parents = {pk: parent for pk, parent, kind, *_ in rows if kind not in TURNS}
    known = {row[0] for row in rows}
    reasons = retention_reasons(Run.objects.filter(owner=owner))
    strength = list(RetentionReason).index
    trees: dict[UUID, RunTree] = {}
    for pk, _, _, agent, created_at, size in rows:
        root = _root(pk, parents, known)
        tree = trees.setdefault(root, RunTree(root, agent, created_at))
        tree.runs += 1
        tree.bytes += size
        tree.members.append(pk)
        tree.latest = max(tree.latest, created_at)
        own = filter(None, (tree.retention_reason, reasons.get(pk)))
        tree.retention_reason = min(own, key=strength, default=None)
        if pk == root:
            tree.agent = agent
    return list(trees.values())


def with_descendants(runs: Iterable[UUID]) -> set[UUID]:
    """Return the keys of the runs and of all child runs below them; turns are no child runs."""
    found = level = set(runs)
    for _ in range(MAX_LEVELS):
        below: set[UUID] = set()
        for keys in _chunks(level):
            children = Run.objects.filter(parent__in=keys).exclude(kind__in=TURNS)
            below |= set(children.values_list("pk", flat=True))
        level = below - found
        if not level:
            break
        found = found | level
    return found


def retention_reasons(runs: QuerySet[Run]) -> dict[UUID, RetentionReason]:
    """Return the runs that are retained for a reason of their own, in a few small queries."""
    busy = Q(status=PollingStatus.POLLING) | Q(cancel_requested=True) | Q(leased_until__gt=Now())
    keys = runs.order_by().values("pk")
    running_steps = Step.objects.filter(collection_run__state=CollectionRun.State.RUNNING)
    polled = PolledPromise.objects.filter(busy)
    unfinished = Run.objects.unfinished()
    sources: list[tuple[RetentionReason, QuerySet[Any], str]] = [
        (RetentionReason.RECORDED, SavedRequest.objects.all(), "recorded_run_id"),
        (RetentionReason.SHARED, Share.objects.valid(), "run_id"),
        (RetentionReason.HAS_ACTIVE_FOLLOW_UP, _ancestors(unfinished, polled), "pk"),
        (RetentionReason.POLLED, polled, "run_id"),
        (RetentionReason.COLLECTION_RUN, running_steps, "run_id"),
        (RetentionReason.IN_PROGRESS, unfinished, "pk"),
    ]
    found: dict[UUID, RetentionReason] = {}
    for reason, rows, name in sources:
        retained = rows.filter(**{f"{name}__in": keys}).order_by()
        found |= dict.fromkeys(retained.values_list(name, flat=True), reason)
    return found


def retention_reasons_by_id(keys: Iterable[UUID]) -> dict[UUID, RetentionReason]:
    """Return the same as `retention_reasons` for any number of keys."""
    found: dict[UUID, RetentionReason] = {}
    for chunk in _chunks(keys):
        found |= retention_reasons(Run.objects.filter(pk__in=chunk))
    return found


def deletable_runs(keys: Iterable[UUID], also: Container[RetentionReason] = ()) -> list[UUID]:
    """Return the runs that may be deleted now: complete trees, retained for no reason.

    Reasons in `also` do not count. A tree that has grown by a run that is not among the keys is
    retained.
    """
    asked = set(keys)
    every = with_descendants(asked)
    parents: dict[UUID, UUID | None] = {}
    for chunk in _chunks(every):
        below = Run.objects.filter(pk__in=chunk).exclude(kind__in=TURNS).order_by()
        parents |= dict(below.values_list("pk", "parent_id"))
    roots = {pk: _root(pk, parents, every) for pk in every}
    retained = (pk for pk, reason in retention_reasons_by_id(every).items() if reason not in also)
    retained_roots = {roots[pk] for pk in (*retained, *(every - asked))}
    return [pk for pk in asked if roots[pk] not in retained_roots]


def _root(pk: UUID, parents: Mapping[UUID, UUID | None], known: set[UUID]) -> UUID:
    for _ in range(MAX_LEVELS):
        parent = parents.get(pk)
        if parent is None or parent not in known:
            break
        pk = parent
    return pk


def _ancestors(unfinished: QuerySet[Run], polled: QuerySet[PolledPromise]) -> QuerySet[Run]:
    """Return the runs that unfinished runs, and runs with a polled promise, continue.

    There are few of those at any time; each of their conversations is read as a whole and
    traversed in memory.
    """
    names = ("pk", "conversation_id")
    busy = {*unfinished.values_list(*names), *polled.values_list("run_id", "run__conversation")}
    conversations = {conversation for _, conversation in busy if conversation}
    parents: dict[UUID, UUID | None] = {}
    for chunk in _chunks(conversations):
        rows = Run.objects.filter(conversation__in=chunk).order_by()
        parents |= dict(rows.values_list("pk", "parent_id"))
    found: set[UUID] = set()
    for pk, _ in busy:
        parent = parents.get(pk)
        while parent is not None and parent not in found:
            found.add(parent)
            parent = parents.get(parent)
    return Run.objects.filter(pk__in=found)


def _chunks(keys: Iterable[UUID]) -> Iterable[list[UUID]]:
    every = list(keys)
    return (every[at : at + _CHUNK] for at in range(0, len(every), _CHUNK))


# The decision


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """Runs and bytes of one agent."""

    agent: str
    runs: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PruningPreview:
    """The effect of limits before they are applied."""

    #: Stored runs, polls and actions included, and their bytes; those that would be deleted.
    all_runs: int = 0
    all_bytes: int = 0
    runs: int = 0
    bytes: int = 0
    #: When the oldest and the newest of the runs to delete was created.
    oldest: datetime | None = None
    newest: datetime | None = None
    #: The runs to delete by agent, most runs first.
    agents: tuple[AgentUsage, ...] = ()
    #: Runs beyond the limits that are retained, by reason.
    retained: dict[RetentionReason, int] = field(default_factory=dict)


def plan_pruning(
    trees: Iterable[RunTree], limits: RetentionLimits, now: datetime
) -> tuple[list[RunTree], list[RunTree]]:
    """Return the trees that the limits delete, and those retained beyond them, the oldest first.

    Retained trees count towards the limits, so newer ones are deleted in their place.
    """
    every = sorted(trees, key=lambda tree: tree.age)
    count = len(every)
    cutoff = None if limits.max_days is None else now - timedelta(min(limits.max_days, MAX_DAYS))
    to_delete: list[RunTree] = []
    retained: list[RunTree] = []
    for tree in every:
        is_old = cutoff is not None and tree.latest < cutoff
        if not is_old and (limits.max_runs is None or count <= limits.max_runs):
            break  # The following trees are newer, and the count has not changed.
        if tree.retention_reason is not None:
            retained.append(tree)
        else:
            to_delete.append(tree)
            count -= 1
    return to_delete, retained


def preview(owner: int | None, limits: RetentionLimits) -> PruningPreview:
    mark_interrupted()
    trees = run_trees(owner)
    to_delete, beyond = plan_pruning(trees, limits, database_now())
    retained: Counter[RetentionReason] = Counter()
    for tree in beyond:
        assert tree.retention_reason
        retained[tree.retention_reason] += tree.runs
    runs: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for tree in to_delete:
        runs[tree.agent] += tree.runs
        size[tree.agent] += tree.bytes
    most = sorted(runs, key=lambda agent: (-runs[agent], agent))
    return PruningPreview(
        all_runs=sum(tree.runs for tree in trees),
        all_bytes=sum(tree.bytes for tree in trees),
        runs=runs.total(),
        bytes=size.total(),
        oldest=to_delete[0].latest if to_delete else None,
        newest=to_delete[-1].latest if to_delete else None,
        agents=tuple(AgentUsage(agent, runs[agent], size[agent]) for agent in most),
        retained=dict(retained),
    )


def runs_to_delete(owner: int | None, limits: RetentionLimits | None = None) -> list[RunTree]:
    """Return the trees that `limits`, by default the owner's own, delete, the oldest first."""
    limits = limits or RetentionLimits.of(owner)
    if not limits.any:
        return []
    mark_interrupted()
    to_delete, _ = plan_pruning(run_trees(owner), limits, database_now())
    return to_delete


# The deletion


def deletion_batches(trees: Iterable[RunTree]) -> Iterator[list[UUID]]:
    """Yield the keys of the runs, one transaction's at a time; no tree is divided."""
    batch: list[UUID] = []
    size = 0
    for tree in trees:
        if batch and (len(batch) + tree.runs > BATCH_RUNS or size + tree.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch += tree.members
        size += tree.bytes
    if batch:
        yield batch


def delete(keys: Iterable[UUID], *, also: frozenset[RetentionReason] = frozenset()) -> int:
    """Delete runs with their frames, and conversations left empty; return the number of runs.

    Trees with a reason to be retained are not deleted, except for reasons in `also`: a run may
    have been shared since. Rows that another transaction deletes are skipped. The record of a
    collection run is deleted with the last of its requests.
    """
    with transaction.atomic():
        deletable = deletable_runs(keys, also)
        rows = Run.objects.select_for_update(skip_locked=True).filter(pk__in=deletable)
        found = list(rows.order_by().values_list("pk", "conversation_id"))
        runs = Run.objects.filter(pk__in=[pk for pk, _ in found])
        collection_runs = set(
            Step.objects.filter(run__in=runs).values_list("collection_run", flat=True)
        )
        runs.only("pk").delete()
        _without_runs().filter(pk__in=collection_runs).delete()
        conversations = {conversation for _, conversation in found if conversation}
        others = Run.objects.filter(conversation=OuterRef("pk"))
        empty = Conversation.objects.filter(pk__in=conversations).filter(~Exists(others))
        empty.delete()
    return len(found)


def delete_unsent_collection_runs(
    owner: int | None, limits: RetentionLimits, trees: Sequence[RunTree]
) -> None:
    """Delete the collection runs beyond the limits that have no requests left, or never sent any.

    Those are deleted that are older than the limit of days, or than the newest of `trees`, which
    the limits delete. All others are deleted with the last of their requests.
    """
    ages = [tree.latest for tree in trees]
    if limits.max_days is not None:
        ages.append(database_now() - timedelta(min(limits.max_days, MAX_DAYS)))
    if not ages:
        return
    _without_runs().filter(owner=owner, created_at__lt=max(ages)).delete()


def _without_runs() -> QuerySet[CollectionRun]:
    """Return the collection runs that have ended and have no run of a request left."""
    sent = Step.objects.filter(collection_run=OuterRef("pk"), run__isnull=False)
    ended = CollectionRun.objects.exclude(state=CollectionRun.State.RUNNING)
    return ended.filter(~Exists(sent))


#: Prunings in progress, by owner; the result of a task is the number of runs deleted.
_prunings: dict[int | None, SingleTask[int]] = {}


def prune(owner: int | None) -> asyncio.Task[int]:
    """Apply an owner's limits in the background; the task returns the number of runs deleted.

    A pruning in progress is not started again. Must be called on the event loop's thread.
    """
    if owner not in _prunings:
        _prunings[owner] = SingleTask(partial(_prune, owner), "prune")
    return _prunings[owner].begin()


async def _prune_all() -> None:
    for owner in await run_in_reader(owners_with_limits):
        # One error does not keep the other owners' limits from being applied.
        with log_errors(f"Pruning the runs of owner {owner}", logging.ERROR):
            await prune(owner)
    while purged := await run_in_writer(purge_trash):
        logger.info("Purged %d rows of the trash", purged)
        await asyncio.sleep(PAUSE)


#: Applies all owners' limits, and purges the trash.
pruning = PeriodicJob("retention", EVERY, _prune_all)


async def _prune(owner: int | None) -> int:
    deleted = 0
    applied: RetentionLimits | None = None
    while (limits := await run_in_reader(RetentionLimits.of, owner)) != applied:
        applied = limits
        trees = await run_in_reader(runs_to_delete, owner, limits)
        for batch in deletion_batches(trees):
            if await run_in_reader(RetentionLimits.of, owner) != limits:
                break  # The owner has changed the limits since the plan was made.
            deleted += await run_in_writer(delete, batch)
            await asyncio.sleep(PAUSE)
        else:
            await run_in_writer(delete_unsent_collection_runs, owner, limits, trees)
    if deleted:
        logger.info("Pruning of owner %s deleted %d runs", owner, deleted)
    return deleted
