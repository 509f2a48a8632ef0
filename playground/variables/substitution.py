"""Substitution of placeholders, in one pass: see the package for the rules.

In a URL a value cannot change more than its own part:

- A placeholder at the start of the URL is a base URL (`{{base}}/ask`) and is inserted verbatim.
- In the host, a value may have only the characters of a host and port, none of which end the
  host: otherwise the value would select the target of the request.
- After that, in path, query and fragment, a value is percent-encoded (RFC 3986, section 2.1).
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from playground.protocols.json_pointer import escape
from playground.variables.names import PLACEHOLDER

#: The most characters that values may add to one request.
MAX_GROWTH = 4 * 1024 * 1024
#: The most levels of nesting of a document.
MAX_DEPTH = 200

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]*")
_END_OF_HOST = re.compile(r"[/?#\\]")


class VariableError(ValueError):
    """A request that cannot be built, as a sentence that shows no value."""


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a variable."""

    #: Any JSON value; a secret is a text. Not in the repr, so that logs never show it.
    value: Any = field(repr=False)
    secret: bool = False


Lookup = Callable[[str], Value | None]


class Substituted(NamedTuple):
    """A value or a text after substitution, in two forms.

    The wire form is sent; the stored form has no values of secrets.
    """

    wire: Any
    stored: Any

    def __repr__(self) -> str:
        """Return the stored form only, because the wire form contains secrets."""
        return f"Substituted(stored={self.stored!r})"


class UrlPart(enum.Enum):
    """The part of a URL that comes next."""

    #: Nothing was read yet.
    START = enum.auto()
    #: The scheme has begun.
    SCHEME = enum.auto()
    HOST = enum.auto()
    #: Path, query or fragment.
    REST = enum.auto()


def _next_part(part: UrlPart, text: str) -> UrlPart:
    """Return the part after `text`, if `part` is the part before it."""
    if part is UrlPart.REST or not text:
        return part
    if part is not UrlPart.HOST:
        _, separator, text = text.partition("://")
        if not separator:
            return UrlPart.SCHEME
    return UrlPart.REST if _END_OF_HOST.search(text) else UrlPart.HOST


def _encode_value(value: str, part: UrlPart) -> str:
    """Return a value encoded for this part of a URL.

    Raise `ValueError` with the rest of a sentence that begins with the variable's name.
    """
    if part is UrlPart.START:
        return value
    if part is UrlPart.REST:
        return quote(value.encode("utf-8", "replace"), safe="")
    if not _HOST.fullmatch(value):
        raise ValueError(
            "is in the host of the URL, but its value contains characters that are not valid in "
            "a host and port. Put a full URL at the beginning, and a “/” after the host."
        )
    return value


class Substitution:
    """Substitutes placeholders in all parts of one request, and records the names that occur.

    `moment` is the time for the built-in variables. All parts share the limit on growth. Raise
    `VariableError` if it or the limit on depth is exceeded.
    """

    def __init__(
        self,
        lookup: Lookup,
        *,
        moment: datetime,
        most: int = MAX_GROWTH,
    ) -> None:
        self._lookup = lookup
        self._remaining = most
        self._built_in: Mapping[str, Callable[[], Any]] = {
            "$uuid": lambda: str(uuid4()),
            "$timestamp": lambda: int(moment.timestamp()),
            "$isoTimestamp": lambda: (
                moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            ),
            "$braces": lambda: "{{",
        }
        #: Values as text, cached because a value may be used a thousand times.
        self._texts: dict[str, str] = {}
        self._used: dict[str, bool] = {}
        #: (JSON pointer or the given location, name) of every unresolved variable.
        self.unresolved: list[tuple[str, str]] = []

    @property
    def used(self) -> tuple[str, ...]:
        """Return the names with a value, built-in ones included, in the order of first use."""
        return tuple(self._used)

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(name for name, secret in self._used.items() if secret)

    def json(self, value: Any, pointer: str = "", depth: int = 0) -> Substituted:
        """Substitute in a JSON value. Raise `VariableError` if two names become equal."""
        if isinstance(value, str):
            return self._string(value, pointer)
        if not isinstance(value, dict | list | tuple):
            return Substituted(value, value)
        if depth >= MAX_DEPTH:
            raise VariableError(f"The document is nested more than {MAX_DEPTH} levels deep.")
        if isinstance(value, dict):
            return self._object(value, pointer, depth)
        pairs = [self.json(each, f"{pointer}/{i}", depth + 1) for i, each in enumerate(value)]
        return Substituted([pair.wire for pair in pairs], [pair.stored for pair in pairs])

    def _object(self, value: Mapping[str, Any], pointer: str, depth: int) -> Substituted:
        wire_parts: dict[str, Any] = {}
        stored_parts: dict[str, Any] = {}
        for name, each in value.items():
            location = f"{pointer}/{escape(name)}"
            key = self.text(name, location)
            if key.wire in wire_parts or key.stored in stored_parts:
                raise VariableError(f"{location}: duplicate name after variable substitution.")
            inner = self.json(each, location, depth + 1)
            wire_parts[key.wire], stored_parts[key.stored] = inner.wire, inner.stored
        return Substituted(wire_parts, stored_parts)

    def _string(self, text: str, pointer: str) -> Substituted:
        match = PLACEHOLDER.fullmatch(text)
        if match is None:
            return self.text(text, pointer)
        found = self._find(match.group(1), pointer)
        if found is None:
            return Substituted(text, text)
        self._grow(self._text(match.group(1), found))
        return Substituted(found.value, text if found.secret else found.value)

    def text(self, text: str, location: str = "") -> Substituted:
        """Substitute in a text: every value is inserted as text."""
        return self._substitute(text, location, lambda text, _: text)

    def url(self, text: str, location: str = "") -> Substituted:
        """Substitute in a URL, part by part. Raise `VariableError`."""
        return self._substitute(text, location, _encode_value)

    def _substitute(
        self, text: str, location: str, encode: Callable[[str, UrlPart], str]
    ) -> Substituted:
        if "{{" not in text:
            return Substituted(text, text)
        wire_parts: list[str] = []
        stored_parts: list[str] = []
        part, end = UrlPart.START, 0
        for match in PLACEHOLDER.finditer(text):
            before = text[end : match.start()]
            part, end = _next_part(part, before), match.end()
            shown, inner = match.group(), match.group()
            found = self._find(match.group(1), location)
            if found is not None:
                shown = self._encoded(match.group(1), found, part, encode)
                self._grow(shown)
                inner = inner if found.secret else shown
            part = _next_part(part, shown)
            wire_parts += [before, shown]
            stored_parts += [before, inner]
        return Substituted("".join(wire_parts) + text[end:], "".join(stored_parts) + text[end:])

    def _encoded(
        self, name: str, found: Value, part: UrlPart, encode: Callable[[str, UrlPart], str]
    ) -> str:
        # Before the path, a value selects the target of the request.
        if encode is _encode_value and found.secret and part is not UrlPart.REST:
            raise VariableError(
                f"“{name}” is a secret. Secrets are not allowed in the host of a URL."
            )
        try:
            return encode(self._text(name, found), part)
        except ValueError as error:
            raise VariableError(f"“{name}” {error}") from None

    def _find(self, name: str, pointer: str) -> Value | None:
        built_in = self._built_in.get(name)
        found = Value(built_in()) if built_in else self._lookup(name)
        if found is None:
            self.unresolved.append((pointer, name))
        else:
            self._used.setdefault(name, found.secret)
        return found

    def _text(self, name: str, found: Value) -> str:
        if isinstance(found.value, str):
            return found.value
        if name not in self._texts:
            self._texts[name] = json.dumps(
                found.value, ensure_ascii=False, separators=(",", ":"), default=str
            )
        return self._texts[name]

    def _grow(self, text: str) -> None:
        self._remaining -= len(text)
        if self._remaining < 0:
            raise VariableError("The request is too large after variable substitution.")
