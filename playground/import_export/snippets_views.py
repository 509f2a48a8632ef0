"""Snippets: a request as code of other tools, and a cURL command as a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from playground.composer.views import prepare_form
from playground.import_export.curl import read_curl
from playground.import_export.snippets import (
    JSONRPC_NOTE,
    WRITERS,
    SnippetCall,
    snippet_body,
    snippet_call,
    snippet_call_from_frame,
    to_jsonrpc,
)
from playground.models import Run
from playground.protocols import raw, registry
from playground.protocols.frames import Frame, FrameKind
from playground.ui.helpers import get_run


@dataclass(frozen=True, slots=True)
class Snippet:
    """A tab of the sheet with code."""

    slug: str
    label: str
    text: str
    #: What to know before running it.
    note: str = ""


@require_POST
def curl(request: HttpRequest) -> HttpResponse:
    """Return the request in the cURL command `command` (`import_export.curl.CurlRequest`)."""
    return JsonResponse(read_curl(request.POST.get("command", "")).to_json())


@require_POST
def code(request: HttpRequest) -> HttpResponse:
    """Show the composer's request as code, even if it cannot be sent yet."""
    prepared = prepare_form(request)
    call = None
    if prepared.has_call:
        call = registry.preview(prepared.redacted_target, prepared.request)
    if call is None:
        return render(request, "formats/code.html", {"problems": prepared.problems})
    shown = snippet_call(call, prepared.redact, prepared.secret_names)
    document = snippet_body(prepared.request, prepared.redact, prepared.secret_names)
    snippets = _snippets(shown, prepared.agent.protocol, document)
    context = {"snippets": snippets, "variables": shown.variables, "missing": prepared.missing}
    return render(request, "formats/code.html", context)


@require_safe
def run_code(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the last call of a run as code: the calls before it are only the handshake."""
    run = get_run(request, pk)
    call = _last_call(run)
    if call is None:
        return render(request, "formats/code.html", {"nothing": True})
    shown = snippet_call_from_frame(call.data, run.url)
    document = snippet_body(run.request, (), run.secret_names)
    snippets = _snippets(shown, run.protocol, document)
    context = {"snippets": snippets, "variables": shown.variables}
    return render(request, "formats/code.html", context)


def _last_call(run: Run) -> Frame | None:
    """Return the frame of the last call, None without one. Batches without calls are skipped."""
    frames = (frame for batch in run.batches(is_independent=False) for frame in batch.frames())
    return max((f for f in frames if f.kind is FrameKind.CALL), key=lambda f: f.seq, default=None)


def _snippets(call: SnippetCall, protocol: str, document: Any) -> Sequence[Snippet]:
    """Return a call in every format."""
    found = [Snippet(slug, label, write(call)) for slug, (label, write) in WRITERS.items()]
    # The only protocol that goes over MCP.
    if protocol == "nlweb" and raw.raw_of(document) is None:
        tool = registry.operation(protocol, document)
        found.append(Snippet("jsonrpc", "MCP JSON-RPC", to_jsonrpc(tool, document), JSONRPC_NOTE))
    return found
