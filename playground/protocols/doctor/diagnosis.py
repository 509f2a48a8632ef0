"""Diagnosis of one target: which call is next, and what each step concludes from the calls so far.

Driven from outside, as an exchange is: `next_call`, then `add` with the frames of that call; at
the end `end_call`. The steps are the connection (URL to HTTP), the response (content type, JSON,
protocol), and each protocol with its endpoints. Every step is concluded again after each call,
because later evidence explains earlier evidence: an MCP server where `/ask` was missing. Total for
evidence of any kind.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from playground.protocols import sse, unreadable
from playground.protocols.a2a.card import is_same, read_card
from playground.protocols.calls import HttpCall
from playground.protocols.doctor import causes
from playground.protocols.doctor.detection import (
    A2A,
    AGENT_API,
    MCP,
    NLWEB,
    DetectedProtocol,
    kind_of,
    kinds,
)
from playground.protocols.doctor.evidence import Evidence, evidence_of
from playground.protocols.doctor.probes import (
    END_SESSION,
    PROBES,
    first_call,
    first_detected,
    kind_of_call,
    ordered,
)
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame
from playground.protocols.http import USER_AGENT
from playground.protocols.mcp.handshake import Session, fallback_remark
from playground.protocols.mcp.responses import OLD_TRANSPORT
from playground.protocols.origins import origin_of, with_port
from playground.protocols.problems import USE_HTTPS, Stage

#: Tools and skills that a sentence lists.
_MAX_LISTED = 8


class StepStatus(enum.StrEnum):
    """Status of a step."""

    PASSED = "passed"
    FAILED = "failed"
    #: It does not apply, or was not reached.
    SKIPPED = "skipped"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a step concludes."""

    status: StepStatus
    #: The observation, as a sentence; for a skipped step, the reason.
    cause: str = ""
    #: What to do about it, "" for nothing.
    fix: str = ""
    #: Names of the calls that it was concluded from.
    calls: tuple[str, ...] = ()


def passed(cause: str, *calls: str) -> Finding:
    return Finding(StepStatus.PASSED, cause, calls=calls)


def failed(cause: str, fix: str, *calls: str) -> Finding:
    return Finding(StepStatus.FAILED, cause, fix, calls)


def skipped(cause: str, *calls: str) -> Finding:
    """Return the finding of a step that does not apply, or was not reached."""
    return Finding(StepStatus.SKIPPED, cause, calls=calls)


_NOT_REACHED = skipped("Skipped because of the failed step.")
_LATE = skipped("Skipped: the time limit of the diagnosis was reached.")


def _pending(diagnosis: Diagnosis) -> Finding:
    """Return the finding of a step whose call was not made, or not yet."""
    if not diagnosis.is_over:
        return Finding(StepStatus.WAITING)
    return _LATE if diagnosis.is_late else _NOT_REACHED


@dataclass(frozen=True, slots=True)
class Step:
    """One step: where it looks, and what it concludes from the evidence there."""

    name: str
    label: str
    #: Returns the evidence, or a finding without any.
    find: Callable[[Step, Diagnosis], Evidence | Finding]
    conclude: Callable[[Diagnosis, Evidence], Finding]
    #: The kind of server that it is about, "" for any.
    about: str = ""
    #: The calls of its endpoint: its first one that speaks the protocol is concluded from.
    calls: tuple[str, ...] = ()
    #: For a single call, whatever it speaks: the finding without it.
    without: Callable[[Diagnosis], Finding] | None = None

    def report(self, diagnosis: Diagnosis) -> dict[str, Any]:
        """Return the step and its finding so far as JSON."""
        found = self.find(self, diagnosis)
        finding = found if isinstance(found, Finding) else self.conclude(diagnosis, found)
        return {"name": self.name, "label": self.label, **asdict(finding)}


# --- the connection ---------------------------------------------------------------------------

#: The step that fails at each stage of the transport, in their order.
_STAGES: Mapping[Stage, str] = {
    Stage.RESOLVE: "name",
    Stage.POLICY: "policy",
    Stage.CONNECT: "tcp",
    Stage.TLS: "tls",
    Stage.SEND: "http",
    Stage.HEADERS: "http",
}


def _of_connection(step: Step, diagnosis: Diagnosis) -> Evidence | Finding:
    first = first_call(diagnosis.evidence)
    if first is None:
        return _NOT_REACHED if diagnosis.url_error else _pending(diagnosis)
    problem = first.problem
    failed_step = _STAGES.get(problem.stage, "") if problem else ""
    if problem and failed_step == step.name:
        cause, fix = causes.problem_advice(problem)
        scheme = causes.scheme_fix(diagnosis.evidence, diagnosis.target.url)
        return failed(cause, scheme or fix, first.name)
    order = list(_STAGES.values())
    if failed_step and not first.status and order.index(failed_step) < order.index(step.name):
        return _NOT_REACHED
    return first


def _url(diagnosis: Diagnosis, _: Evidence) -> Finding:
    if diagnosis.url_error:
        return failed(diagnosis.url_error, causes.CORRECT_URL)
    return passed(f"{diagnosis.target.url[:300]} is a valid URL.")


def _name(diagnosis: Diagnosis, _: Evidence) -> Finding:
    host = diagnosis.url.hostname or ""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return passed(f"{host[:200]} was resolved.")
    return skipped("Not needed: the host is an IP address.")


def _policy(_: Diagnosis, __: Evidence) -> Finding:
    return passed("The outbound policy allows the address.")


def _tcp(diagnosis: Diagnosis, _: Evidence) -> Finding:
    return passed(f"{diagnosis.url.netloc[:200]} accepts connections.")


def _tls(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    if diagnosis.url.scheme != "https":
        return skipped("Not needed: the URL starts with http://.")
    return passed(f"The certificate is trusted ({evidence.tls or 'TLS'}).")


def _http(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    if not evidence.status and evidence.problem is None:
        return _pending(diagnosis)
    if evidence.wants_tls:
        return failed(causes.WANTS_TLS, USE_HTTPS, evidence.name)
    if evidence.detected is None and (failure := _failure_of(evidence, evidence.name)):
        return failure
    waited = f" after {evidence.waited_ms:.0f} ms" if evidence.waited_ms is not None else ""
    return passed(f"The server responds with HTTP {evidence.status}{waited}.", evidence.name)


def _failure_of(evidence: Evidence, *calls: str) -> Finding | None:
    """Return the failure of a call without a response, or whose status says all."""
    if evidence.problem and not evidence.status:
        return failed(*causes.problem_advice(evidence.problem), *calls)
    if evidence.is_denied or evidence.status >= 500:
        return failed(*causes.status_advice(evidence), *calls)
    return None


# --- the response -----------------------------------------------------------------------------


def _of_response(_: Step, diagnosis: Diagnosis) -> Evidence | Finding:
    """Return the first call that was understood at the agent's URL, or else the first call."""
    if diagnosis.url_error:
        return _NOT_REACHED
    main = diagnosis.detected(kind_of(diagnosis.target))
    if main is None or main.name.startswith("ask-at"):
        main = first_call(diagnosis.evidence)
    if main is None:
        return _pending(diagnosis)
    if main.detected is None:
        if not main.status or main.is_denied:
            return _NOT_REACHED
        if main.status in (404, 405, 410):
            return skipped(f"Skipped because of HTTP {main.status}.")
    return main


def _content_type(_: Diagnosis, evidence: Evidence) -> Finding:
    kind, name = evidence.media_type or "no content type", evidence.name
    if evidence.response.is_json_lines:
        return failed(f"{sse.NOT_FRAMED} The content type is {kind}.", causes.NAME_IT, name)
    if evidence.media_type in ("application/json", "text/event-stream"):
        return passed(f"The response is {kind}.", name)
    if evidence.detected:
        what = "an event stream" if evidence.response.streamed else "JSON"
        cause = f"The response is {what}, but its content type is {kind}."
        return failed(cause, causes.NAME_IT, name)
    if "html" in kind or unreadable.is_html(evidence.text):
        return failed(f"The response is an HTML page ({kind}).", causes.NOT_A_PAGE, name)
    return failed(f"The response is {kind}, not JSON or an event stream.", causes.NOT_A_PAGE, name)


def _json(_: Diagnosis, evidence: Evidence) -> Finding:
    if evidence.messages and not evidence.unread:
        return passed("The response is valid JSON.", evidence.name)
    if evidence.unread:
        fix = "Configure the agent to send JSON; the response is below."
        fix = causes.NOT_A_PAGE if unreadable.is_html(evidence.text) else fix
        return failed("The response is not valid JSON.", fix, evidence.name)
    if evidence.problem:
        return failed(*causes.problem_advice(evidence.problem), evidence.name)
    return failed("The response is empty.", "Check the agent’s log.", evidence.name)


def _dialect(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    detected = evidence.detected
    if detected is None:
        cause = "The response does not match any known protocol."
        return failed(cause, causes.COMPARE, evidence.name)
    cause = f"The response is {detected.label}."
    if detected.kind != kind_of(diagnosis.target):
        return failed(cause, detected.words.settings, evidence.name)
    return passed(cause, evidence.name)


# --- the protocols ----------------------------------------------------------------------------


def _of_protocol(step: Step, diagnosis: Diagnosis) -> Evidence | Finding:
    made = [each for name, each in diagnosis.evidence.items() if kind_of_call(name)]
    is_silent = diagnosis.is_over and len(made) < 2 and not any(each.status for each in made)
    if diagnosis.url_error or is_silent:
        return _pending(diagnosis)
    if step.without is not None:
        return diagnosis.evidence.get(step.calls[0]) or step.without(diagnosis)
    return diagnosis.detected(step.about) or _not_detected(step, diagnosis)


def _not_detected(step: Step, diagnosis: Diagnosis) -> Finding:
    is_own = kind_of(diagnosis.target) == step.about
    old = diagnosis.evidence.get("old-transport")
    if step.about == MCP and old and old.is_old_transport:
        cause, fix = OLD_TRANSPORT.cause, OLD_TRANSPORT.fix
        return failed(cause, fix, old.name) if is_own else skipped(cause, old.name)
    made = diagnosis.calls_made(*step.calls)
    # Calls of another protocol are made after those of this one.
    if not made or not (diagnosis.is_over or kind_of_call([*diagnosis.evidence][-1]) != step.about):
        return _pending(diagnosis)
    if is_own:
        return _missing(diagnosis, step.about, *made)
    return skipped(f"Not found: {kinds()[step.about].endpoint}.", *made)


def _missing(diagnosis: Diagnosis, kind: str, *calls: str) -> Finding:
    """Return the failure of an expected endpoint: the cause, and what responds instead."""
    made = [diagnosis.evidence[name] for name in calls]
    best = min(made, key=lambda each: (not each.is_denied, not each.status))
    if failure := _failure_of(best, *calls):
        return failure
    cause = f"{best.target} does not respond as {kinds()[kind].endpoint} (HTTP {best.status})."
    order = sorted(kinds(), key=lambda each: each != MCP)
    others = (diagnosis.detected(each) for each in order if each != kind)
    other = next(filter(None, others), None)
    if other and other.detected:
        cause = f"{cause} {other.target} is {other.label}."
        return failed(cause, other.detected.words.settings, *calls, other.name)
    is_absent = best.status in (404, 405, 410)
    return failed(cause, kinds()[kind].missing if is_absent else causes.COMPARE, *calls)


_ASK_CALLS = tuple(probe.name for probe in PROBES[NLWEB] if probe.name != "await")
_HANDSHAKE = ("discover", "initialize", "discover-at-mcp", "initialize-at-mcp")
_AGENT_API_CALLS = (AGENT_API, "agent-api-at-process")


def _ask(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    name, is_own = evidence.name, kind_of(diagnosis.target) == NLWEB
    if name.startswith("ask-at") and is_own:
        server = diagnosis.detected(MCP)
        if server and server.target == (diagnosis.url.path or "/"):
            return _missing(diagnosis, NLWEB, *diagnosis.calls_made(*_ASK_CALLS))
        path = evidence.target.partition("?")[0]
        cause = f"{diagnosis.evidence['ask'].target} was not found; {path} is {evidence.label}."
        fix = f"Set the path of the URL to {path.removesuffix('/ask') or '/'}."
        return failed(cause, fix, "ask", name)
    if name == "ask-otherwise" and is_own:
        cause = f"{diagnosis.evidence['ask'].target} accepts only {evidence.label}."
        version = (evidence.detected and evidence.detected.version) or "a different one"
        return failed(cause, f"Set the version to {version}.", "ask", name)
    return passed(f"{evidence.target} is {evidence.label}.", name)


def _await(_: Diagnosis, evidence: Evidence) -> Finding:
    status, name, path = evidence.status, evidence.name, evidence.target
    if evidence.detected:
        return passed(f"{path} responds (HTTP {status}).", name)
    if status in (404, 405, 501):
        cause = f"{path} was not found (HTTP {status}). Only agents with promises need it."
        return skipped(cause, name)
    if evidence.problem and not status:
        return failed(*causes.problem_advice(evidence.problem), name)
    fix = "It should respond to an unknown token with an NLWeb failure."
    return failed(f"{path} does not respond as NLWeb (HTTP {status}).", fix, name)


def _without_await(diagnosis: Diagnosis) -> Finding:
    ask = diagnosis.detected(NLWEB)
    if ask and ask.detected and ask.detected.version == "legacy":
        return skipped("Not needed: legacy NLWeb has no promises.")
    if diagnosis.is_over and ask is None:
        return skipped("Not found; /ask was not found either.")
    return _pending(diagnosis)


def _handshake(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    generation = evidence.detected.generation if evidence.detected else ""
    how = "server/discover" if evidence.name.startswith("discover") else "initialize"
    cause = f"{evidence.target} responds to {how}: {f'MCP {generation}'.strip()}."
    discovery = diagnosis.evidence.get(evidence.name.replace("initialize", "discover"))
    if how == "initialize" and discovery and not discovery.is_json_rpc_error:
        cause += f" {fallback_remark(discovery.problem, discovery.status)}"
    return passed(cause, *diagnosis.calls_made(*_HANDSHAKE, "initialized"))


def _without_tools(diagnosis: Diagnosis) -> Finding:
    if diagnosis.is_over and diagnosis.detected(MCP) is None:
        return skipped("Not found: MCP server.")
    return _pending(diagnosis)


def tools(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    """Conclude which tools there are, and whether one of them is for queries."""
    # The first page, the only one that the doctor reads.
    results = (each.get("result") for _, each in evidence.messages if isinstance(each, Mapping))
    lists = (each for each in results if isinstance(each, Mapping))
    result = next((each for each in lists if isinstance(each.get("tools"), list)), None)
    if result is None:
        cause = f"tools/list did not return an array of tools (HTTP {evidence.status})."
        return failed(cause, causes.COMPARE, evidence.name)
    cursor = result.get("nextCursor")
    has_more = isinstance(cursor, str) and bool(cursor)
    name = Session("", tools=tuple(result["tools"])).tool_for("ask", diagnosis.target.tools)
    named = (tool.get("name") for tool in result["tools"] if isinstance(tool, Mapping))
    names = [each for each in named if isinstance(each, str)]
    listed = f"Tools: {_listed(names, has_more=has_more)}."
    if name in names:
        return passed(f"The tool {name[:80]} accepts queries. {listed}", evidence.name)
    is_named = any(diagnosis.target.tools)
    missing = f"No tool is named {name[:80]}" if is_named else "No tool accepts queries"
    cause = f"{missing}{' on the first page of the list' if has_more else ''}. {listed}"
    if kind_of(diagnosis.target) != MCP or has_more:
        return skipped(cause, evidence.name)
    return failed(cause, causes.NAME_THE_TOOL, evidence.name)


def _listed(names: list[str], *, has_more: bool) -> str:
    """Return the tools of a page for the end of a sentence."""
    left = len(names) - _MAX_LISTED
    text = ", ".join(name[:80] for name in names[:_MAX_LISTED]) or "none"
    text += f" and {left} more" if left > 0 else ""
    if not has_more:
        return text
    return f"{text}, and more on further pages" if left > 0 else f"{text} and more on further pages"


def _lifecycle(_: Diagnosis, evidence: Evidence) -> Finding:
    name, what = evidence.name, f"{evidence.target} is {evidence.label}"
    last = _last_status(evidence)
    if last == "completed":
        return passed(f"{what} and completed its response.", name)
    if last in ("failed", "rejected", "canceled"):
        cause = f"{what}; its response ended as {last}."
        return failed(cause, "See the error in the call below and the agent’s log.", name)
    if last is None:
        return failed(f"{what} and rejected the message.", "See the error in the call below.", name)
    if not evidence.response.ended:
        return passed(f"{what}; its response was {last} when the diagnosis stopped.", name)
    return failed(
        f"{evidence.target} ended the stream while its response was {last}.",
        "The agent must end the stream with a response in status completed or failed.",
        name,
    )


def _responds(_: Diagnosis, evidence: Evidence) -> Finding:
    """Conclude from a protocol whose row alone describes it."""
    what = f"{evidence.target} is {evidence.label}"
    if evidence.response.ended:
        return passed(f"{what}.", evidence.name)
    return passed(f"{what}; its response had not ended when the diagnosis stopped.", evidence.name)


def _last_status(evidence: Evidence) -> str | None:
    """Return the latest status of the response itself, None without one."""
    found = None
    for _, payload in evidence.messages:
        if isinstance(payload, Mapping) and payload.get("object") == "response":
            status = payload.get("status")
            found = status[:40] if isinstance(status, str) else found
    return found


def _card(diagnosis: Diagnosis, evidence: Evidence) -> Finding:
    if evidence.kind != A2A:
        return skipped("Not found: agent card.", evidence.name)
    read = read_card(evidence.payload)
    skills = ", ".join(skill.id[:60] for skill in read.skills[:_MAX_LISTED])
    cause = f"{read.name[:80] or 'An agent'}: {evidence.label}. Skills: {skills or 'none'}."
    urls = [interface.url for interface in read.interfaces if interface.url]
    if urls and not any(is_same(diagnosis.target.url, url) for url in urls):
        cause = f"{cause} Its URL is {urls[0][:200]}."
    return passed(cause, evidence.name)


# --- the table --------------------------------------------------------------------------------

#: Every step, in the order of the report.
STEPS = (
    Step("address", "URL", lambda _, __: evidence_of(()), _url),
    Step("name", "Host name", _of_connection, _name),
    Step("policy", "Outbound policy", _of_connection, _policy),
    Step("tcp", "TCP", _of_connection, _tcp),
    Step("tls", "TLS", _of_connection, _tls),
    Step("http", "HTTP", _of_connection, _http),
    Step("content-type", "Content type", _of_response, _content_type),
    Step("json", "JSON", _of_response, _json),
    Step("dialect", "Protocol", _of_response, _dialect),
    Step("ask", "/ask", _of_protocol, _ask, NLWEB, _ASK_CALLS),
    Step("await", "/await", _of_protocol, _await, NLWEB, ("await",), _without_await),
    Step("mcp", "MCP handshake", _of_protocol, _handshake, MCP, _HANDSHAKE),
    Step("tools", "MCP tools", _of_protocol, tools, MCP, ("tools",), _without_tools),
    Step("agent-api", "Agent API", _of_protocol, _lifecycle, AGENT_API, _AGENT_API_CALLS),
    Step("card", "A2A agent card", _of_protocol, _card, A2A, ("card",), _pending),
)


def _steps() -> list[Step]:
    """Return all steps; that of a protocol whose row describes it comes before A2A's."""
    others = [
        Step(name, kind.name, _of_protocol, _responds, name, (name,))
        for name, kind in kinds().items()
        if name not in PROBES
    ]
    return [*STEPS[:-1], *others, STEPS[-1]]


# --- the diagnosis ----------------------------------------------------------------------------

#: Stages of problems that any other call to the same origin would have.
_HOPELESS = frozenset({Stage.POLICY, Stage.RESOLVE, Stage.CONNECT, Stage.TLS, Stage.SEND})

_OTHER_SCHEME = "The same port with http:// instead of https://, or vice versa."
_IF_SILENT = "if the first call has no response"


@dataclass(frozen=True, slots=True)
class AnnouncedCall:
    """A call that may be made, as it is announced to the user."""

    purpose: str
    when: str
    method: str
    url: str
    #: Whether it is sent with the agent's credentials.
    with_credentials: bool


def announce(target: Target) -> list[AnnouncedCall]:
    """Return every call that a diagnosis of the target may make."""
    found: list[AnnouncedCall] = []
    for probe in (*ordered(target), END_SESSION):
        call = probe.call(target, {})
        if call is not None:
            has_auth = bool(target.headers) and not probe.without_credentials
            found.append(AnnouncedCall(probe.purpose, probe.when, call.method, call.url, has_auth))
    other = _with_other_scheme(target.url)
    return [*found, AnnouncedCall(_OTHER_SCHEME, _IF_SILENT, other.method, other.url, False)]


class Diagnosis:
    """One diagnosis of one target. `url_error` says why its URL cannot be called, "" if it can."""

    def __init__(self, target: Target, url_error: str = "", *, is_brief: bool = False) -> None:
        """Begin with no evidence; `is_brief` ends once an agent was detected at the very URL."""
        self.target = target
        #: Evidence so far, by name of the call.
        self.evidence: dict[str, Evidence] = {}
        self.url_error = url_error
        #: Whether no more calls follow, and whether it ended because of its time limit.
        self.is_over = self.is_late = False
        self._is_brief = is_brief
        self._pending = self._calls()
        self._name = ""

    @property
    def url(self) -> SplitResult:
        return urlsplit(self.target.url)

    def detected(self, kind: str) -> Evidence | None:
        """Return the first call of a protocol whose response speaks it."""
        return first_detected(self.evidence, kind)

    def calls_made(self, *names: str) -> tuple[str, ...]:
        return tuple(name for name in names if name in self.evidence)

    def next_call(self) -> HttpCall | None:
        for name, call in self._pending:
            self._name = name
            return call
        self.is_over = True
        return None

    def add(self, frames: Iterable[Frame]) -> None:
        """Add the frames of the call that `next_call` returned last."""
        self.evidence[self._name] = evidence_of(frames, self._name)

    def give_up(self) -> None:
        """End the diagnosis at its time limit, without the calls that are left."""
        self.is_over = self.is_late = True

    def end_call(self) -> HttpCall | None:
        """Return the call that ends the MCP session of the diagnosis, None without one.

        Make it after all others. Its response is no evidence.
        """
        is_due = END_SESSION.is_due(self.target, self.evidence)
        return END_SESSION.call(self.target, self.evidence) if is_due else None

    def _calls(self) -> Iterator[tuple[str, HttpCall]]:
        if self.url_error:
            return
        for probe in ordered(self.target):
            is_due = probe.is_due(self.target, self.evidence)
            call = probe.call(self.target, self.evidence) if is_due else None
            if call is None:
                continue
            own = self.target.url
            if self._is_brief and any(is_same(url, own) for _, url in self.detected_settings()):
                return
            is_first = not self.evidence
            yield probe.name, call
            first = next(iter(self.evidence.values()))
            if is_first and not first.status and (problem := first.problem):
                # Not for a server that is only slow.
                is_silent = problem.stage is Stage.HEADERS and not problem.limit
                if problem.stage is Stage.TLS or is_silent:
                    yield "scheme", _with_other_scheme(self.target.url)
                if problem.stage in _HOPELESS or causes.scheme_fix(self.evidence, self.target.url):
                    return

    # The report

    def report(self) -> dict[str, Any]:
        """Return the report so far as JSON; `cause` says why nothing was detected."""
        settings = self.detected_settings()
        return {
            "url": self.target.url,
            "steps": [step.report(self) for step in _steps()],
            "calls": {name: _call(evidence) for name, evidence in self.evidence.items()},
            "found": _settings(*settings[0]) if settings else None,
            "also": [f"{detected.label} at {url}" for detected, url in settings[1:]],
            "cause": None if settings else self._cause(),
        }

    def _cause(self) -> dict[str, Any] | None:
        """Return why nothing was detected so far, None before the first response."""
        cause = causes.cause_of_diagnosis(self.evidence, self.target, self.url_error)
        if cause is None:
            return None
        names = ("headline", "fix", "remedy", "scheme", "url", "facts")
        return {name: getattr(cause, name) for name in names}

    def detected_settings(self) -> list[tuple[DetectedProtocol, str]]:
        """Return what the agent can be set to, with the URL, best first.

        The agent's own URL takes precedence, then its own protocol; an MCP server counts only if
        it has a tool for queries.
        """
        own = kind_of(self.target)
        order = sorted(kinds(), key=lambda kind: kind != own)
        found = [setting for kind in order if (setting := self._setting(kind))]
        return sorted(found, key=lambda setting: not is_same(setting[1], self.target.url))

    def _setting(self, kind: str) -> tuple[DetectedProtocol, str] | None:
        evidence = self.detected(kind)
        detected = evidence.detected if evidence else None
        if evidence is None or detected is None or not detected.words.is_supported:
            return None
        url = self._url(evidence) if evidence.request_line else self.target.url
        if kind == MCP:
            listed = self.evidence.get("tools")
            if listed is None or tools(self, listed).status is not StepStatus.PASSED:
                return None
            is_nlweb = self.target.protocol == "nlweb" and self.target.version != "legacy"
            version = self.target.version if is_nlweb else ""
            return replace(detected, protocol="nlweb", version=version), url
        if kind == NLWEB:
            is_own = evidence.name in ("ask", "ask-otherwise") and kind_of(self.target) == NLWEB
            return detected, self.target.url if is_own else url.removesuffix("/ask")
        return detected, url

    def _url(self, evidence: Evidence) -> str:
        """Return the URL of a call, without its query."""
        path = evidence.request_line.partition(" ")[2].partition("?")[0]
        parts = urlsplit(self.target.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, "", ""))


def _with_other_scheme(url: str) -> HttpCall:
    """Return a GET of the same port in the other scheme, without the agent's headers."""
    parts = urlsplit(url)
    scheme = "http" if parts.scheme == "https" else "https"
    _, _, host = with_port(origin_of(url)).partition("://")
    url = urlunsplit((scheme, host, parts.path or "/", "", ""))
    return HttpCall("GET", url, (("User-Agent", USER_AGENT),))


def _settings(detected: DetectedProtocol, url: str) -> dict[str, Any]:
    return {**asdict(detected), "label": detected.label, "url": url}


def _call(evidence: Evidence) -> dict[str, Any]:
    return {
        "line": evidence.request_line,
        "status": evidence.status,
        "waited_ms": evidence.waited_ms,
        "sent": evidence.sent,
        "received": evidence.received,
        "error": evidence.problem.cause if evidence.problem else "",
    }
