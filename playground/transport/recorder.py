"""From the chunks of a response body to frames: the recorder that sits under the decoders.

Every byte that arrives ends up in exactly one frame, up to the limit that ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playground.limits import RunLimits
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.sse import Block, LineTooLongError, Splitter, is_event_stream
from playground.transport import errors
from playground.transport.decoding import DecodeError, decoder_for
from playground.transport.errors import CallError
from playground.transport.redaction import Redactor, StreamRedactor

#: Enough for a byte order mark and the longest field name with its colon.
_ENOUGH = 9
#: White space at the start of a body is kept waiting up to here.
_MOST = 1024
#: Bytes, decompressed, that are worked on at once: compressed data can yield a thousand times
#: its size, and a slice can hold ten thousand events.
_SLICE = 64 * 1024


@dataclass(slots=True)
class RemainingLimits:
    """What is left of a run's allowance, shared by all of its calls."""

    limits: RunLimits
    bytes_left: int
    frames_left: int

    @classmethod
    def of(cls, limits: RunLimits) -> RemainingLimits:
        """The whole allowance."""
        return cls(limits, limits.max_bytes, limits.max_frames)


class BodyRecorder:
    """Makes frames of one response body. `emit` takes lists of frames, in order.

    `process` and `finish` work in steps, so that others get their turn in between. Whoever
    stops in the middle can go on later with `finish`: nothing is lost.
    """

    def __init__(
        self,
        media_type: str,
        encoding: str,
        budget: RemainingLimits,
        redactor: Redactor,
        emit: Callable[[list[Frame]], None],
    ) -> None:
        self._media_type = media_type
        self._encoding = encoding
        self._decoder = decoder_for(encoding)
        self._splitter = Splitter(budget.limits.max_line)
        self._budget = budget
        self._redactor = redactor
        self._emit = emit
        self._chunks: list[bytes] = []
        #: The first bytes, while it is open whether they begin an event stream.
        self._start = b""
        self._is_stream: bool | None = None
        self._pieces = StreamRedactor(redactor)
        #: No more is read, and all that was read has become frames.
        self._closed = self._over = False

    def add(self, chunk: bytes) -> None:
        """Take a chunk as it came; `process` reads it."""
        self._chunks.append(chunk)

    def process(self, at_us: int) -> Iterator[None]:
        """Emit frames for all chunks taken, which arrived at `at_us`, a slice for each step.

        Raises `CallError` at a limit or at undecodable data; what came before is emitted.
        """
        data = b"".join(self._chunks)
        self._chunks.clear()
        while (data or self._decoder.pending) and not self._closed:
            self._slice(data, at_us)
            data = b""
            yield

    def finish(self, at_us: int, *, clean: bool) -> Iterator[None]:
        """Emit what is left; `clean` if the body ended the way its framing says.

        Raises `CallError` like `process`, and for compressed data that ends too early.
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
        """Decode and record the next slice."""
        room, problem = self._budget.bytes_left, None
        try:
            data = self._decoder.decode(data, min(_SLICE, room + 1))
        except DecodeError as error:
            data, problem = error.readable, errors.undecodable(self._encoding, str(error))
        if len(data) > room:
            data, problem = data[:room], errors.limit_exceeded("max_bytes", self._budget.limits)
        self._budget.bytes_left -= len(data)
        self._closed = problem is not None
        self._take(data, at_us)
        if problem:
            raise CallError(problem)

    def _take(self, data: bytes, at_us: int) -> None:
        if self._is_stream is None:
            data = self._start = self._start + data
            if _undecided(data):
                return
            self._is_stream = is_event_stream(self._media_type, data)
        if self._is_stream:
            self._stream(data, at_us)
        else:
            self._body(data, at_us)

    def _stream(self, data: bytes, at_us: int) -> None:
        try:
            self._blocks(self._splitter.feed(data), at_us)
        except LineTooLongError as error:
            done: list[Block] = error.args[0]
            # The splitter still has what it had before this piece: the whole of it, less the
            # blocks that were complete, is the line that is too long.
            rest = (self._splitter.flush() + data)[sum(len(block.data) for block in done) :]
            self._blocks(done, at_us)
            self._one(FrameKind.TAIL, self._redactor.response(rest), at_us)
            self._closed = self._over = True
            raise CallError(errors.limit_exceeded("max_line", self._budget.limits)) from None

    def _blocks(self, blocks: list[Block], at_us: int) -> None:
        redact = self._redactor.response if self._redactor else None
        frames = [
            Frame(
                0,
                at_us,
                FrameKind.COMMENT
                # A block that begins with a letter has a field: no need to look further.
                if block.data[:1] in b":\r\n\xef" and block.is_comment
                else FrameKind.EVENT,
                redact(block.data) if redact else block.data,
            )
            for block in blocks
        ]
        self._send(frames)

    def _body(self, data: bytes, at_us: int) -> None:
        self._one(FrameKind.BODY, self._pieces.add(data) if self._redactor else data, at_us)

    def _one(self, kind: FrameKind, data: bytes, at_us: int) -> None:
        if data:
            self._send([Frame(0, at_us, kind, data)])

    def _send(self, frames: list[Frame]) -> None:
        """Emit frames as far as the budget goes; raises `CallError` where it ends."""
        room = self._budget.frames_left
        self._budget.frames_left -= min(room, len(frames))
        self._emit(frames[:room])
        if len(frames) > room:
            self._closed = self._over = True
            raise CallError(errors.limit_exceeded("max_frames", self._budget.limits))

    def _flush(self, at_us: int) -> None:
        """Emit what waits for bytes that will not come."""
        if self._over:
            return
        if self._is_stream is None and self._start:
            self._is_stream = is_event_stream(self._media_type, self._start)
            if self._is_stream:
                self._stream(self._start, at_us)
            else:
                self._body(self._start, at_us)
        self._over = True
        self._one(FrameKind.TAIL, self._redactor.response(self._splitter.flush()), at_us)
        self._one(FrameKind.BODY, self._pieces.end(), at_us)


def _undecided(start: bytes) -> bool:
    """Whether more bytes are needed to tell an event stream from another body."""
    if len(start) >= _MOST:
        return False
    text = start.lstrip()
    if not text:
        return True
    # Only the beginning of a mark or of a field name can still become an event stream.
    return len(text) < _ENOUGH and text[:1] in b"deir\xef" and b":" not in text
