"""What is deleted together, and what must stay: a turn with the checks and actions below it.

A turn that goes leaves the turns that follow on it: those move a conversation on and can be read
by themselves. Checks, cancellations, replies and actions are nothing without their turn.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from playground.models import CollectionRun, Run, RunKind, SavedRequest, Share, Step, Tracker
from playground.models.trackers import TrackerStatus

#: Levels of children that are followed: a question of an action's action has a few.
MAX_LEVELS = 20
#: Keys that go into one query.
_CHUNK = 500

_TURNS = frozenset({RunKind.ASK.value, RunKind.ANSWER.value})


class Hold(enum.StrEnum):
    """Why a run is not deleted by itself, the strongest reason first."""

    UNDER_WAY = "under way"
    COLLECTION_RUN = "part of a collection run under way"
    FOLLOWED = "waiting for a promise that is followed"
    SHARED = "shared by a link"
    RECORDED = "the recorded reply of a saved request"


@dataclass(slots=True)
class Family:
    """A turn, or a child whose turn is gone, with everything below it that is no turn."""

    root: UUID
    agent: str
    #: When the latest of them was made.
    latest: datetime
    runs: int = 0
    #: What came over the wire.
    bytes: int = 0
    hold: Hold | None = None
    members: list[UUID] = field(default_factory=list)

    @property
    def age(self) -> tuple[datetime, UUID]:
        """What they are ordered by, the oldest first."""
        return self.latest, self.root


def families_of(owner: int | None) -> list[Family]:
    """Everything that an owner has, in no order. Reads a few columns of every run, no more."""
    names = ("pk", "parent_id", "kind", "agent_name", "created_at", "bytes")
    rows = list(Run.objects.filter(owner=owner).order_by().values_list(*names))
    parents = {pk: parent for pk, parent, kind, *_ in rows if kind not in _TURNS}
    known = {row[0] for row in rows}
    holds = holds_of(Run.objects.filter(owner=owner))
    found: dict[UUID, Family] = {}
    for pk, _, _, agent, created_at, size in rows:
        root = _root(pk, parents, known)
        family = found.setdefault(root, Family(root, agent, created_at))
        family.runs += 1
        family.bytes += size
        family.members.append(pk)
        family.latest = max(family.latest, created_at)
        family.hold = _stronger(family.hold, holds.get(pk))
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


def with_members(runs: Iterable[UUID]) -> set[UUID]:
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


def holds_of(runs: QuerySet[Run]) -> dict[UUID, Hold]:
    """Which of the runs must stay by themselves, and why: a few small queries."""
    now = timezone.now()
    busy = Q(status=TrackerStatus.FOLLOWING) | Q(cancelling=True) | Q(leased_until__gt=now)
    keys = runs.order_by().values("pk")
    under_way = Step.objects.filter(collection_run__state=CollectionRun.State.RUNNING)
    sources: list[tuple[Hold, QuerySet[Any], str]] = [
        (Hold.RECORDED, SavedRequest.objects.all(), "replayed"),
        (Hold.SHARED, Share.objects.valid(), "run"),
        (Hold.FOLLOWED, Tracker.objects.filter(busy), "run"),
        (Hold.COLLECTION_RUN, under_way, "run"),
    ]
    found: dict[UUID, Hold] = {}
    for hold, rows, name in sources:
        held = rows.filter(**{f"{name}__in": keys}).order_by()
        found |= dict.fromkeys(held.values_list(f"{name}_id", flat=True), hold)
    unfinished = Run.objects.unfinished().filter(pk__in=keys).order_by()
    return found | dict.fromkeys(unfinished.values_list("pk", flat=True), Hold.UNDER_WAY)


def holds_among(keys: Iterable[UUID]) -> dict[UUID, Hold]:
    """The same for runs by their keys, however many."""
    found: dict[UUID, Hold] = {}
    for chunk in _chunks(keys):
        found |= holds_of(Run.objects.filter(pk__in=chunk))
    return found


def _stronger(one: Hold | None, other: Hold | None) -> Hold | None:
    order = list(Hold)
    return min((hold for hold in (one, other) if hold), key=order.index, default=None)


def _chunks(keys: Iterable[UUID]) -> Iterable[list[UUID]]:
    every = list(keys)
    return (every[at : at + _CHUNK] for at in range(0, len(every), _CHUNK))
