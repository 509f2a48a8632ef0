"""JSON for reading."""

from __future__ import annotations

import json
from typing import Any

#: Characters of JSON that a page shows at once; the Wire download has all of it.
MAX_SHOWN = 200_000


def pretty(value: Any) -> str:
    """`value` as indented JSON, cut where it would drown the page."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    if len(text) <= MAX_SHOWN:
        return text
    return f"{text[:MAX_SHOWN]}\n… {len(text) - MAX_SHOWN:,} more characters, see Wire"
