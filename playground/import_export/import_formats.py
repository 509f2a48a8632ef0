"""Table of the formats that a collection can be imported from, and their detection.

A reader converts a text of its format to the text of a fixture. All of them then go through the
parser of fixtures, so every import is validated by the same schema. A new format is a module here
and a row of `IMPORT_FORMATS`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.collections.fixture import Fixture, FixtureError, FixtureProblem
from playground.collections.fixture_parser import parse_fixture
from playground.import_export import har as har_import
from playground.import_export import postman as postman_import
from playground.import_export.curl import is_curl
from playground.import_export.postman import ImportedVariable


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format that collections are imported from."""

    label: str
    #: Return whether a text looks like this format. The first match is taken; it may be wrong, as
    #: the conversion reports what it cannot read. Raises nothing.
    matches: Callable[[str], bool]
    #: Return the text of a fixture, and remarks on what was left out. Raises `FixtureError`.
    convert: Callable[[str], tuple[str, Sequence[FixtureProblem]]]
    #: Return the variables of a text that was converted.
    variables: Callable[[str], Sequence[ImportedVariable]] = lambda _: ()


IMPORT_FORMATS: list[ImportFormat] = [
    ImportFormat(
        "Playground collection",
        lambda text: text.lstrip("\ufeff \t\r\n").startswith("["),
        lambda text: (text, ()),
    ),
    ImportFormat(har_import.LABEL, har_import.is_har, har_import.read_har),
    ImportFormat(
        postman_import.LABEL,
        postman_import.is_postman,
        postman_import.read_postman,
        postman_import.read_variables,
    ),
]


@dataclass(frozen=True, slots=True)
class ParsedImport:
    """A parsed text; parts that were left out of it are in the fixture's remarks."""

    format: str
    fixture: Fixture
    #: Variables of the collection, which can become an environment.
    variables: Sequence[ImportedVariable] = ()


def parse_import(text: str) -> ParsedImport:
    """Parse a text in the first format that matches.

    A text that no reader matches is parsed as a fixture, which reports its problems. Raise
    `FixtureError`, with the name of the format if it is another one.
    """
    found = next((each for each in IMPORT_FORMATS if each.matches(text)), IMPORT_FORMATS[0])
    try:
        converted, remarks = found.convert(text)
        fixture = parse_fixture(converted)
    except FixtureError as error:
        raise foreign_format(text) or error from None
    fixture = replace(fixture, remarks=(*remarks, *fixture.remarks))
    return ParsedImport(found.label, fixture, found.variables(text))


_VIA_POSTMAN = "Import it into Postman, and export it from there as Collection v2.1."
_VIA_BRUNO = "Export the collection from Bruno as a Postman collection."
_AS_CURL = "Copy each request as cURL, and paste it into the URL field of the workbench."
_AS_JSON = "Convert it to JSON."
_AS_TEXT = "Use the URL of the file itself. The page may be a log-in form."
_DOCUMENT = "Paste it into the JSON tab of the workbench, then save the request."

#: Members of the JSON object, or of the first one in a list; name; what to do.
_JSON_FORMATS: Sequence[tuple[str, str, str]] = (
    ("_type __export_format", "an Insomnia export", _VIA_POSTMAN),
    ("openapi", "an OpenAPI document", _VIA_POSTMAN),
    ("swagger", "an OpenAPI document (Swagger 2)", _VIA_POSTMAN),
    ("values _postman_variable_scope", "a Postman environment", "Import a collection."),
    ("version collections", "a Postman data dump", "Export one collection as version 2.1."),
    ("clientName", "a Thunder Client collection", "Export it in the Postman format."),
    ("v folders requests", "a Hoppscotch collection", _AS_CURL),
    ("name requests", "a Postman Collection of version 1", "Export it as version 2.1."),
    ("items name version", "a Bruno collection", _VIA_BRUNO),
    ("mcpServers", "an MCP client configuration", "Add each server as an agent."),
    ("skills capabilities", "an A2A agent card", "Add its URL as an agent."),
    ("jsonrpc", "a JSON-RPC message", _DOCUMENT),
    ("query", "an NLWeb request", _DOCUMENT),
    ("input", "an Agent API request", _DOCUMENT),
)

#: Beginning of a file that is not JSON, as a regular expression; name; what to do.
_TEXT_FORMATS: Sequence[tuple[str, str, str]] = (
    (r"<!doctype html|<html\b", "an HTML page", _AS_TEXT),
    (r"<", "an XML or HTML document", "Export or download it as JSON."),
    (r"meta \{", "a Bruno request", _VIA_BRUNO),
    (r"###|@[\w-]{1,80} *=|(?:GET|POST|PUT|PATCH|DELETE|HEAD) +\S", "an .http file", _AS_CURL),
    (r"Invoke-(?:WebRequest|RestMethod)|\$session\b", "a PowerShell command", _AS_CURL),
    (r"(?:await +)?fetch\(", "a JavaScript fetch call", _AS_CURL),
    (r"(?:# [^\n]*\n+)*(?:openapi|swagger):", "an OpenAPI document in YAML", _VIA_POSTMAN),
    (r"type: collection\.insomnia", "an Insomnia export in YAML", _VIA_POSTMAN),
    (r"---\s|%YAML|- \S|(?:# [^\n]*\n+)*[\w.-]{1,80}:(?:\s|$)", "a YAML document", _AS_JSON),
)
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)
#: The first two lines.
_LINES = re.compile(r"\s*([^\r\n]+)[\r\n]+\s*([^\r\n]+)")


def foreign_format(text: str) -> FixtureError | None:
    """Return an error that names the format of a rejected file; None for an unknown format."""
    start = text.lstrip("\ufeff \t\r\n")
    if is_curl(text):
        return FixtureError("This is a cURL command. Paste it into the URL field of the workbench.")
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return FixtureError(f"Merge conflict markers at line {line:,}. Resolve the conflict first.")
    for pattern, name, advice in _TEXT_FORMATS:
        if re.match(pattern, start, re.IGNORECASE):
            return FixtureError(f"This is {name}. {advice}")
    value = _decoded(start)
    lines = _LINES.match(start)
    if value is None and lines and all(isinstance(_decoded(line), dict) for line in lines.groups()):
        return FixtureError(f"This is a JSON Lines file. {_AS_JSON}")
    first = value[0] if isinstance(value, list) and value else value
    members = first.keys() if isinstance(first, dict) else set()
    for names, name, advice in _JSON_FORMATS:
        if members >= set(names.split()):
            return FixtureError(f"This is {name}. {advice}")
    return None


def _decoded(text: str) -> Any:
    """Return the JSON value of a text, None without one."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
