"""Text: shortened, and without what a terminal or a CI runner would obey."""

from __future__ import annotations

import re

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
#: Commands of CI runners: `::` at the beginning of a line, which GitHub trims, and anywhere in it
#: `##[`, `##vso[` (Azure Pipelines) and `##teamcity[`.
_LINE_COMMAND = re.compile(r"((?:^|\r)[^\S\r\n]*:):", re.MULTILINE)
_COMMAND = re.compile(r"(##[\w-]{0,40})\[")


def printable(text: str) -> str:
    """Return `text` with U+FFFD for control characters, and a space within each command."""
    text = _CONTROL_CHARACTERS.sub("\ufffd", text)
    return _COMMAND.sub(r"\1 [", _LINE_COMMAND.sub(r"\1 :", text))


def printable_json(text: str) -> str:
    """Return JSON with escapes for control characters, and in each command."""
    text = _CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return _COMMAND.sub(r"\1\\u005b", text)


def printable_xml(text: str) -> str:
    """Return XML or HTML with a character reference in each command."""
    return _COMMAND.sub(r"\1&#91;", _LINE_COMMAND.sub(r"\1&#58;", text))


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text in at most `limit` characters, with an ellipsis if cut."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def shorten_middle(text: str, limit: int) -> str:
    """Return both ends of a text in at most `limit` characters, at least 2."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"
