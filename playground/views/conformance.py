"""Is the reply of a run what the specification asks for: the report, its count, and the rules."""

from __future__ import annotations

import json
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from playground.conformance import RULES, Report, judge
from playground.models import Run
from playground.models.trackers import earlier_progress
from playground.protocols import nlweb
from playground.rendering.report import Places, ReportView, view_of

#: Reports that are kept: a few findings each, and a flood takes long to judge.
KEPT = 64
_NLWEB = "nlweb"
_LOCKS = tuple(Lock() for _ in range(16))
_VERSIONS = tuple(version.name for version in nlweb.VERSIONS)


def _run(request: HttpRequest, pk: str) -> Run:
    run: Run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    return run


def _version(request: HttpRequest, run: Run) -> str:
    """The version to judge by: `?version=`, or the one that the request was sent as."""
    wanted = request.GET.get("version", "")
    if wanted in _VERSIONS:
        return wanted
    return run.version if run.version in _VERSIONS else _VERSIONS[-1]


def _judged(run: Run, version: str) -> tuple[Report, ReportView]:
    # The tab asks for the count and for the report at once: a flood is not judged twice.
    with _LOCKS[run.pk.int % len(_LOCKS)]:
        return _judge(run.pk, version, run.frames, run.state, tuple(earlier_progress(run)))


@lru_cache(maxsize=KEPT)
def _judge(
    pk: UUID, version: str, frames: int, state: str, earlier: tuple[float, ...]
) -> tuple[Report, ReportView]:
    """The report on a run that has ended. `frames` tells reports of one run apart."""
    run = Run.objects.get(pk=pk)
    places = Places()
    operation = nlweb.operation(run.request) if run.protocol == _NLWEB else run.protocol
    report = judge(
        places.noting(run.read_frames()),
        run.request,
        version,
        operation=operation,
        state=state,
        earlier_progress=earlier,
    )
    return report, view_of(report, places)


@require_safe
def report(request: HttpRequest, pk: str) -> HttpResponse:
    """The report on a run, as `?version=` or as what it was sent as."""
    run = _run(request, pk)
    context: dict[str, Any] = {"run": run, "versions": _VERSIONS}
    if run.is_final and run.protocol == _NLWEB:
        version = _version(request, run)
        context |= {"version": version, "report": _judged(run, version)[1]}
    return render(request, "runs/conformance/report.html", context)


@require_safe
def count(request: HttpRequest, pk: str) -> HttpResponse:
    """What the tab says of the report before anybody opens it."""
    run = _run(request, pk)
    context: dict[str, Any] = {"run": run}
    if run.is_final and run.protocol == _NLWEB:
        context["report"] = _judged(run, _version(request, run))[1]
    return render(request, "runs/conformance/count.html", context)


@require_safe
def document(request: HttpRequest, pk: str) -> HttpResponse:
    """The report as a JSON document to keep, every rule included."""
    run = _run(request, pk)
    version = _version(request, run)
    found = {"run": str(run.pk), "state": run.state, "sent_as": run.version}
    found |= _judged(run, version)[0].to_json()
    text = json.dumps(found, indent=2, ensure_ascii=False)
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), "application/json")
    name = f"conformance-{run.pk}-{version}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Every rule: what it wants, how much each version asks for it, and where."""
    rows = [(rule, [(name, rule.demands.get(name)) for name in _VERSIONS]) for rule in RULES]
    return render(request, "rules.html", {"rules": rows, "versions": _VERSIONS})
