"""Values of variables as people write them: `name=value`."""

from __future__ import annotations

from typing import Any

from playground.protocols import json_decoder
from playground.variables import is_name

#: Lines of a text, and characters of it.
MAX_LINES, MAX_TEXT = 200, 100_000


class AssignmentError(ValueError):
    """Something that is no name with a value. Quotes nothing: what stands there may be a secret."""


def parse_assignment(text: str) -> tuple[str, Any]:
    """A name, and its value: JSON, or text where it is no JSON. Raises `AssignmentError`."""
    name, equals, value = text.partition("=")
    if not equals or not is_name(name):
        raise AssignmentError("name=value is wanted")
    try:
        return name, json_decoder.decode(value)
    except (ValueError, RecursionError):
        return name, value


def parse_assignments(text: str) -> dict[str, Any]:
    """Those of a text, one a line; empty lines say nothing, and of two the later one counts.

    Raises `AssignmentError`, a sentence with the line.
    """
    found: dict[str, Any] = {}
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        raise AssignmentError(f"There are more than {MAX_LINES} lines.")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            name, value = parse_assignment(line.lstrip())
        except AssignmentError as error:
            raise AssignmentError(f"Line {number}: {error}.") from None
        found[name] = value
    return found
