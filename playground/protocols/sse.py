"""Server-sent events: cut a byte stream into blocks, and read a block.

Why not httpx-sse here: a playground has to show what a client is meant to drop. httpx-sse
swallows comments and an unterminated last event and keeps no bytes; this module keeps every
byte in exactly one block. `tests/protocols/test_sse.py` holds the two against each other.

Follows the WHATWG HTML standard, section 9.2.6 (interpreting an event stream).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A line end and, right behind it, a blank line. A lone CR counts only if no LF follows it.
_BLOCK_END = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
_LINE_END = re.compile(r"\r\n|\n|\r")
_STREAM_START = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry):|:)")
_BOM = b"\xef\xbb\xbf"


class LineTooLongError(Exception):
    """A line of the stream is longer than the limit."""


@dataclass(frozen=True, slots=True)
class Block:
    """Bytes of a stream up to and including a blank line (or a run of comment lines)."""

    data: bytes

    @property
    def is_comment(self) -> bool:
        """Whether the block holds nothing but comments and blank lines."""
        return all(
            not line or line[:1] == b":"
            for line in self.data.removeprefix(_BOM).replace(b"\r", b"\n").split(b"\n")
        )


@dataclass(frozen=True, slots=True)
class Message:
    """A block read as an event: the fields that the standard knows."""

    #: The `event` field, or None where the block has none (the standard's "message").
    event: str | None
    data: str
    id: str | None = None
    retry: int | None = None
    #: False where the block has no `data` field at all: a standard client dispatches nothing.
    has_data: bool = True


class Splitter:
    """Cuts a stream into blocks; every byte that goes in comes out in exactly one block."""

    def __init__(self, max_line: int) -> None:
        self._buffer = b""
        self._searched = 0
        self._max_line = max_line

    def feed(self, data: bytes) -> list[Block]:
        """The blocks that `data` completes.

        Raises `LineTooLongError` when a line, finished or not, exceeds the limit; blocks
        completed before it are then in the exception's first argument.
        """
        buffer = self._buffer + data if self._buffer else data
        blocks: list[Block] = []
        start, search = 0, max(0, self._searched - 3)
        while match := _BLOCK_END.search(buffer, search):
            end = match.end()
            self._guard(buffer, start, end, blocks)
            blocks.append(Block(buffer[start:end]))
            start = search = end
        rest = buffer[start:]
        if rest[:1] == b":" and (end := self._comment_end(rest)):
            # A heartbeat need not wait for the blank line that some servers never send.
            blocks.append(Block(rest[:end]))
            rest = rest[end:]
        self._guard(rest, 0, len(rest), blocks)
        self._buffer = rest
        self._searched = len(rest)
        return blocks

    def flush(self) -> bytes:
        """What is left when the stream has ended: an event without its blank line, or b""."""
        rest, self._buffer, self._searched = self._buffer, b"", 0
        return rest

    def _guard(self, buffer: bytes, start: int, end: int, done: list[Block]) -> None:
        if end - start <= self._max_line:
            return
        lines = buffer[start:end].replace(b"\r", b"\n").split(b"\n")
        if max(map(len, lines)) > self._max_line:
            raise LineTooLongError(done)

    @staticmethod
    def _comment_end(rest: bytes) -> int:
        """Where the complete comment lines at the start of `rest` end."""
        end = 0
        while rest[end : end + 1] == b":":
            newline = rest.find(b"\n", end)
            if newline < 0:
                break
            end = newline + 1
        return end


def parse(block: bytes) -> Message:
    """Read a block as an event. Never raises: bytes that are not UTF-8 become U+FFFD."""
    text = block.removeprefix(_BOM).decode("utf-8", "replace")
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
    return Message(event or None, "\n".join(data), event_id, retry, bool(data))


def is_event_stream(content_type: str, start: bytes) -> bool:
    """Whether a reply is an event stream, from its media type and its first bytes.

    Agents mislabel both ways: JSON or HTML sent as `text/event-stream`, and events sent as
    `text/plain`. What the bytes look like wins over what the header says.
    """
    head = start.removeprefix(_BOM).lstrip()[:1]
    if content_type.partition(";")[0].strip().lower() == "text/event-stream":
        return head not in (b"{", b"[", b"<")
    return bool(_STREAM_START.match(start))
