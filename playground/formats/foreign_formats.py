"""Names of the formats that cannot be imported, with what to do instead.

A file is looked at only after a reader has rejected it, so a valid file is never misnamed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from playground.collections.fixture import FixtureError, FixtureProblem
from playground.formats.curl import is_curl

_VIA_POSTMAN = "Import it into Postman, and export it from there as Collection v2.1."
_AS_CURL = "Copy each request as cURL, and paste it into the URL field of the workbench."
_AS_JSON = "Convert it to JSON."
HAR, POSTMAN = "a HAR file", "a Postman Collection"
_DOCUMENT = "Paste it into the JSON tab of the workbench, then save the request."

#: Members that a JSON object has (the first one of a list, in some formats), name, what to do.
_JSON_FORMATS: Sequence[tuple[str, str, str]] = (
    ("_type __export_format", "an Insomnia export", _VIA_POSTMAN),
    ("openapi", "an OpenAPI document", _VIA_POSTMAN),
    ("swagger", "an OpenAPI document (Swagger 2)", _VIA_POSTMAN),
    ("asyncapi", "an AsyncAPI document", _AS_CURL),
    ("log", HAR, "Open it in History with “Import HAR”."),
    (
        "values _postman_variable_scope",
        "a Postman environment",
        "Create an environment with its variables, and import the collection.",
    ),
    ("version collections", "a Postman data dump", "Export one collection as version 2.1."),
    ("info item", POSTMAN, "Import it under Collections."),
    ("clientName", "a Thunder Client collection", "Export it in the Postman format."),
    ("folders requests name", "a Hoppscotch collection", _AS_CURL),
    ("items name version", "a Bruno collection", "Export it from Bruno as a Postman collection."),
    ("mcpServers", "an MCP client configuration", "Add each server as an agent."),
    ("skills capabilities", "an A2A agent card", "Add its URL as an agent."),
    ("jsonrpc", "a JSON-RPC message", _DOCUMENT),
    ("query", "an NLWeb request", _DOCUMENT),
    ("input", "an Agent API request", _DOCUMENT),
)

#: Beginnings of files that are not JSON.
_TEXT_FORMATS: Sequence[tuple[str, str, str]] = (
    (
        r"<!doctype html|<html\b",
        "an HTML page",
        "Use the URL of the file itself. The page may be a log-in form.",
    ),
    (r"<", "an XML or HTML document", "Export or download it as JSON."),
    (r"meta \{", "a Bruno request", "Export the collection from Bruno as a Postman collection."),
    (
        r"###|@[\w-]+ *=|(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +\S",
        "an .http file",
        _AS_CURL,
    ),
    (r"(?:Invoke-(?:WebRequest|RestMethod)|\$session) ?", "a PowerShell command", _AS_CURL),
    (r"(?:await +)?fetch\(", "a JavaScript fetch call", _AS_CURL),
    (r"(?:# [^\n]*\n+)*(?:openapi|swagger):", "an OpenAPI document in YAML", _VIA_POSTMAN),
    (r"type: collection\.insomnia", "an Insomnia export in YAML", _VIA_POSTMAN),
    (r"---\s|%YAML|- \S|(?:# [^\n]*\n+)*[\w.-]+:(?:\s|$)", "a YAML document", _AS_JSON),
)
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |\r?$)", re.MULTILINE)
#: The first two lines.
_LINE = re.compile(r"\s*([^\r\n]+)[\r\n]+\s*([^\r\n]+)")


def foreign_format(text: str, own: str) -> FixtureError | None:
    """Return an error that names the format of a rejected file.

    None for an unknown format, and for `own`, whose reader has a better error.
    """
    start = text.lstrip("\ufeff \t\r\n")
    if is_curl(text):
        return _error("a cURL command", "Paste it into the URL field of the workbench.")
    if found := _CONFLICT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        message = f"Merge conflict markers at line {line:,}. Resolve the conflict first."
        return FixtureError(FixtureProblem("", message))
    for pattern, name, advice in _TEXT_FORMATS:
        if re.match(pattern, start, re.IGNORECASE):
            return _error(name, advice)
    value = _decoded(start)
    if value is None:
        return _error("a JSON Lines file", _AS_JSON) if _is_json_lines(start) else None
    first = value[0] if isinstance(value, list) and value else value
    known = first.keys() if isinstance(first, dict) else set()
    for names, name, advice in _JSON_FORMATS:
        if known >= set(names.split()):
            return None if name == own else _error(name, advice)
    return None


def _error(name: str, advice: str) -> FixtureError:
    return FixtureError(FixtureProblem("", f"This is {name}. {advice}"))


def _decoded(text: str) -> Any:
    """Return the JSON value of a text, None without one."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_json_lines(text: str) -> bool:
    found = _LINE.match(text)
    return found is not None and all(isinstance(_decoded(each), dict) for each in found.groups())
