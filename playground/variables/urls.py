"""Encoding of values in URLs: a value cannot change more than its own part.

- A placeholder at the start of the URL is a base URL (`{{base}}/ask`) and is inserted verbatim.
- In the host, a value may have only the characters of a host and port, none of which end the
  host: otherwise the value would select the target of the request.
- After that, in path, query and fragment, a value is percent-encoded (RFC 3986, section 2.1).
"""

from __future__ import annotations

import enum
import re
from urllib.parse import quote

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]*")
_END_OF_HOST = re.compile(r"[/?#\\]")


class UrlPart(enum.Enum):
    """The part of a URL that comes next."""

    #: Nothing was read yet.
    START = enum.auto()
    #: The scheme has begun.
    SCHEME = enum.auto()
    HOST = enum.auto()
    #: Path, query or fragment.
    REST = enum.auto()

    @property
    def is_host(self) -> bool:
        """Return whether a value in this part would select the target of the request."""
        return self is not UrlPart.REST


def next_part(part: UrlPart, text: str) -> UrlPart:
    """Return the part after `text`, if `part` is the part before it."""
    if part is UrlPart.REST or not text:
        return part
    if part is not UrlPart.HOST:
        _, separator, text = text.partition("://")
        if not separator:
            return UrlPart.SCHEME
    return UrlPart.REST if _END_OF_HOST.search(text) else UrlPart.HOST


def encode_value(value: str, part: UrlPart) -> str:
    """Return a value encoded for this part of a URL.

    Raise `ValueError` with the rest of a sentence that begins with the variable's name.
    """
    if part is UrlPart.START:
        return value
    if part is UrlPart.REST:
        return quote(value.encode("utf-8", "replace"), safe="")
    if not _HOST.fullmatch(value):
        raise ValueError(
            "is in the host of the URL, but its value contains characters that are not valid in "
            "a host and port. Put a full URL at the beginning, and a “/” after the host."
        )
    return value
