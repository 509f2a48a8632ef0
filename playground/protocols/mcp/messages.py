"""Messages to an MCP server: JSON-RPC, the HTTP calls that carry them, and reading them back.

A stored run is read without the exchange that sent it, so `read_call` reads the message from the
data of a CALL frame.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground import __version__
from playground.protocols import jsonrpc, lenient
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.http import USER_AGENT, encode, merge_headers
from playground.protocols.mcp.versions import (
    OFFERED_VERSION,
    STATELESS_VERSION,
    has_version_header,
    is_stateless,
)
from playground.protocols.response import read_head

DISCOVER, INITIALIZE, INITIALIZED = "server/discover", "initialize", "notifications/initialized"
LIST, CALL = "tools/list", "tools/call"

SESSION_HEADER, VERSION_HEADER = "Mcp-Session-Id", "MCP-Protocol-Version"
LAST_EVENT_ID = "Last-Event-ID"

CLIENT = {"name": "nlweb-playground", "title": "NLWeb Playground", "version": __version__}
#: In place of a method: the request for the stream of the older transport.
GET = "GET"

#: Elicitation by form and by URL; a server gets neither sampling nor roots.
CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}

_PREFIX = "io.modelcontextprotocol/"
#: Members of `_meta` that fastmcp adds about itself have the second and the third.
_FOREIGN = (_PREFIX, "fastmcp", "_fastmcp")
#: From 2026-07-28 on, a server sends log messages only if the request names a level.
_LOG_LEVEL = "info"

_PLAIN_HEADER = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_ENCODED_HEADER = re.compile(r"=\?base64\?.*\?=")


# --- building ---------------------------------------------------------------------------------


def discover(request_id: jsonrpc.Id) -> dict[str, Any]:
    """Return the request for a server's name and versions (2026-07-28)."""
    return jsonrpc.request(request_id, DISCOVER, {"_meta": stateless_meta()})


def initialize(request_id: jsonrpc.Id, version: str = OFFERED_VERSION) -> dict[str, Any]:
    """Return the request that opens a session (up to 2025-11-25)."""
    params = {"protocolVersion": version, "capabilities": CAPABILITIES, "clientInfo": CLIENT}
    return jsonrpc.request(request_id, INITIALIZE, params)


def initialized() -> dict[str, Any]:
    """Return the notification that completes the initialization of a session."""
    return jsonrpc.notification(INITIALIZED)


def list_tools(
    request_id: jsonrpc.Id, cursor: str | None = None, meta: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the request for one page of the tools; `cursor` is the previous `nextCursor`."""
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
    """Return the call of a tool, as in the NLWeb specification's examples (0.55 appendix A.3).

    `meta` goes into `params._meta`; `more` are further params: the responses to input requests.
    """
    params: dict[str, Any] = {"name": name, "arguments": arguments, **(more or {})}
    if meta:
        params["_meta"] = dict(meta)
    return jsonrpc.request(request_id, CALL, params)


# --- metadata ---------------------------------------------------------------------------------


def stateless_meta(version: str = STATELESS_VERSION, *, logs: bool = False) -> dict[str, Any]:
    """Return the `_meta` of a stateless request: version, client and capabilities."""
    meta: dict[str, Any] = {
        f"{_PREFIX}protocolVersion": version,
        f"{_PREFIX}clientInfo": CLIENT,
        f"{_PREFIX}clientCapabilities": CAPABILITIES,
    }
    return {**meta, f"{_PREFIX}logLevel": _LOG_LEVEL} if logs else meta


def nlweb_meta(meta: Any) -> dict[str, Any]:
    """Return the members of a result's `_meta` that are NLWeb's: not those of MCP and SDKs."""
    if not isinstance(meta, Mapping):
        return {}
    return {name: value for name, value in meta.items() if not name.startswith(_FOREIGN)}


def server_info(meta: Any) -> Any:
    """Return the server information in the `_meta` of a stateless result, None without any."""
    return meta.get(f"{_PREFIX}serverInfo") if isinstance(meta, Mapping) else None


# --- HTTP calls -------------------------------------------------------------------------------


def post_message(
    target: Target, message: Mapping[str, Any], *, version: str = "", session: str = ""
) -> HttpCall:
    """The target's headers replace the defaults."""
    headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("User-Agent", USER_AGENT),
        *_session_headers(version, session),
    ]
    if version and is_stateless(version):
        headers += _routing_headers(message)
    return HttpCall(
        "POST", target.url, merge_headers(headers, target.headers), encode(message), True
    )


def open_stream(
    target: Target,
    last_event_id: str = "",
    *,
    version: str = "",
    session: str = "",
    delay: float = 0.0,
) -> HttpCall:
    """Return the call that resumes an event stream after an event, in `delay` seconds.

    Without an event, it is that for the stream of a server with the older transport.
    """
    headers = [
        ("Accept", "text/event-stream"),
        ("User-Agent", USER_AGENT),
        *_session_headers(version, session),
    ]
    replaced = {"content-type", "accept", LAST_EVENT_ID.lower()}
    own = [pair for pair in target.headers if pair[0].lower() not in replaced]
    resumed = [(LAST_EVENT_ID, last_event_id)] if last_event_id else []
    all_headers = (*merge_headers(headers, own), *resumed)
    return HttpCall("GET", target.url, all_headers, streaming=True, delay=delay)


def end_session(target: Target, version: str, session: str) -> HttpCall:
    """Return the call that ends a session (up to 2025-11-25)."""
    headers = [("User-Agent", USER_AGENT), *_session_headers(version, session)]
    own = [pair for pair in target.headers if pair[0].lower() != "content-type"]
    return HttpCall("DELETE", target.url, merge_headers(headers, own))


def _session_headers(version: str, session: str) -> list[tuple[str, str]]:
    headers = []
    if version and has_version_header(version):
        headers.append((VERSION_HEADER, version))
    if session:
        headers.append((SESSION_HEADER, session))
    return headers


def _routing_headers(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    method = message.get("method")
    headers = [("Mcp-Method", method)] if isinstance(method, str) else []
    params = message.get("params")
    name = params.get("name") if isinstance(params, Mapping) and method == CALL else None
    return [*headers, ("Mcp-Name", _header_value(name))] if isinstance(name, str) else headers


def _header_value(text: str) -> str:
    """Return a name as a header value: in base64, marked as such, unless it is plain ASCII."""
    if _PLAIN_HEADER.fullmatch(text) and not _ENCODED_HEADER.fullmatch(text):
        return text
    data = text.encode("utf-8", "replace")
    return f"=?base64?{base64.b64encode(data).decode()}?="


# --- reading back -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of the client, read from its HTTP call."""

    message: jsonrpc.JsonRpcMessage
    #: The values of its headers, "" for headers that are missing.
    session: str = ""
    version: str = ""
    #: The event after which it resumes a stream, "" for a message.
    last_event_id: str = ""
    #: Whether it is sent with GET, and so has no message.
    is_get: bool = False

    @property
    def method(self) -> str:
        """The method, `GET` for a request of that HTTP method; "" for a response."""
        return GET if self.is_get else self.message.method

    @property
    def wants_answer(self) -> bool:
        """Whether it is a request; a server only acknowledges notifications and responses."""
        return self.message.kind is jsonrpc.MessageKind.REQUEST

    @property
    def params(self) -> Mapping[str, Any]:
        """The params if they are an object, else an empty mapping."""
        return lenient.members(self.message.params)


def read_call(data: bytes) -> SentMessage:
    """Return the message in the data of a CALL frame. Never raises; other data has no method."""
    head, _, body = data.partition(b"\r\n\r\n")
    headers = read_head(head)[1]
    is_get = head.startswith(b"GET ")
    return SentMessage(
        jsonrpc.read(lenient.decode(body.decode("utf-8", "replace"))),
        headers.get(SESSION_HEADER.lower(), ""),
        headers.get(VERSION_HEADER.lower(), ""),
        headers.get(LAST_EVENT_ID.lower(), "") if is_get else "",
        is_get,
    )
