"""What an opening finds out of an MCP server: kept within one run, and from run to run.

As JSON (`Exchange.handshake`): `url`, `generation` (`discover`, `initialize` or `none`),
`version`, `session`, `server`, `instructions`, `tools`, `more`, `odd`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: How a server is opened: by being asked what it is, with a session, or not at all.
DISCOVERED, INITIALIZED, BARE = "discover", "initialize", "none"

#: Tools that are remembered, and characters of the JSON of one and of its description.
MAX_TOOLS, MAX_TOOL, MAX_TEXT = 100, 8_000, 1_000
#: Characters of the JSON of all tools together.
MAX_ALL = 100_000

#: What the tools for NLWeb's operations are called where nobody says otherwise, and the
#: attributes of their requests (0.55 appendix A).
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "ask": ("query", "context", "prefer", "meta"),
    "await": ("promise_token", "action", "meta"),
}


@dataclass(frozen=True, slots=True)
class Session:
    """A server as it was opened."""

    generation: str
    version: str = ""
    #: The session's id, "" for none.
    id: str = ""
    server: Any = None
    instructions: str = ""
    #: The tools as they came, and whether there are more than were read.
    tools: tuple[Any, ...] = ()
    more: bool = False
    #: Entries of the list that are no tools, and are not remembered.
    invalid_tools: int = 0

    def to_json(self, url: str) -> dict[str, Any]:
        """The session as it is remembered, trimmed."""
        return {
            "url": url,
            "generation": self.generation,
            "version": self.version[:40],
            "session": self.id,
            "server": _short(self.server),
            "instructions": self.instructions[:MAX_TEXT],
            "tools": list(_trimmed(self.tools)),
            "more": self.more or len(self.tools) > MAX_TOOLS,
            "odd": self.invalid_tools,
        }

    def tool_for(self, operation: str, wanted: Sequence[str] = ("", "")) -> str:
        """The name of the tool for `ask` or `await`.

        `wanted` are the names that the user gave for the two. Then the operation's own name,
        then the tool whose schema has most of the request's attributes, and the operation's
        name again: a server may hide its tools.
        """
        if given := dict(zip(OPERATIONS, wanted, strict=False)).get(operation, ""):
            return given
        fits = {name: _fit(tool, operation) for name, tool in _named(self.tools)}
        best = max(fits, key=lambda name: fits[name], default=operation)
        return operation if operation in fits or not fits.get(best) else best


def from_json(value: Any, url: str) -> Session | None:
    """The session that `to_json` wrote for this address; None for anything else."""
    if not isinstance(value, Mapping) or value.get("url") != url:
        return None
    generation, version = value.get("generation"), value.get("version")
    if generation not in (DISCOVERED, INITIALIZED, BARE) or not isinstance(version, str):
        return None
    tools, session = value.get("tools"), value.get("session")
    return Session(
        generation,
        version,
        session if isinstance(session, str) else "",
        value.get("server"),
        str(value.get("instructions") or ""),
        tuple(tools) if isinstance(tools, list) else (),
        value.get("more") is True,
        odd if type(odd := value.get("odd")) is int else 0,
    )


def count_invalid_tools(tools: Sequence[Any]) -> int:
    """How many entries of a list are no tools: no objects, or without a name."""
    return sum(not _is_tool(tool) for tool in tools)


def _is_tool(tool: Any) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("name"), str)


def _named(tools: Sequence[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tools that have a name, with it."""
    for tool in tools:
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str) and name:
            yield name, tool


def _fit(tool: Mapping[str, Any], operation: str) -> int:
    """How many attributes of an operation's request a tool takes; 0 without the first one."""
    schema = tool.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return 0
    first, *others = OPERATIONS.get(operation, ("",))
    return 1 + sum(name in properties for name in others) if first in properties else 0


def _trimmed(tools: Sequence[Any]) -> Iterator[dict[str, Any]]:
    left = MAX_ALL
    for tool in tools[:MAX_TOOLS]:
        if not _is_tool(tool):
            continue
        kept: dict[str, Any] = {"name": tool["name"][:MAX_TEXT]}
        for name in ("title", "description"):
            if isinstance(text := tool.get(name), str):
                kept[name] = text[:MAX_TEXT]
        for name in ("inputSchema", "annotations"):
            if tool.get(name) is not None and _is_short(tool[name]):
                kept[name] = tool[name]
        left -= len(json.dumps(kept))
        if left < 0:
            return
        yield kept


def _short(value: Any) -> Any:
    """What a server says of itself, where that is short."""
    return value if _is_short(value) else None


def _is_short(value: Any) -> bool:
    """Whether the JSON of a value is no longer than that of one tool may be.

    Written out piece by piece, so that of megabytes no more is than is needed to tell.
    """
    left = MAX_TOOL
    for piece in _ENCODER.iterencode(value):
        left -= len(piece)
        if left < 0:
            return False
    return True


_ENCODER = json.JSONEncoder()
