"""The sidebar's collections, and search over everything that is kept in them."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.models import Collection
from playground.query_params import int_param
from playground.rendering.search import search_collections
from playground.rendering.sidebar import COOKIE, build_tree, expanded_keys, more_folders, tree_page
from playground.views.helpers import is_htmx
from playground.views.shelf import get_collection


def library_context(request: HttpRequest) -> dict[str, Any]:
    """The collections of the sidebar, with those unfolded that the browser has kept so."""
    keys = expanded_keys(request.COOKIES.get(COOKIE, ""))
    return {"library": build_tree(Collection.objects.owned_by(request.user), keys)}


@require_safe
def sidebar(request: HttpRequest) -> HttpResponse:
    """The collections of the sidebar, anew."""
    return render(request, "shell/collections.html", library_context(request))


@require_safe
def sidebar_branch(request: HttpRequest, slug: str) -> HttpResponse:
    """What is inside a collection, or inside its `folder`; `from` and `folders` page."""
    collection = get_collection(request, slug)
    folder = collection.folders.filter(slug=request.GET.get("folder", "")).first()
    keys = expanded_keys(request.COOKIES.get(COOKIE, ""))
    if after := request.GET.get("folders", ""):
        found = more_folders(collection, keys, after)
    else:
        found = tree_page(collection, folder, keys, int_param(request.GET, "from", 0))
    return render(request, "shell/tree_page.html", {"branch": found})


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """What matches the words of `q`: a page, or the entries for the palette."""
    words = request.GET.get("q", "").strip()
    context = {"q": words[:200], "found": search_collections(request.user, words)}
    name = "collections/search_palette.html" if is_htmx(request) else "collections/search.html"
    return render(request, name, context)
