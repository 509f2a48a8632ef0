"""Redaction of secrets and credentials in everything that is recorded, before it is stored.

Three rules: the values of known secrets are removed wherever they occur; headers that carry
credentials by their name lose their value, known secret or not; and secrets that agents send by
mistake, as the protocol lists them, are masked in every part of a response.

A secret is found however its characters are written, all or some of them, up to five encodings
within each other: as in JSON and programs, URLs, HTML, and quoted-printable; also in lower or
upper case, since the case of keys, names and hexadecimal digits often means nothing. It is found in
hexadecimal, with common separators, and in Base64 in both alphabets at any offset, in lines, and
without padding. Of Base64 the characters are masked that the secret alone determines: of the first
byte up to four bits may stay. Not found are other encodings of bytes, such as Base32, and encoded
bytes within encoded bytes, such as Base64 of hexadecimal.

Most data are excluded by regular expressions (`_possible`); the others are decoded level by level.
An expression of all written forms of a secret would find them without decoding. Tried with RE2, it
missed 1,403 of the 2,570 forms that are two encodings within each other; it could not be compiled
for a secret of a thousand characters, such as a signed token; and it could not tell which end of a
piece may begin a secret, so that pieces would be shown late.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from typing import Any, AnyStr, NamedTuple

import re2

# Defined by the protocols, and exported here as part of the transport's interface.
from playground.protocols.headers import is_credential
from playground.transport import encodings
from playground.transport.encodings import Reading

#: Replaces a secret.
MASK = "••••••"
_MASK = MASK.encode()
#: Shorter values would mask ordinary text: for known secrets, and for values that are only assumed
#: to be secrets because of their header's name. Four bytes determine four characters of Base64.
SHORTEST, _SHORTEST_GUESS = 4, 8
#: Bytes of a shown body that are scanned again together with the next piece.
_CONTEXT = 1024
#: Bytes of a body that are held back at most because the mask has found something.
MOST_UNMASKED = 1024 * 1024
#: Bytes of a body that are held back at most because they may begin a secret, all of them and for
#: each byte of the longest secret: five escapes of six characters within each other.
MOST_PENDING, _MOST_ENCODED = 256 * 1024, 6**5
#: Bytes of a body that are held back and searched again with each piece.
_OFTEN_SEARCHED = 1024
#: Characters of Base64, bytes in hexadecimal, and characters as they are, that are nowhere by
#: chance: no more of a secret is searched at first.
_UNIQUE, _UNIQUE_BYTES, _UNIQUE_PLAIN = 8, 4, 64
#: Bytes of one expression. For more than about twice as many, RE2 has too little memory for its
#: automaton: it becomes a hundred times slower, and at last refuses the expression.
_MOST_PATTERN = 40_000

#: Letters in lower case, and spaces as forms encode them.
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ ", b"abcdefghijklmnopqrstuvwxyz+")
#: The alphabet of Base64 for URLs as the standard one (RFC 4648, sections 4 and 5), and one kind
#: of line break.
_STANDARD = bytes.maketrans(b"-_\r", b"+/\n")
#: Bytes of characters in UTF-8: those that continue one, and those that begin one.
_CONTINUATIONS, _LEADS = bytes(range(0x80, 0xC0)), bytes(range(0xC0, 0x100))
_ALNUM = re.compile(rb"[A-Za-z0-9]+")
#: Separators of bytes in hexadecimal and of lines of Base64, without letters and digits.
_SEPARATING = b" \t\r\n\f\v+,:-"
#: The character of Base64 with the last bits of some bytes, and padding.
_REST, _MAX_REST = re.compile(rb"[A-Za-z0-9+/]?={0,2}"), 3
#: How codes of letters and digits are written; what follows an encoded "&" of HTML that hides
#: something; and "=".
_NAMES = {
    b"CODE": rb"(?:3[0-9]|[46][1-9a-f]|[57][0-9a])",
    b"DECIMAL": rb"(?:4[89]|5[0-7]|6[5-9]|[78][0-9]|90|9[7-9]|1[01][0-9]|12[0-2])",
    b"REFERENCE": rb"""(?: \# | %23 | \\+u0023 | %26
        | amp | bsol | colon | comma | equals | fjlig | newline | num | percnt | tab )""",
    b"EQUALS": rb"(?: = | %3d | \\+u003d | & (?: equals; | \#0*61 | \#x0*3d ) )",
}
#: What hides letters and digits: they are encoded themselves, or what begins their encoding is.
_ENCODED = rb"""
    % (?: CODE | 25 | 5c | u00 | 26 REFERENCE | 3d [3-7][0-9a-f] EQUALS
        | 3d (?: [\x20\t]*[\r\n] | %0[ad] ) )
  | \\ (?: u00 (?: CODE | 25 | 5c | 26 REFERENCE | 0[0-9ad] | 3d [3-7][0-9a-f] EQUALS )
        | u [0-9a-f]{0,3} (?: [^0-9a-f] | \z ) | x | [0-3][0-7][0-7] )
  | & (?: \#0* (?: DECIMAL | 1[03] | 3[578] | 61 | 92 ) (?: [^0-9] | \z )
        | \#x0* (?: CODE | [ad] | 2[356] | 3d | 5c ) (?: [^0-9a-f] | \z )
        | %23 | \\+u0023 | amp; REFERENCE | (?: bsol | equals | fjlig | num | percnt ) ; )
  | = (?: [3-7][0-9a-f] EQUALS | [\x20\t]* (?: [\r\n] | \\+[nr] | %0[ad] | &newline; ) )
"""
#: Between characters of Base64 in lines, where `_ENCODED` finds nothing.
_BREAK = rb"(?i: [\x20\t\r\n] | [\r\n]data: | \\+[nrt] | %(?:0[9ad]|20) | &(?:newline|tab); )*"
#: Between bytes in hexadecimal, in lower case.
_BETWEEN = rb"""(?: [\s+,:\-] | [%=](?:0[9a-d]|2[0bcd]|3a)
    | \\+(?:[fnrt]|u00(?:0[9a-d]|2[0bcd]|3a))
    | &(?: \#0*(?:9|1[0-3]|32|4[345]|58);? | \#x0*(?:[9a-d]|2[0bcd]|3a);?
         | (?:colon|comma|newline|plus|tab); )
    )*(?:0x)?"""
#: The type of compiled expressions; `re2.compile` keeps the last 128 of these in a cache.
_Uncached: Callable[[bytes, re2.Options], Any] = type(re2.compile(b""))
_SET_COOKIE = re.compile(r"(?i)(set-cookie2?[ \t]*:)[^\r\n]*")


def credentials(headers: Iterable[tuple[str, str]]) -> set[str]:
    """Return the values of headers that are credentials by name, with and without their scheme."""
    values = {value.strip() for name, value in headers if is_credential(name)}
    return values | {value.partition(" ")[2].strip() for value in values}


class _Form(NamedTuple):
    """A secret as it is written in one encoding."""

    text: bytes
    #: Whether a character of Base64 that follows has the last bits of the secret.
    has_rest: bool = False


class Redactor:
    """Replaces secrets in all encodings that the module names.

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
        # A line break at the end would be that of a line of the response.
        known = {text for secret in known if len(text := secret.strip("\r\n")) >= SHORTEST}
        self.secrets = frozenset(known)
        self._lines = any("\n" in secret or "\r" in secret for secret in known)
        self._plain = {_Form(text) for secret in known for text in _plain_texts(secret)}
        sent = {data for secret in known for data in _encodings(secret)}
        self._hex = {_Form(data.hex().encode()) for data in sent}
        self._has_hex = _search(_hex_start(data) for data in sent)
        self._base64 = {form for data in sent for form in _base64_forms(data)}
        self._folded = self._plain | self._hex
        self._longest = max((len(form.text) for form in self._folded), default=0)
        self._most_pending = min(MOST_PENDING, self._longest * _MOST_ENCODED // 2)
        self._may_have = _possible(known)
        self.mask = mask

    def __bool__(self) -> bool:
        return bool(self._plain or self.mask)

    def data(self, data: bytes) -> bytes:
        """Return `data` without secrets."""
        if not (self._plain and self._may_have(data)):
            return data
        return self.split(data, is_last=True)[0]

    def response(self, data: bytes) -> bytes:
        """Return a block of a response, or another complete part, without secrets and masked."""
        data = self.data(data)
        return self.mask(data) if self.mask else data

    def received(self, data: bytes, last: int) -> bytes:
        """Return the `last` of the bytes that a connection received, like `response`.

        Secrets may span several chunks.
        """
        spans: list[tuple[int, int]] = []
        if self._plain:
            spans = self._spans(*encodings.readings(data, lines=self._lines))
        if self._plain and (unframed := Reading(data).decoded(encodings.CHUNK_FRAMING)):
            joined = self._spans(*encodings.readings(unframed.data, lines=self._lines))
            spans = _merged(
                [*spans, *((unframed.start(at), unframed.end(to)) for at, to in joined)]
            )
        begin = max(0, len(data) - last)
        shown = [(max(start, begin), end) for start, end in spans if end > begin]
        masked = _masked(data, shown, begin)
        return self.mask(masked) if self.mask else masked

    def text(self, text: str) -> str:
        """Return `text`, which may quote a response, without secrets and values of set cookies."""
        clean = self.response(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
        return _SET_COOKIE.sub(rf"\1 {MASK}", clean)

    def split(self, data: bytes, *, is_last: bool = False) -> tuple[bytes, bytes]:
        """Return the part of `data` that can be shown, redacted, and a rest as it is.

        The rest may begin a secret: prepend it to the next piece. There is none if the piece
        `is_last`. Events need no split: a secret never spans two of them, but pieces of a body
        end anywhere. A rest that is longer than an encoded secret is masked.
        """
        if not self._plain:
            return data, b""
        begin = 0 if is_last else self._tail_start(data)
        levels, others = encodings.readings(data[begin:], lines=self._lines, continued=not is_last)
        spans = [] if begin else self._spans(levels, others)
        if is_last:
            return _masked(data, spans), b""
        cut = min(at for reading in (*levels, *others) for at in self._cuts(reading))
        if len(data) - begin - cut > self._most_pending:
            return _masked(data, _merged([*spans, (begin + cut, len(data))])), b""
        whole = None
        while whole != cut:
            whole = cut = levels[-1].widened(cut, cut)[0]
            cut = min([cut, *(start for start, end in spans if start < cut < end)])
        cut += begin
        return _masked(data[:cut], [span for span in spans if span[1] <= cut]), data[cut:]

    def headers(
        self, headers: Iterable[tuple[bytes, bytes]], hide: Iterable[str] = ()
    ) -> list[tuple[bytes, bytes]]:
        """Return headers without secrets; those named in `hide` (lower case) lose their value."""
        hidden = set(hide)
        return [
            (
                self.data(name),
                _MASK if name.decode("latin-1").lower() in hidden else self.data(value),
            )
            for name, value in headers
        ]

    def _tail_start(self, data: bytes) -> int:
        """Return where the end of `data` begins that may cut a secret, if there is none before."""
        # No encoded character has a space or a comma within.
        last = _end_start(data, 8 * self._longest)
        begin = max(data.rfind(each, max(0, last - _CONTEXT), last) for each in (b" ", b","))
        return begin if begin > 0 and not self._may_have(data) else 0

    def _spans(self, levels: list[Reading], others: list[Reading]) -> list[tuple[int, int]]:
        """Return from where to where there are secrets, in order, with whole encoded characters."""
        found = {span for reading in (*levels, *others) for span in self._found(reading)}
        return _merged(levels[:2][-1].widened(*span) for span in found)

    def _found(self, reading: Reading) -> Iterator[tuple[int, int]]:
        """Yield from where to where there is a secret, in any order."""
        for each, text, forms in self._texts(reading):
            for form in forms:
                at = text.find(form.text)
                while at >= 0:
                    yield each.start(at), each.end(_end(text, at, form))
                    at = text.find(form.text, at + 1)

    def _cuts(self, reading: Reading) -> Iterator[int]:
        """Yield where a secret or an encoded character may begin that the end cuts."""
        yield reading.end(len(reading.data)) if reading.data else 0
        for each, text, forms in self._texts(reading, end_only=True):
            for form in forms:
                yield each.start(len(text) - overlap(text, form.text))
                # The rest may follow.
                at = text.rfind(form.text, -len(form.text) - _MAX_REST) if form.has_rest else -1
                if at >= 0 and _end(text, at, form) == len(text):
                    yield each.start(at)

    def _texts(
        self, reading: Reading, *, end_only: bool = False
    ) -> Iterator[tuple[Reading, bytes, set[_Form]]]:
        """Yield readings of a reading, each with its text and the forms to search there.

        With `end_only`, some have the end of the text alone.
        """
        text = reading.data.translate(_FOLD)
        yield reading, text, self._folded
        standard = Reading(reading.data.translate(_STANDARD), reading)
        yield standard, standard.data, self._base64
        begin = _end_start(text, self._longest) if end_only else 0
        if joined := standard.decoded(encodings.LINE_BREAKS, continued=end_only, begin=begin):
            yield joined, joined.data, self._base64
            yield joined, joined.data.lower(), self._hex
        if (end_only or self._has_hex(text)) and (
            joined := reading.decoded(encodings.SEPARATORS, continued=end_only, begin=begin)
        ):
            yield joined, joined.data.lower(), self._hex


def _possible(secrets: Iterable[str]) -> Callable[[bytes], bool]:
    """Return a fast search that finds something in all data with secrets, and not in most others.

    Whatever encodes characters leaves the longest part of a secret that needs no encoding as it
    is, or encodes a letter or digit, which few encoders do.
    """
    encoded = _ENCODED
    for name, meaning in _NAMES.items():
        encoded = encoded.replace(name, meaning)
    parts = {encoded}
    for secret in secrets:
        parts.add(_longest_part(secret.encode("utf-8", "surrogatepass"))[:_UNIQUE_PLAIN])
        for data in _encodings(secret):
            parts.add(_hex_start(data))
            for form in _base64_forms(data):
                part = _longest_part(form.text)[:_UNIQUE]
                parts.add(b"(?-i:%b)" % _BREAK.join(bytes([each]) for each in part))
    return _search(parts)


def _search(patterns: Iterable[bytes]) -> Callable[[bytes], bool]:
    """Compile patterns, without their spaces and line breaks, for bytes in any case.

    The function that is returned tells whether one of them is found. They are neither logged nor
    cached, since they have parts of secrets.
    """
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    groups: list[list[bytes]] = [[]]
    size = 0
    for pattern in sorted(each.translate(None, b" \n") for each in patterns):
        size += len(pattern)
        if size > _MOST_PATTERN:
            groups.append([])
            size = len(pattern)
        groups[-1].append(pattern)
    searches = [_Uncached(b"|".join(group), options).search for group in groups]
    return lambda data: any(search(data) for search in searches)


class StreamRedactor:
    """The redacted pieces of one body, independent of where it was split.

    Once the mask has found something, the rest of the body is held back and masked as a whole, so
    that a key in two pieces is found. If it is large, it is masked in parts that end with the end
    of a JSON object, and a part without one is masked completely. A key that was shown completely
    before anything in the body gave it away is not found.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        #: The end of the input, which may be the beginning of a secret, and its length at which it
        #: is searched again.
        self._pending = b""
        self._enough = 0
        #: The end of the output.
        self._shown = b""
        self._unmasked: bytearray | None = None
        #: Whether a part without the end of an object was masked, which has not come yet.
        self._is_skipping = False

    def add(self, data: bytes) -> bytes:
        """Return the part of the body that can be shown after `data`."""
        self._pending += data
        if len(self._pending) < self._enough:
            return b""
        data, self._pending = self._redactor.split(self._pending)
        held = len(self._pending)
        self._enough = held + held // 2 if held > _OFTEN_SEARCHED else 0
        return self._pass(data)

    def end(self) -> bytes:
        """Return the rest at the end of the body."""
        data, self._pending = self._redactor.split(self._pending, is_last=True)
        data = self._pass(data)
        unmasked, self._unmasked = self._unmasked, None
        return data + self._mask_held(unmasked) if unmasked else data

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
        if self._is_skipping:
            data = data[end:] if (end := data.find(b"}")) >= 0 else b""
            self._is_skipping = not data
        self._unmasked += data
        return self._mask_part() if len(self._unmasked) > MOST_UNMASKED else b""

    def _mask_part(self) -> bytes:
        """Return the held bytes up to the end of a JSON object, masked."""
        assert self._unmasked is not None
        end = self._unmasked.rfind(b"}") + 1
        if not end:
            self._unmasked, self._shown, self._is_skipping = bytearray(), b"", True
            return _MASK
        part = self._unmasked[:end]
        del self._unmasked[:end]
        return self._mask_held(part)

    def _mask_held(self, data: bytearray) -> bytes:
        mask = self._redactor.mask
        assert mask
        known, self._shown = self._shown, b""
        masked = mask(known + data)
        # If the mask has rewritten the whole, its rest cannot be determined.
        shown = masked.removeprefix(known) if masked.startswith(known) else _MASK
        self._shown = (known + shown)[-_CONTEXT:]
        return shown


def _longest_part(data: bytes) -> bytes:
    """Return the longest part of a secret that is the same in every encoding of characters."""
    return max(_ALNUM.findall(data), key=len, default=b"")


def _plain_texts(secret: str) -> set[bytes]:
    """Return a secret as it is found in readings, folded.

    A reading decodes as much as there is, so also what only seems to be encoded in the secret.
    """
    found = {
        reading.data
        for data in (
            secret.encode("utf-8", "surrogatepass"),
            # Without what could be a part of a character in UTF-8.
            _as_header(secret).lstrip(_CONTINUATIONS).rstrip(_LEADS),
        )
        for reading in encodings.readings(data, lines=True)[0]
    }
    return {data.translate(_FOLD) for data in found if len(data) >= SHORTEST}


def _encodings(secret: str) -> set[bytes]:
    """Return the bytes of a secret that may be sent as Base64 or hexadecimal."""
    escaped = {json.dumps(secret, ensure_ascii=flag)[1:-1] for flag in (True, False)}
    data = {text.encode("utf-8", "surrogatepass") for text in {secret, *escaped}}
    return data | {_as_header(secret)}


def _as_header(secret: str) -> bytes:
    """Return a secret as a header may carry it, a byte for a letter (RFC 9110, section 5.5)."""
    return b"".join(
        each.encode("latin-1" if each < "\u0100" else "utf-8", "surrogatepass") for each in secret
    )


def _base64_forms(data: bytes) -> Iterator[_Form]:
    """Yield what is the same in Base64 of everything that contains `data`, for each offset."""
    for offset in range(3):
        encoded = b64encode(bytes(offset) + data)
        bits = 8 * (offset + len(data))
        yield _Form(encoded[-(-8 * offset // 6) : bits // 6], bits % 6 > 0)


def _hex_start(data: bytes) -> bytes:
    """Return a pattern for the beginning in hexadecimal, with any separators."""
    return _BETWEEN.join(b"%02x" % byte for byte in data[:_UNIQUE_BYTES])


def _end_start(text: bytes, size: int) -> int:
    """Return where the end of `text` begins that has `size` bytes and more besides separators."""
    length = 4 * size
    while length < len(text):
        end = text[-length:].replace(b"data:", b"")
        if len(end.translate(None, _SEPARATING)) >= size:
            return len(text) - length
        length *= 2
    return 0


def _end(text: bytes, at: int, form: _Form) -> int:
    """Return where a form that begins at `at` ends, padding included."""
    end = at + len(form.text)
    if form.has_rest and (rest := _REST.match(text, end)):
        return rest.end()
    return end


def overlap(data: AnyStr, form: AnyStr) -> int:
    """Return how much at the end of `data` is the beginning of `form`, less than all of it."""
    at = data.find(form[:1], max(0, len(data) - len(form) + 1))
    while at >= 0:
        if form.startswith(data[at:]):
            return len(data) - at
        at = data.find(form[:1], at + 1)
    return 0


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, one for those that overlap."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            start, end = result[-1][0], max(end, result.pop()[1])
        result.append((start, end))
    return result


def _masked(data: bytes, spans: Iterable[tuple[int, int]], begin: int = 0) -> bytes:
    """Return `data` from `begin` on with a mask for each span; these are in order."""
    pieces: list[bytes] = []
    for start, end in spans:
        pieces += data[begin:start], _MASK
        begin = end
    return b"".join((*pieces, data[begin:]))
