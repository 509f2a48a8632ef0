"""JSON that came from somebody else: how deep it is, and what it says.

Why not plain `json.loads`: it accepts what later breaks a page or a database. Half a
surrogate pair cannot be encoded again, `NaN` and `1e999` cannot be written as JSON, and
nesting beyond the interpreter's own limit raises `RecursionError`.
"""

from __future__ import annotations

import json
import re
from typing import Any

_INFINITY = float("inf")

# All that stands between two brackets, whole strings (and the brackets in them) included.
# Possessive, so that a string of a megabyte needs no stack.
_BETWEEN = re.compile(r'(?:[^\[\]{}"]++|"[^"\\]*+(?:\\.[^"\\]*+)*+"?)++', re.DOTALL)
_ONE_KIND = str.maketrans("{}", "[]")

# Every escape of a JSON string, so that `\\ud800` (a backslash, then letters) is stepped
# over; group 1 is half of a surrogate pair whose other half is missing.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",
    re.DOTALL,
)


def exceeds_depth(text: str, limit: int) -> bool:
    """Whether objects and arrays in `text` are nested more than `limit` deep.

    Cheap for what is small: the exact scan runs only where there are enough brackets.
    Right for broken JSON too, up to the place where a parser would give up.
    """
    if text.count("{") + text.count("[") <= limit:
        return False
    brackets = _BETWEEN.sub("", text).translate(_ONE_KIND)
    # Taking away the innermost pairs, again and again, takes as many turns as it is deep.
    rest = brackets
    for _ in range(limit):
        shorter = rest.replace("[]", "")
        if not shorter:
            return False
        if len(shorter) == len(rest):
            break
        rest = shorter
    return _counts_beyond(brackets, limit)


def _counts_beyond(brackets: str, limit: int) -> bool:
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket == "[" else -1
        if depth > limit:
            return True
    return False


def _whole_pairs(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape[1] else escape[0]


def _finite(text: str) -> float | str:
    number = float(text)
    return number if -_INFINITY < number < _INFINITY else text


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=str)


def decode(text: str) -> Any:
    """The value of a JSON text, made of what can be written as JSON again.

    Numbers that JSON cannot express (`NaN`, `1e999`) become strings, halves of surrogate
    pairs become U+FFFD. Raises `ValueError` (a `json.JSONDecodeError` with line and column
    where the text is not JSON) and `RecursionError`: see `exceeds_depth`.
    """
    if "\\ud" in text or "\\uD" in text:
        text = _ESCAPE.sub(_whole_pairs, text)
    return _DECODER.decode(text)
