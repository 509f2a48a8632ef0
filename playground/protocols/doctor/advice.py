"""Causes and fixes that several steps share, and conditions of a response that lead to them."""

from __future__ import annotations

import re
from ipaddress import ip_address

from playground.protocols import unreadable
from playground.protocols.challenges import describe_denial
from playground.protocols.doctor.detection import DetectedProtocol
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.mcp.handshake import DISCOVERY_LIMIT
from playground.protocols.problems import Problem

NAME_IT = "Configure the agent to send the content type application/json or text/event-stream."
NOT_A_PAGE = "Enter the URL of the agent’s endpoint; its path often ends in /ask."
COMPARE = "Compare the response below with the agent’s documentation."

#: Limits of a diagnosis on the time without a response.
TIMEOUTS = ("total_timeout", "idle_timeout", DISCOVERY_LIMIT)

#: Text of an error page for plain HTTP at a port with TLS (nginx and others).
_TLS_PORT = re.compile(r"plain HTTP request was sent to (?:HTTPS|a TLS|an HTTPS)", re.IGNORECASE)
_MISSING = {
    "nlweb": "Check the path of the URL; requests are sent to /ask below it.",
    "mcp": "Check the path of the URL: most MCP servers are at /mcp.",
    "agent-api": "Check the path of the URL: requests are sent to exactly this URL.",
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
    status, headers = evidence.status, evidence.headers
    if status // 100 == 3:
        return unreadable.redirect_cause(status, headers)
    if status in unreadable.DENIALS:
        return describe_denial(status, headers)
    what = {
        421: "The server does not serve this host",
        429: "Rate limit exceeded",
    }.get(status, "The server failed" if status >= 500 else "The server rejected the call")
    return f"{what} (HTTP {status})."


def denied_fix(evidence: Evidence) -> str:
    """Return the fix for such a status; for 401 the authentication that the server requires."""
    return unreadable.fix_for_status(evidence.status, evidence.headers)


def missing_fix(protocol: str, evidence: Evidence) -> str:
    if evidence.status in (404, 405, 410) and protocol in _MISSING:
        return _MISSING[protocol]
    return COMPARE


def cause_of(problem: Problem) -> str:
    """The doctor has a shorter timeout than a run."""
    if problem.limit == "total_timeout":
        return "No complete response within the time limit of the diagnosis."
    return problem.cause


def fix_of(problem: Problem) -> str:
    """Raising the limits of runs would not help here."""
    if problem.limit in TIMEOUTS:
        return "Check the agent’s log; runs have a longer timeout than diagnoses."
    if problem.limit:
        return "Select the protocol and version; runs have higher limits than diagnoses."
    return problem.fix


def apply_settings_advice(detected: DetectedProtocol) -> str:
    if detected.binding == "mcp":
        return "Set the binding to MCP."
    if detected.binding == "a2a":
        return "A2A agents support actions only, not requests."
    if detected.protocol == "agent-api":
        return "Set the protocol to Agent API."
    if detected.protocol != "nlweb":
        return unreadable.FOREIGN_FIX
    version = f", version {detected.version}" if detected.version == "legacy" else ""
    return f"Set the protocol to NLWeb{version} and the binding to HTTP."
