"""Collections in the sidebar: what is unfolded is fetched, and no more of it than fits.

Which parts are unfolded is the browser's to remember, in a cookie: the page then comes with them
in place, and nothing jumps.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from urllib.parse import unquote

from django.db.models import QuerySet
from django.urls import reverse

from playground.models import Collection, Folder, SavedRequest
from playground.rendering.folders import FolderPage
from playground.rendering.outline import DEFERRED_COLUMNS, counted

COOKIE = "playground_unfolded"
#: Requests that one part shows before it offers more, and folders of a collection.
PAGE = FOLDERS = 100
#: Parts that are unfolded in a page that is loaded; a browser may have kept any number.
MAX_OPEN = 12
_KEY = re.compile(r"[-\w]{1,130}(/[-\w]{1,130})?")


def expanded_keys(cookie: str) -> frozenset[str]:
    """The keys, "collection" or "collection/folder", that a browser has kept as unfolded."""
    keys = unquote(cookie)[:4000].split(" ")
    return frozenset([key for key in keys if _KEY.fullmatch(key)][:MAX_OPEN])


@dataclass
class TreePage:
    """What is inside a collection or a folder, as far as it is shown."""

    collection: Collection
    folder: Folder | None = None
    requests: list[SavedRequest] = field(default_factory=list)
    #: Where those begin that follow; None where none do.
    following: int | None = None
    #: Of a collection: its folders, unfolded ones with what is inside.
    nodes: list[TreeNode] = field(default_factory=list)
    #: What the folders that follow come after, "" where none do.
    folders_after: str = ""

    @property
    def more_url(self) -> str:
        """Where the requests that follow are fetched."""
        return f"{_url(self.collection, self.folder)}&from={self.following}"

    @property
    def folders_url(self) -> str:
        """Where the folders that follow are fetched."""
        place = reverse("sidebar-branch", args=[self.collection.slug])
        return f"{place}?folders={self.folders_after}"


@dataclass
class TreeNode:
    """A collection or a folder: a name to unfold, and what is inside where it is unfolded."""

    collection: Collection
    folder: Folder | None
    count: int
    branch: TreePage | None

    @property
    def key(self) -> str:
        """What the browser remembers it by."""
        return "/".join(each.slug for each in (self.collection, self.folder) if each)

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.folder or self.collection)

    @property
    def url(self) -> str:
        """Where what is inside is fetched."""
        return _url(self.collection, self.folder)


def _url(collection: Collection, folder: Folder | None) -> str:
    place = reverse("sidebar-branch", args=[collection.slug])
    return f"{place}?folder={folder.slug if folder else ''}"


def build_tree(collections: QuerySet[Collection], keys: Names[str]) -> list[TreeNode]:
    """All collections, those of `keys` unfolded."""
    return [
        TreeNode(each, None, each.count, tree_page(each, None, keys) if each.slug in keys else None)
        for each in counted(collections)
    ]


def tree_page(
    collection: Collection, folder: Folder | None, keys: Names[str] = (), start: int = 0
) -> TreePage:
    """A page of requests of a folder, or of those without one; then folders come with it."""
    requests = collection.requests.filter(folder=folder).order_by("position", "pk")
    # One more than is shown tells whether there are more, without counting them.
    found = list(
        requests.defer(*DEFERRED_COLUMNS, "notes", "expectations")[start : start + PAGE + 1]
    )
    for saved in found:
        saved.collection = collection
    following = start + PAGE if len(found) > PAGE else None
    some = TreePage(collection, folder, found[:PAGE], following)
    return some if folder or start else _with_folders(some, keys)


def more_folders(collection: Collection, keys: Names[str], after: str) -> TreePage:
    """The folders of a collection that follow on a page of them."""
    return _with_folders(TreePage(collection), keys, after)


def _with_folders(some: TreePage, keys: Names[str], after: str = "") -> TreePage:
    collection = some.collection
    page = FolderPage.of(collection, FOLDERS, after)
    some.folders_after = page.next_offset
    some.nodes = [
        TreeNode(collection, each, each.count, tree_page(collection, each) if key in keys else None)
        for each in page.folders
        for key in [f"{collection.slug}/{each.slug}"]
    ]
    return some
