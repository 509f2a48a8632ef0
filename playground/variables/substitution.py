"""Values in place of names, in one pass: see the package for the rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

from playground.protocols.json_pointer import escape
from playground.variables.names import PLACEHOLDER
from playground.variables.urls import UrlPart, encode_value, next_part

#: Characters that values may add to one request.
MAX_GROWTH = 4 * 1024 * 1024
#: How deep a document may be nested.
MAX_DEPTH = 200


class VariableError(ValueError):
    """What was asked for makes no request: a sentence that shows no value."""


@dataclass(frozen=True, slots=True)
class Value:
    """What a name stands for."""

    #: Any JSON value; of a secret a text. Not shown, for the sake of logs.
    value: Any = field(repr=False)
    secret: bool = False


Lookup = Callable[[str], Value | None]


class Substituted(NamedTuple):
    """A value or a text with values in place of its names, in two forms.

    As it goes out, and as it is kept, without the values of secrets.
    """

    wire: Any
    stored: Any

    def __repr__(self) -> str:
        """What is kept: the other form holds secrets."""
        return f"Substituted(kept={self.stored!r})"


class Substitution:
    """Values in place of names in all parts of one request, with what was found on the way.

    `moment` is the caller's clock. All parts share the limit on growth; `VariableError` is
    raised where that, or a depth, is passed.
    """

    def __init__(
        self,
        lookup: Lookup,
        *,
        moment: datetime,
        most: int = MAX_GROWTH,
    ) -> None:
        self._lookup = lookup
        self._left = most
        self._built_in: Mapping[str, Callable[[], Any]] = {
            "$uuid": lambda: str(uuid4()),
            "$timestamp": lambda: int(moment.timestamp()),
            "$isoTimestamp": partial(_iso, moment),
            "$braces": lambda: "{{",
        }
        #: What values are as text: one that is used a thousand times is written once.
        self._texts: dict[str, str] = {}
        self._used: dict[str, bool] = {}
        #: (JSON pointer, or the place that was given; name) of every placeholder without a value.
        self.unresolved: list[tuple[str, str]] = []

    @property
    def used(self) -> tuple[str, ...]:
        """Names that had a value, built-in ones among them, in the order of their first use."""
        return tuple(self._used)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Those of them that are secrets."""
        return tuple(name for name, secret in self._used.items() if secret)

    def json(self, value: Any, pointer: str = "", depth: int = 0) -> Substituted:
        """A JSON value. `VariableError` where two names of an object become the same."""
        if isinstance(value, str):
            return self._string(value, pointer)
        if not isinstance(value, dict | list | tuple):
            return Substituted(value, value)
        if depth >= MAX_DEPTH:
            raise VariableError(f"The document is nested more than {MAX_DEPTH} deep.")
        if isinstance(value, dict):
            return self._object(value, pointer, depth)
        pairs = [self.json(each, f"{pointer}/{i}", depth + 1) for i, each in enumerate(value)]
        return Substituted([pair.wire for pair in pairs], [pair.stored for pair in pairs])

    def _object(self, value: Mapping[str, Any], pointer: str, depth: int) -> Substituted:
        sent: dict[str, Any] = {}
        kept: dict[str, Any] = {}
        for name, each in value.items():
            place = f"{pointer}/{escape(name)}"
            key = self.text(name, place)
            if key.wire in sent or key.stored in kept:
                raise VariableError(f"{place}: with its value this name stands there twice.")
            inner = self.json(each, place, depth + 1)
            sent[key.wire], kept[key.stored] = inner.wire, inner.stored
        return Substituted(sent, kept)

    def _string(self, text: str, pointer: str) -> Substituted:
        whole = PLACEHOLDER.fullmatch(text)
        if whole is None:
            return self.text(text, pointer)
        found = self._find(whole.group(1), pointer)
        if found is None:
            return Substituted(text, text)
        self._grow(self._text(whole.group(1), found))
        return Substituted(found.value, text if found.secret else found.value)

    def text(self, text: str, place: str = "") -> Substituted:
        """A text with the text of every value in it."""
        return self._walk(text, place, lambda text, _: text)

    def url(self, text: str, place: str = "") -> Substituted:
        """A URL: see `playground.variables.urls`. `VariableError` for what does not fit."""
        return self._walk(text, place, encode_value)

    def _walk(self, text: str, place: str, fit: Callable[[str, UrlPart], str]) -> Substituted:
        if "{{" not in text:
            return Substituted(text, text)
        sent: list[str] = []
        kept: list[str] = []
        part, end = UrlPart.START, 0
        for match in PLACEHOLDER.finditer(text):
            before = text[end : match.start()]
            part, end = next_part(part, before), match.end()
            shown, inner = match.group(), match.group()
            found = self._find(match.group(1), place)
            if found is not None:
                shown = self._fitted(match.group(1), found, part, fit)
                self._grow(shown)
                inner = inner if found.secret else shown
            part = next_part(part, shown)
            sent += [before, shown]
            kept += [before, inner]
        return Substituted("".join(sent) + text[end:], "".join(kept) + text[end:])

    def _fitted(
        self, name: str, found: Value, part: UrlPart, fit: Callable[[str, UrlPart], str]
    ) -> str:
        if fit is encode_value and found.secret and part.is_host:
            raise VariableError(
                f"“{name}” is a secret, and a secret cannot stand where the address says the host."
            )
        try:
            return fit(self._text(name, found), part)
        except ValueError as error:
            raise VariableError(f"“{name}” {error}") from None

    def _find(self, name: str, pointer: str) -> Value | None:
        made = self._built_in.get(name)
        found = Value(made()) if made else self._lookup(name)
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
        self._left -= len(text)
        if self._left < 0:
            raise VariableError("With the values of its variables the request is too large.")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
