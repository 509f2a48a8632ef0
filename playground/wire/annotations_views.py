"""Annotated exchange of a run: pages of the Wire tab."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.base.query_params import int_param
from playground.ui.helpers import get_run
from playground.verdicts.conformance_views import report_on
from playground.wire.annotations import BLOCKS, annotated_page


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
