"""Parser for server-sent events: split a byte stream into blocks, and read a block.

Why not httpx-sse: a playground has to show what a client must drop. httpx-sse discards comments
and an unterminated last event and keeps no bytes; this module keeps every byte in exactly one
block. `tests/protocols/test_sse.py` compares the two.

Follows the WHATWG HTML standard, section 9.2.6 (interpreting an event stream).
"""

from __future__ import annotations

import re

import msgspec

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
#: Names of fields, and that of a comment.
_FIELDS = frozenset({"data", "event", "id", "retry", ""})
#: A remark on a body of JSON lines.
NOT_FRAMED = "The objects are JSON lines (NDJSON), not server-sent events."
#: A JSON object on the first line of a body, and the start of the second line.
_FIRST_OBJECT = re.compile(rb"\s*(?:\xef\xbb\xbf)?\{[^\n]*\}[ \t\r]*\n\s*([{\[]?)")
#: Bytes of the first line of a body that are held until its end tells JSON lines from a document.
_MAX_FIRST_LINE = 16 * 1024
_STREAM_START = re.compile(rb"\s*(?:\xef\xbb\xbf)?(?:(?:data|event|id|retry):|:)")
_BOM = b"\xef\xbb\xbf"
#: One line of data, maybe after a name. Without "\r", which also ends a line.
_USUAL = re.compile(rb"(?:event: (.*)\n)?data: (.*)\n\n")
#: A byte order mark at the start of a line: agents that concatenate files send several.
_BOM_AT_LINE = re.compile(rb"(?<![^\r\n])\xef\xbb\xbf")
#: Most objects of one block, or of a body without events, that are told apart.
_MAX_OBJECTS = 100_000
#: The end of a stream in the APIs of model providers.
DONE = "[DONE]"


class Block(msgspec.Struct, frozen=True, gc=False):
    """Bytes of a stream up to and including a blank line (or a run of comment lines)."""

    data: bytes

    @property
    def is_comment(self) -> bool:
        """Return whether the block contains only comments and blank lines."""
        if self.data[:1] not in b":\r\n\xef":
            return False
        data = _without_boms(self.data)
        return all(line[:1] == b":" for line in _LINE.findall(data))


class ServerSentEvent(msgspec.Struct, frozen=True, gc=False):
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

    def __init__(self, *, is_json_lines: bool = False) -> None:
        """Split at blank lines; with `is_json_lines` at each line."""
        self._is_json_lines = is_json_lines
        #: The incomplete block. A bytearray: a long one must not be copied for each chunk.
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Block]:
        """Return the blocks that `data` completes. Linear, however long a block is."""
        searched = max(0, len(self._rest) - 3)
        self._rest += data
        if b"\n" not in data and b"\r" not in data:
            return []
        if self._is_json_lines:
            end = self._rest.rfind(b"\n") + 1
            blocks = [Block(line) for line in bytes(self._rest[:end]).splitlines(keepends=True)]
        elif self._may_end(searched):
            blocks, end = _cut(bytes(self._rest), searched)
        else:
            return []
        del self._rest[:end]
        return blocks

    def flush(self) -> bytes:
        """Return the rest when the stream has ended: an event without its blank line, or b""."""
        rest, self._rest = bytes(self._rest), bytearray()
        return rest

    def _may_end(self, searched: int) -> bool:
        """Return whether the incomplete block ends somewhere: cheap, before it is copied."""
        if _BLOCK_END.search(self._rest, searched):
            return True
        return bool(_COMMENTS.match(self._rest, 0, _HEARTBEAT))


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
    """Never raises: bytes that are not UTF-8 become U+FFFD."""
    if usual := _parse_usual(block):
        return usual
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


def _parse_usual(block: bytes) -> ServerSentEvent | None:
    """Return a block that is one line of data, maybe after a name, as nearly all are.

    Three times as fast as line by line; None for any other block.
    """
    usual = _USUAL.fullmatch(block)
    if usual is None or b"\r" in block:
        return None
    name, data = usual.groups(b"")
    return ServerSentEvent(name.decode("utf-8", "replace") or None, data.decode("utf-8", "replace"))


def parse_all(block: bytes) -> list[ServerSentEvent]:
    """Return a block as events, with JSON and text that a standard client does not read.

    Several events if single newlines separate their objects: by the standard these are one event,
    whose data is not JSON. Lines of JSON without `data:` are events, too, and so is the text of a
    block without any. The last object may be cut off.
    """
    return read_block(block)[0]


def read_block(block: bytes) -> tuple[list[ServerSentEvent], bool]:
    """Return a block as `parse_all` does, and whether that is what a standard client reads."""
    if usual := _parse_usual(block):
        return [usual], True
    event = parse(block)
    if not (is_json_line(block) or b"\n{" in block or _is_objects(event.data)):
        text = "" if event.has_data else _without_fields(block)
        return ([ServerSentEvent(event.event, text)], False) if text else ([event], True)
    return _objects(block), False


def _objects(block: bytes) -> list[ServerSentEvent]:
    """Return the objects of a block on lines of their own, each as an event."""
    found: list[ServerSentEvent] = []
    name: str | None = None
    lines = _LINE_END.split(_without_boms(block).decode("utf-8", "replace"))
    for number, line in enumerate(lines):
        field, _, value = line.partition(":")
        if line.lstrip()[:1] == "{":
            rest = "\n".join(lines[number:]).strip()
            objects = rest.split("\n") if _is_objects(rest) else [rest]
            return found + [ServerSentEvent(name, each) for each in objects]
        if field == "event":
            name = value.strip() or None
        elif field == "data" and value.strip():
            found.append(ServerSentEvent(name, value.removeprefix(" ")))
            name = None
    return found


def _without_fields(block: bytes) -> str:
    """Return the lines of a block that are neither comments nor fields of the standard."""
    lines = _LINE_END.split(_without_boms(block).decode("utf-8", "replace"))
    return "\n".join(line for line in lines if line.partition(":")[0] not in _FIELDS).strip()


def is_json_line(block: bytes) -> bool:
    """Return whether a block is JSON without any field of an event: a JSON line (NDJSON)."""
    return block.lstrip()[:1] == b"{"


def _is_objects(text: str) -> bool:
    """Return whether there are several lines, and a JSON object on each except maybe the last.

    Such lines are not one JSON value, because there are no commas between them.
    """
    if "\n" not in text or text.count("\n") > _MAX_OBJECTS:
        return False
    lines = [line.strip() for line in text.strip().split("\n")][:-1]
    return bool(lines) and all(not line or line[0] + line[-1] == "{}" for line in lines)


def with_data(block: bytes, data: bytes) -> bytes:
    """Return a block with other data, of one line; its other fields are unchanged."""
    lines = _LINE.findall(_without_boms(block))
    others = [line for line in lines if not line.startswith(b"data")]
    end = block[len(block.rstrip(b"\r\n")) :]
    return b"\n".join((*others, b"data: " + data)) + end


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


def is_json_lines(content_type: str, start: bytes) -> bool | None:
    """Return whether a body is JSON lines (NDJSON); None if that takes more than its first bytes.

    The first bytes decide for a body that is labelled as a JSON document.
    """
    if start.removeprefix(_BOM).lstrip()[:1] != b"{":
        return False
    if first := _FIRST_OBJECT.match(start):
        return True if first[1] else (None if first.end() == len(start) else False)
    media_type = content_type.partition(";")[0].strip().lower()
    if b"\n" in start.strip() or media_type == "application/json" or media_type.endswith("+json"):
        return False
    return None if len(start) < _MAX_FIRST_LINE else "ndjson" in media_type or "jsonl" in media_type
