"""Is the reply of a run what the specification asks for: the report, its count, and the rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.conformance import (
    RULESETS,
    ConformanceReport,
    RuleGroup,
    RuleSet,
    ruleset,
    run_rules,
)
from playground.models import Run
from playground.models.promises import earlier_progress
from playground.protocols import nlweb, registry
from playground.rendering.conformance import (
    ABOUT,
    PointerLocator,
    ReportView,
    version_label,
    view_of,
)
from playground.views.helpers import get_run, make_download

#: Reports that are kept: a few findings each, and a flood takes long to judge.
REPORT_CACHE_SIZE = 64
_NLWEB = "nlweb"
_LOCKS = tuple(Lock() for _ in range(16))


def _book(run: Run) -> RuleSet:
    """The rules for a run; an empty book where there are none: for actions."""
    return ruleset(run.protocol, run.binding)


def _version(request: HttpRequest, run: Run) -> str:
    """The version to judge by: `?version=`, or the one that the request was sent as.

    A version of NLWeb that no rule knows stays what it is: nothing applies to it.
    """
    known = _book(run).versions
    wanted = request.GET.get("version", "")
    if wanted in known:
        return wanted
    is_named = run.version in known or any(run.version == each.name for each in nlweb.SPOKEN)
    return run.version if is_named or not known else known[-1]


def _judged(run: Run, version: str) -> tuple[ConformanceReport, ReportView]:
    # The tab asks for the count and for the report at once: a flood is not judged twice.
    with _LOCKS[run.pk.int % len(_LOCKS)]:
        return _judge(run.pk, version, run.frames, run.state, tuple(earlier_progress(run)))


@lru_cache(maxsize=REPORT_CACHE_SIZE)
def _judge(
    pk: UUID, version: str, frames: int, state: str, earlier: tuple[float, ...]
) -> tuple[ConformanceReport, ReportView]:
    """The report on a run that has ended. `frames` tells reports of one run apart."""
    run = Run.objects.get(pk=pk)
    places = PointerLocator()
    report = run_rules(
        places.noting(run.read_frames()),
        run.request,
        version,
        protocol=run.protocol,
        binding=run.binding,
        operation=registry.operation(run.protocol, run.request),
        state=state,
        earlier_progress=earlier,
    )
    return report, view_of(report, places)


@require_safe
def report(request: HttpRequest, pk: str) -> HttpResponse:
    """The report on a run, as `?version=` or as what it was sent as."""
    run = get_run(request, pk)
    rules = _book(run)
    # Only NLWeb has versions to choose from.
    versions = rules.versions if run.protocol == _NLWEB else ()
    context: dict[str, Any] = {"run": run, "versions": versions, "has_rules": bool(rules.rules)}
    if run.is_final and rules.rules:
        version = _version(request, run)
        context["version"] = version
        if version in rules.versions:
            context["report"] = _judged(run, version)[1]
    return render(request, "runs/conformance/report.html", context)


@require_safe
def count(request: HttpRequest, pk: str) -> HttpResponse:
    """What the tab says of the report before anybody opens it."""
    run = get_run(request, pk)
    context: dict[str, Any] = {"run": run}
    if run.is_final and _book(run).rules:
        context["report"] = _judged(run, _version(request, run))[1]
    return render(request, "runs/conformance/count.html", context)


@require_safe
def document(request: HttpRequest, pk: str) -> HttpResponse:
    """The report as a JSON document to keep, every rule included."""
    run = get_run(request, pk)
    version = _version(request, run)
    found = {"run": str(run.pk), "state": run.state, "sent_as": run.version}
    found |= _judged(run, version)[0].to_json()
    text = json.dumps(found, indent=2, ensure_ascii=False)
    response = HttpResponse(text.encode("utf-8", "backslashreplace"), "application/json")
    return make_download(response, f"conformance-{run.pk}-{version}.json")


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Every rule: what it wants, how much each version asks for it, and where."""
    return render(request, "rules.html", {"groups": list(_groups())})


def _groups() -> Iterator[dict[str, Any]]:
    """The chapters of all books, each once: the first that has a name has the most rules."""
    seen: dict[str, RuleGroup] = {}
    for (protocol, _), rules in RULESETS.items():
        for chapter in rules.groups:
            if seen.setdefault(chapter.slug, chapter) is not chapter:
                continue
            versions = rules.versions
            yield {
                "title": chapter.title,
                "slug": chapter.slug,
                "about": ABOUT[chapter.slug],
                "columns": [version_label(protocol, name) for name in versions],
                "rows": [
                    (rule, [(name, rule.requirements.get(name)) for name in versions])
                    for rule in chapter.rules
                ],
            }
