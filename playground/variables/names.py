"""The names of variables, and where they occur."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

#: Longest name of a variable.
MAX_NAME = 80
#: Made by the playground itself.
BUILT_IN = ("$uuid", "$timestamp", "$isoTimestamp", "$braces")

_NAME = re.compile(rf"[A-Za-z0-9_.-]{{1,{MAX_NAME}}}")
# Every repetition is bounded, so that the search takes linear time whatever the text.
PLACEHOLDER = re.compile(
    rf"\{{\{{[ \t]{{0,8}}(\$?[A-Za-z0-9_.-]{{1,{MAX_NAME}}})[ \t]{{0,8}}\}}\}}"
)


def is_name(text: str) -> bool:
    """Whether a variable can be called so."""
    return _NAME.fullmatch(text) is not None


def names_in(value: Any) -> list[str]:
    """The names in the strings of a JSON value, each once, in the order of the text.

    Built-in ones are among them, with their `$`. Takes any depth.
    """
    return list(dict.fromkeys(name for text in strings(value) for name in _found(text)))


def _found(text: str) -> Iterator[str]:
    return (match.group(1) for match in PLACEHOLDER.finditer(text))


def strings(value: Any) -> Iterator[str]:
    """Every string of a JSON value, the names of its objects among them, in order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            for name, inner in reversed(each.items()):
                waiting += [inner, name]
        elif isinstance(each, list | tuple):
            waiting += reversed(each)


def literal(value: Any, keep: Collection[str] = ()) -> Any:
    """A JSON value so written that substitution gives it back as it is.

    Only the names in `keep` stay placeholders. For what was not written by the user: an agent
    whose data says `{{token}}` gets just that back. Recurses as deep as the value is nested.
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

    def written(match: re.Match[str]) -> str:
        whole = match.group()
        return whole if match.group(1) in keep else "{{$braces}}" + whole[2:]

    return PLACEHOLDER.sub(written, text)
