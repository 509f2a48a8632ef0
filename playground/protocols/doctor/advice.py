"""Causes and fixes that several steps share, and conditions of a response that lead to them."""

from __future__ import annotations

import re
from ipaddress import ip_address

from playground.protocols import unreadable
from playground.protocols.doctor.detection import DetectedProtocol
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.problems import Problem

USE_HTTPS = "Use https:// instead of http://."
NAME_IT = "Let the agent name its content type: application/json or text/event-stream."
NOT_A_PAGE = "Check the path of the agent's URL: a page for people is not where agents answer."
COMPARE = "Look at the call below, and compare its reply with what the agent documents."

#: Text of an error page for plain HTTP at a port with TLS (nginx and others).
_TLS_PORT = re.compile(r"plain HTTP request was sent to (?:HTTPS|a TLS|an HTTPS)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9!#$%&'*+.^_`|~-]*")
_MISSING = {
    "nlweb": "Check the path of the agent's URL; requests go to /ask below it.",
    "mcp": "Check the path of the agent's URL: MCP servers are most often at /mcp.",
    "agent-api": "Check the path of the agent's URL: requests go to it as it is.",
}
_SCHEMES = {
    "bearer": "Set the agent's authentication to a bearer token.",
    "basic": "Set the agent's authentication to a user name and password.",
}


def is_number(host: str) -> bool:
    """Return whether a host is an IP address rather than a name."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def wants_tls(evidence: Evidence) -> bool:
    """Return whether the response to plain HTTP says that this port speaks TLS."""
    return evidence.status in (400, 426) and bool(_TLS_PORT.search(evidence.text))


def denied_cause(evidence: Evidence) -> str:
    """Return the cause for a status that denies the call."""
    status, headers = evidence.status, evidence.headers
    if status // 100 == 3:
        url = headers.get("location", "")[:200] or "an address that it does not name"
        return f"The server redirects to {url} (HTTP {status})."
    if status == 401:
        challenge = headers.get("www-authenticate", "")[:200]
        suffix = f", WWW-Authenticate: {challenge}" if challenge else ""
        return f"The server wants to know who is asking (HTTP 401{suffix})."
    what = {
        403: "The server does not allow this call",
        421: "The server does not answer for this host name",
        429: "The server limits how often it may be asked",
    }.get(status, "The server failed" if status >= 500 else "The server refuses the call")
    return f"{what} (HTTP {status})."


def denied_fix(evidence: Evidence) -> str:
    """Return the fix for such a status; for 401 the authentication that the server requires."""
    scheme = _SCHEME.match(evidence.headers.get("www-authenticate", ""))
    if evidence.status == 401 and scheme and (fix := _SCHEMES.get(scheme[0].lower())):
        return fix
    return unreadable.fix_for_status(evidence.status, evidence.headers)


def fix_json(evidence: Evidence) -> str:
    """Return the fix for a body that is not JSON."""
    if unreadable.is_html(evidence.text):
        return NOT_A_PAGE
    return "Let the agent send JSON; the call below shows what came."


def missing_fix(protocol: str, evidence: Evidence) -> str:
    """Return the fix if the expected protocol was not detected."""
    if evidence.status in (404, 405, 410) and protocol in _MISSING:
        return _MISSING[protocol]
    return COMPARE


def cause_of(problem: Problem) -> str:
    """Return the cause of a failed call. The doctor has a shorter timeout than a run."""
    if problem.limit == "total_timeout":
        return "The reply took longer than the doctor waits."
    return problem.cause


def fix_of(problem: Problem) -> str:
    """Return the fix of a failed call. Raising the limits of runs would not help here."""
    if problem.limit in ("total_timeout", "idle_timeout"):
        return "See the agent's log for what it waits for; a run waits longer than the doctor."
    return problem.fix


def apply_settings_advice(detected: DetectedProtocol) -> str:
    """Return how to change the agent's settings to the detected ones."""
    if detected.binding == "mcp":
        return "Set the agent's binding to MCP."
    if detected.binding == "a2a":
        return "This is an A2A agent: actions can go to it, requests cannot."
    if detected.protocol == "agent-api":
        return "Set the agent's protocol to Agent API."
    return "Set the agent's protocol to NLWeb, and its binding to HTTP."
