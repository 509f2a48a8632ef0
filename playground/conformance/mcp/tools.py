"""Rules on the list of tools, and NLWeb's on `ask` and `await` (0.55 A.1, A.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from playground.conformance.findings import Level
from playground.conformance.mcp.input_schemas import (
    InputSchema,
    Path,
    SchemaPart,
    SchemaReferenceError,
    UncheckedError,
    find_property,
)
from playground.conformance.mcp.sample_requests import (
    InvalidRequest,
    ValidRequest,
    invalid_requests,
    is_agent_defined,
    valid_requests,
)
from playground.conformance.mcp.selectors import McpSelector, results_of, row, rule
from playground.conformance.mcp.transcript import McpTranscript
from playground.conformance.response_parts import Location
from playground.conformance.rule import (
    Inconclusive,
    Rule,
    RuleIssue,
    Violation,
    info,
    must,
    should,
)
from playground.conformance.shape import (
    Requirements,
    elements,
    is_array,
    is_object,
    is_string,
    members,
    present,
    those,
)
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


_pages = results_of(LIST)
_tools = elements(present(_pages, "tools"))
_named_tools = those(_tools, lambda tool: isinstance(tool, dict) and is_string(tool.get("name")))


def _tools_named(*names: str) -> McpSelector:
    """Select the first tool of each name."""

    def select(t: McpTranscript) -> Iterator[Location]:
        for name in names:
            yield from islice((p for p in _named_tools(t) if p.value["name"] == name), 1)

    return select


_nlweb_tools = _tools_named("ask", "await")


@rule(
    "tool-names",
    "Names of tools are unique, and have up to 128 letters, digits, _, - and .",
    should("MCP 2025-11-25, tools"),
    when=lambda t: any(_named_tools(t)),
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


@rule(
    "tools-cursor",
    "Pagination of tools/list terminates.",
    must("MCP pagination"),
    when=lambda t: any(_pages(t)),
)
def tools_cursor(t: McpTranscript) -> Iterator[RuleIssue]:
    """A cursor is a string that leads to the next page, never to an earlier one."""
    seen: set[str] = set()
    for seq, pointer, cursor in _cursors(t):
        if not isinstance(cursor, str):
            message = f"nextCursor is {type_with_article(cursor)}; expected a string."
            yield Violation(message, seq, pointer)
        elif cursor in seen:
            message = (
                "This cursor was already returned, so the list never ends. Omit nextCursor on "
                "the last page."
            )
            yield Violation(message, seq, pointer)
        else:
            seen.add(cursor)
    if (rest := _unread(t)) is not None:
        yield Inconclusive("The list was not read completely.", rest.seq, rest.pointer)


_cursors = those(present(_pages, "nextCursor"), lambda cursor: cursor is not None)


def _unread(t: McpTranscript) -> Location | None:
    """Return the cursor at which a long list was abandoned; None if it was read completely."""
    pages = [page.value for page in _pages(t)]
    if not pages or not (cursor := pages[-1].get("nextCursor")) or not isinstance(cursor, str):
        return None
    is_repeated = any(page.get("nextCursor") == cursor for page in pages[:-1])
    is_short = len(pages) < MAX_PAGES and sum(1 for _ in _tools(t)) < MAX_TOOLS
    return None if is_repeated or is_short else list(_cursors(t))[-1]


@rule(
    "tools-whole",
    "The tool list is short enough to be read completely.",
    info("MCP pagination"),
    when=lambda t: any(_pages(t)),
)
def tools_whole(t: McpTranscript) -> Iterator[RuleIssue]:
    """MCP sets no limit. Clients stop reading at some point, and so does the playground."""
    if (rest := _unread(t)) is not None:
        pages, tools = (sum(1 for _ in select(t)) for select in (_pages, _tools))
        message = (
            f"Reading stopped after {pages:,} pages with {tools:,} tools. Omit nextCursor on the "
            "last page."
        )
        yield Violation(message, rest.seq, rest.pointer)


def _tool_in_list(name: str) -> McpSelector:
    """Select the list if all of its pages were read; the value is the tool of a name."""

    def select(t: McpTranscript) -> Iterator[Location]:
        pages = list(_pages(t))
        cursors = [page.value.get("nextCursor") for page in pages]
        if pages and (not cursors[-1] or len(set(map(str, cursors))) < len(cursors)):
            tool = next(iter(_tools_named(name)(t)), None)
            yield Location(pages[-1].seq, f"{pages[-1].pointer}/tools", tool)

    return select


@rule(
    "tool-await",
    "The server has a tool named await.",
    (info("A.2"), info(_EXAMPLES)),
    when=lambda t: any(_tool_in_list("await")(t)),
)
def tool_await(t: McpTranscript) -> Iterator[RuleIssue]:
    """Only servers that return promises need it. A promise of one without it cannot be kept."""
    for seq, pointer, tool in _tool_in_list("await")(t):
        if tool is None:
            message = "No tool is named await, so promises cannot be polled."
            level = Level.SHOULD if t.found and "promise" in t.found.payload else None
            yield Violation(message, seq, pointer, level)


# --- schemas ----------------------------------------------------------------------------------


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


def _judgements(t: McpTranscript, *names: str) -> Iterator[tuple[Location, _Judgement]]:
    """Yield the schemas of the named tools with their judgements."""
    for name in names:
        for location in _schemas(name)(t):
            text = json.dumps(location.value)
            yield location, _judge(text, name, t.version) if len(text) <= _MAX_TEXT else _TOO_LONG


def _schemas(*names: str) -> McpSelector:
    return those(present(_tools_named(*names), "inputSchema"), is_object)


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
    when=lambda t: any(_schemas("ask", "await")(t)),
)
def tool_schema(t: McpTranscript) -> Iterator[RuleIssue]:
    """The dialect is JSON Schema 2020-12, or the one in `$schema`."""
    for location, judgement in _judgements(t, "ask", "await"):
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
    when=lambda t: any(_schemas("ask", "await")(t)),
)
def tool_schema_references(t: McpTranscript) -> Iterator[RuleIssue]:
    """Clients do not fetch schemas, and reject those that they cannot use."""
    for location, judgement in _judgements(t, "ask", "await"):
        for part in judgement.unusable:
            yield _at(location, part.path, f"{part.message} Put its target into $defs.")
        yield from _unchecked(location, judgement)


def _rejections(location: Location, judgement: _Judgement) -> Iterator[RuleIssue]:
    """Yield the valid requests that a schema rejects."""
    by_path: dict[Path, list[tuple[str, SchemaPart]]] = {}
    for request, part in judgement.rejected:
        by_path.setdefault(part.path, []).append((request, part))
    for path, rejected in by_path.items():
        (request, part), others = rejected[0], len(rejected) - 1
        more = f" And {others} more valid requests." if others else ""
        yield _at(location, path, f"The schema rejects {request}: {part.message}.{more}")


def _acceptances(location: Location, judgement: _Judgement) -> Iterator[RuleIssue]:
    """Yield the invalid requests that a schema accepts."""
    for request in judgement.accepted:
        path, is_defined = find_property(location.value, request.properties)
        if is_defined:
            path = (*path, request.keyword)
        yield _at(location, path, f"The schema accepts {request.name}. {request.fix}")


def _schema_rule(
    name: str,
    title: str,
    requirements: Requirements,
    check: Callable[[Location, _Judgement], Iterator[RuleIssue]],
    *,
    why: str,
) -> Rule[McpTranscript]:
    """Return a rule on the schema of one tool, which is the second word of its name."""
    tool = name.split("-")[1]

    def judged(t: McpTranscript) -> Iterator[RuleIssue]:
        for location, judgement in _judgements(t, tool):
            yield from check(location, judgement)
            for part in (*judgement.dangling, *judgement.unusable):
                yield Inconclusive(part.message, location.seq, location.pointer)
            yield from _unchecked(location, judgement)

    judged.__doc__ = why
    return rule(name, title, requirements, when=lambda t: any(_schemas(tool)(t)))(judged)


def _ask_members(t: McpTranscript) -> Iterator[Location]:
    """Select members in the schema of ask; the value is whether it defines them."""
    for seq, pointer, tool in _tools_named("ask")(t):
        for name in ("context", "prefer", "meta"):
            _, is_defined = find_property(tool.get("inputSchema"), [name])
            yield Location(seq, f"{pointer}/inputSchema/properties/{name}", is_defined)


def _is_object_schema(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object"


# fmt: off
RULES = (
    row("tools-list",
        "tools/list returns an array of tools, each with a name and an object schema.",
        must(_TOOLS),
        members(_pages, "tools"), {is_array: "Set tools to an array."},
        (_tools, {is_object: "This tool is {actual}; expected an object."}),
        (members(_tools, "name"), {is_string: "Set name to a string."}),
        (members(_tools, "inputSchema"),
         {_is_object_schema: 'Set inputSchema to a JSON Schema of "type": "object".'}),
        why="This applies to every tool, not only to ask and await."),
    tool_names,
    tools_cursor,
    tools_whole,
    row("tool-ask", "The server has a tool named ask.", (should("A.1"), should(_EXAMPLES)),
        _tool_in_list("ask"), {bool: "Add a tool named ask for queries."},
        why="NLWeb clients find the tool by its name."),
    tool_await,
    tool_schema,
    tool_schema_references,
    _schema_rule("tool-ask-schema", "The schema of ask accepts every valid request.",
        (must("3, A.1"), must("3")), _rejections,
        why="Clients validate requests with it. Agents may restrict filters that they define."),
    _schema_rule("tool-ask-invalid",
        "The schema of ask requires query, an object with the required string text.",
        (should("A.1"), should(_EXAMPLES)), _acceptances,
        why="Models and forms build requests from the schema."),
    row("tool-ask-members", "The schema of ask defines context, prefer and meta.",
        (should("A.1"), should(_EXAMPLES)),
        _ask_members, {bool: "Add the object {name} to properties."},
        why="They are optional in a request. Strict clients cannot send members that the schema "
        "lacks."),
    _schema_rule("tool-await-schema", "The schema of await accepts every valid request.",
        (must("4.2, A.2"), must(_EXAMPLES)), _rejections,
        why="Checked are the actions checkin and cancel, with and without meta."),
    _schema_rule("tool-await-invalid",
        "The schema of await requires promise_token, and action with checkin or cancel.",
        (should("A.2"), should(_EXAMPLES)), _acceptances,
        why="Both members are strings."),
    row("tool-described", "The tools ask and await have descriptions.",
        (should("A.1, A.2"), should(_EXAMPLES)),
        members(_nlweb_tools, "description"),
        {is_nonempty_text: "Add a description of what the tool answers."},
        why="Models choose a tool by its description."),
)
# fmt: on
