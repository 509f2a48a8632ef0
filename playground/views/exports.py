"""Export: a collection as a file to keep."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from playground.library.fixtures import dump, fixture_of
from playground.library.postman import to_postman
from playground.views.helpers import make_download
from playground.views.shelf import get_collection


@require_safe
def collection_export(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection as a Django fixture, named after it."""
    found = get_collection(request, slug)
    response = HttpResponse(dump(found), content_type="application/json; charset=utf-8")
    return make_download(response, f"{found.slug}.json")


@require_safe
def collection_postman(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection as a Postman Collection 2.1."""
    found = get_collection(request, slug)
    text = to_postman(fixture_of(found))
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    return make_download(response, f"{found.slug}.postman_collection.json")
