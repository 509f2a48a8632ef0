"""Shortening of text to a number of code points."""

from __future__ import annotations


def shorten(text: str, limit: int) -> str:
    """Return the beginning of a text in at most `limit` characters, with an ellipsis if cut."""
    return text if len(text) <= limit else f"{text[: max(0, limit - 1)]}…"


def shorten_middle(text: str, limit: int) -> str:
    """Return both ends of a text in at most `limit` characters, at least 2."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"
