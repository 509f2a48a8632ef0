"""Rules on the list of tools, and NLWeb's on `ask` and `await` (0.55 A.1, A.2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

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
from playground.conformance.mcp.transcript import McpSelector, McpTranscript, results_of, row, rule
from playground.conformance.rule import (
    Inconclusive,
    Level,
    Rule,
    RuleIssue,
    Violation,
    info,
    must,
    should,
)
from playground.conformance.shape import (
    Fix,
    Place,
    Requirements,
    elements,
    is_array,
    is_nonempty_text,
    is_object,
    is_string,
    members,
    present,
    those,
    type_with_article,
)
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

    def select(t: McpTranscript) -> Iterator[Place]:
        for name in names:
            yield from islice((p for p in _named_tools(t) if p[2]["name"] == name), 1)

    return select


_nlweb_tools = _tools_named("ask", "await")


def tool_names(t: McpTranscript) -> Iterator[RuleIssue]:
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


def tools_cursor(t: McpTranscript) -> Iterator[RuleIssue]:
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
    for seq, pointer, _ in _unread(t):
        yield Inconclusive("The list was not read completely.", seq, pointer)


_cursors = those(present(_pages, "nextCursor"), lambda cursor: cursor is not None)


def _unread(t: McpTranscript) -> Iterator[Place]:
    """Select the cursor at which a long list was abandoned; nothing if it was read completely."""
    *earlier, last = [page.get("nextCursor") for _, _, page in _pages(t)] or [None]
    if not last or not isinstance(last, str) or last in earlier:
        return
    if len(earlier) + 1 >= MAX_PAGES or sum(1 for _ in _tools(t)) >= MAX_TOOLS:
        yield list(_cursors(t))[-1]


def tools_whole(t: McpTranscript) -> Iterator[RuleIssue]:
    for seq, pointer, _ in _unread(t):
        pages, tools = (sum(1 for _ in select(t)) for select in (_pages, _tools))
        message = (
            f"Reading stopped after {pages:,} pages with {tools:,} tools. Omit nextCursor on the "
            "last page."
        )
        yield Violation(message, seq, pointer)


def _tool_in_list(name: str) -> McpSelector:
    """Select the list if all of its pages were read; the value is the tool of a name."""

    def select(t: McpTranscript) -> Iterator[Place]:
        pages = list(_pages(t))
        cursors = [page.get("nextCursor") for _, _, page in pages]
        if pages and (not cursors[-1] or len(set(map(str, cursors))) < len(cursors)):
            seq, pointer, _ = pages[-1]
            yield seq, f"{pointer}/tools", next(iter(_tools_named(name)(t)), None)

    return select


def _level_of_await(t: McpTranscript, _: Place) -> Level | None:
    return Level.SHOULD if t.found and "promise" in t.found.payload else None


# --- schemas ----------------------------------------------------------------------------------


class _Judgement(NamedTuple):
    """Errors of a schema, and sentences about what could not be judged."""

    #: Parts that are not valid JSON Schema, and references that lead nowhere.
    invalid: tuple[SchemaPart, ...] = ()
    #: References that lead out of the schema or have no end.
    unusable: tuple[SchemaPart, ...] = ()
    #: Parts that reject a valid request, and those that accept an invalid one.
    rejecting: tuple[SchemaPart, ...] = ()
    accepting: tuple[SchemaPart, ...] = ()
    #: About the bounds of a validation, and about references that cannot be followed.
    unchecked: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()


def _unchecked(reason: str) -> tuple[str, ...]:
    return (f"The schema was not checked completely. {reason}",) if reason else ()


_TOO_LONG = _Judgement(unchecked=_unchecked(f"It has more than {_MAX_TEXT:,} characters."))


@lru_cache(maxsize=64)
def _judge(text: str, tool: str, version: str) -> _Judgement:
    """Return the judgement of a schema, as JSON. Cached: many runs have the same tools."""
    document = json.loads(text)
    schema = InputSchema(document)
    unchecked = ""
    try:
        if (part := schema.invalid_part()) is not None:
            part = part._replace(message=f"This is not valid JSON Schema: {part.message}.")
            return _Judgement((part,), unchecked=_unchecked("It is not valid."))
    except UncheckedError as error:
        unchecked = str(error)
    references: dict[Path, SchemaReferenceError] = {}
    rejecting: dict[Path, list[str]] = {}
    accepting: list[SchemaPart] = []
    requests: list[ValidRequest | InvalidRequest] = [
        *valid_requests(tool, version),
        *invalid_requests(tool),
    ]
    for request in requests:
        is_valid = isinstance(request, ValidRequest)
        try:
            part = schema.rejection(request.arguments, is_agent_defined if is_valid else None)
        except SchemaReferenceError as error:
            references.setdefault(error.part.path, error)
        except UncheckedError as error:
            unchecked = unchecked or str(error)
        else:
            if isinstance(request, ValidRequest) and part is not None:
                message = f"The schema rejects {request.name}: {part.message}."
                rejecting.setdefault(part.path, []).append(message)
            elif isinstance(request, InvalidRequest) and part is None:
                accepting.append(_accepting(document, request))
    dangling = [error.part for error in references.values() if error.is_dangling]
    unusable = [error.part for error in references.values() if not error.is_dangling]
    return _Judgement(
        tuple(SchemaPart(path, f"{message} Add its target.") for path, message in dangling),
        tuple(
            SchemaPart(path, f"{message} Put its target into $defs.") for path, message in unusable
        ),
        tuple(_rejecting(path, messages) for path, messages in rejecting.items()),
        tuple(accepting),
        _unchecked(unchecked),
        tuple(part.message for part in (*dangling, *unusable)),
    )


def _rejecting(path: Path, messages: list[str]) -> SchemaPart:
    others = len(messages) - 1
    return SchemaPart(path, messages[0] + (f" And {others} more valid requests." if others else ""))


def _accepting(schema: Any, request: InvalidRequest) -> SchemaPart:
    path, is_defined = find_property(schema, request.properties)
    path = (*path, request.keyword) if is_defined else path
    return SchemaPart(path, f"The schema accepts {request.name}. {request.fix}")


def _schemas(*tools: str) -> McpSelector:
    return those(present(_tools_named(*tools), "inputSchema"), is_object)


def _schema_rule(
    name: str,
    title: str,
    requirements: Requirements,
    tools: tuple[str, ...],
    errors: Callable[[_Judgement], tuple[SchemaPart, ...]],
    *,
    needs_references: bool = False,
    why: str,
) -> Rule[McpTranscript]:
    """Return a rule on the schemas of tools, with the errors to report.

    `needs_references` tells whether the rule is undecided if references cannot be followed.
    """

    def check(t: McpTranscript) -> Iterator[RuleIssue]:
        for tool in tools:
            for seq, pointer, schema in _schemas(tool)(t):
                text = json.dumps(schema)
                is_long = len(text) > _MAX_TEXT
                judgement = _TOO_LONG if is_long else _judge(text, tool, t.version)
                for path, message in errors(judgement):
                    yield Violation(message, seq, pointer + pointer_of(path))
                unresolved = judgement.unresolved if needs_references else ()
                for message in (*unresolved, *judgement.unchecked):
                    yield Inconclusive(message, seq, pointer)

    return rule(name, title, requirements, check, why=why, when=_schemas(*tools))


def _ask_members(t: McpTranscript) -> Iterator[Place]:
    """Select members in the schema of ask; the value is whether it defines them."""
    for seq, pointer, tool in _tools_named("ask")(t):
        for name in ("context", "prefer", "meta"):
            _, is_defined = find_property(tool.get("inputSchema"), [name])
            yield seq, f"{pointer}/inputSchema/properties/{name}", is_defined


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
    rule("tool-names", "Names of tools are unique, and have up to 128 letters, digits, _, - and .",
        should("MCP 2025-11-25, tools"), tool_names, when=_named_tools,
        why="MCP lists these characters since 2025-11-25. Clients and models call tools by name."),
    rule("tools-cursor", "Pagination of tools/list terminates.", must("MCP pagination"),
        tools_cursor, when=_pages,
        why="A cursor is a string that leads to the next page, never to an earlier one."),
    rule("tools-whole", "The tool list is short enough to be read completely.",
        info("MCP pagination"), tools_whole, when=_pages,
        why="MCP sets no limit. Clients stop reading at some point, and so does the playground."),
    row("tool-ask", "The server has a tool named ask.", (should("A.1"), should(_EXAMPLES)),
        _tool_in_list("ask"), {bool: "Add a tool named ask for queries."},
        why="NLWeb clients find the tool by its name."),
    row("tool-await", "The server has a tool named await.", (info("A.2"), info(_EXAMPLES)),
        _tool_in_list("await"),
        {bool: Fix("No tool is named await, so promises cannot be polled.", _level_of_await)},
        why="Only servers that return promises need it. A promise of one without it cannot be "
        "kept."),
    _schema_rule("tool-schema",
        "The schemas of ask and await are valid JSON Schema, and their references lead somewhere.",
        must(_TOOLS), ("ask", "await"), lambda judgement: judgement.invalid,
        why="The dialect is JSON Schema 2020-12, or the one in `$schema`."),
    _schema_rule("tool-schema-references",
        "References in the schemas of ask and await stay within the schema and end.",
        should("MCP 2026-07-28, base protocol"),
        ("ask", "await"), lambda judgement: judgement.unusable,
        why="Clients do not fetch schemas, and reject those that they cannot use."),
    _schema_rule("tool-ask-schema", "The schema of ask accepts every valid request.",
        (must("3, A.1"), must("3")),
        ("ask",), lambda judgement: judgement.rejecting, needs_references=True,
        why="Clients validate requests with it. Agents may restrict filters that they define."),
    _schema_rule("tool-ask-invalid",
        "The schema of ask requires query, an object with the required string text.",
        (should("A.1"), should(_EXAMPLES)),
        ("ask",), lambda judgement: judgement.accepting, needs_references=True,
        why="Models and forms build requests from the schema."),
    row("tool-ask-members", "The schema of ask defines context, prefer and meta.",
        (should("A.1"), should(_EXAMPLES)),
        _ask_members, {bool: "Add the object {name} to properties."},
        why="They are optional in a request. Strict clients cannot send members that the schema "
        "lacks."),
    _schema_rule("tool-await-schema", "The schema of await accepts every valid request.",
        (must("4.2, A.2"), must(_EXAMPLES)),
        ("await",), lambda judgement: judgement.rejecting, needs_references=True,
        why="Checked are the actions checkin and cancel, with and without meta."),
    _schema_rule("tool-await-invalid",
        "The schema of await requires promise_token, and action with checkin or cancel.",
        (should("A.2"), should(_EXAMPLES)),
        ("await",), lambda judgement: judgement.accepting, needs_references=True,
        why="Both members are strings."),
    row("tool-described", "The tools ask and await have descriptions.",
        (should("A.1, A.2"), should(_EXAMPLES)),
        members(_nlweb_tools, "description"),
        {is_nonempty_text: "Add a description of what the tool answers."},
        why="Models choose a tool by its description."),
)
# fmt: on
