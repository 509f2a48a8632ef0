"""Secrets out of everything that is recorded, before it is recorded.

Three rules: the values of known secrets vanish wherever they turn up; headers that carry
credentials by their name lose their value whether it is a known secret or not; and what the
protocol says an agent sends by mistake is masked in every part of its reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from html import escape
from urllib.parse import quote, quote_plus

# The rule is the protocols' own; here it is part of what the transport offers.
from playground.protocols.headers import is_credential as is_credential

#: What stands where a secret stood.
MASK = "••••••"
_MASK = MASK.encode()
#: Shorter values would blot out ordinary text: of what is known to be a secret, and of what
#: is only taken for one because of its header's name.
SHORTEST, _SHORTEST_GUESS = 4, 8
#: How much of a body that was shown is looked at again with the next piece.
_CONTEXT = 1024

_ESCAPES = re.compile(r"%[0-9A-F]{2}")
#: An escape of JSON, and not a backslash that is escaped itself before a "u".
_UNICODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9a-f]{4})")
#: Nobody escapes these.
_PLAIN = re.compile(r"[A-Za-z0-9]+")
#: Characters that some writers of JSON escape so that it can stand in HTML; others many more.
_FOR_HTML = {ord(each): f"\\u{ord(each):04x}" for each in "&<>"}
_STRICT = {ord(each): f"\\u{ord(each):04x}" for each in "&<>'+`"}
#: How often a secret may have been put into a string of JSON.
_JSON_LEVELS = 2
_SET_COOKIE = re.compile(r"(?i)(set-cookie2?[ \t]*:)[^\r\n]*")


def credentials(headers: Iterable[tuple[str, str]]) -> set[str]:
    """The values of headers that are credentials by name, with and without their scheme."""
    values = {value.strip() for name, value in headers if is_credential(name)}
    return values | {value.partition(" ")[2].strip() for value in values}


class Redactor:
    """Replaces secrets, as they are and as JSON, URLs and HTML write them.

    `guessed` are values that are only taken for secrets: of these the shorter ones stay.
    `mask` is what the protocol does to the bytes of a reply.
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
        marked = {form: _plainest(secret) for secret in known for form in _forms(secret)}
        # Longest first: a secret that contains another one must go as a whole.
        self._forms = sorted(marked, key=len, reverse=True)
        self._marks = frozenset(marked.values())
        self.mask = mask

    def __bool__(self) -> bool:
        return bool(self._forms or self.mask)

    def data(self, data: bytes) -> bytes:
        """`data` without secrets."""
        if not any(mark in data for mark in self._marks):
            return data  # Of a secret with many forms, most data has not even this part.
        for form in self._forms:
            if form in data:
                data = data.replace(form, _MASK)
        return data

    def response(self, data: bytes) -> bytes:
        """A block of a reply, or what else is whole, without secrets and masked."""
        data = self.data(data)
        return self.mask(data) if self.mask else data

    def text(self, text: str) -> str:
        """`text`, which may quote a reply, without secrets and values of cookies being set."""
        clean = self.response(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        return _SET_COOKIE.sub(rf"\1 {MASK}", clean)

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


class StreamRedactor:
    """The pieces of one body as they may be shown, however it was cut.

    Once the mask has found something, the rest of the body is kept back to the end and masked
    as one, so that a key in two pieces is found. What cannot be found: a key that was shown in
    full before anything in the body gave it away.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        #: The end of what was taken, which may be the beginning of a secret.
        self._held = b""
        #: The end of what was shown.
        self._shown = b""
        self._kept: bytearray | None = None

    def add(self, data: bytes) -> bytes:
        """What of the body can be shown now that `data` has come."""
        data, self._held = self._redactor.split(self._held + data)
        return self._pass(data)

    def end(self) -> bytes:
        """The rest, when nothing more will come."""
        data, self._held = self._pass(self._held), b""
        mask, kept = self._redactor.mask, self._kept
        if mask is None or not kept:
            return data
        self._kept = bytearray()
        masked = mask(self._shown + kept)
        # Where the mask has written the whole anew, its rest cannot be told.
        return masked.removeprefix(self._shown) if masked.startswith(self._shown) else _MASK

    def _pass(self, data: bytes) -> bytes:
        mask = self._redactor.mask
        if mask is None or not data:
            return data
        if self._kept is None:
            known = self._shown + data
            if mask(known) == known:
                self._shown = known[-_CONTEXT:]
                return data
            self._kept = bytearray()
        self._kept += data
        return b""


def _forms(secret: str) -> set[bytes]:
    """How a secret may be written: plain, in a URL, HTML or Python, and each of it in JSON.

    JSON within a string of JSON is nothing odd: it is how a reply travels over MCP, and an agent
    that quotes its request in a description writes one more.
    """
    plain = {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        # Hexadecimal digits may be small ones, too.
        _ESCAPES.sub(_lower, quote(secret, safe="")),
        _ESCAPES.sub(_lower, quote_plus(secret)),
        escape(secret),
        # As Python quotes bytes in its messages.
        repr(secret)[1:-1],
        repr(secret.encode("utf-8", "surrogatepass"))[2:-1],
    }
    written = plain | {escape(form) for form in plain}
    for _ in range(_JSON_LEVELS):
        plain = {form for each in plain for form in _in_json(each)}
        written |= plain | {escape(form) for form in plain}
    return {form.encode("utf-8", "surrogatepass") for form in written} | _as_header(secret)


def _plainest(secret: str) -> bytes:
    """The longest part of a secret that every form of it has as it is."""
    return max(_PLAIN.findall(secret), key=len, default="").encode()


def _in_json(text: str) -> set[str]:
    """A text as the inside of a string of JSON, the ways that common writers have."""
    ascii_only, as_it_is = (json.dumps(text, ensure_ascii=flag)[1:-1] for flag in (True, False))
    return {
        ascii_only,
        ascii_only.replace("/", "\\/"),
        _UNICODE.sub(_upper, ascii_only),
        _UNICODE.sub(_upper, ascii_only.replace('\\"', "\\u0022").translate(_STRICT)),
        as_it_is,
        as_it_is.replace("/", "\\/"),
        as_it_is.translate(_FOR_HTML),
    }


def _as_header(secret: str) -> set[bytes]:
    """A secret as a header may carry it, a byte for a letter (RFC 9110, section 5.5)."""
    try:
        return {secret.encode("latin-1")}
    except UnicodeEncodeError:
        return set()


def _upper(found: re.Match[str]) -> str:
    return f"{found.group(1)}\\u{found.group(2).upper()}"


def _lower(found: re.Match[str]) -> str:
    return found.group().lower()


def _overlap(data: bytes, form: bytes) -> int:
    """How many bytes at the end of `data` are the beginning of `form`."""
    at = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while at >= 0:
        if form.startswith(data[at:]):
            return len(data) - at
        at = data.find(form[:1], at + 1)
    return 0
