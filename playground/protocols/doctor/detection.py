"""Detection of the protocol of a response from its payloads alone, whatever the request was.

First the kinds of servers that the doctor knows, with what it says of each, and what was detected.

One detector per protocol: the first message that one recognises decides, and later messages may
add a version or a dialect. Total: any JSON value is read, none raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from playground.protocols import lenient, registry, unreadable
from playground.protocols.exchange import Target
from playground.protocols.mcp.results import document_of
from playground.protocols.mcp.versions import STATELESS_VERSION
from playground.protocols.nlweb import content, failures, legacy
from playground.protocols.nlweb.versions import VERSIONS
from playground.protocols.registry import ProtocolSpec

#: A kind is a protocol over HTTP, or a binding where that is another.
NLWEB, MCP, AGENT_API, A2A = "nlweb", "mcp", "agent-api", "a2a"


class Kind(NamedTuple):
    """What the doctor says of one kind of server."""

    name: str
    #: The kind of endpoint that is missing.
    endpoint: str
    #: A server of this kind, with its article.
    server: str
    #: How to set an agent to it, or why that is not possible.
    settings: str
    #: What to do if nothing is found at the URL.
    missing: str = ""
    #: Whether an agent can be set to it.
    is_supported: bool = True


_KINDS: Mapping[str, Kind] = {
    NLWEB: Kind("NLWeb", "NLWeb over HTTP", registry.PROTOCOLS[NLWEB].agent_name,
                "Set the protocol to NLWeb and the binding to HTTP.",
                "Check the path of the URL; requests are sent to /ask below it."),
    MCP: Kind("MCP", "MCP", "an MCP server", "Set the binding to MCP.",
              "Check the path of the URL: most MCP servers are at /mcp."),
}  # fmt: skip
_A2A = Kind("A2A", "A2A", "an A2A agent", "A2A agents support actions only, not requests.",
            is_supported=False)  # fmt: skip
_LEGACY = Kind(
    "NLWeb, legacy server", "NLWeb over HTTP", "a legacy NLWeb server",
    "Set the protocol to NLWeb, version legacy and the binding to HTTP.",
)  # fmt: skip


def kinds() -> dict[str, Kind]:
    """Return all kinds by name; A2A is the last one."""
    rows = registry.PROTOCOLS.items()
    others = {name: _of_row(row) for name, row in rows if name == AGENT_API or row.is_message}
    return {**_KINDS, **others, A2A: _A2A}


def _of_row(row: ProtocolSpec) -> Kind:
    missing = "Check the path of the URL: requests are sent to exactly this URL."
    return Kind(row.label, row.label, row.agent_name, f"Set the protocol to {row.label}.", missing)


def kind_of(target: Target) -> str:
    """Return the kind of server that a target is set to."""
    kind = target.protocol if target.binding == "http" else target.binding
    return kind if kind in kinds() else NLWEB


@dataclass(frozen=True, slots=True)
class DetectedProtocol:
    """Detected settings: a protocol, a binding, or both."""

    #: A protocol of the registry, or the name of one that the playground does not support; "" if
    #: only the binding was detected.
    protocol: str = ""
    #: Its version as the registry names it, "" if unknown.
    version: str = ""
    #: `http`, `mcp` or `a2a`.
    binding: str = "http"
    #: The version of MCP or A2A, "" if unknown.
    generation: str = ""
    #: The name of a known deviation from the standard.
    dialect: str = ""

    @property
    def kind(self) -> str:
        """One of `kinds()`, or the name of a protocol that the playground does not support."""
        return self.protocol if self.binding == "http" else self.binding

    @property
    def words(self) -> Kind:
        """What the doctor says of such a server."""
        if self.kind == NLWEB and self.version == "legacy":
            return _LEGACY
        foreign = Kind(self.kind, self.kind, self.kind, unreadable.FOREIGN_FIX, is_supported=False)
        return kinds().get(self.kind, foreign)

    @property
    def label(self) -> str:
        """A label, such as `NLWeb 0.55 over MCP 2026-07-28 (public ask agent)`."""
        row = registry.PROTOCOLS.get(self.protocol)
        inner = DetectedProtocol(self.protocol, self.version).words.name
        if row and row.has_versions and self.version not in ("", "legacy"):
            inner = f"{inner} {self.version}"
        outer = "" if self.binding == "http" else f"{self.words.name} {self.generation}"
        parts = " over ".join(filter(None, (inner, outer.strip())))
        return f"{parts} ({self.dialect})" if self.dialect else parts


# --- detection --------------------------------------------------------------------------------

#: Name (None if unnamed) and payload of each message; a whole document is one unnamed message.
Messages = Sequence[tuple[str | None, Any]]

#: Messages of a response that are read.
MAX_MESSAGES = 200
#: Nesting of the JSON within a tool's result that is read.
_MAX_DEPTH = 100

ASK_AGENT, AGENT_SCOPE = "public ask agent", "AgentScope Runtime"
#: In the error of two requests at once with the same session and user, or with neither.
_COLLISION = "already in RUNNING state"
#: Versions of A2A that are recognised by their members.
OLD_A2A, NEW_A2A = "0.3", "1.0"


class Received(NamedTuple):
    """One message as detectors see it."""

    #: The name of its event, None if unnamed.
    name: str | None
    payload: Any
    #: Whether it is part of a stream.
    streamed: bool = False

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of the payload, none if it is no object."""
        return lenient.members(self.payload)


def detect_protocol(messages: Messages, *, streamed: bool = False) -> DetectedProtocol | None:
    found: DetectedProtocol | None = None
    for name, payload in messages[:MAX_MESSAGES]:
        message = Received(name, payload, streamed)
        detected = (detect(message) for detect in _DETECTORS)
        found = _merged(found, next(filter(None, detected), None))
    return found


def _merged(
    found: DetectedProtocol | None, later: DetectedProtocol | None
) -> DetectedProtocol | None:
    if found is None or later is None or later.protocol not in (found.protocol, ""):
        return found or later
    return replace(
        found,
        version=found.version or later.version,
        generation=found.generation or later.generation,
        dialect=found.dialect or later.dialect,
    )


# --- JSON-RPC ---------------------------------------------------------------------------------


def json_rpc(message: Received) -> DetectedProtocol | None:
    if "jsonrpc" not in message.members:
        return None
    result = message.members.get("result")
    if not isinstance(result, Mapping):
        # An error alone, or a request of the server: its method may be one of MCP.
        method = lenient.text(message.members.get("method"))
        is_mcp = method.startswith(("notifications/", "elicitation/"))
        return DetectedProtocol(binding="mcp") if is_mcp else None
    if result.get("kind") in ("message", "task", "status-update", "artifact-update"):
        return DetectedProtocol(binding="a2a", generation=OLD_A2A)
    if any(isinstance(result.get(name), Mapping) for name in _NEW_A2A_RESULTS):
        return DetectedProtocol(binding="a2a", generation=NEW_A2A)
    return _mcp_result(result)


_NEW_A2A_RESULTS = ("message", "task", "statusUpdate", "artifactUpdate")


def _mcp_result(result: Mapping[str, Any]) -> DetectedProtocol | None:
    if not {"protocolVersion", "supportedVersions", "tools", "content", "resultType"} & {*result}:
        return None
    document = document_of(result, _MAX_DEPTH)
    inner = nlweb(Received(None, document[0] if isinstance(document, tuple) else document))
    found = inner or DetectedProtocol()
    return replace(found, binding="mcp", generation=_mcp_generation(result))


def _mcp_generation(result: Mapping[str, Any]) -> str:
    supported = lenient.items(result.get("supportedVersions"))
    named = lenient.texts([result.get("protocolVersion"), *supported[-1:]])
    if named:
        return named[0][:40]
    return STATELESS_VERSION if "resultType" in result else ""


# --- plain documents and messages -------------------------------------------------------------


def a2a_card(message: Received) -> DetectedProtocol | None:
    members = {} if message.streamed else message.members
    if isinstance(members.get("supportedInterfaces"), list) and isinstance(
        members.get("name"), str
    ):
        return DetectedProtocol(binding="a2a", generation=NEW_A2A)
    if isinstance(members.get("skills"), list) and isinstance(members.get("url"), str):
        return DetectedProtocol(binding="a2a", generation=OLD_A2A)
    return None


def agent_api(message: Received) -> DetectedProtocol | None:
    members = message.members
    error, kind = members.get("error"), members.get("object")
    if message.streamed and set(members) == {"error"} and isinstance(error, str):
        return DetectedProtocol("agent-api", dialect=AGENT_SCOPE)
    if _COLLISION in lenient.text(lenient.members(error).get("message")):
        return DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE)
    if kind not in ("response", "message", "content") or "status" not in members:
        return None
    # In the specification a message begins as created; in this runtime it is in progress.
    is_scope = kind == "message" and members["status"] == "in_progress" and "metadata" in members
    return DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE if is_scope else "")


def registered(message: Received) -> DetectedProtocol | None:
    """Return a protocol whose row alone describes it."""
    for protocol, row in registry.PROTOCOLS.items():
        if row.is_message and row.is_message(message.name, message.payload, message.streamed):
            return DetectedProtocol(protocol, "" if row.has_versions else row.versions[0].name)
    return None


def legacy_nlweb(message: Received) -> DetectedProtocol | None:
    payload, members = message.payload, message.members
    messages = payload if isinstance(payload, list) else [payload]
    is_legacy = any(map(legacy.is_message, messages[:MAX_MESSAGES]))
    if is_legacy or ("_meta" not in members and legacy.has_messages(members)):
        return DetectedProtocol("nlweb", "legacy")
    return None


def nlweb(message: Received) -> DetectedProtocol | None:
    members = message.members
    named = (lenient.members(members.get(key)) for key in ("_meta", "meta"))
    meta = next((each for each in named if {"response_type", "version"} & {*each}), None)
    if meta is None and not _has_nlweb_members(message.name, members):
        return None
    meta = meta or members
    is_capitalised = lenient.text(meta.get("response_type"))[:1].isupper()
    is_unnamed = message.streamed and message.name is None and "_meta" in members
    dialect = ASK_AGENT if is_capitalised or is_unnamed else ""
    return DetectedProtocol("nlweb", _version(message.name, meta), dialect=dialect)


def _has_nlweb_members(name: str | None, payload: Mapping[str, Any]) -> bool:
    if name in ("start", "result", "complete") and {"item", "response_type"} & {*payload}:
        return True
    if isinstance(payload.get("results"), list) or isinstance(payload.get("response_type"), str):
        return True
    if any(isinstance(payload.get(part), Mapping) for part in ("elicitation", "promise")):
        return True
    code = lenient.members(payload.get("error")).get("code")
    return isinstance(code, str) and failures.explain(code) is not None


def _version(name: str | None, meta: Mapping[str, Any]) -> str:
    """Return the version that a response names, or the only one with an event of this name."""
    named = meta.get("version", meta.get("api_version"))
    if named in [row.name for row in VERSIONS]:
        return str(named)
    having = [row.name for row in VERSIONS if name in row.traits["stream_events"]]
    return having[0] if len(having) == 1 else ""


def schema_org(message: Received) -> DetectedProtocol | None:
    if message.streamed or content.schema_items(message.payload) is None:
        return None
    form = content.schema_form(message.payload)
    return DetectedProtocol("nlweb", dialect=f"in the form of {form}")


def foreign(message: Received) -> DetectedProtocol | None:
    name = unreadable.foreign_protocol(message.payload)
    return DetectedProtocol(name) if name else None


#: In order of precedence: the more specific first.
_DETECTORS: Sequence[Callable[[Received], DetectedProtocol | None]] = (
    json_rpc,
    registered,
    foreign,
    agent_api,
    legacy_nlweb,
    nlweb,
    a2a_card,
    schema_org,
)
