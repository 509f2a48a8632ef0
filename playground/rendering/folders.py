"""The folders of a collection, a page at a time: there may be thousands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from playground.models import Collection, SavedRequest

_MARK = re.compile(r"([0-9]{1,10})-([0-9]{1,18})-([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class FolderPage:
    """Some folders in order, each with `count`, the number of its requests."""

    folders: list[Any]
    #: What the page behind this one begins after, "" for the last page.
    next_offset: str

    @classmethod
    def of(cls, collection: Collection, size: int, after: str = "") -> FolderPage:
        """`size` folders of a collection; those that follow on `after`, from the page before.

        Pages are told apart by what stands at their end, and not by numbers: folders may be moved
        and deleted between two of them. What was made since the first page is on none of the
        later ones, because the page that is open shows it already.
        """
        folders = collection.folders.order_by("position", "pk")
        if found := _MARK.fullmatch(after):
            position, last, newest = map(int, found.groups())
            behind = Q(position__gt=position) | Q(position=position, pk__gt=last)
            folders = folders.filter(behind, pk__lte=newest)
        else:
            newest = folders.order_by("-pk").values_list("pk", flat=True).first() or 0
        page = list(with_count(folders, "folder")[: size + 1])
        end = page[size - 1] if len(page) > size else None
        return cls(page[:size], f"{end.position}-{end.pk}-{newest}" if end else "")


def with_count(things: QuerySet[Any], relation: str) -> QuerySet[Any]:
    """Collections or folders with `count`, the number of the requests in each.

    `relation` is the field of a request that says which it is in.
    """
    # One lookup in the index for each of them; a join would read every request first.
    inside = SavedRequest.objects.filter(**{relation: OuterRef("pk")}).order_by()
    counts = inside.values(relation).annotate(number=Count("pk")).values("number")
    counted: QuerySet[Any] = things.annotate(count=Coalesce(Subquery(counts), 0))
    return counted
