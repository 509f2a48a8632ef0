"""Complete chunks of a chunked body, found beside h11, which needs ten times as long for each.

Only h11 decides what a body is. `ChunkCutter` takes complete chunks in their plainest form out of
the bytes that h11 would read next, and leaves all others to it: incomplete chunks, those with
extensions, the last one with its trailers, and whatever violates RFC 9112, section 7.1.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: The line before the data of a chunk, without extensions, and with no more digits than h11 reads.
_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,20})\r\n")
_INCOMPLETE_SIZE_LINE = re.compile(rb"[0-9A-Fa-f]{0,20}\r?")
_END = b"\r\n"


class Cut(NamedTuple):
    """Received bytes, in this order."""

    #: For h11: the rest of a chunk that it has begun to read.
    before: bytes
    #: The data of complete chunks.
    chunks: list[bytes]
    #: For h11: all bytes after these.
    after: bytes


class ChunkCutter:
    """Takes complete chunks out of one chunked body."""

    def __init__(self, received: bytes) -> None:
        """`received` are the bytes of the body that h11 already has."""
        #: Bytes that are missing of the chunk that h11 reads.
        self._missing = 0
        #: Its size line, while that is incomplete.
        self._size_line = b""
        #: Whether h11 reads all the rest of the body.
        self._has_stopped = False
        self.cut(received)

    def cut(self, data: bytes) -> Cut:
        """Divide the bytes that follow those of earlier calls."""
        if self._size_line:
            self._leave(self._size_line + data, len(self._size_line))
        if self._has_stopped or self._size_line or len(data) < self._missing:
            self._missing -= len(data)
            return Cut(data, [], b"")
        begin = at = self._missing
        chunks: list[bytes] = []
        while found := _SIZE_LINE.match(data, at):
            start = found.end()
            end = start + int(found[1], 16)
            if start == end or data[end : end + 2] != _END:
                break
            chunks.append(data[start:end])
            at = end + 2
        after = data[at:]
        self._leave(after, len(after))
        return Cut(data[:begin], chunks, after)

    def _leave(self, data: bytes, read: int) -> None:
        """Leave the chunk at the beginning of `data` to h11, which has `read` bytes of it."""
        self._missing, self._size_line = 0, b""
        if found := _SIZE_LINE.match(data):
            size = int(found[1], 16)
            self._missing = found.end() + size + len(_END) - read
            # Otherwise it is the last one, or its end is another one.
            self._has_stopped = size == 0 or self._missing <= 0
        elif _INCOMPLETE_SIZE_LINE.fullmatch(data):
            self._size_line = data
        else:
            self._has_stopped = True
