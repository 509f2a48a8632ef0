"""Conformance reports: rules by level, their count, and the report as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.conformance import (
    RULESETS,
    ConformanceReport,
    EarlierResponses,
    Finding,
    Level,
    RuleSet,
    Verdict,
    ruleset,
)
from playground.models import Agent, Run
from playground.protocols import registry
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import conformance_report, earlier_responses, once_per_run
from playground.ui.helpers import get_run, make_download

#: Labels of verdicts, in the order in which they are shown.
VERDICTS: Mapping[Verdict, str] = {
    Verdict.FAIL: "Failed",
    Verdict.INCOMPLETE: "Inconclusive",
    Verdict.PASS: "Passed",
    Verdict.NOT_APPLICABLE: "Not applicable",
}
#: The title of each rule, and the slug of its group.
RULES = {
    rule.id: (rule.title, group.slug)
    for ruleset in RULESETS.values()
    for group in ruleset.groups
    for rule in group.rules
}
#: A section with a number, or with the letter of an appendix.
_NUMBERED = re.compile(r"[0-9]|[A-Z](?:\.|,|$)")


class PointerLocator:
    """Locator of the bytes of a frame's events.

    The events of a whole body have the number of the frame that ended it, which has no bytes.
    """

    def __init__(self) -> None:
        self._body: int | None = None
        self._wire: dict[int, int] = {}

    def noting(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Yield the frames unchanged, noting where bodies begin and end."""
        for frame in frames:
            if frame.kind is FrameKind.HEAD:
                self._body = None
            elif frame.kind is FrameKind.BODY:
                self._body = self._body or frame.seq
            elif frame.kind in (FrameKind.END, FrameKind.ERROR) and self._body:
                self._wire[frame.seq] = self._body
            yield frame

    def wire(self, seq: int | None) -> int | None:
        """Return the number of the frame with the bytes of the events of frame `seq`."""
        return self._wire.get(seq, seq) if seq is not None else None


@dataclass(frozen=True, slots=True)
class RuleReport:
    """A rule with its findings, which have the number of the frame with the bytes."""

    findings: list[Finding]

    @property
    def result(self) -> Finding:
        """Return a finding, for what all of them have in common: verdict, level and section."""
        return self.findings[0]

    @property
    def title(self) -> str:
        return RULES[self.result.rule][0]

    @property
    def group(self) -> str:
        return RULES[self.result.rule][1]

    @property
    def verdict_label(self) -> str:
        return VERDICTS[self.result.verdict]

    @property
    def source(self) -> str:
        return source_of(self.result.section)

    @property
    def problems(self) -> list[Finding]:
        """Return the findings of a failed or inconclusive rule."""
        return self.findings if self.result.verdict in (Verdict.FAIL, Verdict.INCOMPLETE) else []


@dataclass(frozen=True)
class LevelReport:
    """The rules of one level, failed ones first."""

    level: Level
    rules: list[RuleReport]

    @cached_property
    def counts(self) -> Counter[str]:
        """Return the number of rules by the value of their verdict."""
        return Counter(rule.result.verdict.value for rule in self.rules)

    @property
    def tally(self) -> str:
        """Return the number of its rules by verdict as text, without those that do not apply."""
        shown = [
            f"{self.counts[verdict.value]} {label.lower()}"
            for verdict, label in VERDICTS.items()
            if verdict is not Verdict.NOT_APPLICABLE and self.counts[verdict.value]
        ]
        return ", ".join(shown) or "not applicable"


@dataclass(frozen=True)
class ReportView:
    """A conformance report as its templates show it."""

    #: Protocol, version and binding that the response was checked against.
    subject: str
    levels: list[LevelReport]

    @cached_property
    def counts(self) -> Counter[str]:
        """Return the number of rules by the value of their verdict."""
        return sum((level.counts for level in self.levels), Counter())

    @property
    def verdicts(self) -> list[tuple[str, str, int]]:
        """Return value, label and number of rules of each verdict."""
        return [(each.value, label, self.counts[each.value]) for each, label in VERDICTS.items()]

    @property
    def worst(self) -> LevelReport | None:
        """Return the strictest level with a failed rule, None if none failed."""
        return next((level for level in self.levels if level.counts["fail"]), None)

    @property
    def sentence(self) -> str:
        counts = self.counts
        levels = [(level.counts["fail"], level.level.value) for level in self.levels]
        broken = ", ".join(f"{count} {name}" for count, name in levels if count)
        parts = [f"{counts['fail']} failed ({broken})" if broken else "none failed"]
        parts += [f"{counts['incomplete']} inconclusive"] if counts["incomplete"] else []
        parts += [f"{counts['pass']} passed", f"{counts['not_applicable']} not applicable"]
        return ", ".join(parts)

    @property
    def text(self) -> str:
        """Return the failed and inconclusive rules as plain text."""
        lines = [f"Checked against {self.subject}: {self.sentence}."]
        for rule in (rule for level in self.levels for rule in level.rules if rule.problems):
            found = rule.result
            about = f"{rule.verdict_label} ({found.level.value}, {rule.source})"
            lines += ["", f"{about}: {rule.title} [{found.rule}]"]
            for each in rule.problems:
                where = "response" if each.seq is None else f"frame {each.seq} {each.pointer}"
                lines.append(f"  {where.strip()}: {each.message}")
        return "\n".join(lines)


def view_of(report: ConformanceReport, locator: PointerLocator) -> ReportView:
    located = (replace(each, seq=locator.wire(each.seq)) for each in report.findings)
    rules = [RuleReport(list(found)) for _, found in groupby(located, key=attrgetter("rule"))]
    order = list(VERDICTS)
    rules.sort(key=lambda rule: order.index(rule.result.verdict))
    levels = [LevelReport(level, [r for r in rules if r.result.level is level]) for level in Level]
    return ReportView(subject_of(report.protocol, report.binding, report.version), levels)


def subject_of(protocol: str, binding: str, version: str) -> str:
    """Return what a response is checked against: "NLWeb 0.55 over MCP"."""
    row = registry.PROTOCOLS.get(protocol)
    if row is None:
        return version
    over = f" over {Agent.Binding(binding).label}" if binding != Agent.Binding.HTTP else ""
    return f"{row.label} {version}{over}" if row.has_versions else f"{row.label}{over}"


def source_of(section: str) -> str:
    """Return a section as text, by number or by name."""
    return f"section {section}" if _NUMBERED.match(section) else section


#: Reports in the cache: each has a few findings, and a run with many frames takes long to check.
REPORT_CACHE_SIZE = 64


def _rule_set(run: Run) -> RuleSet:
    """Return the rule set of a run; an empty one where there are no rules: for actions."""
    return ruleset(run.protocol, run.binding)


def _version(request: HttpRequest, run: Run) -> str:
    """Return the version to check against: `?version=`, or the one that the request was sent as.

    A version of the protocol without rules is kept: no rule applies to it.
    """
    known = _rule_set(run).versions
    requested = request.GET.get("version", "")
    if requested in known:
        return requested
    supported = {each.name for each in run.spec.versions}
    is_named = run.version in known or run.version in supported
    return run.version if is_named or not known else known[-1]


# The tab requests the count and the report at the same time.
@once_per_run(REPORT_CACHE_SIZE)
def _run_rules(
    run: Run, version: str, earlier: EarlierResponses
) -> tuple[ConformanceReport, ReportView]:
    locator = PointerLocator()
    frames = locator.noting(run.read_frames())
    report = conformance_report(run, frames, version=version, earlier=earlier)
    return report, view_of(report, locator)


def _report(run: Run, version: str) -> tuple[ConformanceReport, ReportView]:
    return _run_rules(run, version, earlier_responses(run))


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
    versions = rules.versions if run.spec.has_versions else ()
    context: dict[str, Any] = {"run": run, "versions": versions, "has_rules": bool(rules.rules)}
    if run.is_final and rules.rules:
        version = _version(request, run)
        context["version"] = version
        if version in rules.versions:
            context["report"] = _report(run, version)[1]
    return render(request, "verdicts/conformance.html", context)


@require_safe
def count(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the number of findings on the tab, before the report is opened."""
    run = get_run(request, pk)
    context: dict[str, Any] = {"run": run}
    if run.is_final and _rule_set(run).rules:
        context["report"] = _report(run, _version(request, run))[1]
    return render(request, "verdicts/conformance.html#count", context)


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
