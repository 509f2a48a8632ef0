"""Positions of JSON pointers in the text of a document, for marking the location of a finding."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

from playground.protocols.json_pointer import keys_of

_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|.", re.DOTALL)
_DECODER = json.JSONDecoder()


class Span(NamedTuple):
    """A part of a text, as offsets of its characters."""

    start: int
    end: int
    #: Whether the pointer leads to nothing: the span is the opening bracket of its container.
    is_missing: bool = False

    def moved(self, by: int) -> Span:
        """Return the span in a text that has `by` more characters before it."""
        return self._replace(start=self.start + by, end=self.end + by)


def span_of(text: str, pointer: str) -> Span | None:
    """Return the member or element that a pointer leads to; None if the text is not JSON.

    The part after a `#` is a pointer into the JSON of the string before it, unless the `#` is part
    of a name: see `Finding.pointer`.
    """
    try:
        top = _skip(text, 0)
        _end(text, top)
        found = _find(text, top, keys_of(pointer))
        outer, mark, inner = pointer.partition("#")
        if not (mark and found.is_missing):
            return found
        return _inside(text, _find(text, top, keys_of(outer), value_only=True), inner)
    except (ValueError, IndexError, StopIteration, RecursionError):
        return None


def _inside(text: str, span: Span, pointer: str) -> Span | None:
    """Return where a pointer leads in the JSON of the string at `span`."""
    if span.is_missing or text[span.start] != '"':
        return span
    raw = text[span.start + 1 : span.end - 1]
    offsets = [span.start + 1 + found.start() for found in _ESCAPE.finditer(raw)]
    offsets.append(span.end - 1)
    inner = span_of(json.loads(text[span.start : span.end], strict=False), pointer)
    if inner is None:
        return span
    return inner._replace(start=offsets[inner.start], end=offsets[inner.end])


def _find(text: str, at: int, keys: list[str], *, value_only: bool = False) -> Span:
    """Return where keys lead from the value at `at`; a member includes its name."""
    named = at
    for key in keys:
        if text[at] == "{":
            found = _member(text, at, key)
        elif text[at] == "[" and key.isdecimal():
            found = _element(text, at, int(key))
        else:
            found = None
        if found is None:
            return Span(at, at + 1, is_missing=True)
        named, at = found
    return Span(at if value_only else named, _end(text, at))


def _member(text: str, at: int, key: str) -> tuple[int, int] | None:
    """Return the offsets of a member and of its value: the last of its name."""
    found = None
    at = _skip(text, at + 1)
    while text[at] != "}":
        named = at
        name, at = scanstring(text, at + 1, False)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            found = named, at
        at = _skip(text, _end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _element(text: str, at: int, index: int) -> tuple[int, int] | None:
    """Return the offset of an element, as that of its value too."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        if index == 0:
            return at, at
        index -= 1
        at = _skip(text, _end(text, at))
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]
