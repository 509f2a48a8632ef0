"""Causes and fixes that steps and headlines share."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from playground.protocols import unreadable
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.mcp.handshake import DISCOVERY_LIMIT
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem
from playground.protocols.unreadable import describe_denial

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


def of_status(evidence: Evidence) -> Advice:
    status, headers = evidence.status, evidence.headers
    fix = unreadable.fix_for_status(status, headers)
    if status // 100 == 3:
        return unreadable.redirect_cause(status, headers), fix
    if status in unreadable.DENIALS:
        return describe_denial(status, headers), fix
    other = "The server failed" if status >= 500 else "The server rejected the request"
    cause = _STATUSES.get(status, other).format(path=evidence.path)
    return f"{cause} (HTTP {status}).", fix


def of_problem(problem: Problem) -> Advice:
    """A diagnosis has shorter timeouts than a run, and the limits of runs do not apply to it."""
    cause, fix = problem.cause, problem.fix
    if problem.limit == "total_timeout":
        cause = "No complete response within the time limit of the diagnosis."
    if problem.limit in TIMEOUTS:
        fix = "Check the agent’s log; runs have a longer timeout than diagnoses."
    elif problem.limit:
        fix = "Select the protocol and version; runs have higher limits than diagnoses."
    return cause, fix


def of_scheme(found: Mapping[str, Evidence], url: str) -> str:
    """Return the fix if the port of `url` speaks the other scheme, "" if that was not seen."""
    other = found.get("scheme")
    if other is None:
        return ""
    if urlsplit(url).scheme == "https":
        return USE_HTTP if other.status else ""
    is_untrusted = other.problem is not None and "certificate" in other.problem.cause
    return USE_HTTPS if other.connected or is_untrusted else ""
