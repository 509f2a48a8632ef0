"""Values in a URL: a value fills its place and cannot reach beyond it.

- A placeholder that begins the URL is a base address (`{{base}}/ask`) and is inserted as it is.
- Where the host stands, a value may have what a host and port are written with, and nothing
  that ends them: otherwise it would say where the request goes.
- After that, in path, query and fragment, a value is percent-encoded (RFC 3986, section 2.1).
"""

from __future__ import annotations

import enum
import re
from urllib.parse import quote

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]*")
_END_OF_HOST = re.compile(r"[/?#\\]")


class UrlPart(enum.Enum):
    """What of a URL comes next."""

    #: Nothing has come yet.
    START = enum.auto()
    #: The scheme has begun.
    SCHEME = enum.auto()
    HOST = enum.auto()
    #: Path, query or fragment.
    REST = enum.auto()

    @property
    def is_host(self) -> bool:
        """Whether what stands here says where the request goes."""
        return self is not UrlPart.REST


def next_part(part: UrlPart, text: str) -> UrlPart:
    """What comes next after `text`, where `part` was what came next before it."""
    if part is UrlPart.REST or not text:
        return part
    if part is not UrlPart.HOST:
        _, separator, text = text.partition("://")
        if not separator:
            return UrlPart.SCHEME
    return UrlPart.REST if _END_OF_HOST.search(text) else UrlPart.HOST


def encode_value(value: str, part: UrlPart) -> str:
    """A value as it is written in this part of a URL.

    Raises `ValueError` with the rest of a sentence that begins with the variable's name.
    """
    if part is UrlPart.START:
        return value
    if part is UrlPart.REST:
        return quote(value.encode("utf-8", "replace"), safe="")
    if not _HOST.fullmatch(value):
        raise ValueError(
            "stands where the address says the host, and its value has other characters in it"
            " than a host and port. A whole address belongs at the beginning, and a “/” before"
            " what comes after the host."
        )
    return value
