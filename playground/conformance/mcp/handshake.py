"""Rules on the handshake of both generations of MCP."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from playground.conformance.mcp.transcript import (
    McpSelector,
    McpTranscript,
    RecordedCall,
    results_of,
    results_where,
    row,
)
from playground.conformance.rule import info, must, should
from playground.conformance.shape import (
    MISSING,
    Place,
    Tests,
    is_nonempty_text,
    is_object,
    is_string,
    members,
    number,
    one_of,
    those,
)
from playground.protocols.mcp.messages import DISCOVER, INITIALIZE, LIST
from playground.protocols.mcp.versions import STATEFUL_VERSIONS, STATELESS_VERSION

_LIFECYCLE = "MCP lifecycle"
#: The first version of streamable HTTP.
_STREAMABLE = "2025-03-26"
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_ANSWER_WITH = f"Answer initialize with one of {', '.join(STATEFUL_VERSIONS)}."
_CAPABILITIES: Tests = {is_object: "Set capabilities to an object; it may be empty."}

_initialized, _discovered = results_of(INITIALIZE), results_of(DISCOVER)
_stateless = results_where(lambda call: call.is_stateless)
_negotiated = those(members(_initialized, "protocolVersion"), is_string)


def _server(name: str) -> McpSelector:
    """Select a member of serverInfo, or serverInfo itself if it is no object."""

    def select(t: McpTranscript) -> Iterator[Place]:
        for seq, pointer, server in members(_initialized, "serverInfo")(t):
            if isinstance(server, dict):
                yield seq, f"{pointer}/{name}", server.get(name)
            else:
                yield seq, pointer, MISSING

    return select


def _is_cacheable(call: RecordedCall) -> bool:
    return call.is_stateless and call.method in (DISCOVER, LIST)


#: The complete results that clients can cache.
_cacheable = those(
    results_where(_is_cacheable),
    lambda result: result and result.get("resultType") != "input_required",
)


def _are_versions(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_nonempty_text, value))


def _names_server(meta: Any) -> bool:
    return isinstance(meta, dict) and isinstance(meta.get(_SERVER_INFO), dict)


# fmt: off
RULES = (
    row("initialize", "The initialize result has protocolVersion, capabilities and serverInfo.",
        must(_LIFECYCLE),
        members(_initialized, "protocolVersion"),
        {is_nonempty_text: "Set protocolVersion to the negotiated version."},
        (members(_initialized, "capabilities"), _CAPABILITIES),
        (_server("name"), {is_string: "Set name in serverInfo."}),
        (_server("version"), {is_string: "Set version in serverInfo."}),
        why="Clients learn from them which messages the server supports."),
    row("discover", "The server/discover result has supportedVersions and capabilities.",
        must("MCP 2026-07-28, lifecycle"),
        members(_discovered, "supportedVersions"),
        {_are_versions: "Set supportedVersions to an array of the supported versions."},
        (members(_discovered, "capabilities"), _CAPABILITIES),
        why="supportedVersions is an array of one or more strings, capabilities is an object."),
    row("version-agreed", "The negotiated version exists and supports initialize.",
        must(_LIFECYCLE),
        _negotiated, {
            lambda version: version != STATELESS_VERSION:
                "Version {value} requires server/discover instead of initialize. " + _ANSWER_WITH,
            one_of(*STATEFUL_VERSIONS): f"Version {{value}} does not exist. {_ANSWER_WITH}",
        },
        why="A server that lacks the requested version responds with one that it supports."),
    row("version-current", "The negotiated version defines Streamable HTTP.",
        info("MCP 2025-03-26, transports"),
        those(_negotiated, one_of(*STATEFUL_VERSIONS)),
        {lambda version: version >= _STREAMABLE:
            f"Version {{value}} does not define Streamable HTTP. Use {_STREAMABLE} or later."},
        when=_negotiated,
        why="Earlier versions have a transport with two URLs, which clients no longer support."),
    row("result-type", "Since 2026-07-28, results have a resultType.",
        must("MCP 2026-07-28, base protocol"),
        members(_stateless, "resultType"),
        {is_nonempty_text: 'Set resultType to "complete" or "input_required".'},
        why="It is complete, or input_required if the call has to be repeated with answers."),
    row("server-named", "Since 2026-07-28, results identify the server.",
        should("MCP 2026-07-28, base protocol"),
        members(_stateless, "_meta"),
        {_names_server: f"Add {_SERVER_INFO} with the name and version of the server to _meta."},
        why=f"The name and version are in `_meta`, as `{_SERVER_INFO}`."),
    row("cache-hints",
        "Since 2026-07-28, results of server/discover and tools/list have caching hints.",
        must("MCP 2026-07-28, caching"),
        members(_cacheable, "ttlMs"), {number(0, math.inf):
            "Set ttlMs to the number of milliseconds for which the result is fresh."},
        (members(_cacheable, "cacheScope"),
         {one_of("public", "private"): "Set cacheScope to public or private."}),
        why="The hints are ttlMs, a number of 0 or more, and cacheScope."),
)
# fmt: on
