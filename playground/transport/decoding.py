"""Content codings: gzip and deflate, decoded incrementally with bounded output.

If the server flushes its encoder after each event, each event is shown on arrival; a
decompression bomb needs no more memory than the caller's limit.
"""

from __future__ import annotations

import zlib
from typing import Protocol

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
#: Members of a gzip body that are decoded in one step: a read can hold thousands of empty ones.
_MEMBERS = 16


class DecodeError(Exception):
    """Data that violates its content coding."""

    def __init__(self, message: str, readable: bytes = b"") -> None:
        super().__init__(message)
        #: The output before the error.
        self.readable = readable


class Decoder(Protocol):
    """Decodes a content coding (RFC 9110, section 8.4.1)."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """Return at most `limit` (> 0) bytes of output, from earlier input first, then from `data`.

        Call again without data as long as `pending`. Raise `DecodeError`.
        """
        ...

    @property
    def pending(self) -> bool:
        """Return whether there may be more output without more input."""
        ...

    @property
    def complete(self) -> bool:
        """Return whether the input may end here."""
        ...


class IdentityCoding:
    """The identity coding."""

    complete = True

    def __init__(self) -> None:
        #: A view, so that taking pieces off a long one does not copy the rest each time.
        self._rest = memoryview(b"")

    @property
    def pending(self) -> bool:
        return bool(self._rest)

    def decode(self, data: bytes, limit: int) -> bytes:
        if not self._rest and len(data) <= limit:
            return data
        rest = memoryview(bytes(self._rest) + data) if data else self._rest
        self._rest = rest[limit:]
        return bytes(rest[:limit])


class UnknownCoding:
    """An unknown content coding."""

    complete, pending = True, False

    def __init__(self, coding: str) -> None:
        self._coding = coding

    def decode(self, data: bytes, limit: int) -> bytes:
        raise DecodeError(f"Unsupported content coding {self._coding!r}.")


class Inflate:
    """gzip (RFC 1952, with several members) or deflate (RFC 1950, or raw as some send it)."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inflate = zlib.decompressobj(wbits)
        #: The first bytes of deflate data, which tell whether there is a zlib header.
        self._start: bytes | None = b"" if wbits == _ZLIB else None
        self._has_begun = False
        #: Compressed data that was not processed yet.
        self._rest = b""
        #: Whether zlib may hold more output of processed input.
        self._may_hold_output = False

    @property
    def pending(self) -> bool:
        return self._may_hold_output or bool(self._rest)

    @property
    def complete(self) -> bool:
        return self._inflate.eof or not self._has_begun

    def decode(self, data: bytes, limit: int) -> bytes:
        """Return at most `limit` bytes of decompressed data. Raise `DecodeError`."""
        self._has_begun = self._has_begun or bool(data)
        if self._start is not None:
            data = self._start + data
            if len(data) < 2:
                self._start = data
                return b""
            self._start = None
            if not _has_zlib_header(data):
                self._wbits, self._inflate = _RAW, zlib.decompressobj(_RAW)
        return self._members(data, limit)

    def _members(self, data: bytes, limit: int) -> bytes:
        parts: list[bytes] = []
        rest, self._rest = self._rest + data, b""
        for _ in range(_MEMBERS):
            if not (rest or self._may_hold_output) or not limit:
                break
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._wbits)
            backup = self._inflate.copy()
            try:
                parts.append(self._inflate.decompress(rest, limit))
            except zlib.error as error:
                # zlib discards its output on an error: decompress again up to that byte.
                parts += _output_before_error(backup, rest, limit)
                self._may_hold_output = False
                raise DecodeError(str(error), b"".join(parts)) from error
            limit -= len(parts[-1])
            rest = self._inflate.unconsumed_tail or self._inflate.unused_data
            self._may_hold_output = not limit and not self._inflate.eof
        self._rest = rest
        return b"".join(parts)


def _has_zlib_header(data: bytes) -> bool:
    """Return whether a zlib header follows (RFC 1950, section 2.2: method 8 and a checksum)."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _output_before_error(inflate: zlib._Decompress, data: bytes, limit: int) -> list[bytes]:
    """Return the output before the byte at which zlib fails, at most `limit` bytes."""
    parts: list[bytes] = []
    for position in range(len(data)):
        try:
            part = inflate.decompress(data[position : position + 1], limit)
        except zlib.error:
            break
        parts.append(part)
        limit -= len(part)
        if limit <= 0:
            break
    return parts


def decoder_for(content_encoding: str) -> Decoder:
    """Return the decoder for a `Content-Encoding`; an unknown one fails on first use."""
    codings = [part.strip().lower() for part in content_encoding.split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")]
    if not codings:
        return IdentityCoding()
    if codings in (["gzip"], ["x-gzip"]):
        return Inflate(_GZIP)
    if codings == ["deflate"]:
        return Inflate(_ZLIB)
    return UnknownCoding(content_encoding)
