"""HTTP response in frames: head, messages with their JSON or why not, and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from playground.protocols import json_decoder, lenient, sse, unreadable
from playground.protocols.frames import BODY_KINDS, LAST_KINDS, Frame, FrameKind

_STREAM_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT, FrameKind.TAIL})
_BOM = b"\xef\xbb\xbf"
_NOT_JSON = object()


class Message(NamedTuple):
    """A single response document, or one message of a stream."""

    #: The frame of the reader's events; for a document, the frame that ended it.
    seq: int
    #: Name of the event; None for a document and for an unnamed event.
    name: str | None
    #: The decoded JSON; None if it is unreadable.
    payload: Any
    #: The data as received, without a byte order mark.
    text: str = ""
    #: Why the data are unreadable; "" if they are readable.
    reason: str = ""
    #: Whether it is a single response document.
    document: bool = False
    #: Whether its meaning is unknown: the rest of it was not received, or it exceeds a limit of the
    #: playground.
    undecided: bool = False
    #: Whether the bytes of its frame are UTF-8, and whether those of a document begin with a BOM.
    is_utf8: bool = True
    has_bom: bool = False
    #: Whether a standard client reads this message from its frame.
    framed: bool = True
    #: Whether all decoders read the same value: see `json_decoder.StrictDecoder`.
    is_clean: bool = True

    @property
    def readable(self) -> bool:
        return not self.reason

    @property
    def members(self) -> dict[str, Any]:
        return self.payload if isinstance(self.payload, dict) else {}


class LiveResponse:
    """A response as its frames arrive: its head, its body if it is no stream, and its end."""

    def __init__(self) -> None:
        #: The HTTP status, 0 without a response head; names of headers in lower case.
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.head_seq: int | None = None
        #: One buffer: pieces would have to be joined, which takes their size again. Empty in a
        #: stored response, whose frames have it.
        self.body = bytearray()
        #: Whether a body that is no stream, and whether anything of a stream was received.
        self.has_body = self.has_blocks = False
        #: Whether it ended as its framing requires.
        self.ended = False

    def add(self, frame: Frame) -> None:
        kind = frame.kind
        if kind is FrameKind.EVENT or kind is FrameKind.COMMENT or kind is FrameKind.TAIL:
            self.has_blocks = True
        elif kind is FrameKind.BODY:
            if not self.ended:
                self.has_body = True
                self.body += frame.data
        elif kind is FrameKind.HEAD:
            self.status, self.headers = read_head(frame.data)
            self.head_seq = frame.seq
        elif kind is FrameKind.END:
            self.ended = True

    @property
    def media_type(self) -> str:
        """Return the media type in lower case without parameters, "" without one."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def announces_stream(self) -> bool:
        return self.headers.get("content-type", "").lower().startswith("text/event-stream")

    @property
    def streamed(self) -> bool:
        """Return whether it is a stream, or was announced as one and has no body."""
        return self.has_blocks or (self.announces_stream and not self.has_body)

    def take_text(self) -> tuple[str, bool]:
        """Return the text of the body, and whether it is valid UTF-8; the body is released."""
        body, self.body = self.body, bytearray()
        return _text(body)


class Response(LiveResponse):
    """A response whose frames are stored. Its bytes are in these only, and joined when used."""

    def __init__(self, frames: tuple[Frame, ...], max_depth: int = 100) -> None:
        """`max_depth` is the levels of nesting of JSON that are read."""
        super().__init__()
        self.frames = frames
        self._max_depth = max_depth
        for frame in frames:
            self.add(frame.with_data(b"") if frame.kind is FrameKind.BODY else frame)

    def first(self, kind: FrameKind) -> Frame | None:
        return next((frame for frame in self.frames if frame.kind is kind), None)

    @property
    def data(self) -> bytes:
        """Return the bytes of its body or stream as received."""
        return b"".join(frame.data for frame in self.frames if frame.kind in BODY_KINDS)

    @cached_property
    def kinds(self) -> frozenset[FrameKind]:
        return frozenset(frame.kind for frame in self.frames)

    @property
    def is_json_lines(self) -> bool:
        """Return whether it is a stream of JSON lines, without the framing of events."""
        streamed = (each.data.strip() for each in self.frames if each.kind in _STREAM_KINDS)
        return sse.is_json_line(next(filter(None, streamed), b""))

    @cached_property
    def _decoder(self) -> json_decoder.StrictDecoder:
        return json_decoder.StrictDecoder()

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Return the messages of a stream, or the single document, read once."""
        return tuple(self.read())

    def read(self) -> Iterator[Message]:
        """Read the messages, or the single document, one after the other as they are used."""
        return self._stream() if self.streamed else self._document()

    def _stream(self) -> Iterator[Message]:
        for frame in self.frames:
            is_tail = frame.kind is FrameKind.TAIL
            if not is_tail and frame.kind is not FrameKind.EVENT:
                continue
            if is_tail and sse.Block(frame.data).is_comment:
                continue
            found, framed = sse.read_block(frame.data)
            # A single line at the end may be the beginning of a field.
            framed = framed or (is_tail and len(found) == 1)
            valid = frame.data.isascii() or is_utf8(frame.data)
            for event in found:
                if event.has_data or event.event is not None:
                    payload, reason, undecided = self._decode(event.data)
                    if is_tail and event is found[-1]:
                        # It has no blank line after it: more may have been meant to follow.
                        undecided = bool(reason) or not self.ended
                    yield Message(
                        frame.seq,
                        event.event,
                        payload,
                        event.data,
                        reason,
                        undecided=undecided,
                        is_utf8=valid,
                        framed=framed,
                        is_clean=self._decoder.is_clean,
                    )

    def _document(self) -> Iterator[Message]:
        """Yield a single body; of a broken transfer only if the JSON is complete."""
        for at, frame in enumerate(self.frames):
            if frame.kind not in LAST_KINDS:
                continue
            pieces = (each.data for each in self.frames[:at] if each.kind is FrameKind.BODY)
            body = b"".join(pieces)
            has_bom = body.startswith(_BOM)
            text, valid = _text(body)
            del body
            ended = frame.kind is FrameKind.END and bool(text.strip())
            if ended or (frame.kind is FrameKind.ERROR and is_json(text, self._max_depth)):
                payload, reason, undecided = self._decode(text, document=True, utf8=valid)
                yield Message(
                    frame.seq,
                    None,
                    payload,
                    text,
                    reason,
                    document=True,
                    undecided=undecided,
                    is_utf8=valid,
                    has_bom=has_bom,
                    is_clean=self._decoder.is_clean,
                )
                return

    def _decode(
        self, text: str, *, document: bool = False, utf8: bool = True
    ) -> tuple[Any, str, bool]:
        """Return the value of a text, why it has none, and whether it exceeds a limit."""
        if json_decoder.exceeds_depth(text, self._max_depth) or json_decoder.has_too_many_values(
            text
        ):
            return None, "The JSON is too large.", True
        if not text or text.isspace():
            return None, "The message has no data.", False
        try:
            return self._decoder.decode(text), "", False
        except (ValueError, RecursionError) as error:
            if not document:
                return None, f"The data is not JSON: {error}.", False
            description, _ = unreadable.describe_body(text, error, utf8=utf8, with_reason=True)
            return None, f"The response {description}.", False


def last_response_frames(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Return the frames from the last response head on, or those after a later call."""
    for at in range(len(frames) - 1, -1, -1):
        if frames[at].kind is FrameKind.HEAD:
            return frames[at:]
        if frames[at].kind is FrameKind.CALL:
            return frames[at + 1 :]
    return frames


def request_headers(frames: tuple[Frame, ...]) -> Mapping[str, str]:
    """Return the headers of the last call, names in lower case."""
    call = next((frame for frame in reversed(frames) if frame.kind is FrameKind.CALL), None)
    return read_head(call.data.partition(b"\r\n\r\n")[0])[1] if call else {}


def read_head(data: bytes) -> tuple[int, Mapping[str, str]]:
    """Return status (0 if there is none) and headers of a response head, names in lower case."""
    status_line, *lines = data.decode("latin-1").split("\r\n")
    words = status_line.split(None, 2)
    status = words[1] if len(words) > 1 else ""
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name:
            headers.setdefault(name.strip().lower(), value.strip())
    # Python cannot convert a number of some thousands of digits.
    return int(status[:9]) if status.isascii() and status.isdigit() else 0, headers


def _text(body: bytes | bytearray) -> tuple[str, bool]:
    """Return the text of a body, and whether it is valid UTF-8."""
    try:
        return body.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return body.decode("utf-8-sig", "replace"), False


def is_json(text: str, max_depth: int) -> bool:
    return lenient.decode(text, _NOT_JSON, max_depth=max_depth) is not _NOT_JSON


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
