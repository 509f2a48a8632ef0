"""Text: shortened, and without what a terminal or a CI runner would obey."""

from __future__ import annotations

import re

_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
#: Commands of CI runners: `::` at the beginning of a line, which GitHub trims, and anywhere in it
#: `##[`, `##vso[` (Azure Pipelines) and `##teamcity[`.
_LINE_COMMAND = re.compile(r"^([^\S\n]*:):", re.MULTILINE)
_COMMAND = re.compile(r"(##[\w-]{0,40})\[")
#: How `break_commands` writes a colon and a bracket in JSON and in XML, where they stay the same.
IN_JSON, IN_XML = ("\\u003a", "\\u005b"), ("&#58;", "&#91;")


def replace_control_characters(text: str) -> str:
    """Return `text` with U+FFFD for what a terminal would obey; tabs and line breaks stay."""
    return _CONTROL_CHARACTERS.sub("\ufffd", text)


def escape_control_characters(text: str) -> str:
    """Return JSON with escapes for what a terminal would obey."""
    return _CONTROL_CHARACTERS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def break_commands(text: str, marks: tuple[str, str] = (" :", " [")) -> str:
    """Return `text` without commands of CI runners: with a space within each by default."""
    colon, bracket = marks
    text = _LINE_COMMAND.sub(lambda found: found[1] + colon, text)
    return _COMMAND.sub(lambda found: found[1] + bracket, text)


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text in at most `limit` characters, with an ellipsis if cut."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def shorten_middle(text: str, limit: int) -> str:
    """Return both ends of a text in at most `limit` characters, at least 2."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"
