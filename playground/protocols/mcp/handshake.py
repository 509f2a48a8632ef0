"""Opening an MCP server: which generation it speaks, its session, and its tools.

    server/discover -> tools/list …                                (2026-07-28)
    initialize -> notifications/initialized -> tools/list …        (before)

Whatever a server that does not know `server/discover` says to it, `initialize` is next.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.events import Event, Note, Tools
from playground.protocols.jsonrpc import JsonRpcMessage
from playground.protocols.mcp import errors, messages, sessions
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.mcp.sessions import Session
from playground.protocols.problems import Problem
from playground.protocols.rpc_codes import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

#: Pages of a tool list, and tools, that are read: a list may go on for ever.
MAX_PAGES, MAX_TOOLS = 20, 1000


class HandshakeStep(enum.Enum):
    """What is to be sent next."""

    DISCOVER = messages.DISCOVER
    INITIALIZE = messages.INITIALIZE
    INITIALIZED = messages.INITIALIZED
    LIST = messages.LIST
    #: The server is open.
    OPEN = "open"
    #: It cannot be opened.
    GIVE_UP = "give up"


class Handshake:
    """What is known of a server, and what has to be asked next to know more."""

    def __init__(self, session: Session | None) -> None:
        """`session` is what an earlier exchange has found out."""
        self.session = session
        self.step = HandshakeStep.DISCOVER if session is None else HandshakeStep.OPEN
        #: Why the server cannot be opened.
        self.problem: Problem | None = None
        #: Whether anything was found out here that was not known before.
        self.is_new = False
        self._tools: list[Any] = []
        self._cursors: list[str] = []

    def reopen(self, *, session: bool) -> None:
        """What is known no longer holds; a server with sessions opens another one."""
        self.step = HandshakeStep.INITIALIZE if session else HandshakeStep.DISCOVER
        self._tools, self._cursors = [], []

    def message(self, request_id: jsonrpc.Id) -> dict[str, Any]:
        """What the present step sends."""
        if self.step is HandshakeStep.DISCOVER:
            return messages.discover(request_id)
        if self.step is HandshakeStep.INITIALIZE:
            return messages.initialize(request_id)
        if self.step is HandshakeStep.INITIALIZED:
            return messages.initialized()
        version = self.session.version if self.session else ""
        meta = messages.stateless_meta(version) if messages.is_stateless(version) else None
        return messages.list_tools(request_id, self._cursors[-1] if self._cursors else None, meta)

    @property
    def version_and_session(self) -> tuple[str, str]:
        """The version and the session that the present step's call names in its headers."""
        if self.step is HandshakeStep.DISCOVER:
            return messages.STATELESS_VERSION, ""
        if self.step is HandshakeStep.INITIALIZE or self.session is None:
            return "", ""
        return self.session.version, self.session.id

    def answered(self, seq: int, method: str, message: JsonRpcMessage) -> Sequence[Event]:
        """What the answer to a step means."""
        if method == messages.LIST:
            return self._listed(seq, message)
        said = message.error.raw if message.error else message.result
        return [Note(seq, f"mcp {method}", said)]

    def is_refusal(self, method: str, message: JsonRpcMessage) -> bool:
        """Whether a step was refused for good: not merely because the server does not know it."""
        if message.error is None or message.result is not None or method == messages.DISCOVER:
            return False
        return method != messages.INITIALIZE or message.error.code != METHOD_NOT_FOUND

    def conclude(self, method: str, reply: McpResponse) -> None:
        """A step's reply has come to its end: what is next."""
        self.is_new = True
        if method == messages.DISCOVER:
            self.step = self._after_discover(reply)
        elif method == messages.INITIALIZE:
            self.step = self._after_initialize(reply)
        elif method == messages.INITIALIZED:
            known = self.session is not None and self.session.tools
            self.step = HandshakeStep.OPEN if known else HandshakeStep.LIST
        elif not self._goes_on or reply.answer is None:
            self.step = HandshakeStep.OPEN
        error = reply.answer.error if reply.answer and method != messages.DISCOVER else None
        if self.step is HandshakeStep.GIVE_UP and self.problem is None and error is None:
            self.problem = errors.no_response(reply)

    # Generations

    def _after_discover(self, reply: McpResponse) -> HandshakeStep:
        answer = reply.answer
        result = answer.result if answer else None
        if isinstance(result, Mapping) and isinstance(result.get("supportedVersions"), list):
            return self._choose(result, result["supportedVersions"])
        error = answer.error if answer else None
        if error and error.code == UNSUPPORTED_PROTOCOL_VERSION:
            data = error.data if isinstance(error.data, Mapping) else {}
            return self._choose(None, data.get("supported"))
        if reply.status in errors.FINAL or reply.status // 100 == 3:
            return HandshakeStep.GIVE_UP
        return HandshakeStep.INITIALIZE

    def _choose(self, result: Mapping[str, Any] | None, versions: Any) -> HandshakeStep:
        """The generation to speak, by the versions that the server names."""
        named = [each for each in versions if isinstance(each, str)] if versions else []
        if result is not None and messages.STATELESS_VERSION in named:
            info = messages.server_info(result.get("_meta")) or result.get("serverInfo")
            said = _text(result, "instructions")
            self.session = Session(sessions.DISCOVERED, messages.STATELESS_VERSION, "", info, said)
            return HandshakeStep.LIST
        if named and not set(named) & set(messages.STATEFUL_VERSIONS):
            self.problem = errors.no_common_version(named)
            return HandshakeStep.GIVE_UP
        return HandshakeStep.INITIALIZE

    def _after_initialize(self, reply: McpResponse) -> HandshakeStep:
        answer = reply.answer
        if answer and isinstance(result := answer.result, Mapping):
            self.session = Session(
                sessions.INITIALIZED,
                _text(result, "protocolVersion") or messages.OFFERED,
                reply.headers.get(messages.SESSION_HEADER.lower(), ""),
                result.get("serverInfo"),
                _text(result, "instructions"),
                self.session.tools if self.session else (),
                self.session.more if self.session else False,
                self.session.invalid_tools if self.session else 0,
            )
            return HandshakeStep.INITIALIZED
        if answer and answer.error and answer.error.code == METHOD_NOT_FOUND:
            # Bare JSON-RPC, as in the specification's examples: nothing has to be opened.
            self.session = Session(sessions.BARE)
            return HandshakeStep.LIST
        return HandshakeStep.GIVE_UP

    # Tools

    def _listed(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        result = message.result if isinstance(message.result, Mapping) else {}
        page = result.get("tools")
        page = page if isinstance(page, list) else []
        room = MAX_TOOLS - len(self._tools)
        self._tools += page[:room]
        cursor = result.get("nextCursor")
        is_more = isinstance(cursor, str) and bool(cursor)
        self._goes_on = (
            is_more
            and cursor not in self._cursors
            and len(self._cursors) + 1 < MAX_PAGES
            and len(page) < room
        )
        if self._goes_on:
            self._cursors.append(str(cursor))
            return [Note(seq, f"mcp {messages.LIST}", {"tools": len(page), "nextCursor": cursor})]
        if message.error and not self._tools:
            return [Note(seq, f"mcp {messages.LIST}", message.error.raw)]
        more = is_more or len(page) > room
        if self.session:
            odd = sessions.count_invalid_tools(self._tools)
            self.session = replace(
                self.session, tools=tuple(self._tools), more=more, invalid_tools=odd
            )
        return [Tools(seq, tuple(self._tools), more)]

    #: Whether the list has a page that is to be read next.
    _goes_on = False


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""
