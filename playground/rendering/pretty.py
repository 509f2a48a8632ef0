"""JSON for reading."""

from __future__ import annotations

import json
from typing import Any

#: Characters of JSON that a page shows at once; the Wire download has all of it.
MAX_SHOWN = 200_000


def readable(value: Any) -> str:
    """`value` as indented JSON that every page can carry.

    Half of a surrogate pair has no UTF-8; its backslash escape is the same string in JSON.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text.encode("utf-8", "backslashreplace").decode()


def pretty(value: Any) -> str:
    """`value` as indented JSON, cut where it would drown the page."""
    text = readable(value)
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[:MAX_SHOWN]}\n… {len(text) - MAX_SHOWN:,} more characters, see Wire"
