"""JSON values and texts as source code, with environment variables where secrets stood."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from playground.library.sketches import SecretPlaceholder, Text, split_secrets

#: Whole numbers that JavaScript keeps exact.
_SAFE = 2**53 - 1
#: Characters up to which an object or a list stands on one line.
_LINE = 60
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    """How a language writes things."""

    true: str
    false: str
    null: str
    #: A text without secrets.
    string: Callable[[str], str]
    #: The value of an environment variable.
    variable: Callable[[str], str]
    #: What one step of nesting is indented by.
    indent: str

    def text(self, text: Text) -> str:
        """A text, put together where secrets are in it."""
        parts = [
            self.variable(part.variable)
            if isinstance(part, SecretPlaceholder)
            else self.string(part)
            for part in text
        ]
        return " + ".join(parts) or self.string("")

    def value(self, value: Any, depth: int = 0) -> str:
        """A JSON value over several lines, nested by `depth` steps already."""
        if isinstance(value, dict) and value:
            rows = [
                f"{self._key(name)}: {self.value(inner, depth + 1)}"
                for name, inner in value.items()
            ]
            return self._rows("{", rows, "}", depth)
        if isinstance(value, list) and value:
            return self._rows("[", [self.value(each, depth + 1) for each in value], "]", depth)
        return self._scalar(value)

    def _scalar(self, value: Any) -> str:
        if isinstance(value, str):
            return self.text(split_secrets(value))
        if value is None or isinstance(value, bool):
            return self.null if value is None else self.true if value else self.false
        return json.dumps(value)

    def _key(self, name: str) -> str:
        found = split_secrets(name)
        plain = all(isinstance(part, str) for part in found)
        return self.string(name) if plain else self._computed(self.text(found))

    def _computed(self, code: str) -> str:
        return f"[{code}]" if self.null == "null" else code

    def _rows(self, opening: str, rows: list[str], closing: str, depth: int) -> str:
        line = f"{opening}{', '.join(rows)}{closing}"
        if len(line) <= _LINE and "\n" not in line:
            return line
        inner, outer = self.indent * (depth + 1), self.indent * depth
        body = "".join(f"{inner}{row},\n" for row in rows)
        return f"{opening}\n{body}{outer}{closing}"


def _python_string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")
    # Python reads \/ and \u the way JSON does; halves of characters have to be escaped.
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted)


PYTHON = SourceLanguage(
    "True", "False", "None", _python_string, lambda name: f'os.environ["{name}"]', "    "
)
JAVASCRIPT = SourceLanguage(
    "true", "false", "null", _python_string, lambda name: f"process.env.{name}", "  "
)


def is_safe_in_javascript(value: Any) -> bool:
    """Whether JavaScript sends this JSON value again as it is.

    It rounds large numbers, writes 1.0 as 1, and sorts names that are whole numbers.
    """
    return all(map(_is_safe, _walk(value)))


def is_sendable_in_python(value: Any) -> bool:
    """Whether a client of Python can send this JSON value: not with half of a character in it."""
    return not any(isinstance(each, str) and _HALF.search(each) for each in _walk(value))


def _is_safe(value: Any) -> bool:
    if isinstance(value, str):
        return not _HALF.search(value)
    if isinstance(value, float):
        return False
    if isinstance(value, dict):
        return not any(name.isdecimal() or name == "__proto__" for name in value)
    return not isinstance(value, int) or -_SAFE <= value <= _SAFE


def _walk(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each
