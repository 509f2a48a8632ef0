"""Conclusions of a diagnosis: what each of its steps says of the evidence so far.

The connection (URL to HTTP), the response (content type, JSON, protocol), and each protocol with
its endpoints. Every step is concluded again after each call, because later evidence explains
earlier evidence: an MCP server where `/ask` was missing. Pure, and total for evidence of any kind.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playground.protocols import sse, unreadable
from playground.protocols.a2a import is_same, read_card
from playground.protocols.doctor import advice
from playground.protocols.doctor.causes import has_old_transport, is_certificate, is_json_rpc
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.doctor.probes import (
    A2A,
    AGENT_API,
    MCP,
    NLWEB,
    PROTOCOL_OF,
    first_call,
    first_detected,
    probe_protocol,
)
from playground.protocols.exchange import Target
from playground.protocols.mcp import http_sse
from playground.protocols.mcp.handshake import Session, fallback_remark
from playground.protocols.problems import USE_HTTPS, Problem, Stage

#: The protocols of probes, as the pages name them.
_LABELS: Mapping[str, str] = {
    NLWEB: "NLWeb over HTTP",
    MCP: "MCP",
    AGENT_API: "Agent API",
    A2A: "A2A",
}
_ASK_PROBES = tuple(
    name for name, protocol in PROTOCOL_OF.items() if protocol == NLWEB and name != "await"
)
#: Tools and skills that a sentence lists.
_MAX_LISTED = 8
_HANDSHAKE = ("discover", "initialize", "discover-at-mcp", "initialize-at-mcp")


class StepStatus(enum.StrEnum):
    """Status of a step."""

    PASSED = "passed"
    FAILED = "failed"
    #: It does not apply, or was not reached.
    SKIPPED = "skipped"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class StepConclusion:
    """Conclusion of a step."""

    status: StepStatus
    #: The observation, as a sentence; for a skipped step, the reason.
    cause: str = ""
    #: What to do about it, "" for nothing.
    fix: str = ""
    #: Names of the calls that it was concluded from.
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosisContext:
    """A diagnosis so far: its target and its evidence by name of the call."""

    target: Target
    evidence: Mapping[str, Evidence]
    #: Why the URL cannot be called, "" if it can.
    url_error: str = ""
    #: Whether no more calls follow.
    is_over: bool = False
    #: Whether it ended because of its time limit.
    is_late: bool = False

    @property
    def first(self) -> tuple[str, Evidence] | None:
        """The first call, from which the steps of the connection are concluded."""
        return first_call(self.evidence)

    @property
    def protocol(self) -> str:
        """The protocol that the agent is set to."""
        return probe_protocol(self.target)

    def calls_made(self, *names: str) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.evidence)


Step = Callable[[DiagnosisContext], StepConclusion]


def passed(cause: str, *calls: str) -> StepConclusion:
    return StepConclusion(StepStatus.PASSED, cause, calls=calls)


def failed(cause: str, fix: str, *calls: str) -> StepConclusion:
    return StepConclusion(StepStatus.FAILED, cause, fix, calls)


def skipped(cause: str, *calls: str) -> StepConclusion:
    """Return the conclusion of a step that does not apply, or was not reached."""
    return StepConclusion(StepStatus.SKIPPED, cause, calls=calls)


def as_json(name: str, label: str, conclusion: StepConclusion) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "status": str(conclusion.status),
        "cause": conclusion.cause,
        "fix": conclusion.fix,
        "calls": list(conclusion.calls),
    }


WAITING = StepConclusion(StepStatus.WAITING)
NOT_REACHED = "Skipped because of the failed step."
LATE = "Skipped: the time limit of the diagnosis was reached."


def pending(context: DiagnosisContext) -> StepConclusion:
    """Return the conclusion of a step whose call was not made, or not yet."""
    if not context.is_over:
        return WAITING
    return skipped(LATE if context.is_late else NOT_REACHED)


def _path(context: DiagnosisContext, name: str) -> str:
    """Return the path and the query of a call's request line."""
    return context.evidence[name].request_line.partition(" ")[2][:200]


# --- the connection ---------------------------------------------------------------------------

#: The step that fails at each stage of the transport.
_STAGES: Mapping[Stage, str] = {
    Stage.RESOLVE: "name",
    Stage.POLICY: "policy",
    Stage.CONNECT: "tcp",
    Stage.TLS: "tls",
    Stage.SEND: "http",
    Stage.HEADERS: "http",
}
_CONNECTION = ("name", "policy", "tcp", "tls", "http")


def url_step(context: DiagnosisContext) -> StepConclusion:
    if context.url_error:
        return failed(context.url_error, "Correct the URL.")
    return passed(f"{context.target.url[:300]} is a valid URL.")


def _connection(
    name: str, conclude: Callable[[DiagnosisContext, Evidence], StepConclusion]
) -> Step:
    """Return a step of the connection, concluded from the first call."""

    def step(context: DiagnosisContext) -> StepConclusion:
        if context.first is None:
            return skipped(NOT_REACHED) if context.url_error else pending(context)
        call, evidence = context.first
        failed_step = _STAGES.get(evidence.problem.stage, "") if evidence.problem else ""
        if failed_step == name and evidence.problem:
            return failed(advice.cause_of(evidence.problem), _fix(context, evidence.problem), call)
        is_earlier = failed_step and _CONNECTION.index(failed_step) < _CONNECTION.index(name)
        if is_earlier and not evidence.status:
            return skipped(NOT_REACHED)
        return conclude(context, evidence)

    return step


def _fix(context: DiagnosisContext, problem: Problem) -> str:
    """Return the fix of a problem: the other scheme if the same port speaks it."""
    if not (scheme := other_scheme(context)):
        return advice.fix_of(problem)
    given = urlsplit(context.target.url).scheme
    return f"Use {scheme}:// instead of {given}://."


def other_scheme(context: DiagnosisContext) -> str:
    """Return the scheme that the port speaks instead of the agent's, "" if that was not seen."""
    other = context.evidence.get("scheme")
    if other is None:
        return ""
    if urlsplit(context.target.url).scheme == "https":
        return "http" if other.status else ""
    return "https" if other.connected or is_certificate(other.problem) else ""


def _name(context: DiagnosisContext, _: Evidence) -> StepConclusion:
    host = urlsplit(context.target.url).hostname or ""
    if advice.is_number(host):
        return skipped("Not needed: the host is an IP address.")
    return passed(f"{host[:200]} was resolved.")


def _policy(_: DiagnosisContext, __: Evidence) -> StepConclusion:
    return passed("The outbound policy allows the address.")


def _tcp(context: DiagnosisContext, _: Evidence) -> StepConclusion:
    return passed(f"{urlsplit(context.target.url).netloc[:200]} accepts connections.")


def _tls(context: DiagnosisContext, evidence: Evidence) -> StepConclusion:
    if urlsplit(context.target.url).scheme != "https":
        return skipped("Not needed: the URL starts with http://.")
    return passed(f"The certificate is trusted ({evidence.tls or 'TLS'}).")


def _http(context: DiagnosisContext, evidence: Evidence) -> StepConclusion:
    call = context.first[0] if context.first else ""
    if not evidence.status:
        problem = evidence.problem
        if problem is None:
            return pending(context)
        return failed(advice.cause_of(problem), advice.fix_of(problem), call)
    if advice.wants_tls(evidence):
        return failed("The server speaks TLS on this port.", USE_HTTPS, call)
    if evidence.detected is None and (evidence.is_denied or evidence.status >= 500):
        return failed(advice.denied_cause(evidence), advice.denied_fix(evidence), call)
    waited = f" after {evidence.waited_ms:.0f} ms" if evidence.waited_ms is not None else ""
    return passed(f"The server responds with HTTP {evidence.status}{waited}.", call)


# --- the response -----------------------------------------------------------------------------


def _main(context: DiagnosisContext) -> tuple[str, Evidence] | None:
    """Return the call for these steps: the first one understood at the agent's URL."""
    hit = first_detected(context.evidence, context.protocol)
    return hit if hit and not hit[0].startswith("ask-at") else context.first


def _response(
    conclude: Callable[[DiagnosisContext, str, Evidence], StepConclusion],
) -> Step:
    """Return a step that is concluded from the response to the main call."""

    def step(context: DiagnosisContext) -> StepConclusion:
        if context.url_error:
            return skipped(NOT_REACHED)
        main = _main(context)
        if main is None:
            return pending(context)
        name, evidence = main
        if evidence.detected is None:
            if not evidence.status or evidence.is_denied:
                return skipped(NOT_REACHED)
            if evidence.status in (404, 405, 410):
                return skipped(f"Skipped because of HTTP {evidence.status}.")
        return conclude(context, name, evidence)

    return step


def _content_type(_: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    kind = evidence.media_type or "no content type"
    if evidence.is_json_lines:
        return failed(f"{sse.NOT_FRAMED} The content type is {kind}.", advice.NAME_IT, name)
    if evidence.media_type in ("application/json", "text/event-stream"):
        return passed(f"The response is {kind}.", name)
    if evidence.detected:
        what = "an event stream" if evidence.streamed else "JSON"
        return failed(
            f"The response is {what}, but its content type is {kind}.", advice.NAME_IT, name
        )
    if "html" in kind or unreadable.is_html(evidence.text):
        return failed(f"The response is an HTML page ({kind}).", advice.NOT_A_PAGE, name)
    return failed(f"The response is {kind}, not JSON or an event stream.", advice.NOT_A_PAGE, name)


def _json(_: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    if evidence.messages and not evidence.unread:
        return passed("The response is valid JSON.", name)
    if evidence.unread:
        fix = "Configure the agent to send JSON; the response is below."
        fix = advice.NOT_A_PAGE if unreadable.is_html(evidence.text) else fix
        return failed("The response is not valid JSON.", fix, name)
    if evidence.problem:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), name)
    return failed("The response is empty.", "Check the agent’s log.", name)


def _dialect(context: DiagnosisContext, name: str, evidence: Evidence) -> StepConclusion:
    detected = evidence.detected
    if detected is None:
        return failed("The response does not match any known protocol.", advice.COMPARE, name)
    protocol = detected.binding if detected.binding != "http" else detected.protocol
    if protocol != context.protocol:
        return failed(
            f"The response is {detected.label}.", advice.apply_settings_advice(detected), name
        )
    return passed(f"The response is {detected.label}.", name)


# --- the protocols ----------------------------------------------------------------------------


def _protocol(conclude: Step) -> Step:
    """Return a step of a protocol, not reached if the only call had no response."""

    def step(context: DiagnosisContext) -> StepConclusion:
        first, *others = [name for name in context.evidence if name in PROTOCOL_OF] or [""]
        if context.url_error or (context.is_over and not others and not _status(context, first)):
            return pending(context)
        return conclude(context)

    return step


def _status(context: DiagnosisContext, name: str) -> int:
    return context.evidence[name].status if name in context.evidence else 0


def _missing(context: DiagnosisContext, protocol: str, *calls: str) -> StepConclusion:
    """Return the failure of an expected endpoint: the cause, and what responds instead."""
    found = context.evidence
    ranked = sorted(calls, key=lambda name: (not found[name].is_denied, not found[name].status))
    evidence = found[ranked[0]]
    if evidence.problem and not evidence.status:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), *calls)
    if evidence.is_denied or evidence.status >= 500:
        return failed(advice.denied_cause(evidence), advice.denied_fix(evidence), *calls)
    path = _path(context, ranked[0])
    cause = f"{path} does not respond as {_LABELS[protocol]} (HTTP {evidence.status})."
    others = (
        first_detected(context.evidence, each)
        for each in (MCP, NLWEB, AGENT_API, A2A)
        if each != protocol
    )
    other = next(filter(None, others), None)
    if other and (detected := other[1].detected):
        cause = f"{cause} {_path(context, other[0])} is {detected.label}."
        return failed(cause, advice.apply_settings_advice(detected), *calls, other[0])
    return failed(cause, advice.missing_fix(protocol, evidence), *calls)


def answers_at_agent_url(context: DiagnosisContext, protocol: str) -> bool:
    hit = first_detected(context.evidence, protocol)
    return hit is not None and _path(context, hit[0]) == (urlsplit(context.target.url).path or "/")


def _not_detected(context: DiagnosisContext, protocol: str, *calls: str) -> StepConclusion:
    made = context.calls_made(*calls)
    if not made or not (context.is_over or _is_done(context, protocol)):
        return pending(context)
    if context.protocol == protocol:
        return _missing(context, protocol, *made)
    return skipped(f"Not found: {_LABELS[protocol]}.", *made)


def _is_done(context: DiagnosisContext, protocol: str) -> bool:
    """Return whether calls of another protocol were made after those of this one."""
    return PROTOCOL_OF.get(list(context.evidence)[-1], "") != protocol


# --- NLWeb over HTTP --------------------------------------------------------------------------


def ask(context: DiagnosisContext) -> StepConclusion:
    """Conclude whether `/ask` responds, or where else it does."""
    hit = first_detected(context.evidence, NLWEB)
    if hit is None:
        return _not_detected(context, NLWEB, *_ASK_PROBES)
    name, evidence = hit
    detected = evidence.detected
    label = detected.label if detected else ""
    if name.startswith("ask-at") and context.protocol == NLWEB:
        if answers_at_agent_url(context, MCP):
            return _missing(context, NLWEB, *context.calls_made(*_ASK_PROBES))
        found_at = _path(context, name).partition("?")[0]
        path = found_at.removesuffix("/ask") or "/"
        return failed(
            f"{_path(context, 'ask')} was not found; {found_at} is {label}.",
            f"Set the path of the URL to {path}.",
            "ask",
            name,
        )
    if name == "ask-otherwise" and context.protocol == NLWEB:
        cause = f"{_path(context, 'ask')} accepts only {label}."
        return failed(cause, f"Set the version to {_version(evidence)}.", "ask", name)
    return passed(f"{_path(context, name)} is {label}.", name)


def _version(evidence: Evidence) -> str:
    detected = evidence.detected
    return (detected.version if detected else "") or "a different one"


def await_endpoint(context: DiagnosisContext) -> StepConclusion:
    """Conclude whether `/await` exists, where promises are polled."""
    if "await" not in context.evidence:
        hit = first_detected(context.evidence, NLWEB)
        if hit and hit[1].detected and hit[1].detected.version == "legacy":
            return skipped("Not needed: legacy NLWeb has no promises.")
        if context.is_over and hit is None:
            return skipped("Not found; /ask was not found either.")
        return pending(context)
    evidence = context.evidence["await"]
    if evidence.detected:
        return passed(f"{_path(context, 'await')} responds (HTTP {evidence.status}).", "await")
    if evidence.status in (404, 405, 501):
        cause = f"{_path(context, 'await')} was not found (HTTP {evidence.status})."
        return skipped(f"{cause} Only agents with promises need it.", "await")
    if evidence.problem and not evidence.status:
        return failed(advice.cause_of(evidence.problem), advice.fix_of(evidence.problem), "await")
    return failed(
        f"{_path(context, 'await')} does not respond as NLWeb (HTTP {evidence.status}).",
        "It should respond to an unknown token with an NLWeb failure.",
        "await",
    )


# --- MCP --------------------------------------------------------------------------------------


def mcp_handshake(context: DiagnosisContext) -> StepConclusion:
    """Conclude whether the handshake of an MCP server works, and its generation."""
    hit = first_detected(context.evidence, MCP)
    if hit is None and has_old_transport(context.evidence):
        if context.protocol != MCP:
            return skipped(http_sse.CAUSE, "old-transport")
        return failed(http_sse.CAUSE, http_sse.FIX, "old-transport")
    if hit is None:
        return _not_detected(context, MCP, *_HANDSHAKE)
    name, evidence = hit
    detected = evidence.detected
    how = "server/discover" if name.startswith("discover") else "initialize"
    label = f"MCP {detected.generation}" if detected and detected.generation else "MCP"
    calls = context.calls_made(*_HANDSHAKE, "initialized")
    cause = f"{_path(context, name)} responds to {how}: {label}."
    discovery = context.evidence.get(name.replace("initialize", "discover"))
    if how == "initialize" and discovery and not is_json_rpc(discovery):
        cause += f" {fallback_remark(discovery.problem, discovery.status)}"
    return passed(cause, *calls)


def tools(context: DiagnosisContext) -> StepConclusion:
    """Conclude which tools there are, and whether one of them is for queries."""
    if "tools" not in context.evidence:
        if context.is_over and first_detected(context.evidence, MCP) is None:
            return skipped("Not found: MCP server.")
        return pending(context)
    evidence = context.evidence["tools"]
    result = _tool_list(evidence)
    if result is None:
        return failed(
            f"tools/list did not return an array of tools (HTTP {evidence.status}).",
            advice.COMPARE,
            "tools",
        )
    listed, more = result["tools"], _has_next_page(result)
    session = Session("", tools=tuple(listed))
    name = session.tool_for("ask", context.target.tools)
    names = _listed(listed, more=more)
    if name not in _names(listed, len(listed)):
        is_named = any(context.target.tools)
        missing = f"No tool is named {name[:80]}" if is_named else "No tool accepts queries"
        cause = f"{missing}{' on the first page of the list' if more else ''}. Tools: {names}."
        if context.protocol != MCP or more:
            return skipped(cause, "tools")
        fix = "Enter the name of the tool for ask in the agent’s form, or add one to the server."
        return failed(cause, fix, "tools")
    return passed(f"The tool {name[:80]} accepts queries. Tools: {names}.", "tools")


def _tool_list(evidence: Evidence) -> Mapping[str, Any] | None:
    """Return the result of tools/list: the first page, the only one that the doctor reads."""
    for _, payload in evidence.messages:
        result = payload.get("result") if isinstance(payload, Mapping) else None
        if isinstance(result, Mapping) and isinstance(result.get("tools"), list):
            return result
    return None


def _has_next_page(result: Mapping[str, Any]) -> bool:
    cursor = result.get("nextCursor")
    return isinstance(cursor, str) and bool(cursor)


def _listed(listed: list[Any], *, more: bool) -> str:
    """Return the tools of a page for the end of a sentence."""
    names = _names(listed)
    left = len(_names(listed, len(listed))) - len(names)
    text = ", ".join(names) or "none"
    text += f" and {left} more" if left else ""
    if not more:
        return text
    return f"{text}, and more on further pages" if left else f"{text} and more on further pages"


def _names(listed: list[Any], most: int = _MAX_LISTED) -> list[str]:
    named = (tool.get("name") for tool in listed if isinstance(tool, Mapping))
    return [name[:80] for name in named if isinstance(name, str)][:most]


# --- Agent API and A2A ------------------------------------------------------------------------


def lifecycle(context: DiagnosisContext) -> StepConclusion:
    """Conclude whether a response of the Agent API completes."""
    hit = first_detected(context.evidence, AGENT_API)
    if hit is None or hit[1].detected is None:
        return _not_detected(context, AGENT_API, AGENT_API, "agent-api-at-process")
    name, evidence = hit
    detected = hit[1].detected
    last = _last_status(evidence)
    path = _path(context, name)
    if last == "completed":
        return passed(f"{path} is {detected.label} and completed its response.", name)
    if last in ("failed", "rejected", "canceled"):
        cause = f"{path} is {detected.label}; its response ended as {last}."
        return failed(cause, "See the error in the call below and the agent’s log.", name)
    if last is None:
        cause = f"{path} is {detected.label} and rejected the message."
        return failed(cause, "See the error in the call below.", name)
    cause = f"{path} is {detected.label}; its response was {last} when the diagnosis stopped."
    if not evidence.ended:
        return passed(cause, name)
    return failed(
        f"{path} ended the stream while its response was {last}.",
        "The agent must end the stream with a response in status completed or failed.",
        name,
    )


def _last_status(evidence: Evidence) -> str | None:
    """Return the latest status of the response itself, None without one."""
    found = None
    for _, payload in evidence.messages:
        if isinstance(payload, Mapping) and payload.get("object") == "response":
            status = payload.get("status")
            found = status[:40] if isinstance(status, str) else found
    return found


def card(context: DiagnosisContext) -> StepConclusion:
    """Conclude whether there is an agent card, and which URLs it names."""
    evidence = context.evidence.get("card")
    if evidence is None:
        return pending(context)
    detected = evidence.detected
    if detected is None or detected.binding != "a2a":
        return skipped("Not found: agent card.", "card")
    read = read_card(evidence.payload)
    named = f"{read.name[:80] or 'An agent'}: {detected.label}"
    skills = ", ".join(skill.id[:60] for skill in read.skills[:_MAX_LISTED])
    cause = f"{named}. Skills: {skills or 'none'}."
    urls = [interface.url for interface in read.interfaces if interface.url]
    if urls and not any(is_same(context.target.url, url) for url in urls):
        cause = f"{cause} Its URL is {urls[0][:200]}."
    return passed(cause, "card")


# --- the table --------------------------------------------------------------------------------

#: Name, label and function of each step, in the order of the report.
STEPS: tuple[tuple[str, str, Step], ...] = (
    ("address", "URL", url_step),
    ("name", "Host name", _connection("name", _name)),
    ("policy", "Outbound policy", _connection("policy", _policy)),
    ("tcp", "TCP", _connection("tcp", _tcp)),
    ("tls", "TLS", _connection("tls", _tls)),
    ("http", "HTTP", _connection("http", _http)),
    ("content-type", "Content type", _response(_content_type)),
    ("json", "JSON", _response(_json)),
    ("dialect", "Protocol", _response(_dialect)),
    ("ask", "/ask", _protocol(ask)),
    ("await", "/await", _protocol(await_endpoint)),
    ("mcp", "MCP handshake", _protocol(mcp_handshake)),
    ("tools", "MCP tools", _protocol(tools)),
    ("agent-api", "Agent API", _protocol(lifecycle)),
    ("card", "A2A agent card", _protocol(card)),
)
