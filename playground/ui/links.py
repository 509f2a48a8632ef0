"""URLs from others that may become links: http and https only, without credentials."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

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
