"""Context of every page, and its sidebar: agents, lessons, and the tree of collections.

A node of the tree is read a page at a time. The browser stores the expanded nodes in a cookie, so
that a page is delivered with them. The history of the sidebar is loaded after the page: see
`playground.history.rows`.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.views.decorators.http import require_safe

from playground import __version__
from playground.base.fields import int_param
from playground.collections.outline import folder_page, requests_of, with_count
from playground.collections.search import search_collections
from playground.lessons.pane import LessonPane, lesson_offer
from playground.models import Agent, Collection, Folder, LessonProgress, SavedRequest
from playground.models.rows import owner_of
from playground.ui.helpers import get_collection, is_htmx

COOKIE = "playground_unfolded"
#: Requests on one page of a node, and folders on one page of a collection.
PAGE = FOLDERS = 100
#: Columns that the tree does not show, with those of `requests_of`.
_DEFERRED = ("headers", "auth", "captures", "notes", "expectations")
#: Most nodes that are expanded in a page; a cookie may have any number.
MAX_OPEN = 12
_KEY = re.compile(r"[-\w]{1,130}(/[-\w]{1,130})?")


def expanded_keys(cookie: str) -> frozenset[str]:
    """Return the keys of expanded nodes in a cookie: "collection" or "collection/folder"."""
    keys = unquote(cookie)[:4000].split(" ")
    return frozenset([key for key in keys if _KEY.fullmatch(key)][:MAX_OPEN])


@dataclass
class TreeNode:
    """A collection or a folder, and a page of its content if that was read."""

    collection: Collection
    folder: Folder | None = None
    #: Number of requests in all.
    count: int = 0
    is_expanded: bool = False
    requests: list[SavedRequest] = field(default_factory=list)
    #: Offset of the next page of requests; None for the last one.
    following: int | None = None
    #: Of a collection: its folders, expanded ones with their content.
    nodes: list[TreeNode] = field(default_factory=list)
    #: Cursor of the next page of folders, "" for the last one.
    folders_after: str = ""

    @property
    def key(self) -> str:
        """Return its key in the cookie."""
        return "/".join(each.slug for each in (self.collection, self.folder) if each)

    @property
    def name(self) -> str:
        return str(self.folder or self.collection)

    @property
    def url(self) -> str:
        url = reverse("sidebar-node", args=[self.collection.slug])
        return f"{url}?folder={self.folder.slug if self.folder else ''}"

    @property
    def more_url(self) -> str:
        """Return the URL of the next page of requests."""
        return f"{self.url}&from={self.following}"

    @property
    def folders_url(self) -> str:
        """Return the URL of the next page of folders."""
        url = reverse("sidebar-node", args=[self.collection.slug])
        return f"{url}?folders={self.folders_after}"

    def read(self, keys: Names[str], start: int = 0) -> None:
        """Read a page of its requests, and with the first page those in `keys` of its folders."""
        # One request more than is shown, to know whether there is a next page without counting.
        requests = requests_of(self.collection, self.folder).defer(*_DEFERRED)
        self.requests = [*requests[start : start + PAGE + 1]]
        for saved in self.requests:
            saved.collection = self.collection
        if len(self.requests) > PAGE:
            self.following = start + PAGE
            self.requests.pop()
        if not self.folder and not start:
            self.read_folders(keys)

    def read_folders(self, keys: Names[str], after: str = "") -> None:
        """Read the page of folders from the cursor `after` on."""
        folders, self.folders_after = folder_page(self.collection, FOLDERS, after)
        self.nodes = [TreeNode(self.collection, each, each.count) for each in folders]
        _expand(self.nodes, keys)


def _expand(nodes: list[TreeNode], keys: Names[str]) -> list[TreeNode]:
    for node in nodes:
        if node.key in keys:
            node.is_expanded = True
            node.read(keys)
    return nodes


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
        nodes = [TreeNode(each, None, each.count) for each in with_count(found, "collection")]
        return _expand(nodes, expanded_keys(self._cookie))

    @cached_property
    def lesson(self) -> dict[str, Any] | None:
        """The lesson to continue, or else the first one to start."""
        return lesson_offer(self._user)


def assets_built() -> bool:
    """Return whether the front end was built: scripts and style sheets as few small files."""
    return _is_built(settings.BASE_DIR / "static")


@cache
def _is_built(directory: Path) -> bool:
    return (directory / "build" / "site" / "app.js").exists()


def page_context(request: HttpRequest) -> dict[str, Any]:
    """Return the context of every template: site, assets, sidebar and the open lesson.

    Context processor. The last two read nothing before a template shows them.
    """

    def lesson_pane() -> LessonPane | None:
        found = LessonProgress.opened_by(owner_of(request.user))
        return LessonPane(found, request.user) if found else None

    return {
        "site": {
            "mode": settings.PLAYGROUND_MODE,
            "version": __version__,
            "demo": settings.DEMO_ENABLED,
        },
        "assets_built": assets_built(),
        "sidebar": Sidebar.of(request),
        "lesson_pane": SimpleLazyObject(lesson_pane),
    }


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
    node = TreeNode(collection, folder)
    if after := request.GET.get("folders", ""):
        node.read_folders(keys, after)
    else:
        node.read(keys, int_param(request.GET, "from", 0))
    return render(request, "site/sidebar.html#tree_page", {"content": node})


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the matches of `q`: on a page, or as entries of the palette."""
    query = request.GET.get("q", "").strip()
    context = {"q": query[:200], "found": search_collections(request.user, query)}
    name = "collections/search.html#palette" if is_htmx(request) else "collections/search.html"
    return render(request, name, context)
