"""What the playground says to an MCP server: JSON-RPC messages, and the calls that carry them.

Two generations (streamable HTTP both): up to 2025-11-25 a connection is opened with
`initialize` and lives in a session; from 2026-07-28 on every request stands by itself and
brings version, client and capabilities along in `params._meta`, and the routing headers.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any

from playground import __version__
from playground.protocols import jsonrpc
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.http import USER_AGENT, encode, merge_headers

#: The version that needs no opening, and those that are opened with `initialize`.
STATELESS_VERSION = "2026-07-28"
STATEFUL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: What `initialize` offers.
OFFERED = STATEFUL_VERSIONS[-1]
#: The first version that wants its name in a header of every request.
_WITH_HEADER = "2025-06-18"

DISCOVER, INITIALIZE, INITIALIZED = "server/discover", "initialize", "notifications/initialized"
LIST, CALL = "tools/list", "tools/call"

SESSION_HEADER, VERSION_HEADER = "Mcp-Session-Id", "MCP-Protocol-Version"

CLIENT = {"name": "nlweb-playground", "title": "NLWeb Playground", "version": __version__}
#: Questions are asked as forms and by sending the user to an address; there is no model and
#: there are no files for a server to use.
CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}

_PREFIX = "io.modelcontextprotocol/"
#: From 2026-07-28 on, log lines come only where they are asked for.
_LOG_LEVEL = "info"

_PLAIN_HEADER = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ENCODED_HEADER = re.compile(r"=\?base64\?.*\?=")


def discover(request_id: jsonrpc.Id) -> dict[str, Any]:
    """Ask what the server is and which versions it speaks (2026-07-28)."""
    return jsonrpc.request(request_id, DISCOVER, {"_meta": stateless_meta()})


def initialize(request_id: jsonrpc.Id, version: str = OFFERED) -> dict[str, Any]:
    """Open a session (up to 2025-11-25)."""
    params = {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
    return jsonrpc.request(request_id, INITIALIZE, params)


def initialized() -> dict[str, Any]:
    """The session is open: the server may begin."""
    return jsonrpc.notification(INITIALIZED)


def list_tools(
    request_id: jsonrpc.Id, cursor: str | None = None, meta: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """One page of the tools; `cursor` is what the page before it ended with."""
    params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
    if meta:
        params["_meta"] = dict(meta)
    return jsonrpc.request(request_id, LIST, params or None)


def call_tool(
    request_id: jsonrpc.Id,
    name: str,
    arguments: Any,
    *,
    meta: Mapping[str, Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Call a tool, as the NLWeb specification's examples do (0.55 appendix A.3).

    `meta` goes into `params._meta`; `more` are further params: the answers of a second round.
    """
    params: dict[str, Any] = {"name": name, "arguments": arguments, **(more or {})}
    if meta:
        params["_meta"] = dict(meta)
    return jsonrpc.request(request_id, CALL, params)


def stateless_meta(version: str = STATELESS_VERSION, *, logs: bool = False) -> dict[str, Any]:
    """What every request of the newer generation says of its client."""
    meta: dict[str, Any] = {
        f"{_PREFIX}protocolVersion": version,
        f"{_PREFIX}clientInfo": CLIENT,
        f"{_PREFIX}clientCapabilities": CAPABILITIES,
    }
    return {**meta, f"{_PREFIX}logLevel": _LOG_LEVEL} if logs else meta


def nlweb_meta(meta: Any) -> dict[str, Any]:
    """The members of a result's `_meta` that are not MCP's own: those of NLWeb."""
    if not isinstance(meta, Mapping):
        return {}
    return {name: value for name, value in meta.items() if not name.startswith(_PREFIX)}


def server_info(meta: Any) -> Any:
    """What a result of the newer generation says of its server, None where it says nothing."""
    return meta.get(f"{_PREFIX}serverInfo") if isinstance(meta, Mapping) else None


def is_stateless(version: str) -> bool:
    """Whether a version is of the generation without sessions."""
    return version not in STATEFUL_VERSIONS and version >= STATELESS_VERSION


def post_message(
    target: Target, message: Mapping[str, Any], *, version: str = "", session: str = ""
) -> HttpCall:
    """The call that carries a message. The target's headers replace those of the same name."""
    headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("User-Agent", USER_AGENT),
    ]
    if version and version >= _WITH_HEADER:
        headers.append((VERSION_HEADER, version))
    if session:
        headers.append((SESSION_HEADER, session))
    if version and is_stateless(version):
        headers += _routing(message)
    return HttpCall(
        "POST", target.url, merge_headers(headers, target.headers), encode(message), True
    )


def _routing(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    method = message.get("method")
    headers = [("Mcp-Method", method)] if isinstance(method, str) else []
    params = message.get("params")
    name = params.get("name") if isinstance(params, Mapping) and method == CALL else None
    return [*headers, ("Mcp-Name", _header_value(name))] if isinstance(name, str) else headers


def _header_value(text: str) -> str:
    """A name as a header can carry it: anything but plain ASCII in base64, marked as such."""
    if _PLAIN_HEADER.fullmatch(text) and not _ENCODED_HEADER.fullmatch(text):
        return text
    data = text.encode("utf-8", "replace")
    return f"=?base64?{base64.b64encode(data).decode()}?="
