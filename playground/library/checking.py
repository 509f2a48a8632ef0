"""Checks of the fields of a collection's file: by JSON Schema, and what a schema cannot say.

What cannot be said in one is a table of checks. Each takes a value and yields what is wrong with
it: a JSON Pointer into the value, and a sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from playground.expectations import check_captures, check_schema
from playground.expectations.schema import MAX_EXPECTATIONS
from playground.library import credentials, recordings
from playground.library.fixture_schema import Finding, escaped, findings
from playground.library.shape import REQUEST
from playground.models.json_text import storable
from playground.protocols import headers as header_rules
from playground.protocols.exchange import RequestProblem
from playground.variables import is_name
from playground.variables.names import PLACEHOLDER

Check = Callable[[Any], Iterable[Finding]]

#: Characters of a description or a note and of an address, as the schema has them, and of a
#: document as JSON.
MAX_TEXT, MAX_ADDRESS, MAX_DOCUMENT = 100_000, 2_000, 1_000_000
#: Characters of a user name.
MAX_USER = 200
#: Characters of an expectation that is likely to come again.
_REPEATED = 2_000


def _document(value: Any) -> Iterator[Finding]:
    if len(json.dumps(value)) > MAX_DOCUMENT:
        yield "", f"This is longer than {MAX_DOCUMENT:,} characters as JSON."


def _headers(value: Any) -> Iterator[Finding]:
    for index, row in enumerate(value):
        if not credentials.is_pair(row):
            yield f"/{index}", "This must be a pair of texts, [name, value]."
        elif refusal := header_rules.header_error(row[0], PLACEHOLDER.sub("x", row[1])):
            yield f"/{index}", f"This cannot be sent. {refusal}"


def _auth(value: Any) -> Iterator[Finding]:
    if not value:
        return
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in credentials.AUTH_FIELDS:
        yield "/type", f"This must be one of {', '.join(credentials.AUTH_FIELDS)}."
        return
    wanted = credentials.AUTH_FIELDS[kind]
    for name in sorted(value.keys() - {"type", *wanted}):
        yield f"/{escaped(name)}", f"This does not belong to “{kind}”."
    for name in wanted:
        yield from ((f"/{name}{at}", said) for at, said in _auth_part(name, value.get(name)))


def _auth_part(name: str, value: Any) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield "", "This must be text."
    elif name == "user":
        yield from _user(value)
    elif not value:
        return  # It is not filled in yet.
    elif name == "secret" and not is_name(value):
        yield "", "This must be the name of a variable: a file holds no secrets."
    elif name == "header" and not header_rules.is_token(value):
        yield "", "This must be the name of a header."


def _user(value: str) -> Iterator[Finding]:
    if len(value) > MAX_USER:
        yield "", f"This has {len(value):,} characters; up to {MAX_USER} are possible."
    elif storable(value) != value:
        yield "", "This holds U+0000 or half of a character, which cannot be stored."


def _as_found(check: Callable[[Any], Iterable[RequestProblem]], value: Any) -> Iterator[Finding]:
    """What a check of another part of the playground says."""
    for problem in check(value):
        yield problem.pointer, problem.message


def _expectations(value: Any) -> Iterator[Finding]:
    if not isinstance(value, list) or len(value) > MAX_EXPECTATIONS:
        yield from _as_found(check_schema, value)
        return
    for index, each in enumerate(value):
        text = json.dumps(each)
        # What is large would stay in memory for as long as the process lives.
        find = known_findings if len(text) <= _REPEATED else known_findings.__wrapped__
        for pointer, message in find(text):
            yield f"/{index}{pointer}", message


@lru_cache(maxsize=256)
def known_findings(text: str) -> tuple[Finding, ...]:
    """What is wrong with an expectation, given as JSON.

    Thousands of requests expect the same few things of a reply.
    """
    found = check_schema([json.loads(text)])
    return tuple((problem.pointer.removeprefix("/0"), problem.message) for problem in found)


def _reply(value: Any) -> Iterable[Finding]:
    return () if value is None else _as_found(recordings.validate_recording, value)


#: What the schema cannot say of a request's fields, but for what refers to others: see `parsing`.
_BEYOND: Mapping[str, Check] = {
    "document": _document,
    "headers": _headers,
    "auth": _auth,
    "expectations": _expectations,
    "captures": partial(_as_found, check_captures),
    "reply": _reply,
}


def check(model: str, fields: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what is wrong with the fields of an item: JSON Pointers into them, and sentences."""
    wrong = set()
    for pointer, message in findings(fields, model):
        wrong.add(pointer)
        yield pointer, message
    for name, beyond in _BEYOND.items() if model == REQUEST else ():
        if name in fields and f"/{name}" not in wrong:
            yield from ((f"/{name}{at}", message) for at, message in beyond(fields[name]))


def check_field(name: str, value: Any) -> Iterator[Finding]:
    """Yield what is wrong with one field of a request: JSON Pointers into it, and sentences."""
    wrong = list(findings(value, REQUEST, name))
    yield from wrong
    if not wrong and name in _BEYOND:
        yield from _BEYOND[name](value)
