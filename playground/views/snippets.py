"""What other tools say and read: a curl command taken in, and a call as code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from playground.library.curl import read_curl
from playground.library.sketches import (
    SnippetCall,
    snippet_body,
    snippet_call,
    snippet_call_from_frame,
)
from playground.library.snippets import JSONRPC_NOTE, WRITERS, to_jsonrpc
from playground.models import Run
from playground.protocols import registry
from playground.protocols.frames import Frame, FrameKind
from playground.views.compose import read_form
from playground.views.helpers import get_run


@dataclass(frozen=True, slots=True)
class Snippet:
    """One tab of the sheet."""

    slug: str
    label: str
    text: str
    #: What has to be known to run it.
    note: str = ""


@require_POST
def curl(request: HttpRequest) -> HttpResponse:
    """What the composer makes of the curl command in `command`: see `library.curl.Curl`."""
    return JsonResponse(read_curl(request.POST.get("command", "")).to_json())


@require_POST
def code(request: HttpRequest) -> HttpResponse:
    """What the compose pane holds, as code; it need not be ready to be sent."""
    composed = read_form(request)
    prepared = composed.prepared
    call = registry.preview(prepared.shown, prepared.request) if prepared else None
    if prepared is None or call is None:
        return render(request, "formats/code.html", {"problems": composed.problems})
    sketch = snippet_call(call, prepared.redact, prepared.provenance.secret_names)
    names = prepared.provenance.secret_names
    document = snippet_body(prepared.request, prepared.redact, names)
    snippets = _snippets(sketch, prepared.agent.protocol, document)
    context = {"snippets": snippets, "variables": sketch.variables, "missing": composed.missing}
    return render(request, "formats/code.html", context)


@require_safe
def run_code(request: HttpRequest, pk: str) -> HttpResponse:
    """The last call that a run made, as code: what comes before it only opens a server."""
    run = get_run(request, pk)
    call = _last_call(run)
    if call is None:
        return render(request, "formats/code.html", {"nothing": True})
    sketch = snippet_call_from_frame(call.data, run.url)
    document = snippet_body(run.request, (), run.secret_names)
    snippets = _snippets(sketch, run.protocol, document)
    context = {"snippets": snippets, "variables": sketch.variables}
    return render(request, "formats/code.html", context)


def _last_call(run: Run) -> Frame | None:
    """None where nothing was sent. Rows of a flood hold no calls, and are passed over."""
    frames = (frame for batch in run.batches(is_independent=False) for frame in batch.frames())
    return max((f for f in frames if f.kind is FrameKind.CALL), key=lambda f: f.seq, default=None)


def _snippets(sketch: SnippetCall, protocol: str, document: Any) -> Sequence[Snippet]:
    found = [Snippet(slug, label, write(sketch)) for slug, (label, write) in WRITERS.items()]
    if protocol == "nlweb":  # The only protocol that goes over MCP.
        tool = registry.operation(protocol, document)
        found.append(Snippet("jsonrpc", "MCP JSON-RPC", to_jsonrpc(tool, document), JSONRPC_NOTE))
    return found
