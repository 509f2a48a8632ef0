"""Conformance reports: rules by level, their count, and the report as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from threading import Lock
from typing import Any
from uuid import UUID

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
    run_rules,
)
from playground.models import Run
from playground.protocols import nlweb, registry
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import earlier_responses
from playground.ui.helpers import get_run, make_download

#: Labels of levels and verdicts, in the order in which they are shown.
LEVELS: Mapping[Level, str] = {Level.MUST: "Must", Level.SHOULD: "Should", Level.INFO: "Info"}
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
#: Protocol and binding to the subject of a report; the Agent API has one version without a name.
_SUBJECTS: Mapping[tuple[str, str], str] = {
    ("nlweb", "http"): "NLWeb {}",
    ("nlweb", "mcp"): "NLWeb {} over MCP",
    ("agent-api", "http"): "Agent API",
}
#: Description of each rule group on the rules page.
ABOUT: Mapping[str, str] = {
    "nlweb": "The response of an NLWeb agent over any binding. Over MCP the rules about HTTP and "
    "event streams do not apply, and locations start at the JSON-RPC message: "
    "/result/content/0/text#/results/0 is the first result of the JSON in the first text.",
    "mcp": "The messages of an MCP server that carry an NLWeb response: JSON-RPC, handshake, "
    "tools, shape of results, elicitations and notifications. Sections that name MCP or JSON-RPC "
    "are those of the MCP and JSON-RPC specifications.",
    "json": "The JSON of a body, of each event, and of a string that holds a response: the same "
    "rules for every protocol and binding. Clients may reject or misread what they report.",
    "agent-api": "The response of an Agent API agent, as one document or as a stream of objects.",
}
#: A section with a number, or with the letter of an appendix.
_NUMBERED = re.compile(r"[0-9]|[A-Z](?:\.|,|$)")
_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}


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
class FindingLocation:
    """A finding with its location."""

    message: str
    pointer: str
    #: Number of the frame with its bytes; None for no frame.
    shown: int | None


@dataclass(frozen=True, slots=True)
class RuleReport:
    """A rule with its findings."""

    id: str
    #: The slug of its rule group.
    group: str
    title: str
    section: str
    level: Level
    verdict: Verdict
    spots: list[FindingLocation]

    @property
    def verdict_label(self) -> str:
        return VERDICTS[self.verdict]

    @property
    def source(self) -> str:
        return source_of(self.section)


@dataclass(frozen=True, slots=True)
class LevelReport:
    """The rules of one level, failed ones first."""

    level: Level
    rules: list[RuleReport]

    @property
    def level_label(self) -> str:
        return LEVELS[self.level]

    def count(self, verdict: Verdict) -> int:
        return sum(rule.verdict is verdict for rule in self.rules)

    @property
    def tally(self) -> str:
        """Return the number of its rules by verdict as text, without those that do not apply."""
        labels = {
            Verdict.FAIL: "failed",
            Verdict.INCOMPLETE: "inconclusive",
            Verdict.PASS: "passed",
        }
        counts = {word: self.count(verdict) for verdict, word in labels.items()}
        shown = [f"{count} {word}" for word, count in counts.items() if count]
        return ", ".join(shown) or "not applicable"


@dataclass(frozen=True, slots=True)
class ReportView:
    """A conformance report as its templates show it."""

    #: Protocol, version and binding that the response was checked against.
    subject: str
    version: str
    levels: list[LevelReport]
    #: (verdict, label, number of rules).
    verdicts: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def worst(self) -> LevelReport | None:
        """Return the strictest level with a failed rule, None if none failed."""
        failed = (level for level in self.levels if level.count(Verdict.FAIL))
        return next(failed, None)

    @property
    def failed(self) -> int:
        return self.count(Verdict.FAIL)

    @property
    def worst_failed(self) -> int:
        """Return the number of failed rules of the strictest level with any."""
        return self.worst.count(Verdict.FAIL) if self.worst else 0

    @property
    def inconclusive(self) -> int:
        return self.count(Verdict.INCOMPLETE)

    @property
    def passed(self) -> int:
        return self.count(Verdict.PASS)

    @property
    def not_applicable(self) -> int:
        return self.count(Verdict.NOT_APPLICABLE)

    def count(self, verdict: Verdict) -> int:
        return sum(level.count(verdict) for level in self.levels)

    @property
    def sentence(self) -> str:
        broken = [
            f"{count} {level.level.value}"
            for level in self.levels
            if (count := level.count(Verdict.FAIL))
        ]
        parts = [f"{self.failed} failed ({', '.join(broken)})" if broken else "none failed"]
        parts += [f"{self.inconclusive} inconclusive"] if self.inconclusive else []
        return ", ".join([*parts, f"{self.passed} passed", f"{self.not_applicable} not applicable"])

    @property
    def text(self) -> str:
        """Return the failed and inconclusive rules as plain text."""
        lines = [f"Checked against {self.subject}: {self.sentence}."]
        for level in self.levels:
            for rule in level.rules:
                if rule.verdict in (Verdict.FAIL, Verdict.INCOMPLETE):
                    lines += ["", *_lines(rule)]
        return "\n".join(lines)


def view_of(report: ConformanceReport, locator: PointerLocator) -> ReportView:
    rules = [
        _rule_report(list(findings), locator)
        for _, findings in groupby(report.findings, key=lambda finding: finding.rule)
    ]
    rules.sort(key=lambda rule: _RANK[rule.verdict])
    levels = [LevelReport(level, [r for r in rules if r.level is level]) for level in LEVELS]
    subject = subject_of(report.protocol, report.binding, report.version)
    view = ReportView(subject, report.version, levels)
    counts = [(verdict.value, word, view.count(verdict)) for verdict, word in VERDICTS.items()]
    return replace(view, verdicts=counts)


def subject_of(protocol: str, binding: str, version: str) -> str:
    return _SUBJECTS.get((protocol, binding), "{}").format(version)


def source_of(section: str) -> str:
    """Return a section as text, by number or by name."""
    return f"section {section}" if _NUMBERED.match(section) else section


def version_label(protocol: str, version: str) -> str:
    return version if protocol == "nlweb" else "Level"


def _rule_report(findings: list[Finding], locator: PointerLocator) -> RuleReport:
    first = findings[0]
    has_findings = first.verdict in (Verdict.FAIL, Verdict.INCOMPLETE)
    spots = [FindingLocation(f.message, f.pointer, locator.wire(f.seq)) for f in findings]
    title, group = RULES.get(first.rule, (first.rule, ""))
    return RuleReport(
        first.rule,
        group,
        title,
        first.section,
        first.level,
        first.verdict,
        spots if has_findings else [],
    )


def _lines(rule: RuleReport) -> Iterator[str]:
    yield f"{rule.verdict_label} ({rule.level.value}, {rule.source}): {rule.title} [{rule.id}]"
    for spot in rule.spots:
        where = (
            f"frame {spot.shown} {spot.pointer}".strip() if spot.shown is not None else "response"
        )
        yield f"  {where}: {spot.message}"


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
