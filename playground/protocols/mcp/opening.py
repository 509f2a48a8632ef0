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
from playground.protocols.jsonrpc import Message
from playground.protocols.mcp import requests, sessions, troubles
from playground.protocols.mcp.reply import Reply
from playground.protocols.mcp.sessions import Session
from playground.protocols.problems import Problem
from playground.protocols.rpc_codes import METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION

#: Pages of a tool list, and tools, that are read: a list may go on for ever.
MAX_PAGES, MAX_TOOLS = 20, 1000


class Step(enum.Enum):
    """What is to be sent next."""

    DISCOVER = requests.DISCOVER
    INITIALIZE = requests.INITIALIZE
    INITIALIZED = requests.INITIALIZED
    LIST = requests.LIST
    #: The server is open.
    OPEN = "open"
    #: It cannot be opened.
    GIVE_UP = "give up"


class Opening:
    """What is known of a server, and what has to be asked next to know more."""

    def __init__(self, session: Session | None) -> None:
        """`session` is what an earlier exchange has found out."""
        self.session = session
        self.step = Step.DISCOVER if session is None else Step.OPEN
        #: Why the server cannot be opened.
        self.problem: Problem | None = None
        #: Whether anything was found out here that was not known before.
        self.is_new = False
        self._tools: list[Any] = []
        self._cursors: list[str] = []

    def reopen(self, *, session: bool) -> None:
        """What is known no longer holds; a server with sessions opens another one."""
        self.step = Step.INITIALIZE if session else Step.DISCOVER
        self._tools, self._cursors = [], []

    def message(self, request_id: jsonrpc.Id) -> dict[str, Any]:
        """What the present step sends."""
        if self.step is Step.DISCOVER:
            return requests.discover(request_id)
        if self.step is Step.INITIALIZE:
            return requests.initialize(request_id)
        if self.step is Step.INITIALIZED:
            return requests.initialized()
        version = self.session.version if self.session else ""
        meta = requests.modern_meta(version) if requests.is_modern(version) else None
        return requests.list_tools(request_id, self._cursors[-1] if self._cursors else None, meta)

    @property
    def place(self) -> tuple[str, str]:
        """The version and the session that the present step's call names in its headers."""
        if self.step is Step.DISCOVER:
            return requests.MODERN, ""
        if self.step is Step.INITIALIZE or self.session is None:
            return "", ""
        return self.session.version, self.session.id

    def answered(self, seq: int, method: str, message: Message) -> Sequence[Event]:
        """What the answer to a step means."""
        if method == requests.LIST:
            return self._listed(seq, message)
        said = message.error.raw if message.error else message.result
        return [Note(seq, f"mcp {method}", said)]

    def is_refusal(self, method: str, message: Message) -> bool:
        """Whether a step was refused for good: not merely because the server does not know it."""
        if message.error is None or message.result is not None or method == requests.DISCOVER:
            return False
        return method != requests.INITIALIZE or message.error.code != METHOD_NOT_FOUND

    def conclude(self, method: str, reply: Reply) -> None:
        """A step's reply has come to its end: what is next."""
        self.is_new = True
        if method == requests.DISCOVER:
            self.step = self._after_discover(reply)
        elif method == requests.INITIALIZE:
            self.step = self._after_initialize(reply)
        elif method == requests.INITIALIZED:
            known = self.session is not None and self.session.tools
            self.step = Step.OPEN if known else Step.LIST
        elif not self._goes_on or reply.answer is None:
            self.step = Step.OPEN
        error = reply.answer.error if reply.answer and method != requests.DISCOVER else None
        if self.step is Step.GIVE_UP and self.problem is None and error is None:
            self.problem = troubles.unanswered(reply)

    # Generations

    def _after_discover(self, reply: Reply) -> Step:
        answer = reply.answer
        result = answer.result if answer else None
        if isinstance(result, Mapping) and isinstance(result.get("supportedVersions"), list):
            return self._choose(result, result["supportedVersions"])
        error = answer.error if answer else None
        if error and error.code == UNSUPPORTED_PROTOCOL_VERSION:
            data = error.data if isinstance(error.data, Mapping) else {}
            return self._choose(None, data.get("supported"))
        if reply.status in troubles.FINAL or reply.status // 100 == 3:
            return Step.GIVE_UP
        return Step.INITIALIZE

    def _choose(self, result: Mapping[str, Any] | None, versions: Any) -> Step:
        """The generation to speak, by the versions that the server names."""
        named = [each for each in versions if isinstance(each, str)] if versions else []
        if result is not None and requests.MODERN in named:
            info = requests.server_info(result.get("_meta")) or result.get("serverInfo")
            said = _text(result, "instructions")
            self.session = Session(sessions.DISCOVERED, requests.MODERN, "", info, said)
            return Step.LIST
        if named and not set(named) & set(requests.HANDSHAKES):
            self.problem = troubles.no_common_version(named)
            return Step.GIVE_UP
        return Step.INITIALIZE

    def _after_initialize(self, reply: Reply) -> Step:
        answer = reply.answer
        if answer and isinstance(result := answer.result, Mapping):
            self.session = Session(
                sessions.INITIALIZED,
                _text(result, "protocolVersion") or requests.OFFERED,
                reply.headers.get(requests.SESSION_HEADER.lower(), ""),
                result.get("serverInfo"),
                _text(result, "instructions"),
                self.session.tools if self.session else (),
                self.session.more if self.session else False,
                self.session.odd if self.session else 0,
            )
            return Step.INITIALIZED
        if answer and answer.error and answer.error.code == METHOD_NOT_FOUND:
            # Bare JSON-RPC, as in the specification's examples: nothing has to be opened.
            self.session = Session(sessions.BARE)
            return Step.LIST
        return Step.GIVE_UP

    # Tools

    def _listed(self, seq: int, message: Message) -> Sequence[Event]:
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
            return [Note(seq, f"mcp {requests.LIST}", {"tools": len(page), "nextCursor": cursor})]
        if message.error and not self._tools:
            return [Note(seq, f"mcp {requests.LIST}", message.error.raw)]
        more = is_more or len(page) > room
        if self.session:
            odd = sessions.count_odd(self._tools)
            self.session = replace(self.session, tools=tuple(self._tools), more=more, odd=odd)
        return [Tools(seq, tuple(self._tools), more)]

    #: Whether the list has a page that is to be read next.
    _goes_on = False


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""
