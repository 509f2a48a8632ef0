"""Rules on the handshake of both generations of MCP."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text, is_number
from playground.protocols.mcp.messages import DISCOVER, INITIALIZE, LIST
from playground.protocols.mcp.versions import STATEFUL_VERSIONS, STATELESS_VERSION

_LIFECYCLE = "MCP lifecycle"
#: The first version of streamable HTTP.
_STREAMABLE = "2025-03-26"


def _results(t: McpTranscript, method: str) -> list[LocatedMessage]:
    """Return the results of the handshake, except errors."""
    answers = (call.answer for call in t.calls_of(method))
    return [located for located in answers if located is not None and located.message.error is None]


@rule(
    "initialize",
    "The initialize result has protocolVersion, capabilities and serverInfo.",
    must(_LIFECYCLE),
    when=lambda t: bool(_results(t, INITIALIZE)),
)
def initialize(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients learn from them which messages the server supports."""
    for located in _results(t, INITIALIZE):
        result, top = located.result, f"{located.pointer}/result"
        if not is_nonempty_text(result.get("protocolVersion")):
            message = "Set protocolVersion to the negotiated version."
            yield Violation(message, located.seq, f"{top}/protocolVersion")
        if not isinstance(result.get("capabilities"), dict):
            message = "Set capabilities to an object; it may be empty."
            yield Violation(message, located.seq, f"{top}/capabilities")
        server = result.get("serverInfo")
        for name in ("name", "version"):
            if not isinstance(server, dict) or not isinstance(server.get(name), str):
                location = f"{top}/serverInfo" + (f"/{name}" if isinstance(server, dict) else "")
                yield Violation(f"Set {name} in serverInfo.", located.seq, location)


@rule(
    "discover",
    "The server/discover result has supportedVersions and capabilities.",
    must("MCP 2026-07-28, lifecycle"),
    when=lambda t: bool(_results(t, DISCOVER)),
)
def discover(t: McpTranscript) -> Iterator[RuleIssue]:
    """supportedVersions is an array of one or more strings, capabilities is an object."""
    for located in _results(t, DISCOVER):
        result, top = located.result, f"{located.pointer}/result"
        versions = result.get("supportedVersions")
        if (
            not isinstance(versions, list)
            or not versions
            or not all(map(is_nonempty_text, versions))
        ):
            message = "Set supportedVersions to an array of the supported versions."
            yield Violation(message, located.seq, f"{top}/supportedVersions")
        if not isinstance(result.get("capabilities"), dict):
            message = "Set capabilities to an object; it may be empty."
            yield Violation(message, located.seq, f"{top}/capabilities")


def _negotiated_versions(t: McpTranscript) -> Iterator[tuple[LocatedMessage, str]]:
    for located in _results(t, INITIALIZE):
        if isinstance(version := located.result.get("protocolVersion"), str):
            yield located, version


@rule(
    "version-agreed",
    "The negotiated version exists and supports initialize.",
    must(_LIFECYCLE),
    when=lambda t: next(_negotiated_versions(t), None) is not None,
)
def version_agreed(t: McpTranscript) -> Iterator[RuleIssue]:
    """A server that lacks the requested version responds with one that it supports."""
    for located, version in _negotiated_versions(t):
        if version not in STATEFUL_VERSIONS:
            actual = (
                "requires server/discover instead of initialize"
                if version == STATELESS_VERSION
                else "does not exist"
            )
            yield Violation(
                f"Version {version[:40]} {actual}. Answer initialize with one of "
                f"{', '.join(STATEFUL_VERSIONS)}.",
                located.seq,
                f"{located.pointer}/result/protocolVersion",
            )


@rule(
    "version-current",
    "The negotiated version defines Streamable HTTP.",
    info("MCP 2025-03-26, transports"),
    when=lambda t: next(_negotiated_versions(t), None) is not None,
)
def version_current(t: McpTranscript) -> Iterator[RuleIssue]:
    """Earlier versions have a transport with two URLs, which clients no longer support."""
    for located, version in _negotiated_versions(t):
        if version in STATEFUL_VERSIONS and version < _STREAMABLE:
            yield Violation(
                f"Version {version} does not define Streamable HTTP. Use {_STREAMABLE} or later.",
                located.seq,
                f"{located.pointer}/result/protocolVersion",
            )


def _is_stateless(t: McpTranscript) -> list[LocatedMessage]:
    answers = (call.answer for call in t.calls if call.is_stateless)
    return [located for located in answers if located is not None and located.message.error is None]


@rule(
    "result-type",
    "Since 2026-07-28, results have a resultType.",
    must("MCP 2026-07-28, base protocol"),
    when=lambda t: bool(_is_stateless(t)),
)
def result_type(t: McpTranscript) -> Iterator[RuleIssue]:
    """It is complete, or input_required if the call has to be repeated with answers."""
    for located in _is_stateless(t):
        if not is_nonempty_text(located.result.get("resultType")):
            message = 'Set resultType to "complete" or "input_required".'
            yield Violation(message, located.seq, f"{located.pointer}/result/resultType")


@rule(
    "server-named",
    "Since 2026-07-28, results identify the server.",
    should("MCP 2026-07-28, base protocol"),
    when=lambda t: bool(_is_stateless(t)),
)
def server_named(t: McpTranscript) -> Iterator[RuleIssue]:
    """The name and version are in `_meta`, as `io.modelcontextprotocol/serverInfo`."""
    name = "io.modelcontextprotocol/serverInfo"
    for located in _is_stateless(t):
        meta = located.result.get("_meta")
        if not isinstance(meta, dict) or not isinstance(meta.get(name), dict):
            message = f"Add {name} with the name and version of the server to _meta."
            yield Violation(message, located.seq, f"{located.pointer}/result/_meta")


def _cacheable_results(t: McpTranscript) -> list[LocatedMessage]:
    """Return the complete results of stateless calls that clients can cache."""
    return [
        answer
        for call in t.calls
        if call.is_stateless and call.method in (DISCOVER, LIST)
        if (answer := call.answer) is not None and answer.result
        if answer.result.get("resultType") != "input_required"
    ]


@rule(
    "cache-hints",
    "Since 2026-07-28, results of server/discover and tools/list have caching hints.",
    must("MCP 2026-07-28, caching"),
    when=lambda t: bool(_cacheable_results(t)),
)
def cache_hints(t: McpTranscript) -> Iterator[RuleIssue]:
    """The hints are ttlMs, a number of 0 or more, and cacheScope."""
    for located in _cacheable_results(t):
        result, top = located.result, f"{located.pointer}/result"
        lifetime = result.get("ttlMs")
        if lifetime is None or not is_number(lifetime) or lifetime < 0:
            message = "Set ttlMs to the number of milliseconds for which the result is fresh."
            yield Violation(message, located.seq, f"{top}/ttlMs")
        if result.get("cacheScope") not in ("public", "private"):
            message = "Set cacheScope to public or private."
            yield Violation(message, located.seq, f"{top}/cacheScope")


RULES = (
    initialize,
    discover,
    version_agreed,
    version_current,
    result_type,
    server_named,
    cache_hints,
)
