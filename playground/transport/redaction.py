"""Redaction of secrets and credentials in everything that is recorded, before it is stored.

Three rules: the values of known secrets are removed wherever they occur; headers that carry
credentials by their name lose their value, known secret or not; and secrets that agents send by
mistake, as the protocol lists them, are masked in every part of a response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html import escape
from urllib.parse import quote, quote_plus

# Defined by the protocols, and exported here as part of the transport's interface.
from playground.protocols.headers import is_credential

#: Replaces a secret.
MASK = "••••••"
_MASK = MASK.encode()
#: Shorter values would mask ordinary text: for known secrets, and for values that are only assumed
#: to be secrets because of their header's name.
SHORTEST, _SHORTEST_GUESS = 4, 8
#: Bytes of a shown body that are scanned again together with the next piece.
_CONTEXT = 1024

_ESCAPES = re.compile(r"%[0-9A-F]{2}")
#: A JSON escape, and not an escaped backslash before a "u".
_UNICODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-f]{4})")
#: Characters that no encoding escapes.
_PLAIN = re.compile(r"[A-Za-z0-9]+")
#: Characters that some JSON encoders escape for HTML; others escape many more.
_FOR_HTML = {ord(each): f"\\u{ord(each):04x}" for each in "&<>"}
_STRICT = {ord(each): f"\\u{ord(each):04x}" for each in "&<>'+`"}
#: The most levels of JSON strings that a secret may be nested in.
_JSON_LEVELS = 2
_SET_COOKIE = re.compile(r"(?i)(set-cookie2?[ \t]*:)[^\r\n]*")


def credentials(headers: Iterable[tuple[str, str]]) -> set[str]:
    """Return the values of headers that are credentials by name, with and without their scheme."""
    values = {value.strip() for name, value in headers if is_credential(name)}
    return values | {value.partition(" ")[2].strip() for value in values}


class Redactor:
    """Replaces secrets, verbatim and as JSON, URLs and HTML encode them.

    `guessed` are values that are only assumed to be secrets: the shorter ones of these stay.
    `mask` is the protocol's function that masks the bytes of a response.
    """

    def __init__(
        self,
        secrets: Iterable[str] = (),
        *,
        guessed: Iterable[str] = (),
        mask: Callable[[bytes], bytes] | None = None,
    ) -> None:
        known = {secret for secret in secrets if len(secret) >= SHORTEST}
        known |= {value for value in guessed if len(value) >= _SHORTEST_GUESS}
        marked = {form: _longest_plain_part(secret) for secret in known for form in _forms(secret)}
        # Longest first: a secret that contains another one must be replaced as a whole.
        self._forms = sorted(marked, key=len, reverse=True)
        self._marks = frozenset(marked.values())
        self.mask = mask

    def __bool__(self) -> bool:
        return bool(self._forms or self.mask)

    def data(self, data: bytes) -> bytes:
        """Return `data` without secrets."""
        if not any(mark in data for mark in self._marks):
            return data  # Fast check: most data lacks even this part.
        for form in self._forms:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    def response(self, data: bytes) -> bytes:
        """Return a block of a response, or another complete part, without secrets and masked."""
        data = self.data(data)
        return self.mask(data) if self.mask else data

    def text(self, text: str) -> str:
        """Return `text`, which may quote a response, without secrets and values of set cookies."""
        clean = self.response(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        return _SET_COOKIE.sub(rf"\1 {MASK}", clean)

    def split(self, data: bytes) -> tuple[bytes, bytes]:
        """Return `data` as the part that can be shown, and a rest that may begin a secret.

        Prepend the rest to the next piece. Events need no split: a secret never spans two of
        them, but pieces of a body end anywhere.
        """
        data = self.data(data)
        pending = max((_overlap(data, form) for form in self._forms), default=0)
        return (data[:-pending], data[-pending:]) if pending else (data, b"")

    def headers(
        self, headers: Iterable[tuple[bytes, bytes]], hide: Iterable[str] = ()
    ) -> list[tuple[bytes, bytes]]:
        """Return headers without secrets; those named in `hide` (lower case) lose their value."""
        hidden = set(hide)
        return [
            (name, _MASK if name.decode("latin-1").lower() in hidden else self.data(value))
            for name, value in headers
        ]


class StreamRedactor:
    """The redacted pieces of one body, independent of where it was split.

    Once the mask has found something, the rest of the body is held back to the end and masked as
    a whole, so that a key in two pieces is found. A key that was shown completely before anything
    in the body gave it away is not found.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        #: The end of the input, which may be the beginning of a secret.
        self._pending = b""
        #: The end of the output.
        self._shown = b""
        self._unmasked: bytearray | None = None

    def add(self, data: bytes) -> bytes:
        """Return the part of the body that can be shown after `data`."""
        data, self._pending = self._redactor.split(self._pending + data)
        return self._pass(data)

    def end(self) -> bytes:
        """Return the rest at the end of the body."""
        data, self._pending = self._pass(self._pending), b""
        mask, unmasked = self._redactor.mask, self._unmasked
        if mask is None or not unmasked:
            return data
        self._unmasked = bytearray()
        masked = mask(self._shown + unmasked)
        # If the mask has rewritten the whole, its rest cannot be determined.
        return masked.removeprefix(self._shown) if masked.startswith(self._shown) else _MASK

    def _pass(self, data: bytes) -> bytes:
        mask = self._redactor.mask
        if mask is None or not data:
            return data
        if self._unmasked is None:
            known = self._shown + data
            if mask(known) == known:
                self._shown = known[-_CONTEXT:]
                return data
            self._unmasked = bytearray()
        self._unmasked += data
        return b""


def _forms(secret: str) -> set[bytes]:
    """Return the encodings of a secret: plain, URL, HTML, Python, and each of them in JSON.

    JSON within a string of JSON is normal: MCP transports responses in it, and an agent that
    quotes its request in a description adds one more level.
    """
    plain = {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        # Hexadecimal digits may be lower case.
        _ESCAPES.sub(_lower, quote(secret, safe="")),
        _ESCAPES.sub(_lower, quote_plus(secret)),
        escape(secret),
        # As Python quotes bytes in its messages.
        repr(secret)[1:-1],
        repr(secret.encode("utf-8", "surrogatepass"))[2:-1],
    }
    written = plain | {escape(form) for form in plain}
    for _ in range(_JSON_LEVELS):
        plain = {form for each in plain for form in _json_forms(each)}
        written |= plain | {escape(form) for form in plain}
    return {form.encode("utf-8", "surrogatepass") for form in written} | _as_header(secret)


def _longest_plain_part(secret: str) -> bytes:
    """Return the longest part of a secret that is unchanged in every encoding."""
    return max(_PLAIN.findall(secret), key=len, default="").encode()


def _json_forms(text: str) -> set[str]:
    """Return a text as the inside of a JSON string, as common encoders write it."""
    ascii_only, verbatim = (json.dumps(text, ensure_ascii=flag)[1:-1] for flag in (True, False))
    return {
        ascii_only,
        ascii_only.replace("/", "\\/"),
        _UNICODE.sub(_upper, ascii_only),
        _UNICODE.sub(_upper, ascii_only.replace('\\"', "\\u0022").translate(_STRICT)),
        verbatim,
        verbatim.replace("/", "\\/"),
        verbatim.translate(_FOR_HTML),
    }


def _as_header(secret: str) -> set[bytes]:
    """Return a secret as a header may carry it, a byte per letter (RFC 9110, section 5.5)."""
    try:
        return {secret.encode("latin-1")}
    except UnicodeEncodeError:
        return set()


def _upper(found: re.Match[str]) -> str:
    return f"{found.group(1)}\\u{found.group(2).upper()}"


def _lower(found: re.Match[str]) -> str:
    return found.group().lower()


def _overlap(data: bytes, form: bytes) -> int:
    """Return how many bytes at the end of `data` are the beginning of `form`."""
    at = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while at >= 0:
        if form.startswith(data[at:]):
            return len(data) - at
        at = data.find(form[:1], at + 1)
    return 0
