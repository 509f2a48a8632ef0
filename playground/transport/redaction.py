"""Secrets out of everything that is recorded, before it is recorded.

Two rules: the values of known secrets vanish wherever they turn up, and headers that carry
credentials by their name lose their value whether it is a known secret or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote, quote_plus

#: What stands where a secret stood.
MASK = "••••••"
_MASK = MASK.encode()
#: Shorter values would blot out ordinary text.
_SHORTEST = 4

_CREDENTIAL = re.compile(
    r"^(?:proxy-)?authorization$|^cookie2?$|key|token|secret|password|auth", re.I
)
_SET_COOKIE_LINE = re.compile(r"(?im)^(set-cookie2?[ \t]*:)[^\r\n]*")


def is_credential(header: str) -> bool:
    """Whether a request header carries a credential, by its name."""
    return bool(_CREDENTIAL.search(header))


class Redactor:
    """Replaces secrets, as they are and as JSON and URLs write them."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        known = {form for secret in secrets for form in _forms(secret)}
        # Longest first: a secret that contains another one must go as a whole.
        self._forms = sorted(known, key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def data(self, data: bytes) -> bytes:
        """`data` without secrets."""
        for form in self._forms:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    def text(self, text: str) -> str:
        """`text` without secrets and without the values of cookies being set."""
        clean = self.data(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        return _SET_COOKIE_LINE.sub(rf"\1 {MASK}", clean)

    def split(self, data: bytes) -> tuple[bytes, bytes]:
        """`data` as the part that can be shown and a rest that may begin a secret.

        The rest belongs before the next piece. Events need no such care: a secret never
        spans two of them, but pieces of a body end anywhere.
        """
        data = self.data(data)
        held = max((_overlap(data, form) for form in self._forms), default=0)
        return (data[:-held], data[-held:]) if held else (data, b"")

    def headers(
        self, headers: Iterable[tuple[bytes, bytes]], hide: Iterable[str] = ()
    ) -> list[tuple[bytes, bytes]]:
        """Headers without secrets; those named in `hide` (lower case) lose their value."""
        hidden = set(hide)
        return [
            (name, _MASK if name.decode("latin-1").lower() in hidden else self.data(value))
            for name, value in headers
        ]


def _forms(secret: str) -> set[bytes]:
    """How a secret may be written: plain, in JSON, in a URL."""
    if len(secret) < _SHORTEST:
        return set()
    written = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        quote_plus(secret),
    }
    return {form.encode("utf-8", "surrogatepass") for form in written}


def _overlap(data: bytes, form: bytes) -> int:
    """How many bytes at the end of `data` are the beginning of `form`."""
    for length in range(min(len(form) - 1, len(data)), 0, -1):
        if data.endswith(form[:length]):
            return length
    return 0
