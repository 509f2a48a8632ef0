"""Content codings: gzip and deflate, piece by piece, with bounded output.

A coder that flushes after each event shows each event as it arrives; a bomb costs no more
memory than the caller's limit.
"""

from __future__ import annotations

import zlib
from typing import Protocol

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS
#: Members of a gzip body that are read in one step: thousands of empty ones fit into a read.
_MEMBERS = 16


class DecodeError(Exception):
    """The data is not what its content coding says."""

    def __init__(self, message: str, readable: bytes = b"") -> None:
        super().__init__(message)
        #: What came out before the error.
        self.readable = readable


class Decoder(Protocol):
    """Undoes a content coding (RFC 9110, section 8.4.1)."""

    def decode(self, data: bytes, limit: int) -> bytes:
        """At most `limit` (> 0) bytes of what `data` yields, after what was left before it.

        Ask again with no data as long as `pending`. Raises `DecodeError`.
        """
        ...

    @property
    def pending(self) -> bool:
        """Whether there may be more without more data."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the coded data may end here."""
        ...


class IdentityCoding:
    """No coding at all."""

    complete = True

    def __init__(self) -> None:
        #: A view: taking pieces off a long one must not copy the rest each time.
        self._rest = memoryview(b"")

    @property
    def pending(self) -> bool:
        """Whether some of the data is left."""
        return bool(self._rest)

    def decode(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what is there."""
        if not self._rest and len(data) <= limit:
            return data
        rest = memoryview(bytes(self._rest) + data) if data else self._rest
        self._rest = rest[limit:]
        return bytes(rest[:limit])


class UnknownCoding:
    """A coding that nobody here can undo."""

    complete, pending = True, False

    def __init__(self, coding: str) -> None:
        self._coding = coding

    def decode(self, data: bytes, limit: int) -> bytes:
        """Raises `DecodeError`."""
        raise DecodeError(f"The coding {self._coding!r} is not known here.")


class Inflate:
    """gzip (RFC 1952, with several members) or deflate (RFC 1950, or raw as some send it)."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._inflate = zlib.decompressobj(wbits)
        #: The first bytes of deflate data, which tell whether they have a zlib header.
        self._start: bytes | None = b"" if wbits == _ZLIB else None
        self._begun = False
        #: Compressed data that was not looked at yet.
        self._rest = b""
        #: Whether zlib may hold more of what it has read already.
        self._full = False

    @property
    def pending(self) -> bool:
        """Whether there may be more without more data."""
        return self._full or bool(self._rest)

    @property
    def complete(self) -> bool:
        """Whether the compressed data may end here."""
        return self._inflate.eof or not self._begun

    def decode(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what `data` decompresses to. Raises `DecodeError`."""
        self._begun = self._begun or bool(data)
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
            if not (rest or self._full) or not limit:
                break
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._wbits)
            backup = self._inflate.copy()
            try:
                parts.append(self._inflate.decompress(rest, limit))
            except zlib.error as error:
                # zlib keeps what it had when it met the error: go there again to get it.
                parts += _salvage(backup, rest, limit)
                self._full = False
                raise DecodeError(str(error), b"".join(parts)) from error
            limit -= len(parts[-1])
            rest = self._inflate.unconsumed_tail or self._inflate.unused_data
            self._full = not limit and not self._inflate.eof
        self._rest = rest
        return b"".join(parts)


def _has_zlib_header(data: bytes) -> bool:
    """RFC 1950, section 2.2: method 8, and a check over the first two bytes."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0


def _salvage(inflate: zlib._Decompress, data: bytes, limit: int) -> list[bytes]:
    """What `data` yields before the byte at which zlib gives up, at most `limit` bytes."""
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
    """The decoder for a `Content-Encoding` value; one that is not known fails on first use."""
    codings = [part.strip().lower() for part in content_encoding.split(",")]
    codings = [coding for coding in codings if coding not in ("", "identity")]
    if not codings:
        return IdentityCoding()
    if codings in (["gzip"], ["x-gzip"]):
        return Inflate(_GZIP)
    if codings == ["deflate"]:
        return Inflate(_ZLIB)
    return UnknownCoding(content_encoding)
