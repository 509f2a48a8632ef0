"""Any JSON value as a few words. Total, and cheap however large the value is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from playground.protocols.text import shorten

#: Longer text is cut on the card; the raw JSON has all of it.
MAX_TEXT = 600
#: Parts of a list that are looked at.
MAX_LIST = 40
_DURATION = re.compile(
    r"P(?:(?P<d>\d{1,9})D)?"
    r"(?:T(?:(?P<h>\d{1,9})H)?(?:(?P<m>\d{1,9})M)?(?:(?P<s>\d{1,9})(?:\.\d+)?S)?)?"
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)


def value_text(value: Any, limit: int = MAX_TEXT) -> str:
    """Any JSON value as a short text: names of objects, items of lists, "" for nothing."""
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
            text = ", ".join(_upto(limit, (value_text(part, limit) for part in value[:MAX_LIST])))
        case {"name": str() as name}:
            text = name
        case {"text": str() as inner} | {"@value": str() as inner}:
            text = inner
        case _:
            return json_preview(value, limit)
    return _cut(text, limit)


def list_item_text(part: Any, limit: int) -> str:
    """One part of a list as a line: an object without a name is told member by member."""
    text = value_text(part, limit)
    if not isinstance(part, Mapping) or not text.startswith("{"):
        return text
    told = (f"{name}: {value_text(value, limit)}" for name, value in islice(part.items(), MAX_LIST))
    return _cut(", ".join(_upto(limit, told)), limit)


def json_preview(value: Any, limit: int = MAX_TEXT) -> str:
    """The beginning of a value as JSON; a string as it is."""
    if isinstance(value, str):
        return _cut(value, limit)
    # Piece by piece: of a megabyte only what is shown is written out.
    return _cut("".join(_upto(limit, _ENCODER.iterencode(value))), limit)


def _cut(text: str, limit: int) -> str:
    return shorten(text.strip(), limit)


def _upto(limit: int, parts: Iterable[str]) -> list[str]:
    """The first of the parts that say something, until they are longer than `limit`."""
    found: list[str] = []
    length = 0
    for part in parts:
        if part:
            found.append(part)
            length += len(part)
        if length > limit:
            break
    return found


def iso_duration_text(value: Any) -> str:
    """An ISO 8601 duration as people say it ("1 h 30 min"); other values as they are."""
    if not isinstance(value, str) or not (match := _DURATION.fullmatch(value)):
        return value_text(value, 60)
    units = {"d": "d", "h": "h", "m": "min", "s": "s"}
    parts = [f"{int(n)} {units[u]}" for u, n in match.groupdict().items() if n and int(n)]
    return " ".join(parts) or "none"
