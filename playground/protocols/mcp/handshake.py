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
from playground.protocols import jsonrpc
from playground.protocols.events import Event, Tools
from playground.protocols.jsonrpc import (
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    JsonRpcMessage,
)
from playground.protocols.mcp import errors, http_sse, messages, versions
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
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return 0
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


class HandshakeStep(enum.Enum):
    """The next message of a handshake, or its end."""

    DISCOVER = messages.DISCOVER
    INITIALIZE = messages.INITIALIZE
    INITIALIZED = messages.INITIALIZED
    LIST = messages.LIST
    #: Whether the server has the transport before streamable HTTP.
    FIND_OLD_TRANSPORT = messages.GET
    #: The handshake is complete.
    OPEN = "open"
    #: The handshake failed.
    GIVE_UP = "give up"


class Handshake:
    """State machine of a handshake: the session so far, and the next step."""

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
        self.session = known
        #: Whether `initialize` is sent on the strength of an earlier handshake.
        self._is_presumed = False
        self.step = HandshakeStep.OPEN
        if session[1] and not is_stateless and (known is None or known.generation == INITIALIZED):
            found = known or Session(INITIALIZED)
            self.session = replace(found, version=session[0], id=session[1], uses_id=True)
            self.step = HandshakeStep.OPEN if known or not needs_tools else HandshakeStep.LIST
        elif known is None:
            has_session = is_stateless is False
            self.step = HandshakeStep.INITIALIZE if has_session else HandshakeStep.DISCOVER
        elif known.uses_id:
            self.step, self._is_presumed = HandshakeStep.INITIALIZE, not version
        #: Why the handshake failed.
        self.problem: Problem | None = None
        #: The problem of a response to `initialize`, unless the server has the older transport.
        self._refusal: Problem | None = None
        #: Whether a step was concluded here, so that the session is newer than the stored one.
        self.is_new = False
        #: Responses to `server/discover` without an answer.
        self._unanswered = 0
        #: Why the transfer of the last one failed, None if it did not.
        self._failure: Problem | None = None
        self._tools: list[Any] = []
        self._cursors: list[str] = []
        #: Whether the list of tools has a page that is to be read next.
        self._has_next_page = False

    def reopen(self, *, session: bool) -> None:
        """Begin again after the session was lost; a server with sessions is initialized again."""
        has_session = session or (bool(self._version) and not versions.is_stateless(self._version))
        self.step = HandshakeStep.INITIALIZE if has_session else HandshakeStep.DISCOVER
        self._tools, self._cursors = [], []

    def message(self, request_id: jsonrpc.Id) -> dict[str, Any]:
        if self.step is HandshakeStep.DISCOVER:
            return messages.discover(request_id)
        if self.step is HandshakeStep.INITIALIZE:
            return messages.initialize(request_id, self._version or versions.OFFERED_VERSION)
        if self.step is HandshakeStep.INITIALIZED:
            return messages.initialized()
        version = self.session.version if self.session else ""
        meta = messages.stateless_meta(version) if versions.is_stateless(version) else None
        return messages.list_tools(request_id, self._cursors[-1] if self._cursors else None, meta)

    @property
    def version_and_session(self) -> tuple[str, str]:
        """The version and the session id for the headers of the present step's call."""
        if self.step is HandshakeStep.DISCOVER:
            return versions.STATELESS_VERSION, ""
        if self.step is HandshakeStep.INITIALIZE or self.session is None:
            return "", ""
        return self.session.version, self.session.id

    @property
    def time_limit(self) -> str:
        """The name of the limit on the present step's call, "" for none of its own."""
        falls_back = self.step is HandshakeStep.DISCOVER and not self._version
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
        if self.step is not HandshakeStep.INITIALIZE or (answer and answer.error):
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
        self.is_new = True
        if method == messages.DISCOVER:
            self._unanswered += response.answer is None
            self.step = self._after_discover(response)
        elif method == messages.INITIALIZE:
            self.step = self._after_initialize(response)
            is_presumed, self._is_presumed = self._is_presumed, False
            answer = response.answer
            is_refused = answer is not None and self.is_refusal(method, answer)
            if is_presumed and not is_refused and self.step is not HandshakeStep.INITIALIZED:
                # The server may be of the other generation by now.
                self.session, self.problem, self.step = None, None, HandshakeStep.DISCOVER
        elif method == messages.GET:
            self.step = HandshakeStep.GIVE_UP
            self.problem = errors.old_transport() if response.is_old_transport else self._refusal
        elif method == messages.INITIALIZED:
            has_tools = self.session is not None and self.session.tools
            self.step = HandshakeStep.OPEN if has_tools else HandshakeStep.LIST
        elif not self._has_next_page or response.answer is None:
            self.step = HandshakeStep.OPEN
        error = response.answer.error if response.answer and method != messages.DISCOVER else None
        if self.step is HandshakeStep.GIVE_UP and self.problem is None and error is None:
            self.problem = errors.no_response(response)

    # Generations

    def _after_discover(self, response: McpResponse) -> HandshakeStep:
        answer = response.answer
        result = answer.result if answer else None
        if isinstance(result, Mapping) and isinstance(result.get("supportedVersions"), list):
            return self._choose_generation(result, result["supportedVersions"])
        error = answer.error if answer else None
        if error and error.code == UNSUPPORTED_PROTOCOL_VERSION:
            data = error.data if isinstance(error.data, Mapping) else {}
            return self._choose_generation(None, data.get("supported"))
        if response.status in errors.FINAL or response.status // 100 == 3:
            return HandshakeStep.GIVE_UP
        return self._initialize_unless_stateless()

    def _initialize_unless_stateless(self) -> HandshakeStep:
        if not self._version:
            return HandshakeStep.INITIALIZE
        self.problem = errors.not_stateless(self._version)
        return HandshakeStep.GIVE_UP

    def _choose_generation(self, result: Mapping[str, Any] | None, supported: Any) -> HandshakeStep:
        """Return the next step for the versions that a server supports."""
        named = _names(supported)
        if result is not None and versions.STATELESS_VERSION in named:
            self.session = Session(
                DISCOVERED,
                versions.STATELESS_VERSION,
                server=messages.server_info(result.get("_meta")) or result.get("serverInfo"),
                instructions=_text(result, "instructions"),
            )
            return HandshakeStep.LIST
        if named and not set(named) & set(versions.STATEFUL_VERSIONS):
            self.problem = errors.no_common_version(named)
            return HandshakeStep.GIVE_UP
        return self._initialize_unless_stateless()

    def _after_initialize(self, response: McpResponse) -> HandshakeStep:
        answer = response.answer
        if answer and isinstance(result := answer.result, Mapping):
            known = self.session or Session(INITIALIZED)
            self.session = replace(
                known,
                generation=INITIALIZED,
                version=_text(result, "protocolVersion") or versions.OFFERED_VERSION,
                id=response.session,
                uses_id=bool(response.session),
                server=result.get("serverInfo"),
                instructions=_text(result, "instructions"),
            )
            return HandshakeStep.INITIALIZED
        if answer and answer.error and answer.error.code == UNSUPPORTED_PROTOCOL_VERSION:
            data = answer.error.data if isinstance(answer.error.data, Mapping) else {}
            supported = _names(data.get("supported"))
            if versions.STATELESS_VERSION in supported and not self._version:
                # It was too slow to answer `server/discover`, which is not necessary.
                self.session = Session(DISCOVERED, versions.STATELESS_VERSION)
                return HandshakeStep.LIST
            self.problem = errors.no_common_version(supported)
        if answer and answer.error and answer.error.code == METHOD_NOT_FOUND:
            if self._unanswered == 1:
                return HandshakeStep.DISCOVER  # It may only have been slow, as after its start.
            # Bare JSON-RPC, as in the NLWeb specification's examples: it needs no handshake.
            self.session = Session(BARE)
            return HandshakeStep.LIST
        if answer is None and response.status in http_sse.STATUSES:
            self._refusal = errors.no_response(response)
            return HandshakeStep.FIND_OLD_TRANSPORT
        return HandshakeStep.GIVE_UP

    # Tools

    def _tools_listed(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        result = message.result if isinstance(message.result, Mapping) else {}
        page = result.get("tools")
        page = page if isinstance(page, list) else []
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


def _names(value: Any) -> list[str]:
    """Return the names in a list of versions, empty if it is no list."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _text(value: Mapping[str, Any], name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""
