"""Labels: any text as one line without characters that reorder or break it, and its width."""

from __future__ import annotations

import re
import unicodedata

from playground.protocols.text import shorten

#: Controls and separators of lines and paragraphs.
_SPACES = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
#: Characters that change the direction of the text around them.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Code points that no XML file may contain.
_INVALID = re.compile("[\ud800-\udfff\ufffe\uffff]")

#: Estimated width of a character in em: narrow, wide (East Asian, emoji), capital, other.
_NARROW, _WIDE, _CAPITAL, _OTHER = 0.36, 1.1, 0.72, 0.6
_NARROW_CHARACTERS = frozenset("iljtf.,:;'|!()[] ")


def one_line(text: str, limit: int) -> str:
    """Return the beginning of a text as one line, at most `limit` characters.

    Control characters become spaces, marks of text direction are removed.
    """
    # Of a text of a megabyte only the beginning is read.
    line = _BIDI.sub("", _SPACES.sub(" ", text[: 4 * limit + 100]))
    line = _INVALID.sub("\ufffd", line).strip()
    # What was not read counts as well.
    return shorten(line + "…" if len(text) > 4 * limit + 100 else line, limit)


def width_of(text: str, size: float) -> float:
    """Return the estimated width of a text, in the unit of the font size."""
    return size * sum(map(_width, text))


def fit(text: str, width: float, size: float) -> str:
    """Return the beginning of a text that fits into a width, with an ellipsis if it is cut."""
    if width_of(text, size) <= width:
        return text
    left = width - size  # for the ellipsis
    for at, character in enumerate(text):
        left -= size * _width(character)
        if left < 0:
            return f"{text[:at].rstrip()}…"
    return text


def _width(character: str) -> float:
    if character in _NARROW_CHARACTERS:
        return _NARROW
    if character.isascii():
        return _CAPITAL if character.isupper() else _OTHER
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _CAPITAL
