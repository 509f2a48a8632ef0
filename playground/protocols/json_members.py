"""Positions of the members and elements of a JSON text, also of an incomplete or invalid one.

One pass over the text, which never raises: where it stops being JSON, the scan stops, and whatever
was open ends there. `playground.protocols.json_decoder` reads the values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from playground.protocols.json_pointer import escape

#: Levels whose parts are listed, and characters of the name of a member whose value is searched.
#: Both bound the length of pointers, and so the memory that a hostile text needs.
MAX_LEVELS, MAX_NAME = 24, 100
#: Elements of an array that are listed one by one even if they have the same members.
MAX_ALIKE = 5
_TOKEN = re.compile(
    r'[ \t\r\n]*(?:("(?:[^"\\]+|\\.)*("?))|([{}\[\],:])|([^\s{}\[\],:"]+)|\S)?', re.DOTALL
)
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(slots=True)
class JsonPart:
    """A member, an element that is an object or array, or the whole value."""

    #: Offsets of the part; that of a member begins with its name.
    start: int
    end: int
    value_start: int
    #: From the root on, with the indexes of elements as text.
    pointer: str
    #: The pointer with `*` in place of indexes: the same for all elements of an array.
    shape: str
    name: str
    #: "object", "array", "string" or "other"; "" without a value.
    kind: str = ""
    is_element: bool = False
    #: Members or elements of the value.
    count: int = 0
    #: Number of consecutive elements that this part stands for, whose members are not listed
    #: because earlier elements have the same; 0 for an ordinary part.
    alike: int = 0


@dataclass(slots=True)
class JsonScan:
    """The parts of a text in the order of the text, and where it stops being JSON."""

    parts: list[JsonPart] = field(default_factory=list)
    #: Offset at which the text ends too early or is invalid; None for complete JSON.
    stopped: int | None = None
    #: Whether the text is JSON up to its end, which comes too early.
    is_cut: bool = False


@dataclass(slots=True)
class _Open:
    """An object or array that has not ended."""

    closing: str
    #: Its part; None below the listed levels.
    part: JsonPart | None
    #: Whether its members and elements are listed.
    is_listed: bool
    #: The position of its part in the list.
    at: int
    #: What follows: "first" (a name, a value or the end), "name", "colon", "value", "comma".
    state: str
    count: int = 0
    #: Name of the member that is being read, and where it begins.
    name: str = ""
    named: int = 0
    #: Of an array: the shapes of members that its elements have.
    shapes: set[str] = field(default_factory=set)


def scan(text: str) -> JsonScan:
    """Takes time in proportion to the length of the text. Never raises."""
    return _Scanner(text).scan()


def scalars_of(text: str, found: JsonScan) -> dict[str, Any]:
    """Return the scalar members of nested objects as one document, for an incomplete text."""
    root: dict[str, Any] = {}
    for part in found.parts:
        keys = part.pointer.split("/")[1:]
        if part.is_element or not keys or "*" in part.shape or len(keys) > 2:
            continue
        if part.kind in ("string", "other") and (value := scalar(text, part)) is not None:
            inner = root if len(keys) == 1 else root.setdefault(keys[0], {})
            if isinstance(inner, dict):
                inner[part.name] = value
    return root


def scalar(text: str, part: JsonPart) -> Any:
    """Return the value of a scalar of at most 200 characters; None for a longer or invalid one."""
    if part.end - part.value_start > 200:
        return None
    try:
        return json.loads(text[part.value_start : part.end], strict=False)
    except (ValueError, RecursionError):
        return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._found = JsonScan()
        self._open: list[_Open] = []

    def scan(self) -> JsonScan:
        at = end = 0
        is_done = False
        for start, end, mark, is_closed in self._tokens():
            if mark == "" or is_done or not self._take(start, end, mark, is_closed):
                # The end of the text, or something that does not belong there.
                if mark == "" and is_done:
                    return self._found
                is_cut = mark == "" or (end == len(self._text) and not is_closed and not is_done)
                return self._stop(len(self._text) if is_cut else start, is_cut=is_cut)
            at = end
            is_done = not self._open
        return self._stop(at, is_cut=True)

    def _tokens(self) -> Iterator[tuple[int, int, str, bool]]:
        """Yield tokens as (start, end, first character or scalar, whether it is complete)."""
        at, text = 0, self._text
        while True:
            found = _TOKEN.match(text, at)
            if found is None:  # It matches everywhere.
                return
            at = found.end()
            if found[1] is not None:
                yield found.start(1), at, '"', bool(found[2])
            elif found[3] is not None:
                yield found.start(3), at, found[3], True
            elif found[4] is not None:
                is_scalar = _SCALAR.fullmatch(found[4]) is not None
                yield found.start(4), at, "x", is_scalar
            elif at < len(text):
                yield at, at + 1, "?", True
            else:
                yield at, at, "", False

    def _take(self, start: int, end: int, mark: str, is_closed: bool) -> bool:
        """Read a mark; return whether it belongs there and is complete."""
        if not self._open:
            return self._value(start, start, end, mark, is_closed)
        top = self._open[-1]
        if mark == top.closing and top.state in ("first", "comma"):
            self._close(end)
            return True
        if top.state == "comma":
            if mark != ",":
                return False
            top.state = "name" if top.closing == "}" else "value"
            return True
        if top.state == "colon":
            top.state = "value"
            return mark == ":"
        if top.closing == "}" and top.state in ("first", "name"):
            if mark != '"':
                return False
            top.state, top.named, top.name = "colon", start, self._string(start, end, is_closed)
            if not is_closed:
                self._add_part(top, start, end)
            return is_closed
        named = top.named if top.closing == "}" else start
        return self._value(named, start, end, mark, is_closed)

    def _string(self, start: int, end: int, is_closed: bool) -> str:
        raw = self._text[start:end] if is_closed else self._text[start:end] + '"'
        try:
            return str(json.loads(raw, strict=False))
        except ValueError:
            return raw[1:-1]

    def _value(self, named: int, start: int, end: int, mark: str, is_closed: bool) -> bool:
        if mark not in ('"', "x", "{", "["):
            return False
        top = self._open[-1] if self._open else None
        is_container = mark in _CLOSING
        part: JsonPart | None = None
        if top is None:
            part = JsonPart(start, end, start, "", "", "")
            self._found.parts.append(part)
        elif top.closing == "}" or is_container:
            part = self._add_part(top, named, end)
        if top is not None:
            top.count += 1
            top.state = "comma"
        if part is not None:
            part.value_start = start
            kinds = {"{": "object", "[": "array", '"': "string"}
            part.kind = kinds.get(mark, "other")
        if is_container:
            # A long name would make the pointers of everything below it long.
            is_listed = part is not None and len(part.name) <= MAX_NAME
            at = len(self._found.parts) - 1
            self._open.append(_Open(_CLOSING[mark], part, is_listed, at, "first"))
        return is_closed

    def _add_part(self, top: _Open, start: int, end: int) -> JsonPart | None:
        if top.part is None or not top.is_listed or len(self._open) > MAX_LEVELS:
            return None
        is_element = top.closing == "]"
        name = str(top.count) if is_element else top.name
        key = escape(name[:MAX_NAME])
        part = JsonPart(
            start,
            end,
            end,
            f"{top.part.pointer}/{key}",
            f"{top.part.shape}/{'*' if is_element else key}",
            name,
            is_element=is_element,
        )
        self._found.parts.append(part)
        return part

    def _close(self, end: int) -> None:
        closed = self._open.pop()
        if closed.part is None:
            return
        closed.part.end, closed.part.count = end, closed.count
        if closed.part.is_element and closed.is_listed:
            self._group(self._open[-1], closed.at, closed.part)

    def _group(self, array: _Open, at: int, part: JsonPart) -> None:
        """Put an element whose members are known from others into a group with its neighbours."""
        parts = self._found.parts
        shapes = {f"{each.shape} {each.kind}" for each in parts[at:]}
        is_known = shapes <= array.shapes
        array.shapes |= shapes
        if not is_known or int(part.name) < MAX_ALIKE:
            return
        del parts[at + 1 :]
        before = parts[at - 1]
        is_same = before.alike and before.shape == part.shape
        if is_same and int(before.name) + before.alike == int(part.name):
            before.end, before.alike = part.end, before.alike + 1
            parts.pop()
            return
        part.alike = 1

    def _stop(self, at: int, *, is_cut: bool) -> JsonScan:
        """End everything that is open at the offset where the text stops being JSON."""
        for each in self._open:
            if each.part is not None:
                each.part.end, each.part.count = at, each.count
        parts = self._found.parts
        if parts and parts[-1].start >= at:
            parts.pop()
        elif parts:
            parts[-1].end = min(parts[-1].end, at)
        self._found.stopped, self._found.is_cut = at, is_cut
        return self._found
