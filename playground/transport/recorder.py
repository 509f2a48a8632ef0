"""Recorder: chunks of a response body as frames, below every decoder of the protocols.

Every received byte is in exactly one frame, up to the limit that ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playground.base.limits import RunLimits
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.sse import Splitter, is_event_stream, is_json_lines
from playground.transport import errors
from playground.transport.decoding import DecodeError, decoder_for
from playground.transport.errors import CallError
from playground.transport.redaction import Redactor, StreamRedactor

#: Enough for a byte order mark and the longest field name with its colon.
_MAX_PREFIX = 9
#: The most whitespace at the start of a body that is held back.
_MAX_WHITESPACE = 1024
#: Decompressed bytes that are processed in one step: compressed data can expand by a factor of a
#: thousand, and a slice can hold ten thousand events.
_SLICE = 64 * 1024


@dataclass(slots=True)
class RemainingLimits:
    """The remaining limits of a run, shared by all of its calls."""

    limits: RunLimits
    bytes_left: int
    frames_left: int
    interim_responses_left: int

    @classmethod
    def of(cls, limits: RunLimits) -> RemainingLimits:
        return cls(limits, limits.max_bytes, limits.max_frames, limits.max_interim_responses)

    def count_interim_response(self, size: int) -> None:
        """Count an interim response of `size` bytes as a frame, which is not stored.

        Raise `CallError` at a limit.
        """
        self.interim_responses_left -= 1
        self.frames_left -= 1
        self.bytes_left -= size
        for name, left in (
            ("max_interim_responses", self.interim_responses_left),
            ("max_frames", self.frames_left),
            ("max_bytes", self.bytes_left),
        ):
            if left < 0:
                raise CallError(errors.limit_exceeded(name, self.limits))


class BodyRecorder:
    """Makes frames of one response body. `emit` gets lists of frames, in order.

    `process` and `finish` are divided into steps, so that other tasks can run in between. If
    they are stopped in the middle, `finish` continues later: nothing is lost.
    """

    def __init__(
        self,
        media_type: str,
        encoding: str,
        remaining: RemainingLimits,
        redactor: Redactor,
        emit: Callable[[list[Frame]], None],
    ) -> None:
        self._media_type = media_type
        self._encoding = encoding
        self._decoder = decoder_for(encoding)
        self._splitter = Splitter()
        self._remaining = remaining
        self._redactor = redactor
        self._emit = emit
        self._chunks: list[bytes] = []
        #: The first bytes, as long as they may still begin an event stream.
        self._start = b""
        self._is_stream: bool | None = None
        self._pieces = StreamRedactor(redactor)
        #: Nothing more is read, and all that was read has become frames.
        self._closed = self._finished = False

    def add(self, chunk: bytes) -> None:
        """Add a chunk as received; `process` reads it."""
        self._chunks.append(chunk)

    def process(self, at_us: int) -> Iterator[None]:
        """Emit frames for all added chunks, which arrived at `at_us`, one slice for each step.

        Raise `CallError` at a limit or for undecodable data, after emitting what precedes it.
        """
        data = b"".join(self._chunks)
        self._chunks.clear()
        while (data or self._decoder.pending) and not self._closed:
            self._slice(data, at_us)
            data = b""
            yield

    def finish(self, at_us: int, *, clean: bool) -> Iterator[None]:
        """Emit the rest; `clean` if the body ended as its framing requires.

        Raise `CallError` like `process`, and for compressed data that ends too early.
        """
        try:
            yield from self.process(at_us)
        except CallError:
            self._flush(at_us)
            raise
        self._flush(at_us)
        if clean and not self._closed and not self._decoder.complete:
            raise CallError(errors.cut_compressed(self._encoding))

    def _slice(self, data: bytes, at_us: int) -> None:
        room, problem = self._remaining.bytes_left, None
        try:
            data = self._decoder.decode(data, min(_SLICE, room + 1))
        except DecodeError as error:
            data, problem = error.readable, errors.undecodable(self._encoding, str(error))
        if len(data) > room:
            data, problem = data[:room], errors.limit_exceeded("max_bytes", self._remaining.limits)
        self._remaining.bytes_left -= len(data)
        self._closed = problem is not None
        self._process_slice(data, at_us)
        if problem:
            raise CallError(problem)

    def _process_slice(self, data: bytes, at_us: int) -> None:
        if self._is_stream is None:
            data = self._start = self._start + data
            has_lines = is_json_lines(self._media_type, data)
            if _undecided(data) or has_lines is None:
                return
            self._is_stream = has_lines or is_event_stream(self._media_type, data)
            self._splitter = Splitter(is_json_lines=has_lines)
        if self._is_stream:
            self._stream(data, at_us)
        else:
            self._body(data, at_us)

    def _stream(self, data: bytes, at_us: int) -> None:
        redact = self._redactor.response if self._redactor.secrets else self._redactor.mask
        frames = [
            Frame(
                0,
                at_us,
                FrameKind.COMMENT
                # A block that begins with a letter has a field: nothing else needs a check.
                if block.data[:1] in b":\r\n\xef" and block.is_comment
                else FrameKind.EVENT,
                redact(block.data) if redact else block.data,
            )
            for block in self._splitter.feed(data)
        ]
        self._send(frames)

    def _body(self, data: bytes, at_us: int) -> None:
        self._one(FrameKind.BODY, self._pieces.add(data) if self._redactor else data, at_us)

    def _one(self, kind: FrameKind, data: bytes, at_us: int) -> None:
        if data:
            self._send([Frame(0, at_us, kind, data)])

    def _send(self, frames: list[Frame]) -> None:
        """Emit frames within the remaining limits; raise `CallError` when they are exceeded."""
        room = self._remaining.frames_left
        self._remaining.frames_left -= min(room, len(frames))
        self._emit(frames[:room])
        if len(frames) > room:
            self._closed = self._finished = True
            raise CallError(errors.limit_exceeded("max_frames", self._remaining.limits))

    def _flush(self, at_us: int) -> None:
        """Emit what waits for bytes that will not arrive."""
        if self._finished:
            return
        if self._is_stream is None and self._start:
            self._is_stream = is_event_stream(self._media_type, self._start)
            if self._is_stream:
                self._stream(self._start, at_us)
            else:
                self._body(self._start, at_us)
        self._finished = True
        rest = self._splitter.flush()
        # A blank rest, such as the LF of the last CRLF, is no incomplete event.
        kind = FrameKind.TAIL if rest.strip() else FrameKind.COMMENT
        self._one(kind, self._redactor.response(rest), at_us)
        self._one(FrameKind.BODY, self._pieces.end(), at_us)


def _undecided(start: bytes) -> bool:
    """Return whether more bytes are needed to recognize an event stream."""
    if len(start) >= _MAX_WHITESPACE:
        return False
    text = start.lstrip()
    if not text:
        return True
    # Only the beginning of a mark or of a field name can still become an event stream.
    return len(text) < _MAX_PREFIX and text[:1] in b"deir\xef" and b":" not in text
