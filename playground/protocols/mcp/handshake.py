"""Handshake with an MCP server: its generation, its session, and the tools that it offers.

    server/discover -> tools/list …                                (stateless, 2026-07-28)
    initialize -> notifications/initialized -> tools/list …        (stateful)

`initialize` follows whatever a server that does not know `server/discover` responds, also nothing,
unless a version is set, which has its generation. The result is a `Session`. The agent stores what
was found out about the server, the conversation the id of its session.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols import events as ev
from playground.protocols import jsonrpc, lenient
from playground.protocols.events import Event, Tools
from playground.protocols.jsonrpc import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    JsonRpcMessage,
)
from playground.protocols.mcp import messages, responses, versions
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.problems import USE_HTTPS, Problem, Stage

#: Pages of a tool list, and tools, that are read: a list may be endless.
MAX_PAGES, MAX_TOOLS = 20, 1000
#: Tools that are stored, and characters of the JSON of one and of its description.
MAX_STORED_TOOLS, MAX_STORED_TOOL, MAX_STORED_TEXT = 100, 8_000, 1_000
#: Characters of the JSON of all stored tools together.
MAX_STORED = 100_000

#: Error codes of a server that is of another generation.
_OTHER_GENERATION = (METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION)

#: The limit on the time of `server/discover` where `initialize` can follow.
DISCOVERY_LIMIT = "mcp_discovery_timeout"
#: Stages of a call at which a server that accepted the connection fails to respond properly.
_SERVER_STAGES = (Stage.HEADERS, Stage.BODY, Stage.DECODE)

#: `Session.generation`: stateless, stateful, or bare JSON-RPC without any handshake.
DISCOVERED, INITIALIZED, BARE = "discover", "initialize", "none"

#: The default names of the tools for NLWeb's operations, and the attributes of their requests
#: (0.55 appendix A).
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "ask": ("query", "context", "prefer", "meta"),
    "await": ("promise_token", "action", "meta"),
}


# --- the session ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Session:
    """A server after its handshake."""

    generation: str
    version: str = ""
    #: The session's id, "" for none.
    id: str = ""
    #: Whether the server assigns session ids.
    uses_id: bool = False
    server: Any = None
    instructions: str = ""
    #: The tools as received, and whether there are more than were read.
    tools: tuple[Any, ...] = ()
    more: bool = False
    #: Entries of the list that are no tools, and are not stored.
    invalid_tools: int = 0

    def to_json(self, url: str) -> dict[str, Any]:
        """Return the facts to store with the agent, limited in size, without the session id.

        Its members are `url`, `generation` (`discover`, `initialize` or `none`), `version`,
        `session`, `server`, `instructions`, `tools`, `more` and `odd`.
        """
        return {
            "url": url,
            "generation": self.generation,
            "version": self.version[:40],
            "session": self.uses_id,
            "server": self.server if _is_short(self.server) else None,
            "instructions": self.instructions[:MAX_STORED_TEXT],
            "tools": list(_stored_tools(self.tools)),
            "more": self.more or len(self.tools) > MAX_STORED_TOOLS,
            "odd": self.invalid_tools,
        }

    def tool_for(self, operation: str, configured: Sequence[str] = ("", "")) -> str:
        """Return the name of the tool for `ask` or `await`.

        `configured` are the names that the user gave for the two. Without one: the operation's own
        name, then the tool whose schema has most of the request's attributes, and the
        operation's name again, because a server may hide its tools.
        """
        if given := dict(zip(OPERATIONS, configured, strict=False)).get(operation, ""):
            return given
        scores = {name: _score(tool, operation) for name, tool in _named(self.tools)}
        best = max(scores, key=lambda name: scores[name], default=operation)
        return operation if operation in scores or not scores.get(best) else best


def session_from_json(value: Any, url: str) -> Session | None:
    """Return the session that `to_json` wrote for this URL; None for anything else."""
    if not isinstance(value, Mapping) or value.get("url") != url:
        return None
    generation, version = value.get("generation"), value.get("version")
    if generation not in (DISCOVERED, INITIALIZED, BARE) or not isinstance(version, str):
        return None
    tools, session = value.get("tools"), value.get("session")
    return Session(
        generation,
        version,
        # Before, the id itself was stored.
        uses_id=bool(session),
        server=value.get("server"),
        instructions=str(value.get("instructions") or ""),
        tools=tuple(tools) if isinstance(tools, list) else (),
        more=value.get("more") is True,
        invalid_tools=odd if type(odd := value.get("odd")) is int else 0,
    )


def _is_tool(tool: Any) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("name"), str)


def _named(tools: Sequence[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for tool in tools:
        if _is_tool(tool) and tool["name"]:
            yield tool["name"], tool


def _score(tool: Mapping[str, Any], operation: str) -> int:
    """Count the attributes of an operation's request that a tool takes; 0 without the first."""
    properties = lenient.members(lenient.members(tool.get("inputSchema")).get("properties"))
    first, *others = OPERATIONS.get(operation, ("",))
    return 1 + sum(name in properties for name in others) if first in properties else 0


def _stored_tools(tools: Sequence[Any]) -> Iterator[dict[str, Any]]:
    left = MAX_STORED
    for tool in tools[:MAX_STORED_TOOLS]:
        if not _is_tool(tool):
            continue
        stored: dict[str, Any] = {"name": tool["name"][:MAX_STORED_TEXT]}
        for name in ("title", "description"):
            if isinstance(text := tool.get(name), str):
                stored[name] = text[:MAX_STORED_TEXT]
        for name in ("inputSchema", "annotations"):
            if tool.get(name) is not None and _is_short(tool[name]):
                stored[name] = tool[name]
        left -= len(json.dumps(stored))
        if left < 0:
            return
        yield stored


def _is_short(value: Any) -> bool:
    """Return whether the JSON of a value is at most as long as that of one tool may be.

    Encoded piece by piece, so that of megabytes no more is written than needed.
    """
    left = MAX_STORED_TOOL
    for piece in _ENCODER.iterencode(value):
        left -= len(piece)
        if left < 0:
            return False
    return True


_ENCODER = json.JSONEncoder()


# --- the handshake ----------------------------------------------------------------------------


class State(enum.Enum):
    """Where a handshake is: the message whose response it waits for, or its end."""

    DISCOVER = "discover", messages.DISCOVER
    INITIALIZE = "initialize", messages.INITIALIZE
    #: `server/discover` got no answer, perhaps because the server was slow.
    INITIALIZE_INSTEAD = "initialize instead", messages.INITIALIZE
    DISCOVER_AGAIN = "discover again", messages.DISCOVER
    #: The server had sessions in an earlier handshake, and no version is set.
    INITIALIZE_KNOWN = "initialize known", messages.INITIALIZE
    INITIALIZED = "initialized", messages.INITIALIZED
    LIST = "list", messages.LIST
    #: Whether the server has the transport before streamable HTTP.
    FIND_OLD_TRANSPORT = "find old transport", messages.GET
    OPEN = "open", ""
    GIVE_UP = "give up", ""

    def __init__(self, _name: str, method: str) -> None:
        self.method = method


class Reply(enum.Enum):
    """What the response to a message of the handshake says."""

    STATELESS = "The server supports the stateless version."
    STATEFUL = "It answers server/discover, and does not support the stateless version."
    SESSION = "It has begun a session."
    NO_METHOD = "It does not know the method initialize."
    NO_POST = "It accepts no POST request, as a server with the older transport."
    SILENT = "The response has no answer that can be used."
    REFUSED = "The server refuses the message, whatever its generation."
    MORE_TOOLS = "Tools are not listed yet."
    ALL_TOOLS = "The tools are listed, or cannot be."


_AFTER_DISCOVER: Mapping[Reply, State] = {
    Reply.STATELESS: State.LIST,
    Reply.STATEFUL: State.INITIALIZE,
    Reply.REFUSED: State.GIVE_UP,
}
_AFTER_INITIALIZE: Mapping[Reply, State] = {
    Reply.SESSION: State.INITIALIZED,
    # It was too slow to answer `server/discover`, which is not necessary.
    Reply.STATELESS: State.LIST,
    Reply.NO_POST: State.FIND_OLD_TRANSPORT,
    Reply.SILENT: State.GIVE_UP,
    Reply.REFUSED: State.GIVE_UP,
}
_AFTER_TOOLS: Mapping[Reply, State] = {
    Reply.MORE_TOOLS: State.LIST,
    Reply.ALL_TOOLS: State.OPEN,
}
#: The next state, by the state and what the response says.
TRANSITIONS: Mapping[State, Mapping[Reply, State]] = {
    State.DISCOVER: {**_AFTER_DISCOVER, Reply.SILENT: State.INITIALIZE_INSTEAD},
    State.DISCOVER_AGAIN: {**_AFTER_DISCOVER, Reply.SILENT: State.INITIALIZE},
    # Without either method: bare JSON-RPC, as in the NLWeb specification's examples.
    State.INITIALIZE: {**_AFTER_INITIALIZE, Reply.NO_METHOD: State.LIST},
    State.INITIALIZE_INSTEAD: {**_AFTER_INITIALIZE, Reply.NO_METHOD: State.DISCOVER_AGAIN},
    # The server may be of the other generation by now.
    State.INITIALIZE_KNOWN: {
        **dict.fromkeys(Reply, State.DISCOVER),
        Reply.SESSION: State.INITIALIZED,
        Reply.REFUSED: State.GIVE_UP,
    },
    State.INITIALIZED: _AFTER_TOOLS,
    State.LIST: _AFTER_TOOLS,
    State.FIND_OLD_TRANSPORT: {Reply.REFUSED: State.GIVE_UP},
}

#: The methods of the messages, `GET` among them.
METHODS = frozenset(state.method for state in TRANSITIONS)


class Handshake:
    """A handshake: its state, and what was found out about the server so far."""

    def __init__(
        self,
        known: Session | None,
        session: tuple[str, str] = ("", ""),
        version: str = "",
        *,
        needs_tools: bool = True,
    ) -> None:
        """Begin where an earlier handshake ended.

        `known` is what was found out about the server, `session` are version and id of the session
        of the conversation. `version` is the version to use, "" to find out. Unless the exchange
        `needs_tools`, those of a session in use are not listed.
        """
        is_stateless = versions.is_stateless(version) if version else None
        if known and is_stateless is not None and known.generation != BARE:
            known = known if is_stateless is (known.generation == DISCOVERED) else None
        self._version = version
        #: The first state without anything known.
        self._first = State.INITIALIZE if is_stateless is False else State.DISCOVER
        self.session = known
        self.state = State.OPEN
        if session[1] and not is_stateless and (known is None or known.generation == INITIALIZED):
            found = known or Session(INITIALIZED)
            self.session = replace(found, version=session[0], id=session[1], uses_id=True)
            self.state = State.OPEN if known or not needs_tools else State.LIST
        elif known is None:
            self.state = self._first
        elif known.uses_id:
            self.state = State.INITIALIZE if version else State.INITIALIZE_KNOWN
        self._problem: Problem | None = None
        #: Whether a response was read here, so that the session is newer than the stored one.
        self.is_new = False
        #: Why the transfer of the response to `server/discover` failed, None if it did not.
        self._failure: Problem | None = None
        self._tools: list[Any] = []
        self._cursors: list[str] = []
        #: Whether the list of tools has a page that is to be read next.
        self._has_next_page = False

    def reopen(self, *, session: bool) -> None:
        """Begin again after the session was lost; a server with sessions is initialized again."""
        self.state = State.INITIALIZE if session else self._first
        self._tools, self._cursors = [], []

    @property
    def problem(self) -> Problem | None:
        """Why the handshake failed; None as well if the server says why in JSON-RPC."""
        return self._problem if self.state is State.GIVE_UP else None

    def message(self, request_id: jsonrpc.Id) -> dict[str, Any]:
        method = self.state.method
        if method == messages.DISCOVER:
            return messages.discover(request_id)
        if method == messages.INITIALIZE:
            return messages.initialize(request_id, self._version or versions.OFFERED_VERSION)
        if method == messages.INITIALIZED:
            return messages.initialized()
        version = self.session.version if self.session else ""
        meta = messages.stateless_meta(version) if versions.is_stateless(version) else None
        return messages.list_tools(request_id, self._cursors[-1] if self._cursors else None, meta)

    @property
    def version_and_session(self) -> tuple[str, str]:
        """The version and the session id for the headers of the next call."""
        if self.state.method == messages.DISCOVER:
            return versions.STATELESS_VERSION, ""
        if self.state.method == messages.INITIALIZE or self.session is None:
            return "", ""
        return self.session.version, self.session.id

    @property
    def time_limit(self) -> str:
        """The name of the limit on the next call, "" for none of its own."""
        falls_back = self.state.method == messages.DISCOVER and not self._version
        return DISCOVERY_LIMIT if falls_back else ""

    def tolerates(self, problem: Problem) -> bool:
        """Return whether `initialize` follows a failed `server/discover`.

        A server that cannot be reached, and one that wants TLS, would fare no better.
        """
        is_own = problem.limit in (None, DISCOVERY_LIMIT, "idle_timeout")
        is_of_server = problem.stage in _SERVER_STAGES and problem.fix != USE_HTTPS
        if not (self.time_limit and is_own and is_of_server):
            return False
        self._failure = problem
        return True

    def fallback_events(self, seq: int, response: McpResponse) -> list[Event]:
        """Return the remark that `initialize` follows, unless the server rejected the method."""
        answer = response.answer
        if self.state.method != messages.INITIALIZE or (answer and answer.error):
            return []
        remark = fallback_remark(self._failure, response.status)
        if self._failure:
            return [ev.Log(seq, "warning", remark, "mcp")]
        return [ev.Note(seq, "mcp discovery", {"remark": remark})]

    def answered(self, seq: int, method: str, message: JsonRpcMessage) -> Sequence[Event]:
        if method == messages.LIST:
            return self._tools_listed(seq, message)
        value = message.error.raw if message.error else message.result
        return [ev.Handshake(seq, f"mcp {method}", value)]

    def is_refusal(self, method: str, message: JsonRpcMessage) -> bool:
        """Return whether a step was refused, and not because of its method or version."""
        if message.error is None or message.result is not None or method == messages.DISCOVER:
            return False
        return method != messages.INITIALIZE or message.error.code not in _OTHER_GENERATION

    def conclude(self, method: str, response: McpResponse) -> None:
        """Go to the next state after the response to a message of this method."""
        self.is_new = True
        is_expected = self.state.method == method
        # A stored run may have begun in another state.
        state = self.state if is_expected else next(s for s in TRANSITIONS if s.method == method)
        self.state = TRANSITIONS[state][self._reply(method, response)]
        if self.state is State.DISCOVER:
            self.session = None

    # Replies

    def _reply(self, method: str, response: McpResponse) -> Reply:
        if method == messages.DISCOVER:
            return self._reply_to_discover(response)
        if method == messages.INITIALIZE:
            return self._reply_to_initialize(response)
        if method == messages.INITIALIZED:
            is_complete = self.session is not None and bool(self.session.tools)
            return Reply.ALL_TOOLS if is_complete else Reply.MORE_TOOLS
        if method == messages.LIST:
            is_complete = not self._has_next_page or response.answer is None
            return Reply.ALL_TOOLS if is_complete else Reply.MORE_TOOLS
        if response.is_old_transport:
            self._problem = responses.OLD_TRANSPORT
        self._problem = self._problem or response.no_answer_problem()
        return Reply.REFUSED

    def _reply_to_discover(self, response: McpResponse) -> Reply:
        answer = response.answer
        result = answer.result if answer else None
        if isinstance(result, Mapping) and isinstance(result.get("supportedVersions"), list):
            supported = lenient.texts(result["supportedVersions"])
            if versions.STATELESS_VERSION in supported:
                self.session = Session(
                    DISCOVERED,
                    versions.STATELESS_VERSION,
                    server=messages.server_info(result.get("_meta")) or result.get("serverInfo"),
                    instructions=lenient.text(result.get("instructions")),
                )
                return Reply.STATELESS
        elif answer and answer.error and answer.error.code == UNSUPPORTED_PROTOCOL_VERSION:
            supported = lenient.texts(lenient.members(answer.error.data).get("supported"))
        elif response.status in responses.FINAL_STATUSES or response.status // 100 == 3:
            self._problem = response.no_answer_problem()
            return Reply.REFUSED
        else:
            supported = []
        if supported and not set(supported) & set(versions.STATEFUL_VERSIONS):
            self._problem = responses.no_common_version(supported)
            return Reply.REFUSED
        if self._version:
            self._problem = responses.not_stateless(self._version)
            return Reply.REFUSED
        return Reply.STATEFUL if answer else Reply.SILENT

    def _reply_to_initialize(self, response: McpResponse) -> Reply:
        answer = response.answer
        if answer and isinstance(result := answer.result, Mapping):
            self.session = replace(
                self.session or Session(INITIALIZED),
                generation=INITIALIZED,
                version=lenient.text(result.get("protocolVersion")) or versions.OFFERED_VERSION,
                id=response.session,
                uses_id=bool(response.session),
                server=result.get("serverInfo"),
                instructions=lenient.text(result.get("instructions")),
            )
            return Reply.SESSION
        error = answer.error if answer else None
        if error and error.code == METHOD_NOT_FOUND:
            self.session = Session(BARE)
            return Reply.NO_METHOD
        if error and error.code == UNSUPPORTED_PROTOCOL_VERSION:
            supported = lenient.texts(lenient.members(error.data).get("supported"))
            if versions.STATELESS_VERSION in supported and not self._version:
                self.session = Session(DISCOVERED, versions.STATELESS_VERSION)
                return Reply.STATELESS
            self._problem = responses.no_common_version(supported)
            return Reply.SILENT
        if answer and self.is_refusal(messages.INITIALIZE, answer):
            self._problem = None
            return Reply.REFUSED
        self._problem = response.no_answer_problem()
        is_old = answer is None and response.status in responses.OLD_TRANSPORT_STATUSES
        return Reply.NO_POST if is_old else Reply.SILENT

    # Tools

    def _tools_listed(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        result = lenient.members(message.result)
        page = lenient.items(result.get("tools"))
        left = MAX_TOOLS - len(self._tools)
        self._tools += page[:left]
        cursor = result.get("nextCursor")
        # An empty cursor is one since 2026-07-28. Before, servers end a list with it.
        is_stateless = self.session is not None and versions.is_stateless(self.session.version)
        is_more = isinstance(cursor, str) and (cursor != "" or is_stateless)
        self._has_next_page = (
            is_more
            and cursor not in self._cursors
            and len(self._cursors) + 1 < MAX_PAGES
            and len(page) < left
        )
        if self._has_next_page:
            self._cursors.append(str(cursor))
            listed = {"tools": len(page), "nextCursor": cursor}
            return [ev.Handshake(seq, f"mcp {messages.LIST}", listed)]
        if message.error and not self._tools:
            return [ev.Handshake(seq, f"mcp {messages.LIST}", message.error.raw)]
        more = is_more or len(page) > left
        if self.session:
            self.session = replace(
                self.session,
                tools=tuple(self._tools),
                more=more,
                invalid_tools=sum(not _is_tool(tool) for tool in self._tools),
            )
        return [Tools(seq, tuple(self._tools), more)]


def fallback_remark(problem: Problem | None, status: int) -> str:
    """Return the remark that a server was spoken to in the older generation, and how to set it."""
    reason = problem.cause if problem else f"HTTP {status} without an answer."
    return (
        f"Discovery failed: {reason} initialize follows. To skip discovery, set the MCP version "
        f"(--mcp-version {versions.OFFERED_VERSION})."
    )
