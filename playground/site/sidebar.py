"""Sidebar of every page: agents, lessons, and the tree of collections, folders and requests.

A node of the tree is read a page at a time. The browser stores the expanded nodes in a cookie, so
that a page is delivered with them. The history of the sidebar is loaded after the page: see
`playground.history.rows`.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from playground.base.query_params import int_param
from playground.collections.outline import DEFERRED_COLUMNS, FolderPage, counted
from playground.collections.search import search_collections
from playground.lessons.pane import LessonOffer, lesson_offer
from playground.models import Agent, Collection, Folder, SavedRequest
from playground.ui.helpers import get_collection, is_htmx

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
        url = reverse("sidebar-node", args=[self.collection.slug])
        return f"{url}?folders={self.folders_after}"


@dataclass
class TreeNode:
    """A collection or a folder, with its content if it is expanded."""

    collection: Collection
    folder: Folder | None
    count: int
    content: TreePage | None

    @property
    def key(self) -> str:
        """Return its key in the cookie."""
        return "/".join(each.slug for each in (self.collection, self.folder) if each)

    @property
    def name(self) -> str:
        return str(self.folder or self.collection)

    @property
    def url(self) -> str:
        return _url(self.collection, self.folder)


class Sidebar:
    """The sidebar of a page. Each part is read once, when a template or a view asks for it."""

    def __init__(self, request: HttpRequest) -> None:
        self._user = getattr(request, "user", AnonymousUser())
        self._cookie = request.COOKIES.get(COOKIE, "")

    @classmethod
    def of(cls, request: HttpRequest) -> Sidebar:
        """Return the sidebar of a request: the same one for its view and its templates."""
        found: Sidebar | None = getattr(request, "_sidebar", None)
        if found is None:
            found = request._sidebar = cls(request)  # type: ignore[attr-defined]
        return found

    @property
    def is_shown(self) -> bool:
        """Return whether the reader has collections, agents and runs: not without a login."""
        return not settings.HOSTED or self._user.is_authenticated

    @cached_property
    def agents(self) -> list[Agent]:
        return list(Agent.objects.owned_by(self._user))

    @cached_property
    def collections(self) -> list[TreeNode]:
        """The user's collections, expanded as the browser's cookie says."""
        found = Collection.objects.owned_by(self._user).filter(lesson__isnull=True)
        return build_tree(found, expanded_keys(self._cookie))

    @cached_property
    def lesson(self) -> LessonOffer | None:
        """The lesson to continue, or else the first one to start."""
        return lesson_offer(self._user)


def _url(collection: Collection, folder: Folder | None) -> str:
    url = reverse("sidebar-node", args=[collection.slug])
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
    more = ("headers", "auth", "captures", "notes", "expectations")
    requests_page = list(requests.defer(*DEFERRED_COLUMNS, *more)[start : start + PAGE + 1])
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


@require_safe
def sidebar(request: HttpRequest) -> HttpResponse:
    """Show the collections of the sidebar, reloaded."""
    return render(request, "site/sidebar.html#collections")


@require_safe
def sidebar_node(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the contents of a collection, or of its `folder`; `from` and `folders` page."""
    collection = get_collection(request, slug)
    folder = collection.folders.filter(slug=request.GET.get("folder", "")).first()
    keys = expanded_keys(request.COOKIES.get(COOKIE, ""))
    if after := request.GET.get("folders", ""):
        found = more_folders(collection, keys, after)
    else:
        found = tree_page(collection, folder, keys, int_param(request.GET, "from", 0))
    return render(request, "site/sidebar.html#tree_page", {"content": found})


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the matches of `q`: on a page, or as entries of the palette."""
    query = request.GET.get("q", "").strip()
    context = {"q": query[:200], "found": search_collections(request.user, query)}
    name = "collections/search.html#palette" if is_htmx(request) else "collections/search.html"
    return render(request, name, context)
