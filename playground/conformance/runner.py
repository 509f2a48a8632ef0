"""Running the rules of a protocol and binding on a response, with one verdict each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.earlier import NOTHING_EARLIER, EarlierResponses
from playground.conformance.findings import ConformanceReport, Finding, Verdict
from playground.conformance.rule import AnyTranscript, Inconclusive, Rule, RuleIssue, Violation
from playground.conformance.rule_input import MAX_PARTS, RuleInput
from playground.conformance.rulesets import RuleGroup, ruleset
from playground.protocols import raw
from playground.protocols.frames import BODY_KINDS, Frame

#: The most violations of one rule that are listed; the last one tells how many more there are.
MAX_LISTED = 20


def run_rules(
    frames: Iterable[Frame],
    request: Any,
    version: str,
    *,
    protocol: str = "nlweb",
    binding: str = "http",
    operation: str = "ask",
    state: str = "completed",
    earlier: EarlierResponses = NOTHING_EARLIER,
) -> ConformanceReport:
    """Run the rules on the last response among the frames of a run.

    `protocol` and `binding` select the rule set: an empty one for pairs without a row in
    `rulesets`. `version` is the version whose rules are run, whatever version the request was
    sent in; by an unknown version no rule applies. Of a raw request that sends no document of the
    protocol, the rules read only the response. `operation` is NLWeb's `ask` or `await`; no
    rule of NLWeb applies to any other. `state` is the run's state; if it is not final, the rules
    run on what has been received. `earlier` has the facts in earlier responses of the same
    conversation. Never raise, whatever an agent sent.
    """
    sent = raw.sent_document(request)
    rule_input = RuleInput(tuple(frames), sent, version, operation, state, earlier)
    rules = ruleset(protocol, binding)
    # The specifications do not say what answers another request, such as HEAD, without a body.
    has_body = not BODY_KINDS.isdisjoint(rule_input.response.kinds)
    applies = version in rules.versions and (has_body or raw.raw_of(sent) is None)
    transcripts = rules.read(rule_input) if applies else (None,) * len(rules.groups)
    findings: list[Finding] = []
    for group, transcript in zip(rules.groups, transcripts, strict=True):
        findings += _group_findings(group, transcript, version)
    return ConformanceReport(version, tuple(findings), protocol, binding)


_NONE = Verdict.NOT_APPLICABLE


def _group_findings(
    group: RuleGroup, transcript: AnyTranscript | None, version: str
) -> list[Finding]:
    if transcript is None:
        return [_verdict_finding(rule, version, _NONE) for rule in group.rules]
    reported = _ReportedLocations()
    findings: list[Finding] = []
    # Fallback rules run last, because they omit violations at locations that others report.
    for rule in sorted(group.rules, key=lambda rule: rule.fallback):
        findings += _rule_findings(rule, transcript, reported)
    order = {rule.id: at for at, rule in enumerate(group.rules)}
    findings.sort(key=lambda finding: order[finding.rule])
    return findings


def _rule_findings(
    rule: Rule[Any], transcript: AnyTranscript, reported: _ReportedLocations
) -> list[Finding]:
    version = transcript.version
    if version not in rule.requirements or not rule.when(transcript):
        return [_verdict_finding(rule, version, _NONE)]
    listed: list[Violation] = []
    count, inconclusive = 0, None
    for issue in _issues(rule, transcript, reported):
        if isinstance(issue, Inconclusive):
            inconclusive = inconclusive or issue
            continue
        count += 1
        if count <= MAX_LISTED:
            listed.append(issue)
    if listed:
        return _violation_findings(rule, transcript, listed, count)
    if inconclusive is None and rule.needs_complete_response and not transcript.is_complete:
        inconclusive = Inconclusive(
            "The response is incomplete; no violation in the part received."
        )
    if inconclusive is None and transcript.overflowed:
        inconclusive = Inconclusive(
            f"The response exceeds the limit of {MAX_PARTS:,} parts that are checked."
        )
    if inconclusive is not None:
        return [_finding(rule, transcript, Verdict.INCOMPLETE, inconclusive)]
    return [_verdict_finding(rule, version, Verdict.PASS)]


def _issues(
    rule: Rule[Any], transcript: AnyTranscript, reported: _ReportedLocations
) -> Iterator[RuleIssue]:
    for issue in rule.check(transcript):
        is_violation = isinstance(issue, Violation)
        if is_violation and rule.fallback and reported.has(issue.seq, issue.pointer):
            continue
        # A member that may still have come is not missing for a fallback rule, either.
        if is_violation or issue.pointer:
            reported.add(issue.seq, issue.pointer)
        yield issue


def _violation_findings(
    rule: Rule[Any], transcript: AnyTranscript, listed: list[Violation], count: int
) -> list[Finding]:
    if more := count - len(listed):
        last = listed[-1]
        listed[-1] = last._replace(message=f"{last.message} And {more} more like this.")
    return [_finding(rule, transcript, Verdict.FAIL, violation) for violation in listed]


def _finding(
    rule: Rule[Any], transcript: AnyTranscript, verdict: Verdict, issue: RuleIssue
) -> Finding:
    level, section = rule.requirement(transcript.version)
    if isinstance(issue, Violation) and issue.level:
        level = issue.level
    pointer = transcript.resolve_pointer(issue.seq, issue.pointer)
    return Finding(rule.id, level, section, verdict, pointer, issue.message, issue.seq)


def _verdict_finding(rule: Rule[Any], version: str, verdict: Verdict) -> Finding:
    level, section = rule.requirement(version)
    return Finding(rule.id, level, section, verdict, "", rule.title)


class _ReportedLocations:
    """The locations at which rules reported violations, or something missing."""

    def __init__(self) -> None:
        self._locations: set[tuple[int | None, str]] = set()
        #: All ancestors of reported locations.
        self._above: set[tuple[int | None, str]] = set()

    def add(self, seq: int | None, pointer: str) -> None:
        self._locations.add((seq, pointer))
        while pointer:
            pointer = pointer.rpartition("/")[0]
            if (seq, pointer) in self._above:
                break
            self._above.add((seq, pointer))

    def has(self, seq: int | None, pointer: str) -> bool:
        """Return whether this location, an ancestor or a descendant was reported.

        A violation of a frame as a whole, such as an event without a name, says nothing about the
        values in it.
        """
        if (seq, pointer) in self._above or (seq, pointer) in self._locations:
            return True
        while pointer := pointer.rpartition("/")[0]:
            if (seq, pointer) in self._locations:
                return True
        return False
