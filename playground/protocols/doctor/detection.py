"""What a reply speaks: told by its payloads alone, whatever it was asked in.

Each protocol has its marks; a reply is what the first of its messages with marks says, and the
rest of them may add a version or a dialect. Total: any JSON value is looked at, none raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols.mcp.results import document_of
from playground.protocols.nlweb import VERSIONS, failures

#: Name (None if unnamed) and payload of each message; a whole document is one unnamed message.
Messages = Sequence[tuple[str | None, Any]]

#: Messages of a reply that are looked at.
MAX_MESSAGES = 200
#: Nesting of the JSON within a tool's result that is read.
_MAX_DEPTH = 100

ASK_AGENT, AGENT_SCOPE = "public ask agent", "AgentScope Runtime"
#: Generations of MCP and A2A, where only their marks tell them.
MODERN_MCP, OLD_A2A, NEW_A2A = "2026-07-28", "0.3", "1.0"


@dataclass(frozen=True, slots=True)
class DetectedProtocol:
    """What somebody speaks: a protocol, a binding, or both."""

    #: A protocol of the registry; "" where the binding was seen and no protocol in it.
    protocol: str = ""
    #: Its version as the registry names it, "" where the reply does not tell.
    version: str = ""
    #: `http`, `mcp` or `a2a`.
    binding: str = "http"
    #: The generation of MCP or A2A, "" where the reply does not tell.
    generation: str = ""
    #: The name of a known way to depart from the standard.
    dialect: str = ""

    @property
    def label(self) -> str:
        """In words: `NLWeb 0.55 over MCP 2026-07-28 (public ask agent)`."""
        named = {"nlweb": "NLWeb", "agent-api": "Agent API"}.get(self.protocol, self.protocol)
        if self.version == "legacy":
            what = f"{named}, older server"
        else:
            # The Agent API has one version, which nobody names.
            what = f"{named} {self.version}" if self.protocol == "nlweb" else named
        how = {"mcp": "MCP", "a2a": "A2A"}.get(self.binding, "")
        how = f"{how} {self.generation}".strip()
        parts = " over ".join(filter(None, (what.strip(), how)))
        return f"{parts} ({self.dialect})" if self.dialect else parts


def detect_protocol(messages: Messages, *, streamed: bool = False) -> DetectedProtocol | None:
    """What a reply of these messages speaks, None for nothing that is known."""
    found: DetectedProtocol | None = None
    for name, payload in messages[:MAX_MESSAGES]:
        seen = next(filter(None, (mark(name, payload, streamed) for mark in _MARKS)), None)
        found = _joined(found, seen)
    return found


def _joined(
    found: DetectedProtocol | None, seen: DetectedProtocol | None
) -> DetectedProtocol | None:
    """What was found, with what a later message adds to it."""
    if found is None or seen is None or seen.protocol not in (found.protocol, ""):
        return found or seen
    return replace(
        found,
        version=found.version or seen.version,
        generation=found.generation or seen.generation,
        dialect=found.dialect or seen.dialect,
    )


# --- JSON-RPC ---------------------------------------------------------------------------------


def _rpc(_: str | None, payload: Any, __: bool) -> DetectedProtocol | None:
    if not isinstance(payload, Mapping) or "jsonrpc" not in payload:
        return None
    result = payload.get("result")
    if not isinstance(result, Mapping):
        # An error alone, or a request of the server: what speaks JSON-RPC here is MCP as soon
        # as a method says so.
        method = payload.get("method")
        is_mcp = isinstance(method, str) and method.startswith(("notifications/", "elicitation/"))
        return DetectedProtocol(binding="mcp") if is_mcp else None
    return _a2a_result(result) or _mcp_result(result)


def _a2a_result(result: Mapping[str, Any]) -> DetectedProtocol | None:
    if result.get("kind") in ("message", "task", "status-update", "artifact-update"):
        return DetectedProtocol(binding="a2a", generation=OLD_A2A)
    if any(isinstance(result.get(name), Mapping) for name in _NEW_RESULTS):
        return DetectedProtocol(binding="a2a", generation=NEW_A2A)
    return None


_NEW_RESULTS = ("message", "task", "statusUpdate", "artifactUpdate")


def _mcp_result(result: Mapping[str, Any]) -> DetectedProtocol | None:
    if not {"protocolVersion", "supportedVersions", "tools", "content", "resultType"} & {*result}:
        return None
    speech = DetectedProtocol(binding="mcp", generation=_mcp_generation(result))
    inner = _nlweb(None, document_of(result, _MAX_DEPTH), False)
    if inner is None:
        return speech
    return replace(inner, binding="mcp", generation=speech.generation)


def _mcp_generation(result: Mapping[str, Any]) -> str:
    if isinstance(version := result.get("protocolVersion"), str):
        return version[:40]
    supported = result.get("supportedVersions")
    if isinstance(supported, list) and supported and isinstance(supported[-1], str):
        return supported[-1][:40]
    return MODERN_MCP if "resultType" in result else ""


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
    kind = payload.get("object")
    if kind not in ("response", "message", "content") or "status" not in payload:
        return None
    # The specification announces a message as created; this runtime opens it in progress.
    opened = kind == "message" and payload["status"] == "in_progress" and "metadata" in payload
    return DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE if opened else "")


def _older(_: str | None, payload: Any, __: bool) -> DetectedProtocol | None:
    if isinstance(payload, Mapping) and isinstance(payload.get("message_type"), str):
        return DetectedProtocol("nlweb", "legacy")
    return None


def _nlweb(name: str | None, payload: Any, streamed: bool) -> DetectedProtocol | None:
    if not isinstance(payload, Mapping):
        return None
    meta = next((payload[key] for key in ("_meta", "meta") if _is_meta(payload.get(key))), None)
    if meta is None and not _has_parts(name, payload):
        return None
    meta = meta or payload
    return DetectedProtocol(
        "nlweb", _version(name, meta), dialect=_dialect(name, meta, payload, streamed)
    )


def _is_meta(value: Any) -> bool:
    return isinstance(value, Mapping) and bool({"response_type", "version"} & {*value})


def _has_parts(name: str | None, payload: Mapping[str, Any]) -> bool:
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
    """The version that a reply says it is of, or that only it has the event of this name."""
    said = meta.get("version", meta.get("api_version"))
    if isinstance(said, str) and said in _KNOWN:
        return said
    having = [row.name for row in VERSIONS if name in row.traits["stream_events"]]
    return having[0] if len(having) == 1 else ""


def _dialect(
    name: str | None, meta: Mapping[str, Any], payload: Mapping[str, Any], streamed: bool
) -> str:
    kind = meta.get("response_type")
    capital = isinstance(kind, str) and kind[:1].isupper()
    unnamed = streamed and name is None and "_meta" in payload
    return ASK_AGENT if capital or unnamed else ""


_KNOWN = frozenset(row.name for row in VERSIONS)
#: In the order in which they are asked: the sharper marks first.
_MARKS: Sequence[Callable[[str | None, Any, bool], DetectedProtocol | None]] = (
    _rpc,
    _agent_api,
    _older,
    _nlweb,
    _card,
)
