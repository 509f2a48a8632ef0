"""JSON values, numbers, durations, byte counts and the frames of a wire as text.

Everything is total and bounded: any JSON value has a text, and formatting a large one costs no
more than what is shown of it.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.protocols.text import shorten

#: Characters of a value on a card; the raw JSON has all of it.
MAX_TEXT = 600
#: Characters of a value in a row of a list.
MAX_LINE = 160
#: Items of a list that are read.
MAX_LIST = 40
#: Characters of JSON on a page; the Wire download has all of it.
MAX_JSON = 200_000
#: Rows of a table of a JSON value, and its levels.
MAX_ROWS, MAX_DEPTH = 40, 4

_DURATION = re.compile(
    r"P(?:(?P<d>\d{1,9})D)?"
    r"(?:T(?:(?P<h>\d{1,9})H)?(?:(?P<m>\d{1,9})M)?(?:(?P<s>\d{1,9})(?:\.\d+)?S)?)?"
)
#: Boundaries of words in an identifier: `_`, `-` and a change of case (estimatedCost, HTMLText).
_WORD_BOUNDARY = re.compile(r"[_-]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*")
#: Words of identifiers that are written in capitals.
_ACRONYMS = frozenset("api gtin html http id isbn json sku ui uri url uuid".split())
#: Labels of the frame kinds that are not simply their name in lower case.
_FRAME_LABELS = {
    "call": "request",
    "open": "connected",
    "head": "response headers",
    "event": "SSE event",
    "tail": "incomplete event",
}
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
#: Units of a duration in seconds, the longest first.
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


# --- JSON values ------------------------------------------------------------------------------


def value_text(value: Any, limit: int = MAX_TEXT) -> str:
    """Return a JSON value as a short text: names of objects, items of lists, "" for empty."""
    if value is None or value == [] or value == {}:
        return ""
    match value:
        case str():
            text = value
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value)
        case list():
            text = ", ".join(_take(limit, (value_text(item, limit) for item in value[:MAX_LIST])))
        case {"name": inner} | {"text": inner} | {"@value": inner} if inner:
            text = value_text(inner, limit)
        case {"@id": str() as text} if len(value) == 1:
            pass
        case _:
            return json_preview(value, limit)
    return _cut(text, limit)


def list_item_text(item: Any, limit: int) -> str:
    """Return an item of a list as one line; an object without a name member by member."""
    text = value_text(item, limit)
    if not isinstance(item, Mapping) or not text.startswith("{"):
        return text
    members = (f"{name}: {value_text(member, limit)}" for name, member in item.items())
    return _cut(", ".join(_take(limit, islice(members, MAX_LIST))), limit)


def json_preview(value: Any, limit: int = MAX_TEXT) -> str:
    """Return the beginning of a value as JSON; a string as it is."""
    if isinstance(value, str):
        return _cut(value, limit)
    # In chunks: of a megabyte only the shown part is encoded.
    return _cut("".join(_take(limit, _ENCODER.iterencode(value))), limit)


def readable(value: Any) -> str:
    """Return a value as indented JSON that can be encoded as UTF-8.

    A lone surrogate has no UTF-8; its backslash escape is the same string in JSON.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def pretty(value: Any) -> str:
    """Return a value as indented JSON, cut after `MAX_JSON` characters."""
    text = readable(value)
    if len(text) <= MAX_JSON:
        return text
    return f"{text[:MAX_JSON]}\n… {len(text) - MAX_JSON:,} more characters, see Wire"


def _cut(text: str, limit: int) -> str:
    return shorten(text.strip(), limit)


def _take(limit: int, parts: Iterable[str]) -> list[str]:
    """Return the first non-empty parts, up to the one that exceeds `limit` characters."""
    taken: list[str] = []
    length = 0
    for part in parts:
        if part:
            taken.append(part)
            length += len(part)
        if length > limit:
            break
    return taken


@dataclass(frozen=True, slots=True)
class ValueTable:
    """A JSON value as rows, and whether rows are left out."""

    #: (path, value as text).
    rows: list[tuple[str, str]]
    more: bool = False


def table_of(value: Any) -> ValueTable | None:
    """Return the table of a JSON value; None if it is empty."""
    rows = list(islice(_rows("", value, MAX_DEPTH), MAX_ROWS + 1))
    return ValueTable(rows[:MAX_ROWS], len(rows) > MAX_ROWS) if rows else None


def _rows(path: str, value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if value is None or value == {} or value == []:
        if path:
            yield path, "null" if value is None else "empty"
    elif depth and isinstance(value, dict):
        for name, member in value.items():
            yield from _rows(_child_path(path, name[:60]), member, depth - 1)
    elif depth and isinstance(value, list) and any(isinstance(i, dict | list) for i in value):
        for number, item in enumerate(value, 1):
            yield from _rows(_child_path(path, str(number)), item, depth - 1)
    else:
        yield path, value_text(value)


def _child_path(path: str, name: str) -> str:
    return f"{path} › {name}" if path else name


# --- names ------------------------------------------------------------------------------------


def label_text(name: str, limit: int = 60) -> str:
    """Return the name of a member as a label: "estimatedCost" is "Estimated cost".

    A JSON-LD prefix ("schema:cookTime") is dropped; a name that is not an identifier stays.
    """
    return _label_of(value_text(name, limit))


@lru_cache(maxsize=1_000)  # The results of a response have the same members.
def _label_of(name: str) -> str:
    identifier = name.lstrip("@").rpartition(":")[2]
    if not _IDENTIFIER.fullmatch(identifier):
        return name
    words = [word for word in _WORD_BOUNDARY.split(identifier) if word]
    text = " ".join(map(_label_word, words))
    return text[:1].upper() + text[1:] or name


def _label_word(word: str) -> str:
    stem = word[:-1] if word.lower().endswith("s") else word
    if stem.lower() in _ACRONYMS:
        return stem.upper() + word[len(stem) :].lower()
    return word if len(word) > 1 and word.isupper() else word.lower()


# --- times, sizes and counts ------------------------------------------------------------------


def milliseconds(value: float) -> str:
    """Return a duration in milliseconds as text: 84 ms, 1.2 s, 3 min 05 s."""
    if value < 10:
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    if value < 60_000:
        return f"{value / 1000:.1f} s"
    return f"{int(value // 60_000)} min {int(value % 60_000 // 1000):02d} s"


def seconds_text(seconds: float) -> str:
    """Return a duration in its two largest units: 8 s, 3 min 20 s, 2 h 5 min."""
    remaining = max(0, round(seconds))
    parts: list[str] = []
    for length, unit in _UNITS:
        count, remaining = divmod(remaining, length)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def iso_duration_text(value: Any) -> str:
    """Return an ISO 8601 duration as text ("1 h 30 min"); other values as `value_text`."""
    if not isinstance(value, str) or not (match := _DURATION.fullmatch(value)):
        return value_text(value, 60)
    units = {"d": "d", "h": "h", "m": "min", "s": "s"}
    parts = [f"{int(n)} {units[u]}" for u, n in match.groupdict().items() if n and int(n)]
    return " ".join(parts) or "none"


def ago(moment: datetime) -> str:
    """Return the age of a moment in one unit: now, 7 min ago, 3 h ago, 5 d ago."""
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 60:
        return "now"
    length, unit = next(each for each in _UNITS if seconds >= each[0])
    return f"{int(seconds // length)} {unit} ago"


def size(count: int) -> str:
    """Return a number of bytes as text: 12 B, 1.5 KB, 2.0 MB."""
    if count < 1024:
        return f"{count} B"
    if count < 1024 * 1024:
        return f"{count / 1024:.1f} KB"
    return f"{count / 1024 / 1024:.1f} MB"


def count_text(count: int, noun: str) -> str:
    """Return a count with its noun in singular or plural: `1 difference`, `3 differences`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def kind_label(kind: str) -> str:
    """Return the label of an event kind or frame kind, the same in every tab."""
    return _FRAME_LABELS.get(kind, kind)


_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")
#: Pages to read. Others, such as that of a deletion, are not for links of others.
_LOCAL = re.compile(r"/(reference|rules|demo|lessons)/((?!\.\.)[-\w/.:#?=&])*", re.ASCII)


def is_local_path(value: str) -> bool:
    """Return whether a link leads to a page of this playground that is there to be read."""
    return len(value) <= 4000 and bool(_LOCAL.fullmatch(value))


def safe_url(value: Any) -> str | None:
    """Return `value` if it is an absolute http(s) URL that a link may point to, else None."""
    if not isinstance(value, str) or len(value) > 4000 or _CONTROL.search(value):
        return None
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return None
    return value


# --- frames -------------------------------------------------------------------------------------

#: Bytes of a block that a page shows; the download has all of them.
MAX_BLOCK = 64 * 1024
_UTF8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True)
class WireBlock:
    """The bytes of a frame as text."""

    seq: int
    at: str
    kind: str
    size: str
    text: str
    #: Number of bytes that are not shown, as text; "" for none.
    hidden: str = ""
    #: Whether bytes that are not valid UTF-8 were replaced.
    replaced: bool = False

    @property
    def label(self) -> str:
        return kind_label(self.kind)


def blocks_of(frames: Iterable[Frame]) -> list[WireBlock]:
    return [_block(frame) for frame in frames]


def _block(frame: Frame) -> WireBlock:
    data, hidden = frame.data[:MAX_BLOCK], len(frame.data) - MAX_BLOCK
    # A character that is cut in two is left out instead of being replaced.
    text = _UTF8("replace").decode(data, final=hidden <= 0)
    if frame.kind is FrameKind.ERROR:
        problem = Problem.from_bytes(frame.data)
        text = f"{problem.cause}\n{problem.detail}".strip()
    elif frame.kind is FrameKind.OPEN:
        facts = json.loads(frame.data)
        text = ", ".join(
            "connection reused" if name == "reused" else f"{name}: {value}"
            for name, value in facts.items()
            if value
        )
    return WireBlock(
        seq=frame.seq,
        at=milliseconds(frame.at_ms),
        kind=frame.kind.name.lower(),
        size=size(len(frame.data)),
        text=text,
        hidden=size(hidden) if hidden > 0 else "",
        replaced=text.count("\ufffd") > data.count(b"\xef\xbf\xbd"),
    )
