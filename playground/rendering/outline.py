"""A collection as it is shown: its requests in order, folder by folder, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet
from django.urls import reverse

from playground.models import Agent, Collection, Folder, SavedRequest
from playground.rendering.folders import FolderPage, with_count

#: Requests of one folder that are fetched at once.
PAGE = 100
#: Folders that are fetched at once, and requests that they come with, all folders together.
FOLDERS = 50
FIRST = 300
#: What a list does not show of a request, and what would make it slow.
DEFERRED_COLUMNS = ("document", "headers", "auth", "captures", "reply")


def counted(collections: QuerySet[Collection]) -> QuerySet[Any]:
    """Collections with `count`, the number of their requests."""
    return with_count(collections, "collection")


@dataclass(frozen=True)
class RequestRow:
    """One request in a list."""

    saved: SavedRequest
    #: Where it goes: the agent's name, or an address where there is no such agent.
    target: str
    #: Whether an agent of that name is there.
    known: bool
    #: Whether it comes with a reply.
    recorded: bool

    @property
    def protocol_label(self) -> str:
        """Protocol, version and binding in words."""
        saved = self.saved
        words = f"{saved.get_protocol_display()} {saved.version}"
        over_mcp = saved.binding == Agent.Binding.MCP
        return f"{words} · MCP" if over_mcp else words

    @property
    def expectations(self) -> int:
        """How many there are."""
        found = self.saved.expectations
        return len(found) if isinstance(found, list) else 0


@dataclass
class FolderGroup:
    """The requests of one folder, or those without one, as far as they are shown."""

    collection: Collection
    folder: Folder | None
    #: All there are.
    count: int
    rows: list[RequestRow] = field(default_factory=list)
    #: Where those begin that follow; None where none do.
    next_offset: int | None = None

    @property
    def more_url(self) -> str:
        """Where the requests that follow are fetched."""
        place = reverse("collection-outline", args=[self.collection.slug])
        folder = self.folder.slug if self.folder else ""
        return f"{place}?folder={folder}&from={self.next_offset}"

    @property
    def remaining(self) -> int:
        """How many follow."""
        return self.count - (self.next_offset or 0)


class Outline:
    """Reads a collection; `agents` are the owner's, by slug."""

    def __init__(self, collection: Collection, agents: Mapping[str, str]) -> None:
        self.collection = collection
        self.agents = agents
        self._following = ""

    def groups(self, after: str = "") -> list[FolderGroup]:
        """A page of folders with as many requests as it begins with.

        The first page begins with the requests that are in no folder. `after` is where a page
        follows on another one; where the next one does, `more_url` says from now on.
        """
        page = FolderPage.of(self.collection, FOLDERS, after)
        self._following = page.next_offset
        found = [FolderGroup(self.collection, folder, folder.count) for folder in page.folders]
        if not after:
            found.insert(0, self._bare(None))
        room = FIRST
        for group in found:
            self._fill(group, 0, min(PAGE, room))
            room -= len(group.rows)
        return found

    @property
    def more_url(self) -> str:
        """Where the folders that follow are fetched, "" where none do."""
        place = reverse("collection-outline", args=[self.collection.slug])
        return f"{place}?folders={self._following}" if self._following else ""

    def group(self, folder: Folder | None, start: int = 0) -> FolderGroup:
        """One folder, or the requests without one: the page that begins at `start`."""
        return self._fill(self._bare(folder), start, PAGE)

    def row(self, saved: SavedRequest) -> RequestRow:
        """One request, whole."""
        return self._row(saved, saved.reply is not None)

    def _bare(self, folder: Folder | None) -> FolderGroup:
        count = self.collection.requests.filter(folder=folder).count()
        return FolderGroup(self.collection, folder, count)

    def _fill(self, group: FolderGroup, start: int, size: int) -> FolderGroup:
        if size <= 0 or not group.count:
            group.next_offset = start if start < group.count else None
            return group
        recorded = ExpressionWrapper(Q(reply__isnull=False), output_field=BooleanField())
        requests = self.collection.requests.filter(folder=group.folder).order_by("position", "pk")
        found = requests.defer(*DEFERRED_COLUMNS).annotate(recorded=recorded)[start : start + size]
        group.rows = [self._row(saved, saved.recorded) for saved in found]
        end = start + len(group.rows)
        group.next_offset = end if end < group.count else None
        return group

    def _row(self, saved: SavedRequest, recorded: bool) -> RequestRow:
        saved.collection = self.collection
        known = saved.agent in self.agents
        target = self.agents[saved.agent] if known else saved.address or saved.agent
        return RequestRow(saved, target, known, recorded)
