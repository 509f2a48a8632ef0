"""What is wrong with a text that is meant to be JSON, in plain words, and where it is.

The decoder of the standard library speaks of delimiters that it expects, and of a number that
it would have to round, or of nesting, it gives no place at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

#: A string, closed or not: its inside is no bracket and no number. Possessive, and so linear.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL | re.ASCII)
_NUMBER = re.compile(rf"{_STRING}|-?Infinity|NaN|-?\d[\d.eE+-]*+", re.DOTALL | re.ASCII)
#: The most digits of a whole number that can be read; the interpreter's own limit.
_MOST_DIGITS = 4300

#: How the decoder's sentences begin, and what they say in ours.
_WORDS = {
    "Expecting value": "no JSON value begins here",
    "Expecting property name": "a name in double quotes belongs here",
    "Expecting ':'": "a colon belongs here",
    "Expecting ','": "a comma belongs here, or the end of the list or object",
    "Extra data": "the JSON ends before this",
    "Unterminated string": "the closing quote of this text is missing",
    "Invalid control character": "a line break or tab inside a text is written as \\n or \\t",
    "Invalid \\u": "\\u wants four hexadecimal digits",
    "Invalid \\": "a backslash stands before a sign that it cannot go with",
    "Illegal trailing comma": "this comma is one too many",
    "Unexpected UTF-8 BOM": "a byte order mark stands before the text",
}


def said(error: json.JSONDecodeError) -> str:
    """What the decoder found, as the end of a sentence without its full stop."""
    words = (ours for theirs, ours in _WORDS.items() if error.msg.startswith(theirs))
    return next(words, "it cannot be read from here on")


def place(text: str, position: int) -> tuple[int, int]:
    """The line and the column of a position, both from 1."""
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)


def too_deep_at(text: str, limit: int) -> int | None:
    """Where the bracket stands that goes deeper than `limit`; none where nothing does."""
    depth = 0
    for token in _BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > limit:
                return token.start()
        elif token[0] in "]}":
            depth -= 1
    return None


def number_at(text: str) -> int | None:
    """Where the first number stands that JSON does not have, or that is too long to be read."""
    return next((start for start, number in _numbers(text) if _is_beyond(number)), None)


def _numbers(text: str) -> Iterator[tuple[int, str]]:
    for token in _NUMBER.finditer(text):
        if not token[0].startswith('"'):
            yield token.start(), token[0]


def _is_beyond(number: str) -> bool:
    if number.endswith(("y", "N")):
        return True
    if number.lstrip("-").isdigit():
        return len(number.lstrip("-")) > _MOST_DIGITS
    try:
        return not math.isfinite(float(number))
    except ValueError:
        return False
