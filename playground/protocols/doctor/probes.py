"""Probes: every call that the connection doctor may make, in order, with its condition.

All of them are harmless: the query is a greeting, the promise that is polled does not exist, and
no tool is called. They are sent to the agent's own origin, with its credentials, except for those
that are marked `without_credentials`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from playground.protocols import http, nlweb
from playground.protocols.a2a.card_discovery import card_call, well_known
from playground.protocols.agent_api import requests as agent_api
from playground.protocols.calls import HttpCall
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.exchange import Target
from playground.protocols.mcp import http_sse
from playground.protocols.mcp import messages as mcp
from playground.protocols.mcp.handshake import DISCOVERY_LIMIT
from playground.protocols.mcp.versions import OFFERED_VERSION, STATELESS_VERSION
from playground.protocols.origins import base_path
from playground.protocols.unreadable import DENIALS

#: The text of the query, and the token of the promise that is polled.
QUERY, TOKEN = "hello", "nlweb-playground-no-such-promise"

#: The protocols of probes: what an agent may speak.
NLWEB, MCP, AGENT_API, A2A = "nlweb", "mcp", "agent-api", "a2a"

#: Other paths of `/ask` at the same origin: name of the call to the path before `/ask`.
_OTHER_PATHS = {
    "ask-at-base": None,
    "ask-at-host": "",
    "ask-at-api": "/api",
    "ask-at-nlweb": "/nlweb",
}

#: Evidence so far, by name of the call.
EvidenceByCall = Mapping[str, Evidence]


@dataclass(frozen=True, slots=True)
class Probe:
    """One call that may be made."""

    name: str
    protocol: str
    #: Its description, for the user's decision whether it may be sent.
    purpose: str
    #: (target, evidence so far) to the call; None if it makes no sense for this target.
    make: Callable[[Target, EvidenceByCall], HttpCall | None]
    #: (target, evidence so far) to whether it is needed.
    is_due: Callable[[Target, EvidenceByCall], bool] = lambda _, __: True
    #: Its condition in words; "" for always.
    when: str = ""
    #: Whether it is sent without the agent's credentials.
    without_credentials: bool = False


def probe_protocol(target: Target) -> str:
    if target.protocol == "agent-api":
        return AGENT_API
    return MCP if target.binding == "mcp" else NLWEB


def ordered(target: Target) -> list[Probe]:
    """Return all probes, those of the target's own protocol first."""
    own = probe_protocol(target)
    return sorted(PROBES, key=lambda probe: probe.protocol != own)


def first_call(found: EvidenceByCall) -> tuple[str, Evidence] | None:
    """Return the first call with its name; `initialize` if MCP's discovery had no response."""
    first = next(iter(found.items()), None)
    older = found.get("initialize")
    if first and first[0] == "discover" and not first[1].status and older and older.status:
        return "initialize", older
    return first


# --- NLWeb over HTTP --------------------------------------------------------------------------


def _base(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=base_path(parts.path), fragment=""))


def _is_legacy(target: Target) -> bool:
    return target.protocol == "nlweb" and target.version == "legacy"


def _ask(target: Target, version: str, *, streaming: bool) -> HttpCall:
    document = nlweb.new_request(version, QUERY, streaming=streaming)
    return nlweb.http_call(replace(target, url=_http_url(target), version=version), document)


def _http_url(target: Target) -> str:
    """Return the URL for NLWeb over HTTP: the agent's, or its base if it is set to another."""
    return target.url if probe_protocol(target) == NLWEB else _base(target.url)


def _own_version(target: Target) -> str:
    known = [version.name for version in nlweb.SUPPORTED_VERSIONS]
    is_known = target.protocol == "nlweb" and target.version in known
    return target.version if is_known else known[-1]


def _ask_as_configured(target: Target, _: EvidenceByCall) -> HttpCall:
    return _ask(target, _own_version(target), streaming=_is_legacy(target))


def _ask_otherwise(target: Target, _: EvidenceByCall) -> HttpCall:
    other = nlweb.VERSIONS[-1].name if _is_legacy(target) else "legacy"
    return _ask(target, other, streaming=other == "legacy")


def _ask_at(prefix: str | None) -> Callable[[Target, EvidenceByCall], HttpCall | None]:
    """Return a maker of the query at the path `prefix`; None for the base of the agent's path."""

    def make(target: Target, found: EvidenceByCall) -> HttpCall | None:
        parts = urlsplit(target.url)
        base = base_path(parts.path)
        path = base if prefix is None else prefix
        known = parts.path.rstrip("/").removesuffix("/ask")
        if path == known or (prefix is not None and path == base):
            return None  # Another probe sends the query there.
        moved = replace(target, url=urlunsplit(parts._replace(path=path)), binding="http")
        return _ask_as_configured(moved, found)

    return make


def _is_missing(target: Target, found: EvidenceByCall) -> bool:
    responses = [found[name] for name in ("ask", "ask-otherwise") if name in found]
    return not first_detected(found, NLWEB) and all(
        each.status in (0, 404, 405, 410) or "html" in each.media_type for each in responses
    )


def _await(target: Target, _: EvidenceByCall) -> HttpCall | None:
    if _is_legacy(target):
        return None
    version = _own_version(target)
    document = {"promise_token": TOKEN, "action": "checkin", "meta": {"version": version}}
    at_http = replace(target, url=_http_url(target), version=version)
    return http.post(at_http, "await", document, streaming=False)


def first_detected(found: EvidenceByCall, protocol: str) -> tuple[str, Evidence] | None:
    """Return the first call of a protocol whose response speaks it, with its name."""
    for probe in PROBES:
        evidence = found.get(probe.name)
        if probe.protocol == protocol and evidence and _fits(evidence, protocol):
            return probe.name, evidence
    return None


def _fits(evidence: Evidence, protocol: str) -> bool:
    detected = evidence.detected
    if detected is None:
        return False
    if protocol in (MCP, A2A):
        return detected.binding == protocol
    return detected.binding == "http" and detected.protocol == protocol


# --- MCP --------------------------------------------------------------------------------------


def _derived_mcp_url(target: Target) -> str:
    """Return the URL below the given one that most MCP servers have, "" if it is the given one."""
    is_given = target.binding == "mcp" or urlsplit(target.url).path.rstrip("/").endswith("/mcp")
    return "" if is_given else f"{_base(target.url)}/mcp"


def _discover(target: Target, _: EvidenceByCall) -> HttpCall:
    call = mcp.post_message(target, mcp.discover(1), version=STATELESS_VERSION)
    return replace(call, time_limit=DISCOVERY_LIMIT)


def _initialize(target: Target, _: EvidenceByCall) -> HttpCall:
    return mcp.post_message(target, mcp.initialize(1))


def _at_mcp(
    make: Callable[[Target, EvidenceByCall], HttpCall],
) -> Callable[[Target, EvidenceByCall], HttpCall | None]:
    """Return the maker of the same call at the derived URL."""

    def make_there(target: Target, found: EvidenceByCall) -> HttpCall | None:
        url = _derived_mcp_url(target)
        return make(replace(target, url=url), found) if url else None

    return make_there


def _mcp_probe(found: EvidenceByCall) -> str:
    """Return the name of the handshake's call that was answered."""
    hit = first_detected(found, MCP)
    return hit[0] if hit else ""


def _at_answer(target: Target, found: EvidenceByCall) -> Target:
    """Return the target with the URL at which the handshake was answered."""
    is_derived = _mcp_probe(found).endswith("-at-mcp")
    return replace(target, url=_derived_mcp_url(target)) if is_derived else target


def _session(found: EvidenceByCall) -> tuple[str, str]:
    """Return the version and the session id of the response to initialize."""
    name = _mcp_probe(found)
    evidence = found.get(name) if name.startswith("initialize") else None
    if evidence is None:
        return "", ""
    detected = evidence.detected
    version = detected.generation if detected and detected.generation else OFFERED_VERSION
    return version, evidence.headers.get("mcp-session-id", "")


def _initialized(target: Target, found: EvidenceByCall) -> HttpCall:
    version, session = _session(found)
    return mcp.post_message(
        _at_answer(target, found), mcp.initialized(), version=version, session=session
    )


def _tools(target: Target, found: EvidenceByCall) -> HttpCall:
    version, session = _session(found)
    if version:
        return mcp.post_message(
            _at_answer(target, found), mcp.list_tools(2), version=version, session=session
        )
    message = mcp.list_tools(2, meta=mcp.stateless_meta())
    return mcp.post_message(_at_answer(target, found), message, version=STATELESS_VERSION)


def _end_session(target: Target, found: EvidenceByCall) -> HttpCall:
    return mcp.end_session(_at_answer(target, found), *_session(found))


def _is_without_mcp(_: Target, found: EvidenceByCall) -> bool:
    """Return whether no MCP server was found so far, not even one that requires credentials."""
    return first_detected(found, MCP) is None and not any(
        name in found and found[name].status in DENIALS
        for name in ("discover", "initialize", "discover-at-mcp")
    )


def _may_have_old_transport(target: Target, found: EvidenceByCall) -> bool:
    """Return whether the response to initialize is one after which GET is tried."""
    evidence = found.get("initialize")
    is_refused = evidence is not None and evidence.status in http_sse.STATUSES
    is_known = any(each.detected for each in found.values())
    return is_refused and not is_known and _is_without_mcp(target, found)


def _has_session(_: Target, found: EvidenceByCall) -> bool:
    return _mcp_probe(found).startswith("initialize")


# --- Agent API and A2A ------------------------------------------------------------------------


def _message(target: Target, _: EvidenceByCall) -> HttpCall:
    return http.post(target, "", agent_api.new_request("1", QUERY, streaming=True), streaming=True)


def _message_at_process(target: Target, found: EvidenceByCall) -> HttpCall | None:
    path = urlsplit(target.url).path.rstrip("/")
    if target.protocol == "agent-api" or path.endswith("/process"):
        return None
    return _message(replace(target, url=f"{_base(target.url)}/process"), found)


def _is_without_agent_api(_: Target, found: EvidenceByCall) -> bool:
    evidence = found.get(AGENT_API)
    is_denied = evidence is not None and evidence.status in DENIALS
    return first_detected(found, AGENT_API) is None and not is_denied


def _card(target: Target, _: EvidenceByCall) -> HttpCall | None:
    return next((card_call(url) for url in well_known(target.url)), None)


#: Every call, by protocol, in order.
PROBES: tuple[Probe, ...] = (
    Probe("ask", NLWEB, f"The query “{QUERY}” to /ask.", _ask_as_configured),
    Probe(
        "ask-otherwise",
        NLWEB,
        "The same query in legacy or standard form.",
        _ask_otherwise,
        lambda _, found: not first_detected(found, NLWEB),
        "if the first form is not supported",
    ),
    *(
        Probe(
            name,
            NLWEB,
            "The same query at another path.",
            _ask_at(prefix),
            _is_missing,
            "if there is no /ask at the URL",
        )
        for name, prefix in _OTHER_PATHS.items()
    ),
    Probe(
        "await",
        NLWEB,
        "A poll of a promise that does not exist, to /await.",
        _await,
        lambda _, found: "ask" in found and _fits(found["ask"], NLWEB),
        "if /ask responds",
    ),
    Probe("discover", MCP, "MCP: server/discover.", _discover),
    Probe(
        "initialize",
        MCP,
        "MCP: initialize, for versions up to 2025-11-25.",
        _initialize,
        _is_without_mcp,
        "if server/discover is not supported",
    ),
    Probe(
        "discover-at-mcp",
        MCP,
        "MCP: server/discover at /mcp.",
        _at_mcp(_discover),
        _is_without_mcp,
        "if the URL is not that of an MCP server",
    ),
    Probe(
        "initialize-at-mcp",
        MCP,
        "MCP: initialize at /mcp.",
        _at_mcp(_initialize),
        _is_without_mcp,
        "if server/discover is not supported there",
    ),
    Probe(
        "old-transport",
        MCP,
        "MCP: the event stream of the HTTP+SSE transport (2024-11-05).",
        lambda target, _: mcp.open_stream(target),
        _may_have_old_transport,
        "if no protocol was found so far",
    ),
    Probe(
        "initialized",
        MCP,
        "MCP: notifications/initialized.",
        _initialized,
        _has_session,
        "if a session was initialized",
    ),
    Probe(
        "tools",
        MCP,
        "MCP: tools/list. No tool is called.",
        _tools,
        lambda _, found: first_detected(found, MCP) is not None,
        "if an MCP server responds",
    ),
    Probe(AGENT_API, AGENT_API, f"Agent API: the message “{QUERY}”.", _message),
    Probe(
        "agent-api-at-process",
        AGENT_API,
        f"Agent API: the message “{QUERY}” at /process.",
        _message_at_process,
        _is_without_agent_api,
        "if the URL is not that of an Agent API agent",
    ),
    Probe("card", A2A, "A2A: the agent card.", _card, without_credentials=True),
)

#: The last call. It tells nothing of the server, which need not let clients end a session.
END_SESSION = Probe(
    "end-session",
    MCP,
    "MCP: DELETE, to end the session.",
    _end_session,
    lambda _, found: bool(_session(found)[1]),
    "if a session was initialized",
)

#: The protocol of each call.
PROTOCOL_OF: Mapping[str, str] = {probe.name: probe.protocol for probe in PROBES}
