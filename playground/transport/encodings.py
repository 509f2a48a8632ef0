"""Encodings of text within text, decoded with the positions that the text had before.

For `playground.transport.redaction`, which searches secrets in what an agent sends. Agents write
one text in many ways: as JSON, URLs, HTML, Python and quoted-printable escape characters, one
within the other. `readings` returns all ways to read some bytes; each can tell where a part of it
stands in the original bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from html.entities import html5

#: The most encodings within each other that are decoded, and decoded values that are cached.
_LEVELS, _CACHED = 5, 4096
#: More bytes than any encoded character has.
_LONGEST = 64

_CHARACTER = rb"""
    [\\%]u[Dd][89ABab][0-9A-Fa-f]{2}[\\%]u[Dd][C-Fc-f][0-9A-Fa-f]{2}  # two surrogates
  | \\U000[0-9A-Fa-f]{5}                                        # Python
  | \\[uU][0-9A-Fa-f]{4}                                        # JSON, also in upper case
  | \\u\{[0-9A-Fa-f]{1,6}\}                                     # JavaScript
  | \\[xX][0-9A-Fa-f]{2} | \\[0-3][0-7]{2}                      # Python, C and shells
  | \\["'/\\bfnrt]
  | %[uU][0-9A-Fa-f]{4} | %[0-9A-Fa-f]{2}                       # URLs
  | &\#0{0,16}[0-9]{1,7};? | &\#[xX]0{0,16}[0-9A-Fa-f]{1,6};?   # HTML
  | &[A-Za-z][A-Za-z0-9]{1,30};
"""
#: The beginning of one of these, or one that more bytes could change. It is exact: what it matches
#: at the end of a piece is shown late.
_CHARACTER_CUT = rb"""
    [\\%]u[Dd][89ABab][0-9A-Fa-f]{2}(?:[\\%](?:u(?:[Dd](?:[C-Fc-f][0-9A-Fa-f]?)?)?)?)?
  | \\U000[0-9A-Fa-f]{1,4} | \\[uU][0-9A-Fa-f]{0,3} | \\u\{[0-9A-Fa-f]{0,6}
  | \\[xX][0-9A-Fa-f]? | \\[0-3][0-7]? | \\
  | %[uU][0-9A-Fa-f]{0,3} | %[0-9A-Fa-f]?
  | &\#0{0,16}[0-9]{0,7} | &\#[xX]0{0,16}[0-9A-Fa-f]{0,6} | &(?:[A-Za-z][A-Za-z0-9]{0,30})?
"""
#: An event writes each line of a text in a field of its own.
_LINE = rb"(?:\r\n|\r|\n)(?:data:[ ]?)?"
_LINE_CUT = rb"(?:\r\n|\r|\n)(?:d(?:a(?:t(?:a:?)?)?)?)?"
_CONTROLS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class Encoding:
    """A pattern of encoded text, and the function that decodes a match of it.

    `cut` matches the beginning of encoded text at the end of bytes that will be continued.
    """

    def __init__(self, pattern: bytes, cut: bytes, decode: Callable[[bytes], bytes]) -> None:
        self._pattern = re.compile(pattern, re.VERBOSE)
        self._pattern_at_end = re.compile(rb"(?P<cut>(?:%b)\Z)|%b" % (cut, pattern), re.VERBOSE)
        self.decode = decode

    def find(
        self, data: bytes, begin: int = 0, *, continued: bool = False
    ) -> Iterator[re.Match[bytes]]:
        """Yield the encoded texts, in order; the last has a group `cut` if the end cuts it."""
        if not continued:
            yield from self._pattern.finditer(data, begin)
            return
        # Two patterns, because the second one is slow.
        end = max(begin, len(data) - _LONGEST)
        for found in self._pattern.finditer(data, begin):
            if found.start() >= end:
                break
            yield found
            begin = found.end()
        yield from self._pattern_at_end.finditer(data, max(begin, end))


@dataclass(slots=True)
class Reading:
    """Bytes of which some were decoded from `source`; None for the original bytes."""

    data: bytes
    source: Reading | None = None
    #: Each decoded part, from and to: here, and in the source.
    _starts: list[int] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _source_starts: list[int] = field(default_factory=list)
    _source_ends: list[int] = field(default_factory=list)

    def start(self, position: int) -> int:
        """Return the position in the original bytes of the byte at `position`."""
        if self.source is None:
            return position
        at = bisect_right(self._starts, position) - 1
        if at >= 0:
            past = position - self._ends[at]
            position = self._source_ends[at] + past if past >= 0 else self._source_starts[at]
        return self.source.start(position)

    def end(self, position: int) -> int:
        """Return the position in the original bytes behind the byte before `position`."""
        if self.source is None:
            return position
        at = bisect_right(self._starts, position - 1) - 1
        if at >= 0:
            past = position - self._ends[at]
            position = self._source_ends[at] + max(past, 0)
        return self.source.end(position)

    def widened(self, start: int, end: int) -> tuple[int, int]:
        """Return a span of the original bytes, widened to whole encoded characters."""
        start, end = self._own(start, end)
        return self.start(start), self.end(end)

    def _own(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in this reading that has a span of the original bytes."""
        if self.source is None:
            return start, end
        start, end = self.source._own(start, end)
        at = bisect_right(self._source_starts, start) - 1
        if at >= 0:
            past = start - self._source_ends[at]
            start = self._ends[at] + past if past >= 0 else self._starts[at]
        at = bisect_left(self._source_starts, end) - 1
        if at >= 0:
            end = self._ends[at] + max(end - self._source_ends[at], 0)
        return start, end

    def decoded(
        self, encoding: Encoding, *, continued: bool = False, begin: int = 0
    ) -> Reading | None:
        """Return a reading without `encoding`, from `begin` on; None if it would be the same.

        It has nothing of an encoded character that is cut, if the bytes will be `continued`.
        """
        result = Reading(b"", self)
        pieces: list[bytes] = []
        length, position, end = 0, begin, len(self.data)
        if begin:
            result._add(0, 0, 0, begin)
        for found in encoding.find(self.data, begin, continued=continued):
            if found.lastgroup:
                end = found.start()
                break
            encoded = found.group()
            if (value := encoding.decode(encoded)) != encoded:
                start = found.start()
                pieces += self.data[position:start], value
                length += start - position
                position = found.end()
                result._add(length, length + len(value), start, position)
                length += len(value)
        if position == 0 and end == len(self.data):
            return None
        pieces.append(self.data[position:end])
        result.data = b"".join(pieces)
        return result

    def _add(self, start: int, end: int, source_start: int, source_end: int) -> None:
        self._starts.append(start)
        self._ends.append(end)
        self._source_starts.append(source_start)
        self._source_ends.append(source_end)


def readings(
    data: bytes, *, lines: bool = False, continued: bool = False
) -> tuple[list[Reading], list[Reading]]:
    """Return all ways to read `data`: level by level, at first as it is; and other ways.

    With `lines`, all line breaks are read as "\\n", also those between the lines of an event. The
    bytes may be `continued`: then a cut character at the end is in the first reading only.
    """
    encoding = CHARACTERS_AND_LINES if lines else CHARACTERS
    levels = [Reading(data)]
    while len(levels) <= _LEVELS:
        reading = levels[-1].decoded(encoding, continued=continued)
        if reading is None:
            break
        levels.append(reading)
    plain = [levels[0], *levels[1:][-1:]]
    others = (each.decoded(QUOTED_PRINTABLE, continued=continued) for each in plain)
    return levels, [each for each in others if each]


@lru_cache(_CACHED)
def _character(encoded: bytes) -> bytes:
    """Return an encoded character in UTF-8, or the byte itself; unknown ones as they are."""
    kind = encoded[1:2]
    if encoded[:1] == b"&":
        return _html_character(encoded.decode()).encode("utf-8", "surrogatepass")
    if kind in b"uU":
        return _unicode_character(encoded)
    if kind in b"xX":
        return bytes.fromhex(encoded[2:].decode())
    if encoded[:1] == b"%":
        return bytes.fromhex(encoded[1:].decode())
    if kind.isdigit():
        return bytes([int(encoded[1:], 8)])
    return _CONTROLS.get(kind, kind)


def _unicode_character(encoded: bytes) -> bytes:
    digits = encoded[2:].strip(b"{}")
    if len(digits) > 8:
        pair = digits[:4] + digits[6:]
        return bytes.fromhex(pair.decode()).decode("utf-16-be").encode()
    number = int(digits, 16)
    return chr(number).encode("utf-8", "surrogatepass") if number <= 0x10FFFF else encoded


def _html_character(encoded: str) -> str:
    if encoded[1] == "#":
        return unescape(encoded)
    name = encoded[1:]
    return html5.get(name) or html5.get(name.lower(), encoded)


def _character_or_line(encoded: bytes) -> bytes:
    return b"\n" if encoded[:1] in b"\r\n" else _character(encoded)


def _quoted_printable(encoded: bytes) -> bytes:
    digits = encoded[1:].strip()
    return bytes.fromhex(digits.decode()) if digits else b""


def _nothing(_: bytes) -> bytes:
    return b""


CHARACTERS = Encoding(_CHARACTER, _CHARACTER_CUT, _character)
CHARACTERS_AND_LINES = Encoding(
    rb"%b|%b" % (_CHARACTER, _LINE),
    rb"%b|%b" % (_CHARACTER_CUT, _LINE_CUT),
    _character_or_line,
)
#: RFC 2045, section 6.7. A single character is more often a parameter, unless it is "=".
QUOTED_PRINTABLE = Encoding(
    rb"=(?:3[Dd]|[0-9A-Fa-f]{2}(?:(?==[0-9A-Fa-f]{2})|(?<==[0-9A-Fa-f]{2}=..))|[ \t]{0,8}\r?\n)",
    rb"=[0-9A-Fa-f]{0,2}(?:=[0-9A-Fa-f]?)?|=[ \t]{0,8}\r?",
    _quoted_printable,
)
#: Breaks between lines, which may be those of an event, or indented.
LINE_BREAKS = Encoding(rb"\n(?:data:)?[ \t\n]*", rb"\n(?:d(?:a(?:t(?:a:?)?)?)?|[ \t\n]*)", _nothing)
#: Separators between bytes in hexadecimal; forms write a space as "+".
SEPARATORS = Encoding(rb"[\s+,:\-]+(?:0[xX])?|0[xX]", rb"[\s+,:\-]+0?|0", _nothing)
#: The framing of chunks (RFC 9112, section 7.1), as the connection carries it.
CHUNK_FRAMING = Encoding(
    rb"\r\n[0-9A-Fa-f]{1,8}[ \t]{0,8}(?:;[^\r\n]{0,256})?\r\n", rb"\Zx", _nothing
)
