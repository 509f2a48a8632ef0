"""Sequence diagram of the conversation around a run: the tab, and as SVG and Mermaid files."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.base.fields import int_param
from playground.ui.helpers import get_run, make_download, make_sandboxed
from playground.wire.sequence.conversation import conversation_diagram
from playground.wire.sequence.diagram import one_line
from playground.wire.sequence.drawing import COMPACT, WIDE, drawing_of
from playground.wire.sequence.mermaid import mermaid_text


@require_safe
def sequence(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the diagram: the newest turns, or those up to number `?until=`.

    `?compact=1` draws it for a narrow screen.
    """
    run = get_run(request, pk)
    until = _until(request)
    columns = COMPACT if "compact" in request.GET else WIDE
    context = {
        "run": run,
        "drawing": drawing_of(conversation_diagram(run, until), columns),
        "window": f"?until={until}" if until else "",
    }
    return render(request, "wire/sequence.html", context)


@require_safe
def svg(request: HttpRequest, pk: str) -> HttpResponse:
    """Download the same window as an SVG file, which needs no other file."""
    run = get_run(request, pk)
    title = one_line(f"Sequence diagram: {run.text or 'JSON request'}", 120)
    context = {"drawing": drawing_of(conversation_diagram(run, _until(request))), "title": title}
    response = render(request, "wire/sequence.svg", context, content_type="image/svg+xml")
    return make_download(make_sandboxed(response), f"sequence-{run.pk}.svg")


@require_safe
def mermaid(request: HttpRequest, pk: str) -> HttpResponse:
    """Download the same window as Mermaid text."""
    run = get_run(request, pk)
    text = mermaid_text(conversation_diagram(run, _until(request)))
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    return make_download(make_sandboxed(response), f"sequence-{run.pk}.mmd")


def _until(request: HttpRequest) -> int | None:
    """Return the number of the last turn of the window, None for the newest ones."""
    return int_param(request.GET, "until", 0) or None
