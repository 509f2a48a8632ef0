"""The steps of an examination: what each says of the evidence so far, with cause and fix.

A step is judged anew whenever something was found, because what comes later explains what came
before: an MCP server where `/ask` was missing. Pure, and total for evidence of any kind.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playground.protocols.doctor import advice
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.doctor.probes import A2A, AGENT_API, MCP, NLWEB, probe_protocol, speaks
from playground.protocols.exchange import Target
from playground.protocols.problems import Problem, Stage


class StepStatus(enum.StrEnum):
    """How a step went."""

    PASSED = "passed"
    FAILED = "failed"
    #: Does not apply, or was not reached.
    SKIPPED = "skipped"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class StepConclusion:
    """What a step came to."""

    status: StepStatus
    #: What was seen, as a sentence; for a step that was skipped, why.
    cause: str = ""
    #: What to do about it, "" where there is nothing to do.
    fix: str = ""
    #: The calls that it was judged by.
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosisContext:
    """What is examined, and what is known of it."""

    target: Target
    evidence: Mapping[str, Evidence]
    #: Why the address is none, "" if it is one.
    refusal: str = ""
    #: Whether nothing more will be found.
    is_over: bool = False
    #: Whether it ended because its time was up.
    is_late: bool = False

    @property
    def first(self) -> tuple[str, Evidence] | None:
        """The first call: what the connection is judged by."""
        return next(iter(self.evidence.items()), None)

    @property
    def family(self) -> str:
        """What the agent is set to be."""
        return probe_protocol(self.target)

    def was_called(self, *names: str) -> tuple[str, ...]:
        """Those of the named calls that were made."""
        return tuple(name for name in names if name in self.evidence)


def passed(cause: str, *calls: str) -> StepConclusion:
    """The step went well."""
    return StepConclusion(StepStatus.PASSED, cause, calls=calls)


def failed(cause: str, fix: str, *calls: str) -> StepConclusion:
    """The step did not go well."""
    return StepConclusion(StepStatus.FAILED, cause, fix, calls)


def skipped(cause: str, *calls: str) -> StepConclusion:
    """The step does not apply, or was not reached."""
    return StepConclusion(StepStatus.SKIPPED, cause, calls=calls)


WAITING = StepConclusion(StepStatus.WAITING)
NOT_REACHED = "Not reached: see the step that failed."
LATE = "Not reached: the time of the examination was up."


def pending(case: DiagnosisContext) -> StepConclusion:
    """A step whose call was not made, or not yet."""
    if not case.is_over:
        return WAITING
    return skipped(LATE if case.is_late else NOT_REACHED)


# --- the connection ---------------------------------------------------------------------------

#: What the transport's stages mean for the steps: each stage fails its own step.
_STAGES: Mapping[Stage, str] = {
    Stage.RESOLVE: "name",
    Stage.POLICY: "policy",
    Stage.CONNECT: "tcp",
    Stage.TLS: "tls",
    Stage.SEND: "http",
    Stage.HEADERS: "http",
}
_CONNECTION = ("name", "policy", "tcp", "tls", "http")


def url_step(case: DiagnosisContext) -> StepConclusion:
    """Whether the agent's URL is one that can be called."""
    if case.refusal:
        return failed(case.refusal, "Correct the URL of the agent.")
    return passed(f"{case.target.url[:300]} is an address that can be called.")


def _connection(
    name: str, well: Callable[[DiagnosisContext, Evidence], StepConclusion]
) -> Callable[[DiagnosisContext], StepConclusion]:
    """A step of the connection, which the first call was the first to take."""

    def step(case: DiagnosisContext) -> StepConclusion:
        if case.first is None:
            return skipped(NOT_REACHED) if case.refusal else pending(case)
        call, evidence = case.first
        where = _STAGES.get(evidence.problem.stage, "") if evidence.problem else ""
        if where == name and evidence.problem:
            return failed(advice.cause_of(evidence.problem), _fix(case, evidence.problem), call)
        if where and not evidence.status and _CONNECTION.index(where) < _CONNECTION.index(name):
            return skipped(NOT_REACHED)
        return well(case, evidence)

    return step


def _fix(case: DiagnosisContext, problem: Problem) -> str:
    """What to do; where the other scheme answers at the same port, that is it."""
    if not (wanted := other_scheme(case)):
        return advice.fix_of(problem)
    given = urlsplit(case.target.url).scheme
    return f"Use {wanted}:// instead of {given}://: that is what this port speaks."


def other_scheme(case: DiagnosisContext) -> str:
    """The scheme that the port speaks in place of the agent's, "" where that was not seen."""
    other = case.evidence.get("scheme")
    if other is None:
        return ""
    if urlsplit(case.target.url).scheme == "https":
        return "http" if other.status else ""
    return "https" if other.connected or _is_certificate(other.problem) else ""


def _is_certificate(problem: Problem | None) -> bool:
    """Whether TLS is spoken and only the certificate is not trusted."""
    return problem is not None and "certificate" in problem.cause


def _name(case: DiagnosisContext, _: Evidence) -> StepConclusion:
    host = urlsplit(case.target.url).hostname or ""
    if advice.is_number(host):
        return skipped("Does not apply: the address is a number already.")
    return passed(f"{host[:200]} has an address.")


def _policy(_: DiagnosisContext, __: Evidence) -> StepConclusion:
    return passed("The outbound policy allows the address.")


def _tcp(case: DiagnosisContext, _: Evidence) -> StepConclusion:
    return passed(f"{urlsplit(case.target.url).netloc[:200]} takes connections.")


def _tls(case: DiagnosisContext, evidence: Evidence) -> StepConclusion:
    if urlsplit(case.target.url).scheme != "https":
        return skipped("Does not apply: the address begins with http://.")
    return passed(f"The certificate is trusted ({evidence.tls or 'TLS'}).")


def _http(case: DiagnosisContext, evidence: Evidence) -> StepConclusion:
    call = case.first[0] if case.first else ""
    if not evidence.status:
        problem = evidence.problem
        if problem is None:
            return pending(case)
        return failed(advice.cause_of(problem), advice.fix_of(problem), call)
    if advice.wants_tls(evidence):
        return failed("The server speaks TLS on this port.", advice.USE_HTTPS, call)
    if evidence.detected is None and (evidence.is_denied or evidence.status >= 500):
        return failed(advice.denied_cause(evidence), advice.denied_fix(evidence), call)
    waited = f" after {evidence.waited_ms:.0f} ms" if evidence.waited_ms is not None else ""
    return passed(f"The server answers with HTTP {evidence.status}{waited}.", call)


# --- the reply --------------------------------------------------------------------------------


def _main(case: DiagnosisContext) -> tuple[str, Evidence] | None:
    """The call that the reply is judged by: the first understood one at the agent's address."""
    hit = speaks(case.evidence, case.family)
    return hit if hit and not hit[0].startswith("ask-at") else case.first


def _reply(
    well: Callable[[DiagnosisContext, str, Evidence], StepConclusion],
) -> Callable[[DiagnosisContext], StepConclusion]:
    """A step that looks at the reply to the main call."""

    def step(case: DiagnosisContext) -> StepConclusion:
        if case.refusal:
            return skipped(NOT_REACHED)
        main = _main(case)
        if main is None:
            return pending(case)
        name, evidence = main
        if evidence.detected is None:
            if not evidence.status or evidence.is_denied:
                return skipped(NOT_REACHED)
            if evidence.status in (404, 405, 410):
                return skipped(f"Not reached: HTTP {evidence.status} is no reply to judge.")
        return well(case, name, evidence)

    return step


def _content_type(_: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    kind = evidence.media_type or "no content type"
    if evidence.media_type in ("application/json", "text/event-stream"):
        return passed(f"The reply is {kind}.", name)
    if evidence.detected:
        what = "an event stream" if evidence.streamed else "JSON"
        return failed(f"The reply is {what} and says that it is {kind}.", advice.NAME_IT, name)
    if "html" in kind or advice.is_html(evidence.text):
        return failed(f"The reply is an HTML page ({kind}).", advice.NOT_A_PAGE, name)
    return failed(f"The reply is {kind}, not JSON or an event stream.", advice.NOT_A_PAGE, name)


def _json(_: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    if evidence.messages and not evidence.unread:
        return passed("Everything that came is JSON.", name)
    if evidence.unread:
        return failed("What came is not JSON.", advice.fix_json(evidence), name)
    if evidence.problem:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), name)
    return failed("The reply is empty.", "See the agent's log for what it did with it.", name)


def _dialect(case: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    speech = evidence.detected
    if speech is None:
        return failed("The reply is of no protocol that is known.", advice.COMPARE, name)
    family = speech.binding if speech.binding != "http" else speech.protocol
    if family != case.family:
        return failed(
            f"The reply speaks {speech.label}.", advice.apply_settings_advice(speech), name
        )
    return passed(f"The reply speaks {speech.label}.", name)


def label(case: DiagnosisContext, name: str) -> str:
    """Where a call went: the path and the query of its request line."""
    return case.evidence[name].request_line.partition(" ")[2][:200]


#: Name and judge of each step, in the order of the report. The families' are in `families`.
CONNECTION: tuple[tuple[str, str, Callable[[DiagnosisContext], StepConclusion]], ...] = (
    ("address", "Address", url_step),
    ("name", "Host name", _connection("name", _name)),
    ("policy", "Outbound policy", _connection("policy", _policy)),
    ("tcp", "TCP", _connection("tcp", _tcp)),
    ("tls", "TLS", _connection("tls", _tls)),
    ("http", "HTTP", _connection("http", _http)),
    ("content-type", "Content type", _reply(_content_type)),
    ("json", "JSON", _reply(_json)),
    ("dialect", "Dialect", _reply(_dialect)),
)

#: Words for the families, as the pages call them.
NAMES: Mapping[str, str] = {
    NLWEB: "NLWeb over HTTP",
    MCP: "MCP",
    AGENT_API: "Agent API",
    A2A: "A2A",
}


def as_json(name: str, title: str, verdict: StepConclusion) -> dict[str, Any]:
    """A step as a report keeps it."""
    return {
        "name": name,
        "label": title,
        "status": str(verdict.status),
        "cause": verdict.cause,
        "fix": verdict.fix,
        "calls": list(verdict.calls),
    }
