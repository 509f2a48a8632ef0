"""Detection of the protocol of a response from its payloads alone, whatever the request was.

One detector per protocol: the first message that one recognises decides, and later messages may
add a version or a dialect. Total: any JSON value is read, none raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from playground.protocols import lenient, registry, unreadable
from playground.protocols.doctor.kinds import DetectedProtocol
from playground.protocols.mcp.results import document_of
from playground.protocols.mcp.versions import STATELESS_VERSION
from playground.protocols.nlweb import VERSIONS, content, failures, legacy

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
