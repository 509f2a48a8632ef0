"""Links that come from agents: http and https only, and nothing that could run."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")


def safe_url(value: Any) -> str | None:
    """`value` if it is an absolute http(s) address that a link may point to, else None."""
    if not isinstance(value, str) or len(value) > 4000 or _CONTROL.search(value):
        return None
    try:
        parts = urlsplit(value)
    except ValueError:
        return None
    if parts.scheme.lower() not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return None
    return value
