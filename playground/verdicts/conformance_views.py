"""Conformance of a run: the report, its count and its JSON."""

from __future__ import annotations

import json
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.conformance import (
    ConformanceReport,
    EarlierResponses,
    RuleSet,
    ruleset,
    run_rules,
)
from playground.models import Run
from playground.protocols import nlweb, registry
from playground.stored_runs import earlier_responses
from playground.ui.helpers import get_run, make_download
from playground.verdicts.conformance import (
    PointerLocator,
    ReportView,
    view_of,
)

#: Reports in the cache: each has a few findings, and a run with many frames takes long to check.
REPORT_CACHE_SIZE = 64
_NLWEB = "nlweb"
_LOCKS = tuple(Lock() for _ in range(16))


def _rule_set(run: Run) -> RuleSet:
    """Return the rule set of a run; an empty one where there are no rules: for actions."""
    return ruleset(run.protocol, run.binding)


def _version(request: HttpRequest, run: Run) -> str:
    """Return the version to check against: `?version=`, or the one that the request was sent as.

    A version of NLWeb without rules is kept: no rule applies to it.
    """
    known = _rule_set(run).versions
    requested = request.GET.get("version", "")
    if requested in known:
        return requested
    supported = {each.name for each in nlweb.SUPPORTED_VERSIONS}
    is_named = run.version in known or run.version in supported
    return run.version if is_named or not known else known[-1]


def _report(run: Run, version: str) -> tuple[ConformanceReport, ReportView]:
    """Return the report on a run, from the cache if it is there."""
    # The tab requests the count and the report at the same time: the rules run only once.
    with _LOCKS[run.pk.int % len(_LOCKS)]:
        return _run_rules(run.pk, version, run.frames, run.state, earlier_responses(run))


@lru_cache(maxsize=REPORT_CACHE_SIZE)
def _run_rules(
    pk: UUID, version: str, frames: int, state: str, earlier: EarlierResponses
) -> tuple[ConformanceReport, ReportView]:
    """Return the report on a run in its final state. `frames` tells reports of one run apart."""
    run = Run.objects.get(pk=pk)
    locator = PointerLocator()
    report = run_rules(
        locator.noting(run.read_frames()),
        run.request,
        version,
        protocol=run.protocol,
        binding=run.binding,
        operation=registry.operation(run.protocol, run.request),
        state=state,
        earlier=earlier,
    )
    return report, view_of(report, locator)


def report_on(run: Run) -> ReportView | None:
    """Return the report on a run that has ended, for the version that it was sent as.

    None before its end, and without rules for its version.
    """
    if not run.is_final or run.version not in _rule_set(run).versions:
        return None
    return _report(run, run.version)[1]


@require_safe
def report(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the report on a run, for `?version=` or the version that it was sent as."""
    run = get_run(request, pk)
    rules = _rule_set(run)
    # Only NLWeb has versions to choose from.
    versions = rules.versions if run.protocol == _NLWEB else ()
    context: dict[str, Any] = {"run": run, "versions": versions, "has_rules": bool(rules.rules)}
    if run.is_final and rules.rules:
        version = _version(request, run)
        context["version"] = version
        if version in rules.versions:
            context["report"] = _report(run, version)[1]
    return render(request, "runs/conformance/report.html", context)


@require_safe
def count(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the number of findings on the tab, before the report is opened."""
    run = get_run(request, pk)
    context: dict[str, Any] = {"run": run}
    if run.is_final and _rule_set(run).rules:
        context["report"] = _report(run, _version(request, run))[1]
    return render(request, "runs/conformance/count.html", context)


@require_safe
def document(request: HttpRequest, pk: str) -> HttpResponse:
    """Download the report as JSON, every rule included."""
    run = get_run(request, pk)
    version = _version(request, run)
    found = {"run": str(run.pk), "state": run.state, "sent_as": run.version}
    found |= _report(run, version)[0].to_json()
    text = json.dumps(found, indent=2, ensure_ascii=False)
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), "application/json")
    return make_download(response, f"conformance-{run.pk}-{version}.json")
