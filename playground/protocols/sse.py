"""Parser for server-sent events: split a byte stream into blocks, and read a block.

Why not httpx-sse: a playground has to show what a client must drop. httpx-sse discards comments
and an unterminated last event and keeps no bytes; this module keeps every byte in exactly one
block. `tests/protocols/test_sse.py` compares the two.

Follows the WHATWG HTML standard, section 9.2.6 (interpreting an event stream).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

#: A line end and, right behind it, a blank line; CR LF is one line end. Begins with a set of
#: characters: several times as fast as three alternatives. A possessive quantifier would say the
#: same, but Python 3.11.2 takes it for an ordinary one.
_BLOCK_END = re.compile(rb"[\r\n](?:(?<=\r)\n|(?<!\r)|(?!\n))(?:\r\n?|\n)")
#: Complete comment lines at the start of a block, blank lines between them included.
_COMMENTS = re.compile(rb"(?:\xef\xbb\xbf)?(?:[\r\n]*+:[^\r\n]*+\r?\n)+")
#: Bytes in which each chunk is searched for a complete comment; a longer one ends with its
#: blank line.
_HEARTBEAT = 4096
_LINE = re.compile(rb"[^\r\n]+")
_LINE_END = re.compile(r"\r\n|\n|\r")
_STREAM_START = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry):|:)")
_BOM = b"\xef\xbb\xbf"
#: A byte order mark at the start of a line: agents that concatenate files send several.
_BOM_AT_LINE = re.compile(rb"(?<![^\r\n])\xef\xbb\xbf")


class LineTooLongError(Exception):
    """A line of the stream is longer than the limit."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes of a stream up to and including a blank line (or a run of comment lines)."""

    data: bytes

    @property
    def is_comment(self) -> bool:
        """Return whether the block contains only comments and blank lines."""
        if self.data[:1] not in b":\r\n\xef":
            return False
        data = _without_boms(self.data)
        return all(line[:1] == b":" for line in _LINE.findall(data))


class ServerSentEvent(NamedTuple):
    """A block read as an event: the fields of the standard."""

    #: The `event` field, None if the block has none (the standard's "message").
    event: str | None
    data: str
    id: str | None = None
    retry: int | None = None
    #: False if the block has no `data` field at all: a standard client dispatches nothing.
    has_data: bool = True


class Splitter:
    """Splits a stream into blocks; every byte of the input is in exactly one block.

    However the stream is divided into chunks, the events are the same. The blocks can differ in
    two places, so that nothing waits for bytes that may never come: a heartbeat ends with its
    own line if the chunk ends there, and the LF of a CRLF that arrives after a CR has
    already ended a block is at the start of the next.
    """

    def __init__(self, max_line: int) -> None:
        """Set the most bytes of a line, line end excluded."""
        self._max_line = max_line
        #: The incomplete block. A bytearray: a long one must not be copied for each chunk.
        self._rest = bytearray()
        #: Length of the incomplete line at its end.
        self._line = 0

    def feed(self, data: bytes) -> list[Block]:
        """Return the blocks that `data` completes.

        Raises `LineTooLongError` when a line, complete or not, exceeds the limit. The
        exception's first argument is the list of blocks that were complete before that line,
        and the splitter is unchanged by the call: `flush() + data` begins with them.
        """
        if self._line + len(data) > self._max_line:
            self._check_lines(data)
        newline = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._line = len(data) - newline - 1 + (self._line if newline < 0 else 0)
        searched = max(0, len(self._rest) - 3)
        self._rest += data
        if newline < 0:
            return []
        blocks, end = _cut(bytes(self._rest), searched) if self._may_end(searched) else ([], 0)
        del self._rest[:end]
        return blocks

    def flush(self) -> bytes:
        """Return the rest when the stream has ended: an event without its blank line, or b""."""
        rest, self._rest, self._line = bytes(self._rest), bytearray(), 0
        return rest

    def _may_end(self, searched: int) -> bool:
        """Return whether the incomplete block ends somewhere: cheap, before it is copied."""
        if _BLOCK_END.search(self._rest, searched):
            return True
        return bool(_COMMENTS.match(self._rest, 0, _HEARTBEAT))

    def _check_lines(self, data: bytes) -> None:
        for line in _LINE.finditer(data):
            before = self._line if line.start() == 0 else 0
            if before + len(line[0]) > self._max_line:
                searched = max(0, len(self._rest) - 3)
                done, _ = _cut(bytes(self._rest + data[: line.start()]), searched)
                raise LineTooLongError(done)


def _cut(buffer: bytes, searched: int) -> tuple[list[Block], int]:
    """Return the blocks of a buffer in which none ends before `searched`, and their end."""
    blocks: list[Block] = []
    start = 0
    for end in _block_ends(buffer, searched):
        blocks.append(Block(buffer[start:end]))
        start = end
    # A heartbeat is complete without the blank line, which some servers never send.
    if comments := _COMMENTS.match(buffer, start):
        blocks.append(Block(comments[0]))
        start = comments.end()
    return blocks, start


def _block_ends(buffer: bytes, searched: int) -> list[int]:
    if b"\r" in buffer:
        return [match.end() for match in _BLOCK_END.finditer(buffer, searched)]
    # Nearly all streams: three times as fast as the expression.
    ends: list[int] = []
    end = searched
    while (at := buffer.find(b"\n\n", end)) >= 0:
        end = at + 2
        ends.append(end)
    return ends


def parse(block: bytes) -> ServerSentEvent:
    """Return a block as an event. Never raises: bytes that are not UTF-8 become U+FFFD."""
    if _is_one_line(block):
        return ServerSentEvent(None, block[6:-2].decode("utf-8", "replace"), None, None, True)
    text = _without_boms(block).decode("utf-8", "replace")
    event: str | None = None
    data: list[str] = []
    event_id: str | None = None
    retry: int | None = None
    for line in _LINE_END.split(text) if "\r" in text else text.split("\n"):
        name, _, value = line.partition(":")
        if value[:1] == " ":
            value = value[1:]
        if name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id" and "\0" not in value:
            event_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            retry = int(value[:18])
    return ServerSentEvent(event or None, "\n".join(data), event_id, retry, bool(data))


def with_data(block: bytes, data: bytes) -> bytes:
    """Return a block with other data, of one line; its other fields are unchanged."""
    lines = _LINE.findall(_without_boms(block))
    others = [line for line in lines if not line.startswith(b"data")]
    end = block[len(block.rstrip(b"\r\n")) :]
    return b"\n".join((*others, b"data: " + data)) + end


def _is_one_line(block: bytes) -> bool:
    """Return whether a block is one line of data and nothing else, as in most unnamed streams."""
    framed = block[:6] == b"data: " and block[-2:] == b"\n\n"
    return framed and block.find(b"\n", 6, -2) < 0 and block.find(b"\r") < 0


def _without_boms(block: bytes) -> bytes:
    return _BOM_AT_LINE.sub(b"", block) if _BOM in block else block


def is_event_stream(content_type: str, start: bytes) -> bool:
    """Return whether a response is an event stream, from its media type and its first bytes.

    Agents mislabel both ways: JSON or HTML sent as `text/event-stream`, and events sent as
    `text/plain`. The bytes take precedence over the header.
    """
    head = start.removeprefix(_BOM).lstrip()[:1]
    if content_type.partition(";")[0].strip().lower() == "text/event-stream":
        return head not in (b"{", b"[", b"<")
    return bool(_STREAM_START.match(start))
