"""What the doctor says in more than one place, and small questions about a reply."""

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

#: Bytes of a page that says that TLS is spoken at its port (nginx and others).
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
    """Whether a host is an address rather than a name."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_html(text: str) -> bool:
    """Whether a body begins as an HTML page does."""
    return unreadable.is_html(text)


def wants_tls(evidence: Evidence) -> bool:
    """Whether the reply to a plain request says that this port speaks TLS."""
    return evidence.status in (400, 426) and bool(_TLS_PORT.search(evidence.text))


def denied_cause(evidence: Evidence) -> str:
    """What a status says that lets no call in."""
    status, headers = evidence.status, evidence.headers
    if status // 100 == 3:
        where = headers.get("location", "")[:200] or "an address that it does not name"
        return f"The server redirects to {where} (HTTP {status})."
    if status == 401:
        asked = headers.get("www-authenticate", "")[:200]
        return f"The server wants to know who is asking (HTTP 401{_in_words(asked)})."
    what = {
        403: "The server does not allow this call",
        421: "The server does not answer for this host name",
        429: "The server limits how often it may be asked",
    }.get(status, "The server failed" if status >= 500 else "The server refuses the call")
    return f"{what} (HTTP {status})."


def denied_fix(evidence: Evidence) -> str:
    """What to do about such a status; for 401 what the server itself asks for."""
    scheme = _SCHEME.match(evidence.headers.get("www-authenticate", ""))
    if evidence.status == 401 and scheme and (fix := _SCHEMES.get(scheme[0].lower())):
        return fix
    return unreadable.fix_for_status(evidence.status, evidence.headers)


def fix_json(evidence: Evidence) -> str:
    """What to do about a body that is no JSON."""
    if is_html(evidence.text):
        return NOT_A_PAGE
    return "Let the agent send JSON; the call below shows what came."


def missing_fix(family: str, evidence: Evidence) -> str:
    """What to do where nothing of the expected family answers."""
    if evidence.status in (404, 405, 410) and family in _MISSING:
        return _MISSING[family]
    return COMPARE


def cause_of(problem: Problem) -> str:
    """Why a call failed. The doctor has less patience than a run, and says so."""
    if problem.limit == "total_timeout":
        return "The reply took longer than the doctor waits."
    return problem.cause


def fix_of(problem: Problem) -> str:
    """What to do about a call that failed. Raising the limits of runs would not help here."""
    if problem.limit in ("total_timeout", "idle_timeout"):
        return "See the agent's log for what it waits for; a run waits longer than the doctor."
    return problem.fix


def apply_settings_advice(speech: DetectedProtocol) -> str:
    """How the agent is set to what was found, as advice."""
    if speech.binding == "mcp":
        return "Set the agent's binding to MCP."
    if speech.binding == "a2a":
        return "This is an A2A agent: actions can go to it, requests cannot."
    if speech.protocol == "agent-api":
        return "Set the agent's protocol to Agent API."
    return "Set the agent's protocol to NLWeb, and its binding to HTTP."


def _in_words(challenge: str) -> str:
    return f", WWW-Authenticate: {challenge}" if challenge else ""
