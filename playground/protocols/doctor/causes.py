"""Cause of a failed request, as its response proves it: headline, fix, and the remedy that helps.

One interpretation of the evidence, for the error card of a run and for the headline of a diagnosis.
Pure, and total for evidence of any kind; nothing is sent.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit, urlunsplit

from playground.protocols import sse, unreadable
from playground.protocols.challenges import describe_denial, read_challenges
from playground.protocols.doctor import advice
from playground.protocols.doctor.detection import DetectedProtocol
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.doctor.probes import MCP, PROTOCOL_OF, first_call
from playground.protocols.exchange import Target
from playground.protocols.mcp import http_sse
from playground.protocols.origins import origin_of
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem, Stage


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


#: Names of servers by protocol, or by binding where that is not HTTP.
_NAMES: Mapping[str, str] = {
    "mcp": "an MCP server",
    "a2a": "an A2A agent",
    "agent-api": "an Agent API agent",
    "nlweb": "an NLWeb agent",
}
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
    if advice.wants_tls(evidence):
        return _other_scheme("The server speaks TLS on this port.", USE_HTTPS, target)
    detected = unexpected_protocol(evidence, target)
    if evidence.status in unreadable.DENIALS:
        return _of_denial(evidence, detected)
    if detected is not None:
        remedy = Remedy.SWITCH if detected.is_supported else Remedy.DIAGNOSE
        headline, fix = f"This is {server_name(detected)}.", advice.apply_settings_advice(detected)
        return Cause(headline, fix, remedy, detected)
    if evidence.status >= 400:
        return _of_status(evidence, target)
    if evidence.detected is None and unreadable.is_html(evidence.text):
        headline = "This URL serves a web page, not an agent."
        return Cause(headline, advice.NOT_A_PAGE, Remedy.DIAGNOSE)
    if problem is None:
        return None
    if problem.stage is Stage.DECODE:
        return Cause(problem.cause, problem.fix, Remedy.DIAGNOSE)
    return Cause(problem.cause, problem.fix, Remedy.RETRY)


def unexpected_protocol(evidence: Evidence, target: Target) -> DetectedProtocol | None:
    """Return the protocol of a response that is another than the target's, None for the same.

    A JSON-RPC error is a response of an MCP server, to a request that was not JSON-RPC.
    """
    detected = evidence.detected
    if target.protocol not in _NAMES:
        return None  # An action may get any response.
    if detected is None and target.binding == "http" and is_json_rpc(evidence):
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
    if is_legacy and detected.version and detected.version != target.version:
        return detected
    return None


def server_name(detected: DetectedProtocol) -> str:
    """Return what a detected protocol makes of a server, such as `an MCP server`."""
    if detected.version == "legacy" and detected.binding == "http":
        return "a legacy NLWeb server"
    name = detected.protocol if detected.binding == "http" else detected.binding
    return _NAMES.get(name, name)


def is_json_rpc(evidence: Evidence) -> bool:
    """Return whether a response is an error of JSON-RPC."""
    payload = evidence.payload
    return (
        isinstance(payload, Mapping)
        and payload.get("jsonrpc") == "2.0"
        and isinstance(payload.get("error"), Mapping)
    )


def _of_denial(evidence: Evidence, detected: DetectedProtocol | None) -> Cause:
    status, headers = evidence.status, evidence.headers
    headline = describe_denial(status, headers)
    name = "proxy-authenticate" if status == 407 else "www-authenticate"
    found = read_challenges(headers.get(name, ""))
    facts = [
        (label, value)
        for each in found[:3]
        for key, label in _AUTH_FACTS.items()
        if (value := each.scheme[:60] if key == "scheme" else each.value(key))
    ]
    if detected is not None:
        facts.insert(0, ("Server", server_name(detected).partition(" ")[2]))
    scheme = found[0].scheme.lower() if found else ""
    fix = unreadable.fix_for_status(status, headers)
    return Cause(headline, fix, Remedy.AUTHENTICATE, detected, facts=tuple(facts), scheme=scheme)


_AUTH_FACTS: Mapping[str, str] = {
    "scheme": "Scheme",
    "realm": "Realm",
    "scope": "Scope",
    "error_description": "Server message",
    "resource_metadata": "Resource metadata",
}


def _of_redirect(evidence: Evidence, target: Target) -> Cause:
    headline = unreadable.redirect_cause(evidence.status, evidence.headers)
    fix = unreadable.fix_for_status(evidence.status, {})
    location = evidence.headers.get("location", "").strip()
    url = urljoin(target.url, location) if location else ""
    if not origin_of(url) or "@" in urlsplit(url).netloc or not url.startswith("http"):
        return Cause(headline, fix, Remedy.EDIT)
    for operation in ("/ask", "/await"):
        # The URL of an NLWeb agent over HTTP does not name the operation.
        if target.binding == "http" and target.protocol == "nlweb":
            url = url.removesuffix(operation)
    return Cause(headline, fix, Remedy.SWITCH, url=url)


def _of_status(evidence: Evidence, target: Target) -> Cause:
    status = evidence.status
    path = _path(evidence)
    fix = unreadable.fix_for_status(status, evidence.headers)
    named = {
        404: f"Nothing found at {path} (HTTP 404).",
        405: f"{path} does not accept POST requests (HTTP 405).",
        410: f"{path} no longer exists (HTTP 410).",
        421: "The server does not serve this host (HTTP 421).",
        429: "Rate limit exceeded (HTTP 429).",
    }
    headline = named.get(status, "")
    if status in (404, 405) and (named_by_url := _protocol_of_url(target)):
        headline = f"{headline} The URL looks like that of {server_name(named_by_url)}."
        fix = advice.apply_settings_advice(named_by_url)
        return Cause(headline, fix, Remedy.SWITCH, named_by_url)
    if unreadable.is_html(evidence.text) and status not in _TRANSIENT:
        headline = f"This URL serves a web page, not an agent (HTTP {status})."
        return Cause(headline, fix, Remedy.DIAGNOSE)
    if status in _TRANSIENT:
        return Cause(headline or f"The server failed (HTTP {status}).", fix, Remedy.RETRY)
    if not headline:
        what = "The server failed" if status >= 500 else "The server rejected the request"
        return Cause(f"{what} (HTTP {status}).", fix, Remedy.RETRY)
    return Cause(headline, fix, Remedy.DIAGNOSE)


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
        return _other_scheme(problem.cause, problem.fix, target)
    is_url = problem.stage in (Stage.RESOLVE, Stage.POLICY)
    return Cause(problem.cause, problem.fix, Remedy.EDIT if is_url else Remedy.RETRY)


def _other_scheme(headline: str, fix: str, target: Target) -> Cause:
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
        return Cause(url_error, "Correct the URL.", Remedy.EDIT)
    denied = [name for name, each in found.items() if each.status in unreadable.DENIALS]
    if denied:
        return _of_denied_call(found, denied)
    if other := _of_other_server(found):
        return other
    if (call := first_call(found)) is None:
        return None
    first = call[1]
    if first.connected and first.problem and first.problem.limit:
        headline = advice.cause_of(first.problem)
        if first.problem.limit in advice.TIMEOUTS:
            headline = "The server accepts connections but does not respond."
        return Cause(headline, advice.fix_of(first.problem), Remedy.RETRY)
    if other := _scheme_of_port(found, target):
        return other
    return cause_of(first, target) or Cause(
        f"No agent found at {target.url[:200]}.", advice.COMPARE, Remedy.EDIT
    )


def _of_other_server(found: Mapping[str, Evidence]) -> Cause | None:
    """Return the cause of a server that was found and takes no requests, None without one."""
    if has_old_transport(found):
        return Cause(http_sse.CAUSE, http_sse.FIX, Remedy.EDIT)
    for evidence in found.values():
        detected = evidence.detected
        if detected is None or (detected.binding == "http" and detected.is_supported):
            continue
        name = server_name(detected).removeprefix("an ")
        headline, fix = f"{name} at {_path(evidence)}.", advice.apply_settings_advice(detected)
        if detected.binding == "mcp":
            headline = f"{name} without a tool for queries at {_path(evidence)}."
            fix = (
                "Enter the name of the tool for ask in the agent’s form, or add one to the server."
            )
        return Cause(headline, fix, Remedy.EDIT, detected)
    return None


def has_old_transport(found: Mapping[str, Evidence]) -> bool:
    """Return whether a call has found the transport of MCP before streamable HTTP."""
    evidence = found.get("old-transport")
    if evidence is None or evidence.media_type != "text/event-stream":
        return False
    return http_sse.is_endpoint(sse.Splitter().feed(evidence.text.encode()))


def _of_denied_call(found: Mapping[str, Evidence], denied: list[str]) -> Cause:
    """Return the cause of the denied call with the most specific requirements."""

    def rank(name: str) -> int:
        header = found[name].headers.get("www-authenticate", "")
        return -sum(len(each.params) for each in read_challenges(header))

    name = min(denied, key=rank)
    evidence = found[name]
    is_only_mcp = all(PROTOCOL_OF.get(each) == MCP for each in denied)
    detected = DetectedProtocol(binding="mcp") if is_only_mcp or is_json_rpc(evidence) else None
    cause = _of_denial(evidence, detected)
    return replace(cause, facts=(("Path", _path(evidence)), *cause.facts))


def _scheme_of_port(found: Mapping[str, Evidence], target: Target) -> Cause | None:
    """Return the cause of a call in the wrong scheme, if a call in the other one has shown it."""
    other = found.get("scheme")
    if other is None:
        return None
    if urlsplit(target.url).scheme == "https":
        if not other.status:
            return None
        return _other_scheme("The server does not speak TLS on this port.", USE_HTTP, target)
    if not other.connected and not is_certificate(other.problem):
        return None
    return _other_scheme("The server speaks TLS on this port.", USE_HTTPS, target)


def is_certificate(problem: Problem | None) -> bool:
    """Return whether the port speaks TLS and only the certificate is not trusted."""
    return problem is not None and "certificate" in problem.cause


def _path(evidence: Evidence) -> str:
    return evidence.request_line.partition(" ")[2].partition("?")[0][:200] or "this URL"
