"""What each field of a file may hold: the schema of fixtures, as a table of checks.

A check takes a value and yields what is wrong with it: a JSON pointer into the value, and a
sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from playground.expectations import check_captures, check_schema
from playground.expectations.schema import MAX_EXPECTATIONS
from playground.library import credentials, recordings
from playground.library.ordering import LARGEST
from playground.library.shape import COLLECTION, FOLDER, REQUEST
from playground.models import Agent
from playground.models.collections import RESERVED
from playground.models.json_text import storable
from playground.protocols import headers as header_rules
from playground.protocols.exchange import RequestProblem
from playground.protocols.json_pointer import escape
from playground.protocols.text import shorten
from playground.variables import is_name
from playground.variables.names import PLACEHOLDER

Finding = tuple[str, str]
Check = Callable[[Any], Iterable[Finding]]

#: Characters of a description or a note, of an address, and of a document as JSON.
MAX_TEXT, MAX_ADDRESS, MAX_DOCUMENT = 100_000, 2_000, 1_000_000
#: Headers of one request.
MAX_ROWS = 100
#: Characters of an expectation that is likely to come again.
_REPEATED = 2_000

_SLUG = re.compile(r"[-a-zA-Z0-9_]+")


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = ((str, "text"), (list, "a list"), (dict, "an object"))
    return next((word for kind, word in kinds if isinstance(value, kind)), "a number")


def _text(most: int, value: Any, *, least: int = 0) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield "", f"This must be text, not {kind_of(value)}."
    elif len(value) > most:
        yield "", f"This has {len(value):,} characters; up to {most:,} are possible."
    elif len(value.strip()) < least:
        yield "", "This must not be empty."
    elif storable(value) != value:
        yield "", "This holds U+0000 or half of a character, which cannot be stored."


def _slug(most: int, value: Any, *, reserved: Iterable[str] = ()) -> Iterator[Finding]:
    if not isinstance(value, str):
        yield "", f"This must be text, not {kind_of(value)}."
    elif not _SLUG.fullmatch(value):
        yield (
            "",
            "This may have ASCII letters, digits, hyphens and underscores only, and at least one.",
        )
    elif len(value) > most:
        yield "", f"This has {len(value):,} characters; up to {most:,} are possible."
    elif value in reserved:
        yield "", f"This cannot be “{value}”, which is an address of its own."


def _no_slug_or(most: int, value: Any) -> Iterable[Finding]:
    return () if value == "" else _slug(most, value)


def _position(value: Any) -> Iterator[Finding]:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not 0 <= value <= LARGEST:
        yield "", f"This must be a whole number from 0 to {LARGEST:,}."


def _one_of(known: Iterable[str], value: Any) -> Iterator[Finding]:
    if value not in tuple(known):
        yield "", f"This must be one of {', '.join(known)}."


def _document(value: Any) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield "", f"This must be an object, not {kind_of(value)}."
    elif len(json.dumps(value)) > MAX_DOCUMENT:
        yield "", f"This is longer than {MAX_DOCUMENT:,} characters as JSON."


def _headers(value: Any) -> Iterator[Finding]:
    if not isinstance(value, list) or len(value) > MAX_ROWS:
        yield "", f"This must be a list of up to {MAX_ROWS} pairs [name, value]."
        return
    for index, row in enumerate(value):
        if not credentials.is_pair(row):
            yield f"/{index}", "This must be a pair of texts, [name, value]."
        elif refusal := header_rules.refusal(row[0], PLACEHOLDER.sub("x", row[1])):
            yield f"/{index}", f"This cannot be sent. {refusal}"


def _auth(value: Any) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield "", f"This must be an object, not {kind_of(value)}."
        return
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
        yield from _text(200, value)
    elif not value:
        return  # It is not filled in yet.
    elif name == "secret" and not is_name(value):
        yield "", "This must be the name of a variable: a file holds no secrets."
    elif name == "header" and not header_rules.is_token(value):
        yield "", "This must be the name of a header."


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
    return () if value is None else _as_found(recordings.check, value)


def escaped(name: str) -> str:
    """A name as a JSON pointer writes it (RFC 6901, section 3), not too long to be read."""
    return escape(shorten(name, 61))


_NAME: Check = partial(_text, 120, least=1)
_LONG_TEXT: Check = partial(_text, MAX_TEXT)

#: The checks of each model's fields, but for what refers to others: see `parsing`.
CHECKS: Mapping[str, Mapping[str, Check]] = {
    COLLECTION: {
        "name": _NAME,
        "slug": partial(_slug, 130, reserved=RESERVED),
        "description": _LONG_TEXT,
    },
    FOLDER: {
        "name": _NAME,
        "slug": partial(_slug, 130),
        "description": _LONG_TEXT,
        "position": _position,
    },
    REQUEST: {
        "name": _NAME,
        "slug": partial(_slug, 130),
        "position": _position,
        "agent": partial(_no_slug_or, 90),
        "address": partial(_text, MAX_ADDRESS),
        "protocol": partial(_one_of, Agent.Protocol.values),
        "binding": partial(_one_of, Agent.Binding.values),
        "version": partial(_text, 10, least=1),
        "document": _document,
        "headers": _headers,
        "auth": _auth,
        "notes": _LONG_TEXT,
        "expectations": _expectations,
        "captures": partial(_as_found, check_captures),
        "reply": _reply,
    },
}
