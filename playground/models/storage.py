"""Storage: the bytes that are stored for an owner, and the quota for them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.template.defaultfilters import filesizeformat

from playground.models.action_servers import ActionServer
from playground.models.agents import Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, SavedRequest
from playground.models.environments import Environment, Variable
from playground.models.lessons import LessonProgress
from playground.models.promises import PolledPromise
from playground.models.runs import FINAL_STATES, Run
from playground.models.shares import Share
from playground.protocols.events import Outcome

#: Bytes of a run besides its frames and its larger columns; its conversation is among them.
RUN_BYTES = 1024
#: Bytes of a row of another table besides its larger columns.
ROW_BYTES = 256
#: Bytes of a frame besides its data.
FRAME_BYTES = 16
#: Seconds for which a count is used again.
COUNT_LIFETIME = 10.0
#: Part of the quota from which on the pages warn.
WARN_AT = 0.9

#: Part of the quota up to which turns are completed, such as by polls, and rows are changed.
#: Without this bound, both could go on for ever.
ALLOWANCE = 1.1

#: What to do where there is no room.
MAKE_ROOM = "Delete runs in History, shorten the retention, or raise PLAYGROUND_QUOTA."

# Literals, because SQLite does not use a partial index for parameters.
_HAS_ENDED = RawSQL(  # noqa: S611
    f"state IN {FINAL_STATES}", (), output_field=models.BooleanField()
)

#: The latest counts, by owner, with the time of the count.
_counts: dict[int | None, tuple[float, int]] = {}


#: The rows that are counted besides runs, with the lookup of their owner.
_COUNTED: tuple[tuple[type[models.Model], str], ...] = (
    (Agent, "owner"),
    (Environment, "owner"),
    (Variable, "environment__owner"),
    (Collection, "owner"),
    (Folder, "collection__owner"),
    (SavedRequest, "collection__owner"),
    (LessonProgress, "collection__owner"),
    (CollectionRun, "owner"),
    (Step, "collection_run__owner"),
    (ActionServer, "owner"),
    (Share, "owner"),
)


def stored_bytes(owner: int | None) -> int:
    """Return the bytes that are stored for the owner with this key.

    These are the bytes of the owner's runs, with those that polls, actions, collection runs,
    imported files and recorded responses have created, of their promises, and of the rows of
    `_COUNTED`. A run that is shared is its owner's, a collection that was copied from a link is the
    copier's.

    Other tables have one small row for something that is counted: a conversation or a twin for
    runs, a limit for an owner. An MCP session has headers of a run, and is deleted when it is
    idle. Indexes are not counted. Data of the demo belongs to no owner.
    """
    runs = Run.objects.filter(owner=owner).order_by()
    ended = runs.filter(_HAS_ENDED)
    return (
        _run_bytes(ended)
        + _run_bytes(runs.unfinished())
        + _row_bytes(_promises(owner))
        + sum(_row_bytes(_rows(model, lookup, owner)) for model, lookup in _COUNTED)
    )


def _run_bytes(runs: models.QuerySet[Run]) -> int:
    frames = models.F("bytes") + models.F("other_bytes") + FRAME_BYTES * models.F("frames")
    return _sum(runs, frames + models.F("stored_bytes") + RUN_BYTES)


def _promises(owner: int | None) -> models.QuerySet[PolledPromise]:
    # The outcome narrows the owner's runs by an index: few of them have promises.
    return PolledPromise.objects.filter(run__owner=owner, run__outcome=Outcome.PROMISE)


def _rows(model: type[models.Model], lookup: str, owner: int | None) -> models.QuerySet[Any]:
    # With those in the trash: they are stored until they are purged.
    return model._base_manager.filter(**{lookup: owner})


def _row_bytes(rows: models.QuerySet[Any]) -> int:
    if not hasattr(rows.model, "stored_bytes"):  # No column of it is large.
        return ROW_BYTES * rows.count()
    return _sum(rows, models.F("stored_bytes") + ROW_BYTES)


def _sum(rows: models.QuerySet[Any], size: Any) -> int:
    expression = models.ExpressionWrapper(size, models.BigIntegerField())
    found = rows.order_by().aggregate(total=Coalesce(models.Sum(expression), 0))
    return int(found["total"])


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The bytes that are stored for an owner, and the quota; 0 for none."""

    stored: int
    quota: int

    @classmethod
    def of(cls, owner: int | None, *, max_age: float = 0.0) -> StorageUsage:
        """Return the usage of the owner with this key; a count may be `max_age` seconds old."""
        now = time.monotonic()
        counted_at, stored = _counts.get(owner, (-COUNT_LIFETIME, 0))
        if now - counted_at >= max_age:
            stored = stored_bytes(owner)
            _counts[owner] = now, stored
        return cls(stored, settings.QUOTA)

    @property
    def is_full(self) -> bool:
        """Return whether there is no room left."""
        return self.exceeds(1)

    def exceeds(self, part: float) -> bool:
        """Return whether this part of the quota is used."""
        return bool(self.quota) and self.stored >= part * self.quota

    @property
    def is_nearly_full(self) -> bool:
        """Return whether the pages warn."""
        return self.exceeds(WARN_AT)

    @property
    def warning_level(self) -> int:
        """Return the bytes from which on the pages warn."""
        return int(WARN_AT * self.quota)

    @property
    def text(self) -> str:
        """Return the usage as a phrase, such as "12.4 MB of 1.0 GB"."""
        stored = _size(self.stored)
        return f"{stored} of {_size(self.quota)}" if self.quota else stored


def no_room(owner: int | None, *, is_begun: bool = False) -> str:
    """Return why nothing more can be stored for an owner, "" if something can.

    With `is_begun`, which is for changes and later requests of a turn, the limit is `ALLOWANCE`
    times the quota. Without a quota nothing is counted. An earlier count is used to allow, but not
    to refuse, so that there is room as soon as runs were deleted.
    """
    part = ALLOWANCE if is_begun else 1
    if not settings.QUOTA or not StorageUsage.of(owner, max_age=COUNT_LIFETIME).exceeds(part):
        return ""
    usage = StorageUsage.of(owner)
    return f"No room left: {usage.text} used." if usage.exceeds(part) else ""


def no_room_and_fix(owner: int | None, *, is_begun: bool = False) -> str:
    """Return the same as `no_room`, with the sentence that says what to do."""
    cause = no_room(owner, is_begun=is_begun)
    return f"{cause} {MAKE_ROOM}" if cause else ""


def _size(count: int) -> str:
    return str(filesizeformat(count)).replace("\xa0", " ")
