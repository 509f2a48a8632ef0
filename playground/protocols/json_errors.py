"""Errors in a text that is meant to be JSON: plain descriptions, and positions.

The decoder of the standard library mentions expected delimiters, and for a number with too many
digits or for nesting it gives no position at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

#: A string, closed or not: it contains no bracket and no number. Possessive, and so linear.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL | re.ASCII)
_NUMBER = re.compile(rf"{_STRING}|-?Infinity|NaN|-?\d[\d.eE+-]*+", re.DOTALL | re.ASCII)
#: A string, which is a name (group 1) before a colon, or a brace.
_NAME = re.compile(rf"({_STRING})(?=[ \t\r\n]*:)|{_STRING}|[{{}}]", re.DOTALL | re.ASCII)
#: Most digits of an integer that can be parsed; the interpreter's own limit.
_MAX_DIGITS = 4300

#: Quotation marks of word processors; the NLWeb 0.54 specification prints its examples with them.
_QUOTES = tuple("“”„‘’")

#: By the beginning of a message of the decoder: our description.
_DESCRIPTIONS = {
    "Expecting value": "expected a value",
    "Expecting property name": "expected a property name in double quotes",
    "Expecting ':'": "expected a colon",
    "Expecting ','": "expected a comma or the end of the array or object",
    "Extra data": "unexpected text after the end of the document",
    "Unterminated string": "unterminated string",
    "Invalid control character": "control character in a string; write line breaks and tabs as "
    "\\n and \\t",
    "Invalid \\u": "invalid \\u escape: expected four hexadecimal digits",
    "Invalid \\": "invalid escape sequence",
    "Illegal trailing comma": "unexpected trailing comma",
    "Unexpected UTF-8 BOM": "unexpected byte order mark",
}


def describe_error(error: json.JSONDecodeError) -> str:
    """Return a decoder's error as the end of a sentence, without its full stop."""
    if error.doc[error.pos : error.pos + 1] in _QUOTES:
        return 'typographic quotation mark; JSON uses "'
    found = (text for start, text in _DESCRIPTIONS.items() if error.msg.startswith(start))
    return next(found, "syntax error")


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return the line and the column of a position, both from 1."""
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)


def too_deep_at(text: str, limit: int) -> int | None:
    """Return the position of the first bracket nested deeper than `limit`, None for none."""
    depth = 0
    for token in _BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > limit:
                return token.start()
        elif token[0] in "]}":
            depth -= 1
    return None


def duplicate_name_at(text: str) -> int | None:
    """Return the position of the first duplicate name in an object of a text that is valid JSON."""
    open_names: list[set[str]] = []
    for token in _NAME.finditer(text):
        if token[0] == "{":
            open_names.append(set())
        elif token[0] == "}":
            open_names.pop()
        elif token[1]:
            name = json.loads(token[1])
            if name in open_names[-1]:
                return token.start()
            open_names[-1].add(name)
    return None


def number_at(text: str) -> int | None:
    """Return the position of the first number that JSON does not have, or that is too long."""
    return next((start for start, number in _numbers(text) if _is_unreadable(number)), None)


def _numbers(text: str) -> Iterator[tuple[int, str]]:
    for token in _NUMBER.finditer(text):
        if not token[0].startswith('"'):
            yield token.start(), token[0]


def _is_unreadable(number: str) -> bool:
    if number.endswith(("y", "N")):
        return True
    if number.lstrip("-").isdigit():
        return len(number.lstrip("-")) > _MAX_DIGITS
    try:
        return not math.isfinite(float(number))
    except ValueError:
        return False
