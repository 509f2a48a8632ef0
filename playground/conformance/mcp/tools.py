"""Rules on the list of tools, and NLWeb's on `ask` and `await` (0.55 A.1, A.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from playground.conformance.findings import Level
from playground.conformance.mcp.calls import LocatedMessage
from playground.conformance.mcp.input_schemas import (
    InputSchema,
    Path,
    SchemaPart,
    SchemaReferenceError,
    UncheckedError,
    find_property,
)
from playground.conformance.mcp.rule import rule
from playground.conformance.mcp.sample_requests import (
    InvalidRequest,
    ValidRequest,
    invalid_requests,
    is_agent_defined,
    valid_requests,
)
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import Inconclusive, RuleIssue, Violation, info, must, should
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.json_pointer import pointer_of
from playground.protocols.mcp.handshake import MAX_PAGES, MAX_TOOLS
from playground.protocols.mcp.messages import LIST

_EXAMPLES = "MCP examples, tools"
_TOOLS = "MCP tools"
#: The most characters of a schema's JSON.
_MAX_TEXT = 200_000
#: Names of tools since 2025-11-25.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


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
    """This applies to every tool, not only to ask and await."""
    for located in _pages(t):
        if not isinstance(located.result.get("tools"), list):
            yield Violation(
                "Set tools to an array.", located.seq, f"{located.pointer}/result/tools"
            )
    for seq, pointer, tool in _tools(t):
        if not isinstance(tool, dict):
            yield Violation(
                f"This tool is {type_with_article(tool)}; expected an object.", seq, pointer
            )
            continue
        name, schema = tool.get("name"), tool.get("inputSchema")
        if not isinstance(name, str):
            yield Violation("Set name to a string.", seq, f"{pointer}/name")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            message = 'Set inputSchema to a JSON Schema of "type": "object".'
            yield Violation(message, seq, f"{pointer}/inputSchema")


@rule(
    "tool-names",
    "Names of tools are unique, and have up to 128 letters, digits, _, - and .",
    should("MCP 2025-11-25, tools"),
    when=lambda t: next(_named_tools(t), None) is not None,
)
def tool_names(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP lists these characters since 2025-11-25. Clients and models call tools by name."""
    seen: set[str] = set()
    has_characters = any(
        t.version_of(call) >= "2025-11-25" for call in t.calls_of(LIST) if call.answer
    )
    for seq, pointer, tool in _named_tools(t):
        name = tool["name"]
        if name in seen:
            yield Violation("Another tool already has this name.", seq, f"{pointer}/name")
        elif not name or (has_characters and not _NAME.fullmatch(name)):
            message = "Use 1 to 128 letters of A to Z, digits, underscores, hyphens and dots."
            yield Violation(message, seq, f"{pointer}/name")
        seen.add(name)


def _named_tools(t: McpTranscript) -> Iterator[Location]:
    for location in _tools(t):
        if isinstance(location.value, dict) and isinstance(location.value.get("name"), str):
            yield location


@rule(
    "tools-cursor",
    "Pagination of tools/list terminates.",
    must("MCP pagination"),
    when=_listed,
)
def tools_cursor(t: McpTranscript) -> Iterator[RuleIssue]:
    """A cursor is a string that leads to the next page, never to an earlier one."""
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
    """MCP sets no limit. Clients stop reading at some point, and so does the playground."""
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
    """NLWeb clients find the tool by its name."""
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
    """Only servers that return promises need it. A promise of one without it cannot be kept."""
    if _tool(t, "await") is None:
        located = _pages(t)[-1]
        message = "No tool is named await, so promises cannot be polled."
        level = Level.SHOULD if t.found and "promise" in t.found.payload else None
        yield Violation(message, located.seq, f"{located.pointer}/result/tools", level)


class _Judgement(NamedTuple):
    """The requests that a schema accepts and rejects."""

    #: The part that is not valid JSON Schema.
    invalid: SchemaPart | None
    #: References that lead nowhere, and those that lead out of the schema or have no end.
    dangling: tuple[SchemaPart, ...]
    unusable: tuple[SchemaPart, ...]
    #: Why a request could not be validated, "" if all were.
    unchecked: str
    #: Names of valid requests with the part that rejects them.
    rejected: tuple[tuple[str, SchemaPart], ...]
    accepted: tuple[InvalidRequest, ...]


_TOO_LONG = _Judgement(None, (), (), f"It has more than {_MAX_TEXT:,} characters.", (), ())


@lru_cache(maxsize=64)
def _judge(text: str, tool: str, version: str) -> _Judgement:
    """Return what a schema, as JSON, accepts and rejects. Cached: many runs have the same tools."""
    schema = InputSchema(json.loads(text))
    references: dict[Path, SchemaReferenceError] = {}
    unchecked = ""
    invalid = None
    rejected: list[tuple[str, SchemaPart]] = []
    accepted: list[InvalidRequest] = []
    try:
        invalid = schema.invalid_part()
    except UncheckedError as error:
        unchecked = str(error)
    requests: list[ValidRequest | InvalidRequest] = [
        *valid_requests(tool, version),
        *invalid_requests(tool),
    ]
    for request in requests if invalid is None else []:
        is_allowed = is_agent_defined if isinstance(request, ValidRequest) else None
        try:
            part = schema.rejection(request.arguments, is_allowed)
        except SchemaReferenceError as error:
            references.setdefault(error.part.path, error)
            continue
        except UncheckedError as error:
            unchecked = unchecked or str(error)
            continue
        if isinstance(request, InvalidRequest):
            accepted += [request] if part is None else []
        elif part is not None:
            rejected.append((request.name, part))
    return _Judgement(
        invalid,
        tuple(error.part for error in references.values() if error.is_dangling),
        tuple(error.part for error in references.values() if not error.is_dangling),
        unchecked or ("It is not valid." if invalid else ""),
        tuple(rejected),
        tuple(accepted),
    )


def _input_schema(t: McpTranscript, name: str) -> Location | None:
    tool = _tool(t, name)
    schema = tool.value.get("inputSchema") if tool is not None else None
    if tool is None or not isinstance(schema, dict):
        return None
    return Location(tool.seq, f"{tool.pointer}/inputSchema", schema)


def _judgements(t: McpTranscript, *names: str) -> Iterator[tuple[Location, _Judgement]]:
    """Yield the schemas of ask and await with their judgements, or that of one of them."""
    for name in names or ("ask", "await"):
        if (location := _input_schema(t, name)) is not None:
            text = json.dumps(location.value)
            yield location, _judge(text, name, t.version) if len(text) <= _MAX_TEXT else _TOO_LONG


def _has_schema(*names: str) -> Callable[[McpTranscript], bool]:
    return lambda t: any(_input_schema(t, name) is not None for name in names)


def _at(location: Location, path: Path, message: str) -> Violation:
    return Violation(message, location.seq, location.pointer + pointer_of(path))


def _unchecked(location: Location, judgement: _Judgement) -> Iterator[RuleIssue]:
    if judgement.unchecked:
        message = f"The schema was not checked completely. {judgement.unchecked}"
        yield Inconclusive(message, location.seq, location.pointer)


@rule(
    "tool-schema",
    "The schemas of ask and await are valid JSON Schema, and their references lead somewhere.",
    must(_TOOLS),
    when=_has_schema("ask", "await"),
)
def tool_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """The dialect is JSON Schema 2020-12, or the one in `$schema`."""
    for location, judgement in _judgements(t):
        if (part := judgement.invalid) is not None:
            yield _at(location, part.path, f"This is not valid JSON Schema: {part.message}.")
            continue
        for part in judgement.dangling:
            yield _at(location, part.path, f"{part.message} Add its target.")
        yield from _unchecked(location, judgement)


@rule(
    "tool-schema-references",
    "References in the schemas of ask and await stay within the schema and end.",
    should("MCP 2026-07-28, base protocol"),
    when=_has_schema("ask", "await"),
)
def tool_schema_references(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients do not fetch schemas, and reject those that they cannot use."""
    for location, judgement in _judgements(t):
        for part in judgement.unusable:
            yield _at(location, part.path, f"{part.message} Put its target into $defs.")
        yield from _unchecked(location, judgement)


def _rejected(t: McpTranscript, name: str) -> Iterator[RuleIssue]:
    """Yield the valid requests that the schema of a tool rejects."""
    for location, judgement in _judgements(t, name):
        by_path: dict[Path, list[tuple[str, SchemaPart]]] = {}
        for request, part in judgement.rejected:
            by_path.setdefault(part.path, []).append((request, part))
        for path, rejected in by_path.items():
            (request, part), others = rejected[0], len(rejected) - 1
            more = f" And {others} more valid requests." if others else ""
            message = f"The schema rejects {request}: {part.message}.{more}"
            yield _at(location, path, message)
        for part in (*judgement.dangling, *judgement.unusable):
            yield Inconclusive(part.message, location.seq, location.pointer)
        yield from _unchecked(location, judgement)


def _accepted(t: McpTranscript, name: str) -> Iterator[RuleIssue]:
    """Yield the invalid requests that the schema of a tool accepts."""
    for location, judgement in _judgements(t, name):
        for request in judgement.accepted:
            path, is_defined = find_property(location.value, request.properties)
            if is_defined:
                path = (*path, request.keyword)
            yield _at(location, path, f"The schema accepts {request.name}. {request.fix}")
        for part in (*judgement.dangling, *judgement.unusable):
            yield Inconclusive(part.message, location.seq, location.pointer)
        yield from _unchecked(location, judgement)


@rule(
    "tool-ask-schema",
    "The schema of ask accepts every valid request.",
    must("3, A.1"),
    v54=must("3"),
    when=_has_schema("ask"),
)
def tool_ask_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients validate requests with it. Agents may restrict filters that they define."""
    yield from _rejected(t, "ask")


@rule(
    "tool-ask-invalid",
    "The schema of ask requires query, an object with the required string text.",
    should("A.1"),
    v54=should(_EXAMPLES),
    when=_has_schema("ask"),
)
def tool_ask_invalid(t: McpTranscript) -> Iterator[RuleIssue]:
    """Models and forms build requests from the schema."""
    yield from _accepted(t, "ask")


@rule(
    "tool-ask-members",
    "The schema of ask defines context, prefer and meta.",
    should("A.1"),
    v54=should(_EXAMPLES),
    when=lambda t: _tool(t, "ask") is not None,
)
def tool_ask_members(t: McpTranscript) -> Iterator[RuleIssue]:
    """They are optional in a request. Strict clients cannot send members that the schema lacks."""
    if (location := _tool(t, "ask")) is None:
        return
    for name in ("context", "prefer", "meta"):
        _, is_defined = find_property(location.value.get("inputSchema"), [name])
        if not is_defined:
            message = f"Add the object {name} to properties."
            yield Violation(
                message, location.seq, f"{location.pointer}/inputSchema/properties/{name}"
            )


@rule(
    "tool-await-schema",
    "The schema of await accepts every valid request.",
    must("4.2, A.2"),
    v54=must(_EXAMPLES),
    when=_has_schema("await"),
)
def tool_await_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """Checked are the actions checkin and cancel, with and without meta."""
    yield from _rejected(t, "await")


@rule(
    "tool-await-invalid",
    "The schema of await requires promise_token, and action with checkin or cancel.",
    should("A.2"),
    v54=should(_EXAMPLES),
    when=_has_schema("await"),
)
def tool_await_invalid(t: McpTranscript) -> Iterator[RuleIssue]:
    """Both members are strings."""
    yield from _accepted(t, "await")


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


RULES = (
    tools_list,
    tool_names,
    tools_cursor,
    tools_whole,
    tool_ask,
    tool_await,
    tool_schema,
    tool_schema_references,
    tool_ask_schema,
    tool_ask_invalid,
    tool_ask_members,
    tool_await_schema,
    tool_await_invalid,
    tool_described,
)
