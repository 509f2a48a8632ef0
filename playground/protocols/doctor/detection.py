"""Detection of the protocol of a response from its payloads alone, whatever the request was.

One detector per protocol: the first message that one recognises decides, and later messages may
add a version or a dialect. Total: any JSON value is read, none raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from playground.protocols import registry, unreadable
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


def detect_protocol(messages: Messages, *, streamed: bool = False) -> DetectedProtocol | None:
    found: DetectedProtocol | None = None
    for name, payload in messages[:MAX_MESSAGES]:
        detected = (detect(name, payload, streamed) for detect in _DETECTORS)
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


def _rpc(_: str | None, payload: Any, __: bool) -> DetectedProtocol | None:
    if not isinstance(payload, Mapping) or "jsonrpc" not in payload:
        return None
    result = payload.get("result")
    if not isinstance(result, Mapping):
        # An error alone, or a request of the server: its method may be one of MCP.
        method = payload.get("method")
        is_mcp = isinstance(method, str) and method.startswith(("notifications/", "elicitation/"))
        return DetectedProtocol(binding="mcp") if is_mcp else None
    return _a2a_result(result) or _mcp_result(result)


def _a2a_result(result: Mapping[str, Any]) -> DetectedProtocol | None:
    if result.get("kind") in ("message", "task", "status-update", "artifact-update"):
        return DetectedProtocol(binding="a2a", generation=OLD_A2A)
    if any(isinstance(result.get(name), Mapping) for name in _NEW_A2A_RESULTS):
        return DetectedProtocol(binding="a2a", generation=NEW_A2A)
    return None


_NEW_A2A_RESULTS = ("message", "task", "statusUpdate", "artifactUpdate")


def _mcp_result(result: Mapping[str, Any]) -> DetectedProtocol | None:
    if not {"protocolVersion", "supportedVersions", "tools", "content", "resultType"} & {*result}:
        return None
    detected = DetectedProtocol(binding="mcp", generation=_mcp_generation(result))
    document = document_of(result, _MAX_DEPTH)
    inner = _nlweb(None, document[0] if isinstance(document, tuple) else document, False)
    if inner is None:
        return detected
    return replace(inner, binding="mcp", generation=detected.generation)


def _mcp_generation(result: Mapping[str, Any]) -> str:
    if isinstance(version := result.get("protocolVersion"), str):
        return version[:40]
    supported = result.get("supportedVersions")
    if isinstance(supported, list) and supported and isinstance(supported[-1], str):
        return supported[-1][:40]
    return STATELESS_VERSION if "resultType" in result else ""


# --- plain documents and messages -------------------------------------------------------------


def _card(_: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    if streamed or not isinstance(payload, Mapping):
        return None
    interfaces = payload.get("supportedInterfaces")
    if isinstance(interfaces, list) and isinstance(payload.get("name"), str):
        return DetectedProtocol(binding="a2a", generation=NEW_A2A)
    if isinstance(payload.get("skills"), list) and isinstance(payload.get("url"), str):
        return DetectedProtocol(binding="a2a", generation=OLD_A2A)
    return None


def _agent_api(_: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    if not isinstance(payload, Mapping):
        return None
    if streamed and set(payload) == {"error"} and isinstance(payload["error"], str):
        return DetectedProtocol("agent-api", dialect=AGENT_SCOPE)
    if _COLLISION in _error_text(payload.get("error")):
        return DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE)
    kind = payload.get("object")
    if kind not in ("response", "message", "content") or "status" not in payload:
        return None
    # In the specification a message begins as created; in this runtime it is in progress.
    is_scope = kind == "message" and payload["status"] == "in_progress" and "metadata" in payload
    return DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE if is_scope else "")


def _error_text(error: Any) -> str:
    message = error.get("message") if isinstance(error, Mapping) else None
    return message if isinstance(message, str) else ""


def _registered(name: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    """Return a protocol whose row alone describes it."""
    for protocol, row in registry.PROTOCOLS.items():
        if row.is_message and row.is_message(name, payload, streamed):
            return DetectedProtocol(protocol, "" if row.has_versions else row.versions[0].name)
    return None


def _legacy(_: str | None, payload: Any, __: bool) -> DetectedProtocol | None:
    messages = payload if isinstance(payload, list) else [payload]
    if any(map(legacy.is_message, messages[:MAX_MESSAGES])):
        return DetectedProtocol("nlweb", "legacy")
    if isinstance(payload, Mapping) and "_meta" not in payload and legacy.has_messages(payload):
        return DetectedProtocol("nlweb", "legacy")
    return None


def _nlweb(name: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    if not isinstance(payload, Mapping):
        return None
    meta = next((payload[key] for key in ("_meta", "meta") if _is_meta(payload.get(key))), None)
    if meta is None and not _has_nlweb_members(name, payload):
        return None
    meta = meta or payload
    return DetectedProtocol(
        "nlweb", _version(name, meta), dialect=_dialect(name, meta, payload, streamed)
    )


def _schema_org(_: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    if streamed or content.schema_items(payload) is None:
        return None
    return DetectedProtocol("nlweb", dialect=f"in the form of {content.schema_form(payload)}")


def _foreign(_: str | None, payload: Any, __: bool) -> DetectedProtocol | None:
    name = unreadable.foreign_protocol(payload)
    return DetectedProtocol(name) if name else None


def _is_meta(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({"response_type", "version"} & {*value})


def _has_nlweb_members(name: str | None, payload: Mapping[str, Any]) -> bool:
    if name in ("start", "result", "complete") and {"item", "response_type"} & {*payload}:
        return True
    if isinstance(payload.get("results"), list) or isinstance(payload.get("response_type"), str):
        return True
    if any(isinstance(payload.get(part), Mapping) for part in ("elicitation", "promise")):
        return True
    error = payload.get("error")
    code = error.get("code") if isinstance(error, Mapping) else None
    return isinstance(code, str) and failures.explain(code) is not None


def _version(name: str | None, meta: Mapping[str, Any]) -> str:
    """Return the version that a response names, or the only one with an event of this name."""
    named = meta.get("version", meta.get("api_version"))
    if isinstance(named, str) and named in _NLWEB_VERSIONS:
        return named
    having = [row.name for row in VERSIONS if name in row.traits["stream_events"]]
    return having[0] if len(having) == 1 else ""


def _dialect(
    name: str | None, meta: Mapping[str, Any], payload: Mapping[str, Any], streamed: bool
) -> str:
    kind = meta.get("response_type")
    is_capitalised = isinstance(kind, str) and kind[:1].isupper()
    unnamed = streamed and name is None and "_meta" in payload
    return ASK_AGENT if is_capitalised or unnamed else ""


_NLWEB_VERSIONS = frozenset(row.name for row in VERSIONS)
#: In order of precedence: the more specific first.
_DETECTORS: Sequence[Callable[[str | None, Any, bool], DetectedProtocol | None]] = (
    _rpc,
    _foreign,
    _agent_api,
    _registered,
    _legacy,
    _nlweb,
    _card,
    _schema_org,
)
