"""Collections in the sidebar, and search in all of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.base.query_params import int_param
from playground.collections.search import search_collections
from playground.site.sidebar import COOKIE, expanded_keys, more_folders, tree_page
from playground.ui.helpers import get_collection, is_htmx


@require_safe
def sidebar(request: HttpRequest) -> HttpResponse:
    """Show the collections of the sidebar, reloaded."""
    return render(request, "shell/collections.html")


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
    return render(request, "shell/tree_page.html", {"content": found})


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the matches of `q`: on a page, or as entries of the palette."""
    query = request.GET.get("q", "").strip()
    context = {"q": query[:200], "found": search_collections(request.user, query)}
    name = "collections/search_palette.html" if is_htmx(request) else "collections/search.html"
    return render(request, name, context)
