"""Explanation of one name of a protocol, as the fragment that the popover shows."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.reference.explanations import explanation_view

#: Seconds that a browser may use a fragment again: it changes with the playground's version only.
MAX_AGE = 3600


@login_not_required
@require_safe
def explanation(request: HttpRequest, protocol: str, version: str, schema: str) -> HttpResponse:
    """Show the explanation of the value at `?at=`, a JSON pointer into a document of a schema.

    Available without login, because shared pages show the same names.
    """
    try:
        view = explanation_view(protocol, version, schema, request.GET.get("at", ""))
    except ValueError:
        return HttpResponseNotFound()  # Without the page of that status: a script reads it.
    response = render(request, "explanations/explanation.html", {"explanation": view})
    response["Cache-Control"] = f"private, max-age={MAX_AGE}"
    return response
