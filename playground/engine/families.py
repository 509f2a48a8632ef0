"""What is deleted together, and what must stay: a turn with the checks and actions below it.

A turn that goes leaves the turns that follow on it: those move a conversation on and can be read
by themselves. Checks, cancellations, replies and actions are nothing without their turn, nor is it
whole without them: a family goes as a whole or stays. What is still to be sent in a conversation
carries on what the turns before it said, so those stay until it has been sent.
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from playground.models import CollectionRun, PolledPromise, Run, RunKind, SavedRequest, Share, Step
from playground.models.promises import PollingStatus

#: Levels of children that are followed: a question of an action's action has a few.
MAX_LEVELS = 20
#: Keys that go into one query.
_CHUNK = 500

_TURNS = frozenset({RunKind.ASK.value, RunKind.ANSWER.value})


class RetentionReason(enum.StrEnum):
    """Why a run is not deleted by itself, the strongest reason first."""

    UNDER_WAY = "under way"
    COLLECTION_RUN = "part of a collection run under way"
    POLLED = "waiting for a promise that is followed"
    HAS_ACTIVE_FOLLOW_UP = "carried on by a run under way, or by a promise that is followed"
    SHARED = "shared by a link"
    RECORDED = "the recorded reply of a saved request"


@dataclass(slots=True)
class RunTree:
    """A turn, or a child whose turn is gone, with everything below it that is no turn."""

    root: UUID
    agent: str
    #: When the latest of them was made.
    latest: datetime
    runs: int = 0
    #: What came over the wire.
    bytes: int = 0
    retention_reason: RetentionReason | None = None
    members: list[UUID] = field(default_factory=list)

    @property
    def age(self) -> tuple[datetime, UUID]:
        """What they are ordered by, the oldest first."""
        return self.latest, self.root


def run_trees(owner: int | None) -> list[RunTree]:
    """Everything that an owner has, in no order. Reads a few columns of every run, no more."""
    names = ("pk", "parent_id", "kind", "agent_name", "created_at", "bytes")
    rows = list(Run.objects.filter(owner=owner).order_by().values_list(*names))
    parents = {pk: parent for pk, parent, kind, *_ in rows if kind not in _TURNS}
    known = {row[0] for row in rows}
    holds = retention_reasons(Run.objects.filter(owner=owner))
    found: dict[UUID, RunTree] = {}
    for pk, _, _, agent, created_at, size in rows:
        root = _root(pk, parents, known)
        family = found.setdefault(root, RunTree(root, agent, created_at))
        family.runs += 1
        family.bytes += size
        family.members.append(pk)
        family.latest = max(family.latest, created_at)
        family.retention_reason = _stronger(family.retention_reason, holds.get(pk))
        if pk == root:
            family.agent = agent
    return list(found.values())


def _root(pk: UUID, parents: Mapping[UUID, UUID | None], known: set[UUID]) -> UUID:
    for _ in range(MAX_LEVELS):
        above = parents.get(pk)
        if above is None or above not in known:
            break
        pk = above
    return pk


def with_descendants(runs: Iterable[UUID]) -> set[UUID]:
    """The keys of the runs and of everything below them that is no turn."""
    found = level = set(runs)
    for _ in range(MAX_LEVELS):
        below: set[UUID] = set()
        for keys in _chunks(level):
            children = Run.objects.filter(parent__in=keys).exclude(kind__in=_TURNS)
            below |= set(children.values_list("pk", flat=True))
        level = below - found
        if not level:
            break
        found = found | level
    return found


def retention_reasons(runs: QuerySet[Run]) -> dict[UUID, RetentionReason]:
    """Which of the runs must stay by themselves, and why: a few small queries."""
    now = timezone.now()
    busy = Q(status=PollingStatus.POLLING) | Q(cancel_requested=True) | Q(leased_until__gt=now)
    keys = runs.order_by().values("pk")
    under_way = Step.objects.filter(collection_run__state=CollectionRun.State.RUNNING)
    followed = PolledPromise.objects.filter(busy)
    unfinished = Run.objects.unfinished()
    sources: list[tuple[RetentionReason, QuerySet[Any], str]] = [
        (RetentionReason.RECORDED, SavedRequest.objects.all(), "recorded_run_id"),
        (RetentionReason.SHARED, Share.objects.valid(), "run_id"),
        (RetentionReason.HAS_ACTIVE_FOLLOW_UP, _before(unfinished, followed), "pk"),
        (RetentionReason.POLLED, followed, "run_id"),
        (RetentionReason.COLLECTION_RUN, under_way, "run_id"),
        (RetentionReason.UNDER_WAY, unfinished, "pk"),
    ]
    found: dict[UUID, RetentionReason] = {}
    for hold, rows, name in sources:
        held = rows.filter(**{f"{name}__in": keys}).order_by()
        found |= dict.fromkeys(held.values_list(name, flat=True), hold)
    return found


def _before(unfinished: QuerySet[Run], followed: QuerySet[PolledPromise]) -> QuerySet[Run]:
    """The runs that those under way, and those that follow a promise, go on from.

    Few at any time; each of their conversations is read as a whole and walked in memory.
    """
    names = ("pk", "conversation_id")
    busy = {*unfinished.values_list(*names), *followed.values_list("run_id", "run__conversation")}
    conversations = {conversation for _, conversation in busy if conversation}
    parents: dict[UUID, UUID | None] = {}
    for chunk in _chunks(conversations):
        rows = Run.objects.filter(conversation__in=chunk).order_by()
        parents |= dict(rows.values_list("pk", "parent_id"))
    found: set[UUID] = set()
    for pk, _ in busy:
        above = parents.get(pk)
        while above is not None and above not in found:
            found.add(above)
            above = parents.get(above)
    return Run.objects.filter(pk__in=found)


def retention_reasons_by_id(keys: Iterable[UUID]) -> dict[UUID, RetentionReason]:
    """The same for runs by their keys, however many."""
    found: dict[UUID, RetentionReason] = {}
    for chunk in _chunks(keys):
        found |= retention_reasons(Run.objects.filter(pk__in=chunk))
    return found


def deletable_runs(keys: Iterable[UUID], also: Container[RetentionReason] = ()) -> list[UUID]:
    """Those of the runs that may go now: whole families that nothing holds but reasons in `also`.

    A family that has grown by a run that is not among the keys stays, too.
    """
    asked = set(keys)
    every = with_descendants(asked)
    parents: dict[UUID, UUID | None] = {}
    for chunk in _chunks(every):
        below = Run.objects.filter(pk__in=chunk).exclude(kind__in=_TURNS).order_by()
        parents |= dict(below.values_list("pk", "parent_id"))
    roots = {pk: _root(pk, parents, every) for pk in every}
    held = (pk for pk, hold in retention_reasons_by_id(every).items() if hold not in also)
    staying = {roots[pk] for pk in (*held, *(every - asked))}
    return [pk for pk in asked if roots[pk] not in staying]


def _stronger(one: RetentionReason | None, other: RetentionReason | None) -> RetentionReason | None:
    order = list(RetentionReason)
    return min((hold for hold in (one, other) if hold), key=order.index, default=None)


def _chunks(keys: Iterable[UUID]) -> Iterable[list[UUID]]:
    every = list(keys)
    return (every[at : at + _CHUNK] for at in range(0, len(every), _CHUNK))
