"""Frames: what crossed the wire, verbatim, with a number and a time; and their binary form.

A run is a sequence of frames numbered from 1. Everything else that the playground shows is
derived from them, so a better decoder also serves old runs.
"""

from __future__ import annotations

import enum
import json
import struct
from collections.abc import Iterable, Iterator

import msgspec


class FrameKind(enum.IntEnum):
    """Kind of a frame. The numbers are stored: append, never renumber."""

    #: The request as sent: HTTP/1.1 head and body. Secrets are redacted before it is stored.
    CALL = 1
    #: The connection was established. JSON object: `tls` (version or null), `peer` (host:port),
    #: and `reused`, true for a connection that was kept from an earlier request.
    OPEN = 2
    #: The response head as received: status line and headers.
    HEAD = 3
    #: One block of an event stream that carries fields, up to and including its blank line; of JSON
    #: lines, one line.
    EVENT = 4
    #: Comment lines of an event stream (heartbeats).
    COMMENT = 5
    #: A piece of a body that is not an event stream, as it was received.
    BODY = 6
    #: The rest of an event stream that ended without a closing blank line.
    TAIL = 7
    #: The body ended as its framing says. No bytes.
    END = 8
    #: The transfer failed. JSON object: a `playground.protocols.problems.Problem`.
    ERROR = 9


#: Kinds whose bytes are the response body. Their sum is its stored size: that of the body,
#: unless secrets in it were replaced by a mask of another length.
BODY_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT, FrameKind.BODY, FrameKind.TAIL})
#: Kinds of the last frame of a call.
LAST_KINDS = (FrameKind.END, FrameKind.ERROR)


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One thing that crossed the wire.

    A frozen dataclass takes ten times as long to create, and there are several for each event.
    """

    #: Position in the run, from 1, without gaps. 0 until the writer has numbered it.
    seq: int
    #: Arrival, in microseconds since the run's first call.
    at_us: int
    kind: FrameKind
    data: bytes = b""

    @property
    def at_ms(self) -> float:
        return self.at_us / 1000

    def numbered(self, seq: int) -> Frame:
        return Frame(seq, self.at_us, self.kind, self.data)

    def with_data(self, data: bytes) -> Frame:
        return Frame(self.seq, self.at_us, self.kind, data)


def is_reused(opened: Frame) -> bool:
    """Return whether the connection of an OPEN frame was kept from an earlier request."""
    return json.loads(opened.data).get("reused") is True


_HEADER = struct.Struct("<BQI")
#: Enum lookups are slow, and there is one for every frame that is read.
_KINDS = {kind.value: kind for kind in FrameKind}


def pack(frames: Iterable[Frame]) -> bytes:
    """Return frames as one blob, without their numbers: the frames of a blob are consecutive."""
    parts: list[bytes] = []
    for frame in frames:
        parts.append(_HEADER.pack(frame.kind, frame.at_us, len(frame.data)))
        parts.append(frame.data)
    return b"".join(parts)


def unpack(blob: bytes | memoryview, first: int) -> Iterator[Frame]:
    """Yield the frames of a blob made by `pack`, numbered from `first`.

    Raises `struct.error`, `KeyError` or `ValueError` if the blob was not made by `pack`.
    """
    data, size, kinds, read = bytes(blob), _HEADER.size, _KINDS, _HEADER.unpack_from
    start, seq, end = 0, first, len(data)
    while start < end:
        kind, at_us, length = read(data, start)
        start += size
        yield Frame(seq, at_us, kinds[kind], data[start : start + length])
        start += length
        seq += 1
    if start > end:
        raise ValueError("The blob is truncated.")
