"""How a server is opened, in both generations."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text
from playground.protocols.mcp.messages import (
    DISCOVER,
    INITIALIZE,
    STATEFUL_VERSIONS,
    STATELESS_VERSION,
)

_LIFECYCLE = "MCP lifecycle"
#: The first version of streamable HTTP.
_STREAMABLE = "2025-03-26"


def _results(t: McpTranscript, method: str) -> list[LocatedMessage]:
    """What opened the server, where it did not refuse."""
    answers = (hop.answer for hop in t.asked(method))
    return [rpc for rpc in answers if rpc is not None and rpc.message.error is None]


@rule(
    "initialize",
    "The result of initialize has a version, capabilities and the server's name and version.",
    must(_LIFECYCLE),
    when=lambda t: bool(_results(t, INITIALIZE)),
)
def initialize(t: McpTranscript) -> Iterator[RuleIssue]:
    """protocolVersion, capabilities, serverInfo."""
    for rpc in _results(t, INITIALIZE):
        result, top = rpc.result, f"{rpc.pointer}/result"
        if not is_nonempty_text(result.get("protocolVersion")):
            message = "Set protocolVersion to the version that is spoken from now on."
            yield Violation(message, rpc.seq, f"{top}/protocolVersion")
        if not isinstance(result.get("capabilities"), dict):
            message = "Set capabilities to an object, empty if there are none."
            yield Violation(message, rpc.seq, f"{top}/capabilities")
        server = result.get("serverInfo")
        for name in ("name", "version"):
            if not isinstance(server, dict) or not is_nonempty_text(server.get(name)):
                place = f"{top}/serverInfo" + (f"/{name}" if isinstance(server, dict) else "")
                yield Violation(f"Say in serverInfo the server's {name}.", rpc.seq, place)


@rule(
    "discover",
    "The result of server/discover has the versions that are spoken, and capabilities.",
    must("MCP 2026-07-28, lifecycle"),
    when=lambda t: bool(_results(t, DISCOVER)),
)
def discover(t: McpTranscript) -> Iterator[RuleIssue]:
    """supportedVersions, an array of at least one string; capabilities, an object."""
    for rpc in _results(t, DISCOVER):
        result, top = rpc.result, f"{rpc.pointer}/result"
        versions = result.get("supportedVersions")
        if (
            not isinstance(versions, list)
            or not versions
            or not all(map(is_nonempty_text, versions))
        ):
            message = "Set supportedVersions to an array of the versions that are spoken."
            yield Violation(message, rpc.seq, f"{top}/supportedVersions")
        if not isinstance(result.get("capabilities"), dict):
            message = "Set capabilities to an object, empty if there are none."
            yield Violation(message, rpc.seq, f"{top}/capabilities")


def _agreed(t: McpTranscript) -> Iterator[tuple[LocatedMessage, str]]:
    """The versions that were answered to initialize."""
    for rpc in _results(t, INITIALIZE):
        if isinstance(version := rpc.result.get("protocolVersion"), str):
            yield rpc, version


@rule(
    "version-agreed",
    "The version that is agreed on is one of MCP's, of the generation that was asked for.",
    must(_LIFECYCLE),
    when=lambda t: next(_agreed(t), None) is not None,
)
def version_agreed(t: McpTranscript) -> Iterator[RuleIssue]:
    """A server that does not speak the version of the call answers with another of its own."""
    for rpc, version in _agreed(t):
        if version not in STATEFUL_VERSIONS:
            said = (
                "is opened with server/discover"
                if version == STATELESS_VERSION
                else "is none that is known"
            )
            yield Violation(
                f"The version {version[:40]} {said}. Answer initialize with one of "
                f"{', '.join(STATEFUL_VERSIONS)}.",
                rpc.seq,
                f"{rpc.pointer}/result/protocolVersion",
            )


@rule(
    "version-current",
    "The version that is agreed on is one that has streamable HTTP.",
    info("MCP 2025-03-26, transports"),
    when=lambda t: next(_agreed(t), None) is not None,
)
def version_current(t: McpTranscript) -> Iterator[RuleIssue]:
    """Earlier ones had a transport of two addresses, and clients give them up."""
    for rpc, version in _agreed(t):
        if version in STATEFUL_VERSIONS and version < _STREAMABLE:
            yield Violation(
                f"{version} is older than the transport that it came over. Speak {_STREAMABLE} or "
                "a later version.",
                rpc.seq,
                f"{rpc.pointer}/result/protocolVersion",
            )


def _modern(t: McpTranscript) -> list[LocatedMessage]:
    answers = (hop.answer for hop in t.hops if hop.is_modern)
    return [rpc for rpc in answers if rpc is not None and rpc.message.error is None]


@rule(
    "result-type",
    "From 2026-07-28 on a result says what it is: resultType.",
    must("MCP 2026-07-28, base protocol"),
    when=lambda t: bool(_modern(t)),
)
def result_type(t: McpTranscript) -> Iterator[RuleIssue]:
    """complete, or input_required where the call is to be made again with answers."""
    for rpc in _modern(t):
        if not is_nonempty_text(rpc.result.get("resultType")):
            message = 'Set resultType to "complete", or to "input_required".'
            yield Violation(message, rpc.seq, f"{rpc.pointer}/result/resultType")


@rule(
    "server-named",
    "From 2026-07-28 on a result says which server it is from.",
    should("MCP 2026-07-28, base protocol"),
    when=lambda t: bool(_modern(t)),
)
def server_named(t: McpTranscript) -> Iterator[RuleIssue]:
    """In _meta, as io.modelcontextprotocol/serverInfo."""
    name = "io.modelcontextprotocol/serverInfo"
    for rpc in _modern(t):
        meta = rpc.result.get("_meta")
        if not isinstance(meta, dict) or not isinstance(meta.get(name), dict):
            message = f"Add {name} to _meta, with the server's name and version."
            yield Violation(message, rpc.seq, f"{rpc.pointer}/result/_meta")


RULES = (initialize, discover, version_agreed, version_current, result_type, server_named)
