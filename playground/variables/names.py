"""Names of variables, and the placeholders in a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

#: The most characters of a name.
MAX_NAME = 80
#: Variables with values made by the playground.
BUILT_IN = ("$uuid", "$timestamp", "$isoTimestamp", "$braces")

_NAME = re.compile(rf"[A-Za-z0-9_.-]{{1,{MAX_NAME}}}")
# Every repetition is bounded, so that the search takes linear time for any text.
PLACEHOLDER = re.compile(
    rf"\{{\{{[ \t]{{0,8}}(\$?[A-Za-z0-9_.-]{{1,{MAX_NAME}}})[ \t]{{0,8}}\}}\}}"
)


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def names_in(value: Any) -> list[str]:
    """Return the names in the strings of a JSON value without duplicates, in order of occurrence.

    Built-in names are included, with their `$`. Not recursive: works for any depth.
    """
    found = (match[1] for text in strings(value) for match in PLACEHOLDER.finditer(text))
    return list(dict.fromkeys(found))


def strings(value: Any) -> Iterator[str]:
    """Yield every string of a JSON value, including the names of members, in order."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            for name, inner in reversed(each.items()):
                pending += [inner, name]
        elif isinstance(each, list | tuple):
            pending += reversed(each)


def literal(value: Any, keep: Collection[str] = ()) -> Any:
    """Escape a JSON value so that substitution returns it unchanged.

    Only the names in `keep` stay placeholders. For values that the user did not write: an agent
    whose data contain `{{token}}` gets exactly that back. Recursive.
    """
    if isinstance(value, str):
        return _literal_text(value, keep)
    if isinstance(value, dict):
        return {_literal_text(name, keep): literal(each, keep) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [literal(each, keep) for each in value]
    return value


def _literal_text(text: str, keep: Collection[str]) -> str:
    if "{{" not in text:
        return text

    def escaped(match: re.Match[str]) -> str:
        placeholder = match.group()
        return placeholder if match.group(1) in keep else "{{$braces}}" + placeholder[2:]

    return PLACEHOLDER.sub(escaped, text)
