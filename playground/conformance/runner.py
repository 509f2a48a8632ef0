"""Rule sets by protocol and binding, and running them on a response, with one verdict each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playground.conformance import agent_api, chat_completions, json_text, mcp, nlweb
from playground.conformance.json_text import JsonTranscript
from playground.conformance.rule import (
    AnyTranscript,
    ConformanceReport,
    Finding,
    Inconclusive,
    Rule,
    RuleIssue,
    Verdict,
    Violation,
)
from playground.conformance.rule_input import (
    MAX_PARTS,
    NOTHING_EARLIER,
    EarlierResponses,
    RuleInput,
)
from playground.protocols import json_pointer, raw
from playground.protocols.frames import BODY_KINDS, Frame
from playground.protocols.nlweb import versions


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that read the same transcript."""

    #: The label on pages.
    title: str
    #: One word, for anchors.
    slug: str
    rules: tuple[Rule[Any], ...]
    #: The description on the rules page.
    about: str = ""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a protocol over a binding."""

    groups: tuple[RuleGroup, ...]
    #: Returns a transcript for each group; None if its rules do not apply to the run.
    read: Callable[[RuleInput], tuple[AnyTranscript | None, ...]]

    @property
    def rules(self) -> tuple[Rule[Any], ...]:
        """Return every rule, in the order of a report."""
        return tuple(rule for group in self.groups for rule in group.rules)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions that have rules, oldest first."""
        return tuple(sorted({name for rule in self.rules for name in rule.requirements}))


def _is_nlweb(rule_input: RuleInput) -> bool:
    return rule_input.operation in ("ask", "await")


def _read_nlweb(rule_input: RuleInput) -> tuple[AnyTranscript | None, AnyTranscript | None]:
    if not _is_nlweb(rule_input):
        return None, None
    return nlweb.read(rule_input), _read_json(rule_input)


def _read_mcp(
    rule_input: RuleInput,
) -> tuple[AnyTranscript | None, AnyTranscript, AnyTranscript]:
    mcp_transcript = mcp.read(rule_input)
    nlweb_transcript = mcp.inner(mcp_transcript, rule_input) if _is_nlweb(rule_input) else None
    responses = (call.http_response for call in mcp_transcript.calls)
    texts = json_text.texts_of(message for each in responses for message in each.messages)
    nested = JsonTranscript(rule_input.version, (*texts, *_nested_text(mcp_transcript)))
    return nlweb_transcript, mcp_transcript, nested


def _nested_text(t: mcp.McpTranscript) -> Iterator[json_text.JsonText]:
    """Yield the string with the NLWeb response, if it is in one."""
    pointer = t.found.response_location.response if t.found else ""
    if t.answer and pointer.endswith("#"):
        payload = t.by_frame[t.answer.seq].payload
        text = json_pointer.resolve(payload, pointer.removesuffix("#"))
        yield json_text.JsonText(t.answer.seq, text, pointer=pointer)


def _with_json(
    read: Callable[[RuleInput], AnyTranscript],
) -> Callable[[RuleInput], tuple[AnyTranscript, AnyTranscript]]:
    return lambda rule_input: (read(rule_input), _read_json(rule_input))


def _read_json(rule_input: RuleInput) -> JsonTranscript:
    texts = json_text.texts_of(rule_input.response.messages)
    return JsonTranscript(rule_input.version, tuple(texts))


_ABOUT_NLWEB = (
    "The response of an NLWeb agent over any binding. Over MCP the rules about HTTP and "
    "event streams do not apply, and locations start at the JSON-RPC message: "
    "/result/content/0/text#/results/0 is the first result of the JSON in the first text."
)
_ABOUT_MCP = (
    "The messages of an MCP server that carry an NLWeb response: JSON-RPC, handshake, "
    "tools, shape of results, elicitations and notifications. Sections that name MCP or JSON-RPC "
    "are those of the MCP and JSON-RPC specifications."
)
_ABOUT_JSON = (
    "The JSON of a body, of each event, and of a string that holds a response: the same "
    "rules for every protocol and binding. Clients may reject or misread what they report."
)
_ABOUT_CHAT = "The response of a Chat Completions server, as one document or as a stream of chunks."
_ABOUT_AGENT_API = "The response of an Agent API agent, as one document or as a stream of objects."


def _json_group(versions: Iterable[str]) -> RuleGroup:
    return RuleGroup("JSON", "json", json_text.rules(versions), _ABOUT_JSON)


_NLWEB_JSON = _json_group(version.name for version in versions.VERSIONS)

#: By protocol and binding.
RULESETS: Mapping[tuple[str, str], RuleSet] = {
    ("nlweb", "http"): RuleSet(
        (RuleGroup("NLWeb", "nlweb", nlweb.RULES, _ABOUT_NLWEB), _NLWEB_JSON), _read_nlweb
    ),
    # NLWeb's rules on HTTP and streams do not apply over MCP, which has its own.
    ("nlweb", "mcp"): RuleSet(
        (
            RuleGroup("NLWeb", "nlweb", nlweb.CONTENT_RULES, _ABOUT_NLWEB),
            RuleGroup("MCP", "mcp", mcp.RULES, _ABOUT_MCP),
            _NLWEB_JSON,
        ),
        _read_mcp,
    ),
    ("agent-api", "http"): RuleSet(
        (
            RuleGroup("Agent API", "agent-api", agent_api.RULES, _ABOUT_AGENT_API),
            _json_group([agent_api.VERSION]),
        ),
        _with_json(agent_api.read),
    ),
    ("chat-completions", "http"): RuleSet(
        (
            RuleGroup("Chat Completions", "chat-completions", chat_completions.RULES, _ABOUT_CHAT),
            _json_group([chat_completions.VERSION]),
        ),
        _with_json(chat_completions.read),
    ),
}
_EMPTY = RuleSet((), lambda _: ())


def ruleset(protocol: str, binding: str = "http") -> RuleSet:
    """Return the rules of a protocol over a binding; an empty rule set if there are none."""
    return RULESETS.get((protocol, binding), _EMPTY)


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
    `RULESETS`. `version` is the version whose rules are run, whatever version the request was
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
