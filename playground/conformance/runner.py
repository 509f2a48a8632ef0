"""Judge a reply: every rule of its protocol and binding, one verdict each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from playground.conformance.findings import ConformanceReport, Finding, Verdict
from playground.conformance.response_parts import MAX_PARTS
from playground.conformance.rule import AnyTranscript, Inconclusive, Rule, RuleIssue, Violation
from playground.conformance.rulesets import RuleGroup, RuleInput, ruleset
from playground.protocols.frames import Frame

#: Violations of one rule that are listed; the last one says how many more there are.
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
    earlier_progress: Sequence[float] = (),
) -> ConformanceReport:
    """The report on the last reply among the frames of a run.

    `protocol` and `binding` say which rules there are: none of pairs that are not in the table
    of `books`. `version` is the one to judge by, whatever the request was sent as; by one that
    is not in the table nothing applies. `operation` is `ask` or `await` of NLWeb, and of any
    other nothing applies. `state` is the run's state; of one that is not final, what came so
    far is judged. `earlier_progress` is what earlier replies to the same promise told, oldest
    first. Never raises on what an agent sent.
    """
    case = RuleInput(tuple(frames), request, version, operation, state, tuple(earlier_progress))
    rules = ruleset(protocol, binding)
    known = version in rules.versions
    records = rules.read(case) if known else (None,) * len(rules.groups)
    findings: list[Finding] = []
    for chapter, record in zip(rules.groups, records, strict=True):
        findings += _judged(chapter, record, version)
    return ConformanceReport(version, tuple(findings), protocol, binding)


_NONE = Verdict.NOT_APPLICABLE


def _judged(chapter: RuleGroup, transcript: AnyTranscript | None, version: str) -> list[Finding]:
    if transcript is None:
        return [_plain(rule, version, _NONE) for rule in chapter.rules]
    claims = _Claims()
    findings: list[Finding] = []
    # What another rule says better is known only when the others have spoken.
    for rule in sorted(chapter.rules, key=lambda rule: rule.fallback):
        findings += _findings(rule, transcript, claims)
    order = {rule.id: at for at, rule in enumerate(chapter.rules)}
    findings.sort(key=lambda finding: order[finding.rule])
    return findings


def _findings(rule: Rule[Any], transcript: AnyTranscript, claims: _Claims) -> list[Finding]:
    version = transcript.version
    if version not in rule.requirements or not rule.when(transcript):
        return [_plain(rule, version, _NONE)]
    listed: list[Violation] = []
    count, unjudged = 0, None
    for problem in _problems(rule, transcript, claims):
        if isinstance(problem, Inconclusive):
            unjudged = unjudged or problem
            continue
        count += 1
        if count <= MAX_LISTED:
            listed.append(problem)
    if listed:
        return _failed(rule, transcript, listed, count)
    if unjudged is None and rule.needs_complete_response and not transcript.is_complete:
        unjudged = Inconclusive("The reply did not come whole, so this holds only for what came.")
    if unjudged is None and transcript.overflowed:
        unjudged = Inconclusive(f"The reply is larger than what is judged: {MAX_PARTS:,} parts.")
    if unjudged is not None:
        return [_finding(rule, transcript, Verdict.INCOMPLETE, unjudged)]
    return [_plain(rule, version, Verdict.PASS)]


def _problems(rule: Rule[Any], transcript: AnyTranscript, claims: _Claims) -> Iterator[RuleIssue]:
    for problem in rule.check(transcript):
        if isinstance(problem, Violation):
            if rule.fallback and claims.has(problem.seq, problem.pointer):
                continue
            claims.add(problem.seq, problem.pointer)
        yield problem


def _failed(
    rule: Rule[Any], transcript: AnyTranscript, listed: list[Violation], count: int
) -> list[Finding]:
    if more := count - len(listed):
        last = listed[-1]
        listed[-1] = last._replace(message=f"{last.message} And {more} more like this.")
    return [_finding(rule, transcript, Verdict.FAIL, violation) for violation in listed]


def _finding(
    rule: Rule[Any], transcript: AnyTranscript, verdict: Verdict, problem: RuleIssue
) -> Finding:
    level, section = rule.requirement(transcript.version)
    message, seq, _ = problem
    pointer = transcript.pointed(seq, problem.pointer)
    return Finding(rule.id, level, section, verdict, pointer, message, seq)


def _plain(rule: Rule[Any], version: str, verdict: Verdict) -> Finding:
    level, section = rule.requirement(version)
    return Finding(rule.id, level, section, verdict, "", rule.title)


class _Claims:
    """The places about which some rule has something to say."""

    def __init__(self) -> None:
        self._places: set[tuple[int | None, str]] = set()
        #: Everything above a claimed place.
        self._above: set[tuple[int | None, str]] = set()

    def add(self, seq: int | None, pointer: str) -> None:
        """Claim a place."""
        self._places.add((seq, pointer))
        while pointer:
            pointer = pointer.rpartition("/")[0]
            if (seq, pointer) in self._above:
                break
            self._above.add((seq, pointer))

    def has(self, seq: int | None, pointer: str) -> bool:
        """Whether a place, one above or one below it is claimed."""
        if (seq, pointer) in self._above:
            return True
        while (seq, pointer) not in self._places:
            if not pointer:
                return False
            pointer = pointer.rpartition("/")[0]
        return True
