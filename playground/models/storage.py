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

from playground.models.collections import Collection, SavedRequest, TrashedItem
from playground.models.runs import FINAL_STATES, Run

#: Bytes of a run besides its request and its response.
RUN_BYTES = 1024
#: Bytes of a frame besides its data.
FRAME_BYTES = 16
#: Seconds for which a count is used again.
COUNT_LIFETIME = 10.0
#: Part of the quota from which on the pages warn.
WARN_AT = 0.9

#: What to do where there is no room.
MAKE_ROOM = "Delete runs in History, shorten the retention, or raise PLAYGROUND_QUOTA."

# Literals, because SQLite does not use a partial index for parameters.
_HAS_ENDED = RawSQL(  # noqa: S611
    f"state IN {FINAL_STATES}", (), output_field=models.BooleanField()
)

#: The latest counts, by owner, with the time of the count.
_counts: dict[int | None, tuple[float, int]] = {}


def stored_bytes(owner: int | None) -> int:
    """Return the bytes that are stored for the owner with this key.

    These are the bytes of the owner's runs, with those that polls, actions, collection runs,
    imported files and recorded responses have created; of the requests in the owner's
    collections, with their recorded responses; of the lessons; and of the trash. A run that is
    shared is its owner's, a collection that was copied from a link is the copier's. Rows of other
    tables have a bounded size and are not counted, nor are indexes. Data of the demo belongs to no
    owner.
    """
    runs = Run.objects.filter(owner=owner).order_by()
    ended = runs.filter(_HAS_ENDED)
    return (
        _run_bytes(ended)
        + _run_bytes(runs.unfinished())
        + _sum(SavedRequest.objects.filter(collection__owner=owner), models.F("stored_bytes"))
        + _sum(Collection.objects.filter(owner=owner), models.F("stored_bytes"))
        + _sum(TrashedItem.objects.filter(owner=owner), models.F("stored_bytes"))
    )


def _run_bytes(runs: models.QuerySet[Run]) -> int:
    size = models.F("bytes") + models.F("request_bytes") + FRAME_BYTES * models.F("frames")
    return _sum(runs, size + RUN_BYTES)


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
        return bool(self.quota) and self.stored >= self.quota

    @property
    def is_nearly_full(self) -> bool:
        """Return whether the pages warn."""
        return bool(self.quota) and self.stored >= self.warning_level

    @property
    def warning_level(self) -> int:
        """Return the bytes from which on the pages warn."""
        return int(WARN_AT * self.quota)

    @property
    def text(self) -> str:
        """Return the usage as a phrase, such as "12.4 MB of 1.0 GB"."""
        stored = _size(self.stored)
        return f"{stored} of {_size(self.quota)}" if self.quota else stored


def no_room(owner: int | None) -> str:
    """Return why nothing more can be stored for an owner, "" if something can.

    Without a quota nothing is counted. An earlier count is used to allow, but not to refuse, so
    that there is room as soon as runs were deleted.
    """
    if not settings.QUOTA or not StorageUsage.of(owner, max_age=COUNT_LIFETIME).is_full:
        return ""
    usage = StorageUsage.of(owner)
    return f"No room left: {usage.text} used." if usage.is_full else ""


def _size(count: int) -> str:
    return str(filesizeformat(count)).replace("\xa0", " ")
