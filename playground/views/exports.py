"""Export: a collection as a file to keep."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from playground.library.fixtures import dump
from playground.models import Collection


@require_safe
def collection_export(request: HttpRequest, slug: str) -> HttpResponse:
    """The collection as a Django fixture, named after it."""
    found = get_object_or_404(Collection.objects.owned_by(request.user), slug=slug)
    response = HttpResponse(dump(found), content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.slug}.json"'
    return response
