"""Decoder for JSON from agents and users, with a check of its nesting depth, and its errors.

Why not plain `json.loads`: it accepts what later breaks a page or a database. Half a
surrogate pair cannot be encoded again, `NaN` and `1e999` cannot be written as JSON, and
nesting beyond the interpreter's own limit raises `RecursionError`. It also rejects JSON: an
integer of more than 4300 digits.

msgspec decodes most texts, in less than half the time. It reads no JSON to another value than the
decoder of the standard library, and refuses whatever needs more care; then that one decides.
"""

from __future__ import annotations

import json
import math
import re
import sys
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from operator import add
from typing import Any

import msgspec

_INFINITY = float("inf")


class TooManyValuesError(ValueError):
    """A JSON text with more values than its limit."""


# An opening bracket is a bit that is set, a closing one a bit that is not.
_BITS = bytes.maketrans(b"[{]}", b"1100")
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
#: Everything that neither begins a value (after a bracket or a comma) nor is a quote.
_NO_STARTS = bytes(set(range(256)) - set(b'[{,"'))
#: Brackets per table lookup, and bytes of text per step.
_WORD, _STEP = 16, 64 * 1024
#: The most values of a document; an empty object or array counts twice. They can take many times as
#: much memory as the text: 30 MB of `{},{},…` took 800.
MAX_VALUES = 1_000_000
#: The most values of the data of one event, which is read on the event loop.
MAX_EVENT_VALUES = 200_000
#: Characters that are encoded at once: a copy of the whole text would take as much memory again.
_SLICE = 1024 * 1024
#: First bytes in UTF-8 of characters beyond U+FFFF, each of them, and the bytes for one from which
#: on they are few.
_WIDE_STARTS = b"\xf0\xf1\xf2\xf3\xf4"
_WIDE, _WIDE_SHARE = re.compile(rb"[\xf0-\xf4][\x80-\xbf]{3}"), 32
_BACKSLASHES = re.compile(r"\\*")

# Every escape of a JSON string, so that `\\ud800` (a backslash, then letters) is skipped;
# group 1 is half of a surrogate pair whose other half is missing.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\.",
    re.DOTALL,
)


def exceeds_depth(text: str, limit: int) -> bool:
    """Return whether objects and arrays in `text` are nested more than `limit` deep.

    Also correct for invalid JSON, up to the place where a parser would stop. Costs next to
    nothing if there are fewer brackets than `limit`; beyond that one linear pass, whatever
    the text: a quarter of the time of parsing, for 32 MiB of brackets alone about half a second.
    """
    if text.count("{") + text.count("[") <= limit:
        return False
    net, peak = _tables()
    depth = 0
    for bits in _brackets(text):
        words = array("H", int(bits, 2).to_bytes(len(bits) // 8, "big"))
        if sys.byteorder == "little":
            words.byteswap()
        depths = list(accumulate(map(net.__getitem__, words), initial=depth))
        # The exact depth is needed only where a word could exceed the limit.
        if max(depths) + _WORD > limit and max(map(add, depths, map(peak.__getitem__, words))) > (
            limit
        ):
            return True
        depth = depths[-1]
    return False


def _brackets(document: str) -> Iterator[bytes]:
    """Yield the brackets outside of strings as binary digits, some words at a time."""
    # Removing two adjacent quotes changes for no bracket whether it is in a string. A string
    # without brackets is a pair of quotes.
    pieces = (part.translate(_BITS, _OTHERS) for part in _without_escapes(document))
    text = b"".join(pieces).replace(b'""', b"")
    is_inside, rest = 0, b""
    for start in range(0, len(text), _STEP):
        parts = text[start : start + _STEP].split(b'"')
        bits = rest + b"".join(parts[is_inside::2])
        is_inside ^= (len(parts) - 1) & 1
        end = len(bits) // _WORD * _WORD
        rest = bits[end:]
        if end:
            yield bits[:end]
    # Closing brackets fill the last word: they do not increase the depth.
    yield rest.ljust(_WORD, b"0")


def has_too_many_values(text: str, most: int | None = None) -> bool:
    """Return whether there are more than `most` values in `text`; None is `MAX_VALUES`."""
    most = MAX_VALUES if most is None else most
    if len(text) < 2 * most or sum(map(text.count, "[{,")) < most:
        return False
    # Without those in strings.
    count = is_inside = 0
    for part in _without_escapes(text):
        parts = part.translate(None, _NO_STARTS).split(b'"')
        count += sum(map(len, parts[is_inside::2]))
        is_inside ^= (len(parts) - 1) & 1
    return count >= most


def _without_escapes(text: str) -> Iterator[bytes]:
    """Yield the text without escaped quotes and backslashes, a slice at a time."""
    start = 0
    while start < len(text):
        end = start + _SLICE
        if text[end - 1 : end] == "\\" and (found := _BACKSLASHES.match(text, end)):
            end = found.end() + 1  # An escape ends after the next character.
        part = text[start:end].encode("utf-8", "surrogatepass")
        if b"\\" in part:
            part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        yield part
        start = end


@cache
def _tables() -> tuple[list[int], list[int]]:
    """Return for each word of brackets the change of depth, and the maximum depth within it."""
    net, peak = [0], [0]
    for _ in range(_WORD):
        # One more bracket in front: closing ones for the lower half, opening ones for the upper.
        net = [n - 1 for n in net] + [n + 1 for n in net]
        peak = [p and p - 1 for p in peak] + [p + 1 for p in peak]
    return net, peak


def without_wide_characters(body: bytearray) -> bytes | None:
    """Return a large JSON text in UTF-8 with characters beyond U+FFFF as escapes.

    With one of them Python's text takes four bytes for each character. None if there are none, or
    so many that escapes would not make it smaller. The value is the same, other texts are not.
    """
    if len(body) < _SLICE:
        return None
    count = sum(map(body.count, _WIDE_STARTS))
    return _WIDE.sub(_escaped, body) if 0 < count < len(body) / _WIDE_SHARE else None


def _escaped(character: re.Match[bytes]) -> bytes:
    try:
        return json.dumps(character[0].decode())[1:-1].encode()
    except UnicodeDecodeError:
        return character[0]


def has_half_pair(text: str) -> bool:
    """Return whether a JSON text has an escape that is half of a surrogate pair."""
    if "\\ud" not in text and "\\uD" not in text:
        return False
    return any(escape[1] for escape in _ESCAPE.finditer(text))


def _finite(text: str) -> float | str:
    number = float(text)
    return number if -_INFINITY < number < _INFINITY else text


def _integer(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:  # Python converts no more digits than `sys.get_int_max_str_digits()`.
        return text


#: A decoder, and a slower one for long integers, as it calls a function for each integer.
_Decoders = tuple[json.JSONDecoder, json.JSONDecoder]
_DECODERS: _Decoders = (
    json.JSONDecoder(parse_float=_finite, parse_constant=str),
    json.JSONDecoder(parse_float=_finite, parse_constant=str, parse_int=_integer),
)
_WHITE_SPACE = re.compile(r"[ \t\r\n]*")
_decode_usual = msgspec.json.Decoder().decode


def decode(text: str) -> Any:
    """Return the value of a JSON text, such that it can be written as JSON again.

    Numbers that JSON cannot express (`NaN`, `1e999`) and integers that Python does not convert
    become strings, halves of surrogate pairs become U+FFFD. Raises `ValueError` (a
    `json.JSONDecodeError` with line and column if the text is not JSON, `TooManyValuesError` if
    it is too large) and `RecursionError`: see `exceeds_depth`.
    """
    # Of a text that is not ASCII, msgspec makes a copy, which would be large.
    if (text.isascii() or len(text) < _SLICE) and not has_too_many_values(text):
        try:
            return _decode_usual(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass
    return _decode(text, _DECODERS)


def _decode(text: str, decoders: _Decoders) -> Any:
    """Return the value of a JSON text as `decode` does, by decoders of the standard library."""
    text = _decodable(text)
    # Faster without a search for white space around the value: in a stream there is none.
    start = 0 if text[:1] in ("{", "[") else _space_end(text, 0)
    value, end = _raw_decode(text, start, decoders)
    if end < len(text) and (end := _space_end(text, end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


class StrictDecoder:
    """Decodes as `decode` does, and tells whether a text has anything that decoders disagree on.

    That is a repeated name, a number that JSON does not have, an integer of thousands of digits, or
    half of a surrogate pair.
    """

    def __init__(self) -> None:
        #: Whether the last text has nothing of that kind.
        self.is_clean = True
        hooks: dict[str, Any] = {
            "parse_float": _finite,
            "parse_constant": self._constant,
            "object_pairs_hook": self._members,
        }
        self._decoders = (
            json.JSONDecoder(**hooks),
            json.JSONDecoder(**hooks, parse_int=self._integer),
        )

    def decode(self, text: str) -> Any:
        self.is_clean = not has_half_pair(text)
        return _decode(text, self._decoders)

    def _constant(self, name: str) -> str:
        self.is_clean = False
        return name

    def _integer(self, text: str) -> int | str:
        self.is_clean = False
        return _integer(text)

    def _members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            self.is_clean = False
        return members


def decode_event(text: str) -> Any:
    """Return the value of an event's data as `decode` does, with the limit `MAX_EVENT_VALUES`."""
    # The length first: it costs the least, and most events are short.
    if len(text) > MAX_EVENT_VALUES and has_too_many_values(text, MAX_EVENT_VALUES):
        raise TooManyValuesError(f"The data has more than {MAX_EVENT_VALUES:,} values")
    return decode(text)


def read_event(text: str) -> tuple[Any, str]:
    """Return the value of an event's data, and why it has none; "" for JSON."""
    try:
        return decode_event(text), ""
    except ValueError as error:
        if not text or text.isspace():
            return None, "The message has no data."
        return None, f"The data is not JSON: {error}."
    except RecursionError:
        return None, "The data is nested too deeply."


def decode_sequence(text: str) -> list[Any]:
    """Return the objects and arrays of a text that has one after another, or its only value.

    White space may stand between them. Raises as `decode` does, also for a text with anything else
    in it; an empty text has no values.
    """
    text = _decodable(text)
    values: list[Any] = []
    end = _space_end(text, 0)
    while end < len(text):
        # Others would not be counted against the limit of values, which counts separators.
        if values and text[end] not in "{[":
            raise json.JSONDecodeError("Expecting an object or an array", text, end)
        value, end = _raw_decode(text, end)
        values.append(value)
        end = _space_end(text, end)
    return values


def _decodable(text: str) -> str:
    """Return a text without halves of surrogate pairs. Raises `TooManyValuesError`."""
    if has_too_many_values(text):
        raise TooManyValuesError(f"The document has more than {MAX_VALUES:,} values")
    if ("\\ud" in text or "\\uD" in text) and has_half_pair(text):
        return _ESCAPE.sub(lambda escape: "\\ufffd" if escape[1] else escape[0], text)
    return text


def _raw_decode(text: str, start: int, decoders: _Decoders = _DECODERS) -> tuple[Any, int]:
    """Return the value that begins at `start`, and its end."""
    usual, with_long_integers = decoders
    try:
        return usual.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return with_long_integers.raw_decode(text, start)


def _space_end(text: str, start: int) -> int:
    found = _WHITE_SPACE.match(text, start)
    return found.end() if found else start


# Errors in a text that is meant to be JSON: plain descriptions, and positions. The decoder of the
# standard library mentions expected delimiters, and for a number with too many digits or for
# nesting it gives no position at all.

#: A string, closed or not: it contains no bracket and no number. Possessive, and so linear.
_STRING = r'"(?:[^"\\]|\\.)*+"?'
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL | re.ASCII)
_NUMBER = re.compile(rf"{_STRING}|-?Infinity|NaN|-?\d[\d.eE+-]*+", re.DOTALL | re.ASCII)
#: A string, which is a name (group 1) before a colon, or a brace.
_NAME = re.compile(rf"({_STRING})(?=[ \t\r\n]*:)|{_STRING}|[{{}}]", re.DOTALL | re.ASCII)
#: Most digits of an integer that can be parsed; the interpreter's own limit.
_MAX_DIGITS = 4300

#: Quotation marks of word processors; the NLWeb 0.54 specification prints its examples with them.
_QUOTES = tuple("“”„‘’")

#: By the beginning of a message of the decoder: our description.
_DESCRIPTIONS = {
    "Expecting value": "expected a value",
    "Expecting property name": "expected a property name in double quotes",
    "Expecting ':'": "expected a colon",
    "Expecting ','": "expected a comma or the end of the array or object",
    "Extra data": "unexpected text after the end of the document",
    "Unterminated string": "unterminated string",
    "Invalid control character": "control character in a string; write line breaks and tabs as "
    "\\n and \\t",
    "Invalid \\u": "invalid \\u escape: expected four hexadecimal digits",
    "Invalid \\": "invalid escape sequence",
    "Illegal trailing comma": "unexpected trailing comma",
    "Unexpected UTF-8 BOM": "unexpected byte order mark",
}


def describe_error(error: json.JSONDecodeError) -> str:
    """Return a decoder's error as the end of a sentence, without its full stop."""
    if error.doc[error.pos : error.pos + 1] in _QUOTES:
        return 'typographic quotation mark; JSON uses "'
    found = (text for start, text in _DESCRIPTIONS.items() if error.msg.startswith(start))
    return next(found, "syntax error")


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return the line and the column of a position, both from 1."""
    line = text.count("\n", 0, position) + 1
    return line, position - text.rfind("\n", 0, position)


def too_deep_at(text: str, limit: int) -> int | None:
    """Return the position of the first bracket nested deeper than `limit`, None for none."""
    depth = 0
    for token in _BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth > limit:
                return token.start()
        elif token[0] in "]}":
            depth -= 1
    return None


def duplicate_name_at(text: str) -> int | None:
    """Return the position of the first duplicate name in an object of a text that is valid JSON."""
    open_names: list[set[str]] = []
    for token in _NAME.finditer(text):
        if token[0] == "{":
            open_names.append(set())
        elif token[0] == "}":
            open_names.pop()
        elif token[1]:
            name = json.loads(token[1])
            if name in open_names[-1]:
                return token.start()
            open_names[-1].add(name)
    return None


def number_at(text: str) -> int | None:
    """Return the position of the first number that JSON does not have, or that is too long."""
    for token in _NUMBER.finditer(text):
        if not token[0].startswith('"') and _is_unreadable(token[0]):
            return token.start()
    return None


def _is_unreadable(number: str) -> bool:
    if number.endswith(("y", "N")):
        return True
    if number.lstrip("-").isdigit():
        return len(number.lstrip("-")) > _MAX_DIGITS
    try:
        return not math.isfinite(float(number))
    except ValueError:
        return False
