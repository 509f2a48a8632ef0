"""Probes: every call that the connection doctor may make, in order, with its condition.

All of them are harmless: the query is a greeting, the promise that is polled does not exist, and
no tool is called. They are sent to the agent's own origin, with its credentials, except for those
that are marked `without_credentials`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from playground.protocols import http, registry
from playground.protocols.a2a.card import card_call, well_known
from playground.protocols.calls import HttpCall
from playground.protocols.doctor.detection import A2A, AGENT_API, MCP, NLWEB, kind_of, kinds
from playground.protocols.doctor.evidence import Evidence
from playground.protocols.exchange import Target
from playground.protocols.mcp import messages as mcp
from playground.protocols.mcp.handshake import DISCOVERY_LIMIT
from playground.protocols.mcp.responses import OLD_TRANSPORT_STATUSES
from playground.protocols.mcp.versions import OFFERED_VERSION, STATELESS_VERSION
from playground.protocols.nlweb import requests as nlweb
from playground.protocols.nlweb.versions import SUPPORTED_VERSIONS, VERSIONS
from playground.protocols.origins import base_path
from playground.protocols.unreadable import DENIALS

#: The text of the query, and the token of the promise that is polled.
QUERY, TOKEN = "hello", "nlweb-playground-no-such-promise"

#: Evidence so far, by name of the call.
EvidenceByCall = Mapping[str, Evidence]
#: (target, evidence so far) to the call; None if it makes no sense for this target.
Maker = Callable[[Target, EvidenceByCall], HttpCall | None]
#: (target, evidence so far) to the URL that a call is made for; "" if there is none.
Place = Callable[[Target, EvidenceByCall], str]


@dataclass(frozen=True, slots=True)
class Probe:
    """One call that may be made."""

    name: str
    #: Its description, for the user's decision whether it may be sent.
    purpose: str
    make: Maker
    #: (target, evidence so far) to whether it is needed.
    is_due: Callable[[Target, EvidenceByCall], bool] = lambda _, __: True
    #: Its condition in words; "" for always.
    when: str = ""
    url: Place = lambda target, _: target.url
    #: Whether it is sent without the agent's credentials.
    without_credentials: bool = False

    def call(self, target: Target, found: EvidenceByCall) -> HttpCall | None:
        headers = () if self.without_credentials else target.headers
        url = self.url(target, found)
        return self.make(replace(target, url=url, headers=headers), found) if url else None


def ordered(target: Target) -> list[Probe]:
    """Return all probes, those of the target's own protocol first."""
    own = kind_of(target)
    order = sorted(kinds(), key=lambda kind: kind != own)
    return [probe for kind in order for probe in PROBES.get(kind) or [_of_row(kind)]]


def first_call(found: EvidenceByCall) -> Evidence | None:
    """Return the first call; `initialize` if MCP's discovery had no response."""
    first = next(iter(found.values()), None)
    older = found.get("initialize")
    if first and first.name == "discover" and not first.status and older and older.status:
        return older
    return first


def first_detected(found: EvidenceByCall, kind: str) -> Evidence | None:
    """Return the first call of a protocol whose response speaks it."""
    own = (each for name, each in found.items() if kind_of_call(name) == kind)
    return next((each for each in own if each.kind == kind), None)


# --- NLWeb over HTTP --------------------------------------------------------------------------


def _base(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=base_path(parts.path), fragment=""))


def _is_legacy(target: Target) -> bool:
    return target.protocol == "nlweb" and target.version == "legacy"


def _over_http(target: Target, version: str) -> Target:
    """Return the target for NLWeb over HTTP: at its base if it is set to another protocol."""
    url = target.url if kind_of(target) == NLWEB else _base(target.url)
    return replace(target, url=url, version=version)


def _ask(target: Target, version: str, *, streaming: bool) -> HttpCall:
    document = nlweb.new_request(version, QUERY, streaming=streaming)
    return nlweb.http_call(_over_http(target, version), document)


def _own_version(target: Target) -> str:
    known = [version.name for version in SUPPORTED_VERSIONS]
    is_known = target.protocol == "nlweb" and target.version in known
    return target.version if is_known else known[-1]


def _ask_as_configured(target: Target, _: EvidenceByCall) -> HttpCall:
    return _ask(target, _own_version(target), streaming=_is_legacy(target))


def _ask_otherwise(target: Target, _: EvidenceByCall) -> HttpCall:
    other = VERSIONS[-1].name if _is_legacy(target) else "legacy"
    return _ask(target, other, streaming=other == "legacy")


def _ask_at(name: str, prefix: str | None) -> Probe:
    """Return the query at the path `prefix`; None for the base of the agent's path."""

    def url(target: Target, _: EvidenceByCall) -> str:
        parts = urlsplit(target.url)
        base = base_path(parts.path)
        path = base if prefix is None else prefix
        known = parts.path.rstrip("/").removesuffix("/ask")
        is_asked = path == known or (prefix is not None and path == base)
        return "" if is_asked else urlunsplit(parts._replace(path=path))

    purpose, when = "The same query at another path.", "if there is no /ask at the URL"
    return Probe(name, purpose, _ask_as_configured, _is_ask_missing, when, url)


def _is_ask_missing(_: Target, found: EvidenceByCall) -> bool:
    responses = [found[name] for name in ("ask", "ask-otherwise") if name in found]
    return not first_detected(found, NLWEB) and all(
        each.status in (0, 404, 405, 410) or "html" in each.media_type for each in responses
    )


def _await(target: Target, _: EvidenceByCall) -> HttpCall | None:
    if _is_legacy(target):
        return None
    version = _own_version(target)
    document = {"promise_token": TOKEN, "action": "checkin", "meta": {"version": version}}
    return http.post(_over_http(target, version), "await", document, streaming=False)


NLWEB_PROBES = (
    Probe("ask", f"The query “{QUERY}” to /ask.", _ask_as_configured),
    Probe("ask-otherwise", "The same query in legacy or standard form.", _ask_otherwise,
          lambda _, found: not first_detected(found, NLWEB), "if the first form is not supported"),
    _ask_at("ask-at-base", None),
    _ask_at("ask-at-host", ""),
    _ask_at("ask-at-api", "/api"),
    _ask_at("ask-at-nlweb", "/nlweb"),
    Probe("await", "A poll of a promise that does not exist, to /await.", _await,
          lambda _, found: "ask" in found and found["ask"].kind == NLWEB, "if /ask responds"),
)  # fmt: skip


# --- MCP --------------------------------------------------------------------------------------


def _at_mcp(target: Target, _: EvidenceByCall) -> str:
    """Return the URL below the given one that most MCP servers have, "" if it is the given one."""
    is_given = target.binding == "mcp" or urlsplit(target.url).path.rstrip("/").endswith("/mcp")
    return "" if is_given else f"{_base(target.url)}/mcp"


def _at_answer(target: Target, found: EvidenceByCall) -> str:
    """Return the URL at which the handshake was answered."""
    answer = first_detected(found, MCP)
    is_derived = answer is not None and answer.name.endswith("-at-mcp")
    return _at_mcp(target, found) if is_derived else target.url


def _discover(target: Target, _: EvidenceByCall) -> HttpCall:
    call = mcp.post_message(target, mcp.discover(1), version=STATELESS_VERSION)
    return replace(call, time_limit=DISCOVERY_LIMIT)


def _initialize(target: Target, _: EvidenceByCall) -> HttpCall:
    return mcp.post_message(target, mcp.initialize(1))


def _session(found: EvidenceByCall) -> tuple[str, str]:
    """Return the version and the session id of the response to initialize."""
    answer = first_detected(found, MCP)
    if answer is None or answer.detected is None or not answer.name.startswith("initialize"):
        return "", ""
    return answer.detected.generation or OFFERED_VERSION, answer.headers.get("mcp-session-id", "")


def _initialized(target: Target, found: EvidenceByCall) -> HttpCall:
    version, session = _session(found)
    return mcp.post_message(target, mcp.initialized(), version=version, session=session)


def _tools(target: Target, found: EvidenceByCall) -> HttpCall:
    version, session = _session(found)
    message = mcp.list_tools(2) if version else mcp.list_tools(2, meta=mcp.stateless_meta())
    version = version or STATELESS_VERSION
    return mcp.post_message(target, message, version=version, session=session)


def _is_without_mcp(_: Target, found: EvidenceByCall) -> bool:
    """Return whether no MCP server was found so far, not even one that requires credentials."""
    return first_detected(found, MCP) is None and not any(
        name in found and found[name].status in DENIALS
        for name in ("discover", "initialize", "discover-at-mcp")
    )


def _may_have_old_transport(target: Target, found: EvidenceByCall) -> bool:
    """Return whether the response to initialize is one after which GET is tried."""
    evidence = found.get("initialize")
    is_refused = evidence is not None and evidence.status in OLD_TRANSPORT_STATUSES
    is_known = any(each.detected for each in found.values())
    return is_refused and not is_known and _is_without_mcp(target, found)


MCP_PROBES = (
    Probe("discover", "MCP: server/discover.", _discover),
    Probe("initialize", "MCP: initialize, for versions up to 2025-11-25.", _initialize,
          _is_without_mcp, "if server/discover is not supported"),
    Probe("discover-at-mcp", "MCP: server/discover at /mcp.", _discover,
          _is_without_mcp, "if the URL is not that of an MCP server", _at_mcp),
    Probe("initialize-at-mcp", "MCP: initialize at /mcp.", _initialize,
          _is_without_mcp, "if server/discover is not supported there", _at_mcp),
    Probe("old-transport", "MCP: the event stream of the HTTP+SSE transport (2024-11-05).",
          lambda target, _: mcp.open_stream(target),
          _may_have_old_transport, "if no protocol was found so far"),
    Probe("initialized", "MCP: notifications/initialized.", _initialized,
          lambda _, found: bool(_session(found)[0]), "if a session was initialized", _at_answer),
    Probe("tools", "MCP: tools/list. No tool is called.", _tools,
          lambda _, found: first_detected(found, MCP) is not None, "if an MCP server responds",
          _at_answer),
)  # fmt: skip

#: The last call. It tells nothing of the server, which need not let clients end a session.
END_SESSION = Probe(
    "end-session", "MCP: DELETE, to end the session.",
    lambda target, found: mcp.end_session(target, *_session(found)),
    lambda _, found: bool(_session(found)[1]), "if a session was initialized", _at_answer,
)  # fmt: skip


# --- other protocols, A2A ------------------------------------------------------------------------


def _of_row(protocol: str) -> Probe:
    """Return the probe of a protocol by its row: a first request to the URL."""
    row = registry.PROTOCOLS[protocol]
    version = row.versions[-1].name

    def make(target: Target, _: EvidenceByCall) -> HttpCall:
        document = row.new_request(version, QUERY, streaming=True)
        if row.http_call:
            return row.http_call(replace(target, protocol=protocol, version=version), document)
        streaming = row.wants_stream(document)
        return http.post(target, row.operation(document), document, streaming=streaming)

    return Probe(protocol, f"{row.label}: the message “{QUERY}”.", make)


def _at_process(target: Target, _: EvidenceByCall) -> str:
    path = urlsplit(target.url).path.rstrip("/")
    is_given = kind_of(target) == AGENT_API or path.endswith("/process")
    return "" if is_given else f"{_base(target.url)}/process"


def _is_without_agent_api(_: Target, found: EvidenceByCall) -> bool:
    evidence = found.get(AGENT_API)
    is_denied = evidence is not None and evidence.status in DENIALS
    return first_detected(found, AGENT_API) is None and not is_denied


AGENT_API_PROBES = (
    _of_row(AGENT_API),
    Probe("agent-api-at-process", f"Agent API: the message “{QUERY}” at /process.",
          _of_row(AGENT_API).make, _is_without_agent_api,
          "if the URL is not that of an Agent API agent", _at_process),
)  # fmt: skip


def _card(target: Target, _: EvidenceByCall) -> HttpCall | None:
    return next((card_call(url) for url in well_known(target.url)), None)


#: The probes of each kind of server that is described here, in order.
PROBES: Mapping[str, tuple[Probe, ...]] = {
    NLWEB: NLWEB_PROBES,
    MCP: MCP_PROBES,
    AGENT_API: AGENT_API_PROBES,
    A2A: (Probe("card", "A2A: the agent card.", _card, without_credentials=True),),
}
_KIND_OF: Mapping[str, str] = {probe.name: kind for kind, row in PROBES.items() for probe in row}


def kind_of_call(name: str) -> str | None:
    """Return the kind of server that a call looks for, None for another call."""
    return _KIND_OF.get(name, name if name in kinds() else None)
