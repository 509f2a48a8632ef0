"""Outline of a collection: its folders and requests in order, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, Count, ExpressionWrapper, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from playground.models import Agent, Collection, Folder, SavedRequest

#: Requests of one folder on one page.
PAGE = 100
#: Folders on one page, and requests that come with them, of all folders together.
FOLDERS = 50
FIRST = 300
_CURSOR = re.compile(r"([0-9]{1,10})-([0-9]{1,18})-([0-9]{1,18})")


@dataclass(frozen=True)
class RequestRow:
    """A saved request in a list."""

    saved: SavedRequest
    #: Name of the agent, or a URL if there is no such agent.
    target: str
    #: Whether an agent of that name exists.
    known: bool
    #: Whether it has a recorded response.
    recorded: bool

    @property
    def protocol_label(self) -> str:
        saved = self.saved
        label = f"{saved.get_protocol_display()} {saved.version}"
        over_mcp = saved.binding == Agent.Binding.MCP
        return f"{label} · MCP" if over_mcp else label


@dataclass
class FolderGroup:
    """A page of the requests of one folder, or of those without a folder."""

    collection: Collection
    folder: Folder | None
    #: Number of requests in all.
    count: int
    rows: list[RequestRow] = field(default_factory=list)
    #: Offset of the next page; None for the last one.
    next_offset: int | None = None

    @property
    def more_url(self) -> str:
        url = reverse("collection-outline", args=[self.collection.slug])
        folder = self.folder.slug if self.folder else ""
        return f"{url}?folder={folder}&from={self.next_offset}"

    @property
    def remaining(self) -> int:
        return self.count - (self.next_offset or 0)


def folder_page(collection: Collection, size: int, after: str = "") -> tuple[list[Any], str]:
    """Return `size` folders of a collection, which may have thousands, and the next page's cursor.

    Each has `count`, the number of its requests. The cursor, "" after the last page, names the last
    folder and is no offset: folders may be moved and deleted between two pages. A folder made since
    the first page is on none of the later ones, because the open page shows it already.
    """
    folders = collection.folders.order_by("position", "pk")
    if match := _CURSOR.fullmatch(after):
        position, last, newest = map(int, match.groups())
        later = Q(position__gt=position) | Q(position=position, pk__gt=last)
        folders = folders.filter(later, pk__lte=newest)
    else:
        newest = folders.order_by("-pk").values_list("pk", flat=True).first() or 0
    page = list(with_count(folders, "folder")[: size + 1])
    end = page[size - 1] if len(page) > size else None
    return page[:size], f"{end.position}-{end.pk}-{newest}" if end else ""


def requests_of(collection: Collection, folder: Folder | None) -> QuerySet[Any]:
    """Return the requests of a folder, or those without one, without their large columns."""
    requests = collection.requests.filter(folder=folder).order_by("position", "pk")
    return requests.defer("document", "reply")


class Outline:
    """Reader of a collection; `agents` are the owner's, slug to name."""

    def __init__(self, collection: Collection, agents: Mapping[str, str]) -> None:
        self.collection = collection
        self.agents = agents
        self._next_folders = ""

    def groups(self, after: str = "") -> list[FolderGroup]:
        """Return a page of folders, each with its first requests.

        The first page begins with the requests without a folder. `after` is the cursor of a later
        page; from now on `more_url` is the URL of the page after this one.
        """
        folders, self._next_folders = folder_page(self.collection, FOLDERS, after)
        groups = [FolderGroup(self.collection, folder, folder.count) for folder in folders]
        if not after:
            groups.insert(0, self._empty_group(None))
        room = FIRST
        for group in groups:
            self._fill(group, 0, min(PAGE, room))
            room -= len(group.rows)
        return groups

    @property
    def more_url(self) -> str:
        """Return the URL of the next page of folders, "" after the last one."""
        url = reverse("collection-outline", args=[self.collection.slug])
        return f"{url}?folders={self._next_folders}" if self._next_folders else ""

    def group(self, folder: Folder | None, start: int = 0) -> FolderGroup:
        """Return the page of a folder, or of the requests without one, from `start` on."""
        return self._fill(self._empty_group(folder), start, PAGE)

    def row(self, saved: SavedRequest) -> RequestRow:
        """Return the row of one request that was read completely."""
        return self._row(saved, saved.reply is not None)

    def _empty_group(self, folder: Folder | None) -> FolderGroup:
        count = self.collection.requests.filter(folder=folder).count()
        return FolderGroup(self.collection, folder, count)

    def _fill(self, group: FolderGroup, start: int, size: int) -> FolderGroup:
        if size > 0 and group.count:
            recorded = ExpressionWrapper(Q(reply__isnull=False), output_field=BooleanField())
            requests = requests_of(self.collection, group.folder).annotate(recorded=recorded)
            page = requests[start : start + size]
            group.rows = [self._row(saved, saved.recorded) for saved in page]
        end = start + len(group.rows)
        group.next_offset = end if end < group.count else None
        return group

    def _row(self, saved: SavedRequest, recorded: bool) -> RequestRow:
        saved.collection = self.collection
        known = saved.agent in self.agents
        target = self.agents[saved.agent] if known else saved.address or saved.agent
        return RequestRow(saved, target, known, recorded)


def with_count(queryset: QuerySet[Any], relation: str) -> QuerySet[Any]:
    """Annotate collections or folders with `count`, the number of requests in each.

    `relation` is the foreign key of a request to them.
    """
    # One lookup in the index for each of them; a join would read every request first.
    inside = SavedRequest.objects.filter(**{relation: OuterRef("pk")}).order_by()
    counts = inside.values(relation).annotate(number=Count("pk")).values("number")
    annotated: QuerySet[Any] = queryset.annotate(count=Coalesce(Subquery(counts), 0))
    return annotated
