"""Sidebar: the tree of collections, folders and requests, a page of each node at a time.

The browser stores the expanded nodes in a cookie, so that a page is delivered with them.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from urllib.parse import unquote

from django.db.models import QuerySet
from django.urls import reverse

from playground.models import Collection, Folder, SavedRequest
from playground.rendering.outline import DEFERRED_COLUMNS, FolderPage, counted

COOKIE = "playground_unfolded"
#: Requests on one page of a node, and folders on one page of a collection.
PAGE = FOLDERS = 100
#: Most nodes that are expanded in a page; a cookie may have any number.
MAX_OPEN = 12
_KEY = re.compile(r"[-\w]{1,130}(/[-\w]{1,130})?")


def expanded_keys(cookie: str) -> frozenset[str]:
    """Return the keys of expanded nodes in a cookie: "collection" or "collection/folder"."""
    keys = unquote(cookie)[:4000].split(" ")
    return frozenset([key for key in keys if _KEY.fullmatch(key)][:MAX_OPEN])


@dataclass
class TreePage:
    """A page of the content of a collection or a folder."""

    collection: Collection
    folder: Folder | None = None
    requests: list[SavedRequest] = field(default_factory=list)
    #: Offset of the next page; None for the last one.
    following: int | None = None
    #: Of a collection: its folders, expanded ones with their content.
    nodes: list[TreeNode] = field(default_factory=list)
    #: Cursor of the next page of folders, "" for the last one.
    folders_after: str = ""

    @property
    def more_url(self) -> str:
        """Return the URL of the next page of requests."""
        return f"{_url(self.collection, self.folder)}&from={self.following}"

    @property
    def folders_url(self) -> str:
        """Return the URL of the next page of folders."""
        url = reverse("sidebar-branch", args=[self.collection.slug])
        return f"{url}?folders={self.folders_after}"


@dataclass
class TreeNode:
    """A collection or a folder, with its content if it is expanded."""

    collection: Collection
    folder: Folder | None
    count: int
    branch: TreePage | None

    @property
    def key(self) -> str:
        """Return its key in the cookie."""
        return "/".join(each.slug for each in (self.collection, self.folder) if each)

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.folder or self.collection)

    @property
    def url(self) -> str:
        """Return the URL of its content."""
        return _url(self.collection, self.folder)


def _url(collection: Collection, folder: Folder | None) -> str:
    url = reverse("sidebar-branch", args=[collection.slug])
    return f"{url}?folder={folder.slug if folder else ''}"


def build_tree(collections: QuerySet[Collection], keys: Names[str]) -> list[TreeNode]:
    """Return all collections, those in `keys` expanded."""
    return [
        TreeNode(each, None, each.count, tree_page(each, None, keys) if each.slug in keys else None)
        for each in counted(collections)
    ]


def tree_page(
    collection: Collection, folder: Folder | None, keys: Names[str] = (), start: int = 0
) -> TreePage:
    """Return a page of the requests of a folder, or of those without one with the folders."""
    requests = collection.requests.filter(folder=folder).order_by("position", "pk")
    # One request more than is shown, to know whether there is a next page without counting.
    requests_page = list(
        requests.defer(*DEFERRED_COLUMNS, "notes", "expectations")[start : start + PAGE + 1]
    )
    for saved in requests_page:
        saved.collection = collection
    following = start + PAGE if len(requests_page) > PAGE else None
    content = TreePage(collection, folder, requests_page[:PAGE], following)
    return content if folder or start else _with_folders(content, keys)


def more_folders(collection: Collection, keys: Names[str], after: str) -> TreePage:
    """Return the page of folders of a collection from the cursor `after` on."""
    return _with_folders(TreePage(collection), keys, after)


def _with_folders(content: TreePage, keys: Names[str], after: str = "") -> TreePage:
    collection = content.collection
    page = FolderPage.of(collection, FOLDERS, after)
    content.folders_after = page.next_offset
    content.nodes = [
        TreeNode(collection, each, each.count, tree_page(collection, each) if key in keys else None)
        for each in page.folders
        for key in [f"{collection.slug}/{each.slug}"]
    ]
    return content
