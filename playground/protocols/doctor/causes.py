"""Cause of a failed request, as its response proves it: headline, fix, and the remedy that helps.

One interpretation of the evidence, for the error card of a run and for the headline of a diagnosis.
Pure, and total for evidence of any kind; nothing is sent.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit, urlunsplit

from playground.protocols import unreadable
from playground.protocols.doctor.detection import MCP, DetectedProtocol, kinds
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.doctor.probes import first_call, kind_of_call
from playground.protocols.exchange import Target
from playground.protocols.mcp.handshake import DISCOVERY_LIMIT
from playground.protocols.mcp.responses import OLD_TRANSPORT
from playground.protocols.origins import origin_of
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem, Stage
from playground.protocols.unreadable import describe_denial, read_challenges

NAME_IT = "Configure the agent to send the content type application/json or text/event-stream."
NOT_A_PAGE = "Enter the URL of the agent’s endpoint; its path often ends in /ask."
COMPARE = "Compare the response below with the agent’s documentation."
NAME_THE_TOOL = "Enter the name of the tool for ask in the agent’s form, or add one to the server."
CORRECT_URL = "Correct the URL."
WANTS_TLS = "The server speaks TLS on this port."

#: Limits of a diagnosis on the time without a response.
TIMEOUTS = ("total_timeout", "idle_timeout", DISCOVERY_LIMIT)

#: A cause and its fix, as sentences.
Advice = tuple[str, str]

_STATUSES: Mapping[int, str] = {
    404: "Nothing found at {path}",
    405: "{path} does not accept POST requests",
    408: "The server failed",
    410: "{path} no longer exists",
    421: "The server does not serve this host",
    425: "The server failed",
    429: "Rate limit exceeded",
}


def status_advice(evidence: Evidence) -> Advice:
    status, headers = evidence.status, evidence.headers
    fix = unreadable.fix_for_status(status, headers)
    if status // 100 == 3:
        return unreadable.redirect_cause(status, headers), fix
    if status in unreadable.DENIALS:
        return describe_denial(status, headers), fix
    other = "The server failed" if status >= 500 else "The server rejected the request"
    cause = _STATUSES.get(status, other).format(path=evidence.path)
    return f"{cause} (HTTP {status}).", fix


def problem_advice(problem: Problem) -> Advice:
    """A diagnosis has shorter timeouts than a run, and the limits of runs do not apply to it."""
    cause, fix = problem.cause, problem.fix
    if problem.limit == "total_timeout":
        cause = "No complete response within the time limit of the diagnosis."
    if problem.limit in TIMEOUTS:
        fix = "Check the agent’s log; runs have a longer timeout than diagnoses."
    elif problem.limit:
        fix = "Select the protocol and version; runs have higher limits than diagnoses."
    return cause, fix


def scheme_fix(found: Mapping[str, Evidence], url: str) -> str:
    """Return the fix if the port of `url` speaks the other scheme, "" if that was not seen."""
    other = found.get("scheme")
    if other is None:
        return ""
    if urlsplit(url).scheme == "https":
        return USE_HTTP if other.status else ""
    is_untrusted = other.problem is not None and "certificate" in other.problem.cause
    return USE_HTTPS if other.connected or is_untrusted else ""


class Remedy(enum.StrEnum):
    """The one thing that helps against a cause."""

    #: Send the same request again.
    RETRY = "retry"
    #: Add or correct credentials.
    AUTHENTICATE = "authenticate"
    #: Send it with another URL, protocol, binding or version.
    SWITCH = "switch"
    #: Diagnose the connection.
    DIAGNOSE = "diagnose"
    #: Correct the URL.
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a request failed."""

    #: A sentence that names what was found.
    headline: str
    fix: str
    remedy: Remedy
    #: What responds instead of the expected protocol.
    detected: DetectedProtocol | None = None
    #: The URL to switch to, "" for the same.
    url: str = ""
    #: (label, value) of the authentication that is required.
    facts: tuple[tuple[str, str], ...] = ()
    #: The scheme of that authentication in lower case, "" if unknown.
    scheme: str = ""


#: Statuses after which the same request may succeed later.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})


def cause_of(evidence: Evidence, target: Target, problem: Problem | None = None) -> Cause | None:
    """Return the cause of a request to `target` that failed; None if its response is as expected.

    `problem` is the problem of the run, which may be later than the evidence.
    """
    problem = problem or evidence.problem
    if not evidence.status:
        return _of_transport(problem, target) if problem else None
    if evidence.status // 100 == 3:
        return _of_redirect(evidence, target)
    if evidence.wants_tls:
        return _of_scheme(WANTS_TLS, USE_HTTPS, target)
    detected = unexpected_protocol(evidence, target)
    if evidence.status in unreadable.DENIALS:
        return _of_denial(evidence, detected)
    if detected is not None:
        remedy = Remedy.SWITCH if detected.words.is_supported else Remedy.DIAGNOSE
        return Cause(f"This is {detected.words.server}.", detected.words.settings, remedy, detected)
    if evidence.status >= 400:
        return _of_status(evidence, target)
    if evidence.detected is None and unreadable.is_html(evidence.text):
        headline = "This URL serves a web page, not an agent."
        return Cause(headline, NOT_A_PAGE, Remedy.DIAGNOSE)
    if problem is None:
        return None
    remedy = Remedy.DIAGNOSE if problem.stage is Stage.DECODE else Remedy.RETRY
    return Cause(problem.cause, problem.fix, remedy)


def unexpected_protocol(evidence: Evidence, target: Target) -> DetectedProtocol | None:
    """Return the protocol of a response that is another than the target's, None for the same.

    A JSON-RPC error is a response of an MCP server, to a request that was not JSON-RPC.
    """
    detected = evidence.detected
    if target.protocol not in kinds():
        return None  # An action may get any response.
    if detected is None and target.binding == "http" and evidence.is_json_rpc_error:
        detected = DetectedProtocol(binding="mcp")
    # An error alone may be of any server; AgentScope sends it with its protocol's other messages.
    is_only_error = detected is not None and detected.dialect and not detected.version
    if detected is None or (is_only_error and target.binding != "http"):
        return None
    if detected.binding != target.binding:
        return detected
    if detected.binding != "http":
        return None
    if detected.protocol != target.protocol:
        return detected
    is_legacy = detected.protocol == "nlweb" and "legacy" in (detected.version, target.version)
    is_other = bool(detected.version) and detected.version != target.version
    return detected if is_legacy and is_other else None


_AUTH_FACTS: Mapping[str, str] = {
    "scheme": "Scheme",
    "realm": "Realm",
    "scope": "Scope",
    "error_description": "Server message",
    "resource_metadata": "Resource metadata",
}


def _of_denial(evidence: Evidence, detected: DetectedProtocol | None) -> Cause:
    headline, fix = status_advice(evidence)
    name = "proxy-authenticate" if evidence.status == 407 else "www-authenticate"
    found = read_challenges(evidence.headers.get(name, ""))
    facts = [
        (label, value)
        for each in found[:3]
        for key, label in _AUTH_FACTS.items()
        if (value := each.scheme[:60] if key == "scheme" else each.value(key))
    ]
    if detected is not None:
        facts.insert(0, ("Server", detected.words.server.partition(" ")[2]))
    scheme = found[0].scheme.lower() if found else ""
    return Cause(headline, fix, Remedy.AUTHENTICATE, detected, facts=tuple(facts), scheme=scheme)


def _of_redirect(evidence: Evidence, target: Target) -> Cause:
    headline, fix = status_advice(evidence)
    location = evidence.headers.get("location", "").strip()
    url = urljoin(target.url, location) if location else ""
    if not origin_of(url) or "@" in urlsplit(url).netloc or not url.startswith("http"):
        return Cause(headline, fix, Remedy.EDIT)
    if target.binding == "http" and target.protocol == "nlweb":
        # The URL of an NLWeb agent over HTTP does not name the operation.
        url = url.removesuffix("/ask").removesuffix("/await")
    return Cause(headline, fix, Remedy.SWITCH, url=url)


def _of_status(evidence: Evidence, target: Target) -> Cause:
    status = evidence.status
    headline, fix = status_advice(evidence)
    if status in (404, 405) and (named := _protocol_of_url(target)):
        headline = f"{headline} The URL looks like that of {named.words.server}."
        return Cause(headline, named.words.settings, Remedy.SWITCH, named)
    if status in _TRANSIENT:
        return Cause(headline, fix, Remedy.RETRY)
    if unreadable.is_html(evidence.text):
        headline = f"This URL serves a web page, not an agent (HTTP {status})."
        return Cause(headline, fix, Remedy.DIAGNOSE)
    is_about_url = status in (404, 405, 410, 421)
    return Cause(headline, fix, Remedy.DIAGNOSE if is_about_url else Remedy.RETRY)


def _protocol_of_url(target: Target) -> DetectedProtocol | None:
    """Return the protocol that the path of a URL is typical of, None for the target's own."""
    if target.protocol != "nlweb" or target.binding != "http":
        return None
    path = urlsplit(target.url).path.rstrip("/")
    if path.endswith("/mcp"):
        return DetectedProtocol(binding="mcp")
    return DetectedProtocol("agent-api") if path.endswith("/process") else None


def _of_transport(problem: Problem, target: Target) -> Cause:
    if problem.fix in (USE_HTTP, USE_HTTPS):
        return _of_scheme(problem.cause, problem.fix, target)
    is_url = problem.stage in (Stage.RESOLVE, Stage.POLICY)
    return Cause(problem.cause, problem.fix, Remedy.EDIT if is_url else Remedy.RETRY)


def _of_scheme(headline: str, fix: str, target: Target) -> Cause:
    parts = urlsplit(target.url)
    url = urlunsplit(parts._replace(scheme="http" if fix == USE_HTTP else "https"))
    return Cause(headline, fix, Remedy.SWITCH, url=url)


# --- several calls ----------------------------------------------------------------------------


def cause_of_diagnosis(
    found: Mapping[str, Evidence], target: Target, url_error: str = ""
) -> Cause | None:
    """Return why no agent was detected by the calls of a diagnosis, by their names.

    None before the first call has ended.
    """
    if url_error:
        return Cause(url_error, CORRECT_URL, Remedy.EDIT)
    if denied := [each for each in found.values() if each.status in unreadable.DENIALS]:
        return _of_denied_calls(denied)
    if other := _of_other_server(found):
        return other
    if (first := first_call(found)) is None:
        return None
    if first.connected and first.problem and first.problem.limit:
        headline, fix = problem_advice(first.problem)
        if first.problem.limit in TIMEOUTS:
            headline = "The server accepts connections but does not respond."
        return Cause(headline, fix, Remedy.RETRY)
    if scheme := scheme_fix(found, target.url):
        headline = "The server does not speak TLS on this port."
        return _of_scheme(WANTS_TLS if scheme == USE_HTTPS else headline, scheme, target)
    return cause_of(first, target) or Cause(
        f"No agent found at {target.url[:200]}.", COMPARE, Remedy.EDIT
    )


def _of_denied_calls(denied: list[Evidence]) -> Cause:
    """Return the cause of the denied call with the most specific requirements."""

    def rank(evidence: Evidence) -> int:
        header = evidence.headers.get("www-authenticate", "")
        return sum(len(each.params) for each in read_challenges(header))

    best = max(denied, key=rank)
    is_mcp = best.is_json_rpc_error or all(kind_of_call(each.name) == MCP for each in denied)
    cause = _of_denial(best, DetectedProtocol(binding="mcp") if is_mcp else None)
    return replace(cause, facts=(("Path", best.path), *cause.facts))


def _of_other_server(found: Mapping[str, Evidence]) -> Cause | None:
    """Return the cause of a server that was found and takes no requests, None without one."""
    old = found.get("old-transport")
    if old and old.is_old_transport:
        return Cause(OLD_TRANSPORT.cause, OLD_TRANSPORT.fix, Remedy.EDIT)
    for evidence in found.values():
        detected = evidence.detected
        if detected is None or (detected.binding == "http" and detected.words.is_supported):
            continue
        name, fix = detected.words.server.removeprefix("an "), detected.words.settings
        if detected.binding == "mcp":
            name, fix = f"{name} without a tool for queries", NAME_THE_TOOL
        return Cause(f"{name} at {evidence.path}.", fix, Remedy.EDIT, detected)
    return None
