"""From the text of a file to a fixture, by our own schema, with the place of whatever is wrong.

Django's `loaddata` would take any model and raise at the first thing that it does not like; here
one collection, its folders and its requests are read, each field checked, and everything that is
wrong is said at once. Nothing is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.conf import settings

from playground.forms import read_value
from playground.library.items import FixtureReader
from playground.library.shape import Fixture, FixtureError, FixtureProblem
from playground.protocols import json_errors

#: Characters of a file, and items in it.
MAX_CHARACTERS = 32 * 1024 * 1024
MAX_ITEMS = 20_000
#: Problems after which no more are looked for.
MAX_PROBLEMS = 50
#: How deep the document of a request lies in its file: list, item, fields.
_WRAPPED = 3

#: A string with its quotes, or a single sign that opens, closes or parts.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)


def parse_fixture(text: str, *, part: bool = False) -> Fixture:
    """The collection that a file holds, or with `part` a part of one.

    Raises `FixtureError` with what is wrong and where. Literal credentials are left out, and
    the fixture's remarks say so.
    """
    return _read(text, part=part, own=False)


def parse_trusted_fixture(text: str) -> Fixture:
    """What `dumping.dump_part` wrote: the values of its fields are not judged again.

    Nor is its size: what could be deleted can be put back.
    """
    return _read(text, part=True, own=True)


def _read(text: str, *, part: bool, own: bool) -> Fixture:
    items = _items(text, own)
    if len(items) > MAX_ITEMS and not own:
        message = f"The file holds {len(items):,} items; up to {MAX_ITEMS:,} can be read."
        raise FixtureError(FixtureProblem("", message))
    reader = FixtureReader(own=own)
    problems: list[FixtureProblem] = []
    for problem in reader.read(items, part=part):
        problems.append(problem)
        if len(problems) == MAX_PROBLEMS:
            problems.append(FixtureProblem("", "There may be more; these are the first."))
            break
    if problems:
        raise FixtureError(*problems)
    return reader.fixture().ordered()


def _items(text: str, own: bool) -> list[Any]:
    if len(text) > MAX_CHARACTERS and not own:
        most = MAX_CHARACTERS // 1024 // 1024
        raise FixtureError(
            FixtureProblem("", f"The file is larger than {most} million characters.")
        )
    value = json_of(text)
    if not isinstance(value, list):
        raise FixtureError(
            FixtureProblem(
                "", "A fixture is a JSON list of items, each with a model and its fields."
            )
        )
    return value


def json_of(text: str) -> Any:
    """The JSON value of a file. Raises `FixtureError` with the place where it is none."""
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise FixtureError(FixtureProblem("", "The file is empty."))
    try:
        return read_value(text, settings.RUN_LIMITS.max_depth + _WRAPPED)
    except forms.ValidationError as error:
        raise FixtureError(_problem(text, error)) from None


def _problem(text: str, error: forms.ValidationError) -> FixtureProblem:
    """Why a text is no JSON, with the line and column."""
    message = str(error.messages[0])
    if error.code == "repeated":
        return FixtureProblem(_place(text, _repeated(text)), message)
    if error.code == "deep":
        deepest = settings.RUN_LIMITS.max_depth
        at = json_errors.too_deep_at(text, deepest + _WRAPPED)
        return FixtureProblem(
            _place(text, at), f"This is nested too deep: a document is up to {deepest}."
        )
    if error.code == "number":
        at = json_errors.number_at(text)
        return FixtureProblem(_place(text, at), "This is a number that JSON does not have.")
    return _broken(text, message)


def _broken(text: str, message: str) -> FixtureProblem:
    """Why a text is no JSON at all; `message` where the decoder takes it after all."""
    try:
        json.loads(text)
    except json.JSONDecodeError as broken:
        place = _place(text, broken.pos)
        unfinished = broken.msg.startswith("Unterminated") or not text[broken.pos :].strip()
        if unfinished:
            return FixtureProblem(place, "The file ends here, in the middle: it was cut.")
        return FixtureProblem(place, f"This is not JSON: {json_errors.said(broken)}.")
    except (ValueError, RecursionError):
        return FixtureProblem("", message)
    return FixtureProblem("", message)


def _place(text: str, position: int | None) -> str:
    if position is None:
        return ""
    line, column = json_errors.place(text, position)
    return f"Line {line:,}, column {column:,}"


def _repeated(text: str) -> int:
    """Where a name stands for the second time in its object; the text is JSON otherwise."""
    open_names: list[set[str]] = []
    for token, is_name in _tokens(text):
        sign = token[0]
        if sign == "{":
            open_names.append(set())
        elif sign == "}":
            open_names.pop()
        elif is_name:
            name = json.loads(sign)
            if name in open_names[-1]:
                return token.start()
            open_names[-1].add(name)
    return 0


def _tokens(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    """The tokens of a JSON text, each with whether it names a member: a colon follows it."""
    before: re.Match[str] | None = None
    for token in _TOKEN.finditer(text):
        if before is not None:
            yield before, token[0] == ":" and before[0].startswith('"')
        before = token
