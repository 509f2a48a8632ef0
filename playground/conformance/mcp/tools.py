"""Rules on the list of tools, and NLWeb's on `ask` and `await` (0.55 A.1, A.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.json_pointer import resolve
from playground.protocols.mcp.handshake import MAX_PAGES, MAX_TOOLS
from playground.protocols.mcp.messages import LIST

_EXAMPLES = "MCP examples, tools"
_TOOLS = "MCP tools"
#: The most references that are followed to resolve a schema.
_MAX_STEPS = 8


def _pages(t: McpTranscript) -> list[LocatedMessage]:
    answers = (call.answer for call in t.calls_of(LIST))
    return [located for located in answers if located is not None and located.message.error is None]


def _tools(t: McpTranscript) -> Iterator[Location]:
    for located in _pages(t):
        listed = located.result.get("tools")
        for at, tool in enumerate(listed if isinstance(listed, list) else ()):
            yield Location(located.seq, f"{located.pointer}/result/tools/{at}", tool)


def _tool(t: McpTranscript, name: str) -> Location | None:
    named_so = (p for p in _tools(t) if isinstance(p.value, dict) and p.value.get("name") == name)
    return next(named_so, None)


def _listed(t: McpTranscript) -> bool:
    return bool(_pages(t))


@rule(
    "tools-list",
    "tools/list returns an array of tools, each with a name and an object schema.",
    must(_TOOLS),
    when=_listed,
)
def tools_list(t: McpTranscript) -> Iterator[RuleIssue]:
    """Names are unique within a server."""
    for located in _pages(t):
        if not isinstance(located.result.get("tools"), list):
            yield Violation(
                "Set tools to an array.", located.seq, f"{located.pointer}/result/tools"
            )
    seen: set[str] = set()
    for seq, pointer, tool in _tools(t):
        if not isinstance(tool, dict):
            yield Violation(
                f"This tool is {type_with_article(tool)}; expected an object.", seq, pointer
            )
            continue
        name, schema = tool.get("name"), tool.get("inputSchema")
        if not is_nonempty_text(name):
            yield Violation("Set name to a string.", seq, f"{pointer}/name")
        elif name in seen:
            yield Violation("Another tool already has this name.", seq, f"{pointer}/name")
        seen.add(str(name))
        if not isinstance(schema, dict) or schema.get("type") != "object":
            message = 'Set inputSchema to a JSON Schema of "type": "object".'
            yield Violation(message, seq, f"{pointer}/inputSchema")


@rule(
    "tools-cursor",
    "Pagination of tools/list terminates.",
    must("MCP pagination"),
    when=_listed,
)
def tools_cursor(t: McpTranscript) -> Iterator[RuleIssue]:
    """A cursor is a string that leads to the next page, and never to an earlier one."""
    seen: set[str] = set()
    for located in _pages(t):
        cursor, location = located.result.get("nextCursor"), f"{located.pointer}/result/nextCursor"
        if cursor is None:
            continue
        if not isinstance(cursor, str):
            yield Violation(
                f"nextCursor is {type_with_article(cursor)}; expected a string.",
                located.seq,
                location,
            )
        elif cursor in seen:
            message = (
                "This cursor was already returned, so the list never ends. Omit nextCursor on "
                "the last page."
            )
            yield Violation(message, located.seq, location)
        else:
            seen.add(cursor)
    if (rest := _unread(t)) is not None:
        yield Inconclusive("The list was not read completely.", rest.seq, rest.pointer)


def _unread(t: McpTranscript) -> Location | None:
    """Return the cursor at which a long list was abandoned; None if it was read completely."""
    *earlier, last = pages = _pages(t)
    cursor = last.result.get("nextCursor")
    fresh = isinstance(cursor, str) and cursor
    if not fresh or any(page.result.get("nextCursor") == cursor for page in earlier):
        return None
    if len(pages) < MAX_PAGES and sum(1 for _ in _tools(t)) < MAX_TOOLS:
        return None
    return Location(last.seq, f"{last.pointer}/result/nextCursor", cursor)


@rule(
    "tools-whole",
    "The tool list is short enough to be read completely.",
    info("MCP pagination"),
    when=_listed,
)
def tools_whole(t: McpTranscript) -> Iterator[RuleIssue]:
    """The length is the server's choice; clients stop somewhere, and so does this one."""
    if (rest := _unread(t)) is not None:
        message = (
            f"Reading stopped after {len(_pages(t)):,} pages with {sum(1 for _ in _tools(t)):,} "
            "tools. Omit nextCursor on the last page."
        )
        yield Violation(message, rest.seq, rest.pointer)


def _whole_list(t: McpTranscript) -> bool:
    """Return whether all pages were read, so that a missing tool does not exist."""
    pages = _pages(t)
    cursors = [p.result.get("nextCursor") for p in pages]
    return bool(pages) and (not cursors[-1] or len(set(map(str, cursors))) < len(cursors))


@rule(
    "tool-ask",
    "The server has a tool named ask.",
    should("A.1"),
    v54=should(_EXAMPLES),
    when=_whole_list,
)
def tool_ask(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients of NLWeb find it by its name."""
    if _tool(t, "ask") is None:
        located = _pages(t)[-1]
        yield Violation(
            "Add a tool named ask for queries.", located.seq, f"{located.pointer}/result/tools"
        )


@rule(
    "tool-await",
    "The server has a tool named await.",
    info("A.2"),
    v54=info(_EXAMPLES),
    when=_whole_list,
)
def tool_await(t: McpTranscript) -> Iterator[RuleIssue]:
    """A server without promises needs none."""
    if _tool(t, "await") is None:
        located = _pages(t)[-1]
        message = "No tool is named await, so promises cannot be polled."
        yield Violation(message, located.seq, f"{located.pointer}/result/tools")


@rule(
    "tool-ask-schema",
    "The schema of ask requires query, an object with text.",
    must("A.1"),
    v54=must(_EXAMPLES),
    when=lambda t: _tool(t, "ask") is not None,
)
def tool_ask_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """Models and forms use it to build requests."""
    if (location := _tool(t, "ask")) is None:
        return
    yield from _wanted(location, "query")
    schema, at = (
        location.value.get("inputSchema"),
        f"{location.pointer}/inputSchema/properties/query",
    )
    query = _property(schema, "query")
    if query is not None and _property(resolved(schema, query), "text", schema) is None:
        message = "Define query as an object with the required string text."
        yield Violation(message, location.seq, at)


@rule(
    "tool-ask-members",
    "The schema of ask defines context, prefer and meta.",
    should("A.1"),
    v54=should(_EXAMPLES),
    when=lambda t: _tool(t, "ask") is not None,
)
def tool_ask_members(t: McpTranscript) -> Iterator[RuleIssue]:
    """Optional in a request; strict clients cannot send members that the schema leaves out."""
    if (location := _tool(t, "ask")) is None:
        return
    for name in ("context", "prefer", "meta"):
        if _property(location.value.get("inputSchema"), name) is None:
            message = f"Add the object {name} to properties."
            yield Violation(
                message, location.seq, f"{location.pointer}/inputSchema/properties/{name}"
            )


@rule(
    "tool-await-schema",
    "The schema of await requires promise_token, and action with checkin or cancel.",
    must("A.2"),
    v54=must(_EXAMPLES),
    when=lambda t: _tool(t, "await") is not None,
)
def tool_await_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """Both are strings."""
    if (location := _tool(t, "await")) is None:
        return
    yield from _wanted(location, "promise_token", "action")
    schema = location.value.get("inputSchema")
    action = _property(schema, "action")
    choices = resolved(schema, action).get("enum") if action is not None else None
    if isinstance(choices, list) and not {"checkin", "cancel"} <= set(map(str, choices)):
        message = "Allow the values checkin and cancel for action."
        yield Violation(
            message, location.seq, f"{location.pointer}/inputSchema/properties/action/enum"
        )


@rule(
    "tool-described",
    "The tools ask and await have descriptions.",
    should("A.1, A.2"),
    v54=should(_EXAMPLES),
    when=lambda t: any(_tool(t, name) is not None for name in ("ask", "await")),
)
def tool_described(t: McpTranscript) -> Iterator[RuleIssue]:
    """Models choose a tool by its description."""
    for location in filter(None, (_tool(t, "ask"), _tool(t, "await"))):
        if not is_nonempty_text(location.value.get("description")):
            message = "Add a description of what the tool answers."
            yield Violation(message, location.seq, f"{location.pointer}/description")


# Schemas


def _wanted(location: Location, *names: str) -> Iterator[RuleIssue]:
    """Return properties that are missing or not required."""
    schema = location.value.get("inputSchema")
    required = schema.get("required") if isinstance(schema, dict) else None
    for name in names:
        if _property(schema, name) is None:
            where, message = f"properties/{name}", f"Add {name} to properties."
        elif not isinstance(required, list) or name not in required:
            where, message = "required", f"Add {name} to required."
        else:
            continue
        yield Violation(message, location.seq, f"{location.pointer}/inputSchema/{where}")


def _property(schema: Any, name: str, root: Any = None) -> Mapping[str, Any] | None:
    """Return a property of an object's schema; None without it, {} for one that allows anything."""
    if not isinstance(schema, Mapping):
        return None
    if isinstance(properties := schema.get("properties"), Mapping):
        found = properties.get(name)
        return found if isinstance(found, Mapping) else {} if found is True else None
    for choice in ("anyOf", "oneOf", "allOf"):
        for each in schema[choice] if isinstance(schema.get(choice), list) else ():
            if (found := _property(resolved(root, each), name, None)) is not None:
                return found
    return None


def resolved(root: Any, schema: Any) -> Mapping[str, Any]:
    """Return a schema with its reference into `root` resolved; {} for a dangling one."""
    for _ in range(_MAX_STEPS):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        if not reference.startswith("#/"):
            return {}
        try:
            schema = resolve(root, reference[1:])
        except LookupError:
            return {}
    return {}


RULES = (
    tools_list,
    tools_cursor,
    tools_whole,
    tool_ask,
    tool_await,
    tool_ask_schema,
    tool_ask_members,
    tool_await_schema,
    tool_described,
)
