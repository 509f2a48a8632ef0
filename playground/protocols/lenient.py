"""Lenient readers of values in JSON from agents and users: a value of another type is as none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from playground.protocols import json_decoder


def text(value: Any) -> str:
    """Return a string, "" for any other value."""
    return value if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """Return a finite number, None for any other value; a boolean is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # An integer that no float can hold.
        return None


def items(value: Any) -> list[Any]:
    """Return a list, an empty one for any other value."""
    return value if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """Return the strings of a list, without its other items."""
    return [each for each in items(value) if isinstance(each, str)]


def members(value: Any) -> Mapping[str, Any]:
    """Return an object, an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def decode(document: str, default: Any = None, *, max_depth: int | None = None) -> Any:
    """Return the value of a JSON text as `json_decoder.decode` does, `default` for other texts.

    So it does for JSON with too many values, or nested deeper than `max_depth`; without that,
    deeper than Python can read.
    """
    if max_depth is not None and json_decoder.exceeds_depth(document, max_depth):
        return default
    try:
        return json_decoder.decode(document)
    except (ValueError, RecursionError):
        return default
