"""Annotated exchange of a run: pages of the Wire tab, and exports."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.query_params import int_param
from playground.rendering import annotation_exports
from playground.rendering.annotations import BLOCKS, annotated_page
from playground.views.conformance import report_on
from playground.views.helpers import get_run, make_download


@require_safe
def blocks(request: HttpRequest, pk: str) -> HttpResponse:
    """Show blocks from `?offset=`, `?count=` of them at most.

    `?open=1` shows the meanings of events like earlier ones, `?all=1` all meanings of a block.
    """
    run = get_run(request, pk)
    is_single, shows_all = "open" in request.GET, "all" in request.GET
    found = annotated_page(
        run,
        report_on(run),
        offset=int_param(request.GET, "offset", 0),
        limit=min(int_param(request.GET, "count", 0) or BLOCKS, BLOCKS),
        is_open=is_single,
        shows_all=shows_all,
    )
    context = {"run": run, "blocks": found, "single": is_single, "shows_all": shows_all}
    return render(request, "runs/annotations/blocks.html", context)


@require_safe
def as_html(request: HttpRequest, pk: str) -> HttpResponse:
    """Download the annotated exchange as one HTML file."""
    run = get_run(request, pk)
    text = annotation_exports.as_html(run, report_on(run))
    return make_download(HttpResponse(text), f"exchange-{run.pk}.html")


@require_safe
def as_markdown(request: HttpRequest, pk: str) -> HttpResponse:
    """Download the annotated exchange as Markdown."""
    run = get_run(request, pk)
    text = annotation_exports.as_markdown(run, report_on(run))
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    return make_download(response, f"exchange-{run.pk}.md")
