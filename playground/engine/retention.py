"""How long runs are kept: what goes by an owner's limits, and letting it go.

What would go is decided by `decide`, a function of what there is and nothing else: what is shown
before anything goes, and what goes then, are decided by the same rule. It goes in small
transactions, so that nobody who sends waits for long; two processes that do it at once find less
to do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from playground.engine.families import RetentionReason, RunTree, deletable_runs, run_trees
from playground.models import CollectionRun, Conversation, Retention, Run, Step
from playground.models.liveness import mark_interrupted

#: What one transaction deletes at most: runs, and bytes that they received.
BATCH_RUNS, BATCH_BYTES = 100, 20 * 1024 * 1024

#: What a limit may be at most: days, runs, and units of 1024 * 1024 bytes.
MAX_DAYS, MAX_RUNS, MAX_MEBIBYTES = 36_500, 100_000_000, 10_000_000


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """What is kept at most; None for any."""

    max_days: int | None = None
    #: Families: a turn's checks and actions go with it and are not counted.
    max_runs: int | None = None
    #: Of what came over the wire.
    max_bytes: int | None = None

    @classmethod
    def of(cls, owner: int | None) -> RetentionLimits:
        """Those that an owner has set."""
        found = Retention.objects.filter(owner=owner).first()
        return cls(found.max_days, found.max_runs, found.max_bytes) if found else cls()

    @property
    def any(self) -> bool:
        """Whether there is a limit at all."""
        return (self.max_days, self.max_runs, self.max_bytes) != (None, None, None)


@dataclass(frozen=True, slots=True)
class PruningPlan:
    """What goes, and what would but must stay, both the oldest first."""

    to_delete: tuple[RunTree, ...] = ()
    retained: tuple[RunTree, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """What one agent has of something."""

    agent: str
    runs: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PruningPreview:
    """What would go, to be read before it does."""

    #: Runs, checks and actions among them, and bytes that there are, and those that would go.
    all_runs: int = 0
    all_bytes: int = 0
    runs: int = 0
    bytes: int = 0
    #: When the oldest and the newest of what would go was made.
    oldest: datetime | None = None
    newest: datetime | None = None
    #: The same by agent, most runs first.
    agents: tuple[AgentUsage, ...] = ()
    #: Runs that are beyond the limits and stay, by the reason.
    retained: dict[RetentionReason, int] = field(default_factory=dict)


def plan_pruning(
    families: Iterable[RunTree], limits: RetentionLimits, now: datetime
) -> PruningPlan:
    """What goes by the limits, the oldest first; a family goes as a whole or stays.

    What must stay counts like everything else, so that others go in its place.
    """
    every = sorted(families, key=lambda family: family.age)
    count, size = len(every), sum(each.bytes for each in every)
    cutoff = None if limits.max_days is None else now - timedelta(min(limits.max_days, MAX_DAYS))
    going: list[RunTree] = []
    held: list[RunTree] = []
    for family in every:
        beyond = (
            (cutoff is not None and family.latest < cutoff)
            or (limits.max_runs is not None and count > limits.max_runs)
            or (limits.max_bytes is not None and size > limits.max_bytes)
        )
        if not beyond:
            break  # Those that follow are newer, and there are no more of them.
        if family.retention_reason is not None:
            held.append(family)
            continue
        going.append(family)
        count, size = count - 1, size - family.bytes
    return PruningPlan(tuple(going), tuple(held))


def preview(owner: int | None, limits: RetentionLimits) -> PruningPreview:
    """What would go if these were the limits."""
    mark_interrupted()
    families = run_trees(owner)
    decision = plan_pruning(families, limits, timezone.now())
    going = decision.to_delete
    held: dict[RetentionReason, int] = defaultdict(int)
    for family in decision.retained:
        assert family.retention_reason
        held[family.retention_reason] += family.runs
    return PruningPreview(
        all_runs=sum(each.runs for each in families),
        all_bytes=sum(each.bytes for each in families),
        runs=sum(each.runs for each in going),
        bytes=sum(each.bytes for each in going),
        oldest=going[0].latest if going else None,
        newest=going[-1].latest if going else None,
        agents=tuple(_by_agent(going)),
        retained=dict(held),
    )


def _by_agent(families: Iterable[RunTree]) -> list[AgentUsage]:
    found: dict[str, tuple[int, int]] = {}
    for each in families:
        runs, size = found.get(each.agent, (0, 0))
        found[each.agent] = runs + each.runs, size + each.bytes
    shares = [AgentUsage(agent, *counts) for agent, counts in found.items()]
    return sorted(shares, key=lambda share: (-share.runs, share.agent))


def runs_to_delete(owner: int | None, limits: RetentionLimits | None = None) -> list[RunTree]:
    """What goes, the oldest first, by some limits or by those that an owner has set."""
    limits = limits or RetentionLimits.of(owner)
    if not limits.any:
        return []
    mark_interrupted()
    return list(plan_pruning(run_trees(owner), limits, timezone.now()).to_delete)


def deletion_batches(families: Iterable[RunTree]) -> Iterator[list[UUID]]:
    """The keys of the runs in parts that one transaction may delete, no family cut in two."""
    batch: list[UUID] = []
    size = 0
    for family in families:
        if batch and (len(batch) + family.runs > BATCH_RUNS or size + family.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch += family.members
        size += family.bytes
    if batch:
        yield batch


def delete(keys: Iterable[UUID], *, also: frozenset[RetentionReason] = frozenset()) -> int:
    """Delete runs with their frames, and conversations that are empty then; returns how many.

    Families that must stay do, unless it is for a reason in `also`: somebody may have shared a
    run of one since. Whoever deletes the same at the same time takes what is left. The summary
    of a collection run goes with the last of its requests.
    """
    with transaction.atomic():
        free = deletable_runs(keys, also)
        rows = Run.objects.select_for_update(skip_locked=True).filter(pk__in=free)
        found = list(rows.order_by().values_list("pk", "conversation_id"))
        runs = Run.objects.filter(pk__in=[pk for pk, _ in found])
        summaries = set(Step.objects.filter(run__in=runs).values_list("collection_run", flat=True))
        runs.only("pk").delete()
        sent = Step.objects.filter(collection_run=OuterRef("pk"), run__isnull=False)
        ended = CollectionRun.objects.exclude(state=CollectionRun.State.RUNNING)
        ended.filter(pk__in=summaries).filter(~Exists(sent)).delete()
        conversations = {conversation for _, conversation in found if conversation}
        others = Run.objects.filter(conversation=OuterRef("pk"))
        empty = Conversation.objects.filter(pk__in=conversations).filter(~Exists(others))
        empty.delete()
    return len(found)


def owners_with_limits() -> list[int | None]:
    """Those who have set a limit."""
    return list(Retention.objects.order_by("pk").values_list("owner_id", flat=True))
