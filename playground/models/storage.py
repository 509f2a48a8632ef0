"""Storage: the quota, which counts an owner's runs, and the limits on rows of other tables.

Both apply where there is a quota. The limits are checked where a row is saved; rows that are
created or changed in bulk are passed to `check_rows`. What is stored beyond a limit stays, and can
be made smaller. Requests at the same time may each add a row below a limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.db.models.signals import pre_save
from django.template.defaultfilters import filesizeformat

from playground.base.limits import MIB
from playground.models.agents import ActionServer, Agent
from playground.models.collection_runs import CollectionRun, Step
from playground.models.collections import Collection, Folder, SavedRequest
from playground.models.columns import text_bytes
from playground.models.environments import Environment, Variable
from playground.models.lessons import LessonProgress
from playground.models.rows import Owned, OwnedQuerySet, Trashable
from playground.models.runs import FINAL_STATES, Run
from playground.models.shares import Share

#: Bytes of a run besides its frames and its larger columns; its conversation is among them.
RUN_BYTES = 1024
#: Bytes of a frame besides its data.
FRAME_BYTES = 16
#: Seconds for which a count is used again.
COUNT_LIFETIME = 10.0
#: Part of the quota from which on the pages warn.
WARN_AT = 0.9

#: Part of the quota up to which turns are completed, such as by polls. Without this bound, they
#: could go on for ever.
ALLOWANCE = 1.1

#: What to do where there is no room.
MAKE_ROOM = "Delete runs in History, shorten the retention, or raise PLAYGROUND_QUOTA."

# Literals, because SQLite does not use a partial index for parameters.
_HAS_ENDED = RawSQL(  # noqa: S611
    f"state IN {FINAL_STATES}", (), output_field=models.BooleanField()
)

#: The latest counts, by owner, with the time of the count.
_counts: dict[int | None, tuple[float, int]] = {}


# The quota


def stored_bytes(owner: int | None) -> int:
    """Return the bytes of the runs of the owner with this key.

    Among them are the runs of polls, actions, collection runs, imported files and recorded
    responses. A run that is shared is its owner's. Indexes are not counted. Data of the demo
    belongs to no owner.
    """
    runs = Run.objects.filter(owner=owner).order_by()
    return _bytes_of(runs.filter(_HAS_ENDED)) + _bytes_of(runs.unfinished())


def _bytes_of(runs: models.QuerySet[Run]) -> int:
    frames = FRAME_BYTES * models.F("frames")
    size = models.F("bytes") + models.F("other_bytes") + frames + RUN_BYTES
    expression = models.ExpressionWrapper(size, models.BigIntegerField())
    found = runs.aggregate(total=Coalesce(models.Sum(expression), 0))
    return int(found["total"])


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The bytes of an owner's runs, and the quota; 0 for none."""

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
        return self.exceeds(1)

    def exceeds(self, part: float) -> bool:
        return bool(self.quota) and self.stored >= part * self.quota

    @property
    def is_nearly_full(self) -> bool:
        return self.exceeds(WARN_AT)

    @property
    def text(self) -> str:
        """Return the usage as a phrase, such as "12.4 MB of 1.0 GB"."""
        stored = _size(self.stored)
        return f"{stored} of {_size(self.quota)}" if self.quota else stored


def no_room(owner: int | None, *, is_begun: bool = False) -> str:
    """Return why no more runs can be stored for an owner, "" if some can.

    With `is_begun`, which is for later requests of a turn, the limit is `ALLOWANCE` times the
    quota. Without a quota nothing is counted. An earlier count is used to allow, but not to
    refuse, so that there is room as soon as runs were deleted.
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


# The limits on rows


@dataclass(frozen=True, slots=True)
class RowLimit:
    """The most rows of one table that an owner may have, and the most bytes of one of them."""

    rows: int
    #: Bytes of the text columns without a maximum length; 0 where they need no limit.
    size: int = 0
    #: The lookup of the owner.
    owner: str = "owner"


#: The tables in which users create rows, besides runs and what is deleted with them.
LIMITS: dict[type[models.Model], RowLimit] = {
    Agent: RowLimit(200, MIB),
    Environment: RowLimit(200),
    Variable: RowLimit(2_000, MIB // 4, "environment__owner"),
    Collection: RowLimit(200, 2 * MIB),
    Folder: RowLimit(1_000, MIB // 2, "collection__owner"),
    # With its notes and its recorded response.
    SavedRequest: RowLimit(2_000, 3 * MIB, "collection__owner"),
    LessonProgress: RowLimit(200, 2 * MIB, "collection__owner"),
    CollectionRun: RowLimit(1_000, MIB // 4),
    # The texts of its checks are shortened.
    Step: RowLimit(100_000, 0, "collection_run__owner"),
    ActionServer: RowLimit(200, 2 * MIB),
    Share: RowLimit(1_000),
}


class LimitError(ValidationError):
    """A row that exceeds a limit; nothing was saved."""

    def __init__(self, cause: str, fix: str) -> None:
        super().__init__(f"{cause} {fix}")
        self.cause, self.fix = cause, fix

    def __str__(self) -> str:
        return str(self.message)


def check_rows(rows: Sequence[models.Model], *, added: int) -> None:
    """Raise `LimitError` where rows of one table and one owner exceed a limit.

    Call it before they are saved; `added` of them are new.
    """
    if not settings.QUOTA or not rows:
        return
    model = type(rows[0])
    limit = LIMITS[model]
    for row in rows if limit.size else ():
        _check_size(row, limit.size)
    if not added:
        return
    owner = reduce(getattr, f"{limit.owner}_id".split("__"), rows[0])
    # With those in the trash.
    stored = model._base_manager.filter(**{limit.owner: owner}).count()
    if stored + added > limit.rows:
        names = model._meta.verbose_name_plural
        cause = f"No room left for {added:,} more: {stored:,} of {limit.rows:,} {names} are stored."
        trashed = " Those in the trash count until they are purged."
        raise LimitError(
            cause, f"Delete some of them.{trashed if issubclass(model, Trashable) else ''}"
        )


def _check_size(row: models.Model, limit: int) -> None:
    size = text_bytes(row)
    if size <= limit:
        return
    # Rows that were stored without limits can be made smaller.
    stored = row.pk and type(row)._base_manager.filter(pk=row.pk).first()
    if not stored or size > text_bytes(stored):
        name = row._meta.verbose_name
        cause = f"The {name} is too large: {_size(size)} of at most {_size(limit)}."
        raise LimitError(cause, "Make it smaller.")


def _check_saved(instance: models.Model, raw: bool, **_: Any) -> None:
    if not raw:  # Of `loaddata`, which is not a user's.
        check_rows([instance], added=instance.pk is None or instance._state.adding)


for _model in LIMITS:
    pre_save.connect(_check_saved, _model)


def _size(count: int) -> str:
    return str(filesizeformat(count)).replace("\xa0", " ")


class Retention(Owned):
    """One owner's limits on the history; None for no limit. At most one row per owner."""

    max_days = models.PositiveIntegerField(null=True, blank=True)
    max_runs = models.PositiveIntegerField(null=True, blank=True)

    objects = OwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner"], name="retention_per_owner"),
            models.UniqueConstraint(
                models.Value(1), condition=models.Q(owner=None), name="retention_unowned"
            ),
        ]

    def __str__(self) -> str:
        return f"retention of {self.owner or 'all users'}"
