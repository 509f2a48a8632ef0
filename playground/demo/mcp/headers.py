"""Header values as MCP writes them since 2026-07-28."""

from __future__ import annotations

import base64
import binascii
import re

_ENCODED = re.compile(r"=\?base64\?([A-Za-z0-9+/=]*)\?=", re.ASCII)


def plain(value: str | None) -> str | None:
    """A header's value, out of base64 where it came so; None if it cannot be read."""
    if value is None or not (match := _ENCODED.fullmatch(value)):
        return value
    try:
        return base64.b64decode(match[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
