"""Replies as they crossed the wire, whatever is in them: one call's head, body and end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from playground.conformance.response_parts import DecodedPayload
from playground.protocols import json_decoder, sse
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import is_json, read_head

#: Nesting of JSON that is read.
MAX_DEPTH = 100
#: States of a run whose reply may have had more to say.
BROKEN_OFF = frozenset({"truncated", "cancelled", "interrupted", "refused"})
_STREAM_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT, FrameKind.TAIL})


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The frames of one reply, and what its head and its framing say."""

    frames: tuple[Frame, ...]
    #: HTTP status, 0 without a response head; header names in lower case.
    status: int
    headers: Mapping[str, str]
    head_seq: int | None
    streamed: bool
    #: Whether the reply ended the way its framing says.
    ended: bool

    @property
    def media_type(self) -> str:
        """The media type in lower case without parameters, "" if there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


def recorded_response(frames: tuple[Frame, ...]) -> RecordedResponse:
    """The frames of one reply, read."""
    head = next((frame for frame in frames if frame.kind is FrameKind.HEAD), None)
    status, headers = read_head(head.data) if head else (0, {})
    return RecordedResponse(
        frames,
        status,
        headers,
        head.seq if head else None,
        _is_stream(frames, headers),
        any(frame.kind is FrameKind.END for frame in frames),
    )


def last_response_frames(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """The frames from the last response head on, if no call was made after it."""
    for at in range(len(frames) - 1, -1, -1):
        if frames[at].kind is FrameKind.HEAD:
            return frames[at:]
        if frames[at].kind is FrameKind.CALL:
            return frames[at + 1 :]
    return frames


def _is_stream(reply: tuple[Frame, ...], headers: Mapping[str, str]) -> bool:
    if any(frame.kind in _STREAM_KINDS for frame in reply):
        return True
    silent = not any(frame.kind is FrameKind.BODY for frame in reply)
    return silent and headers.get("content-type", "").lower().startswith("text/event-stream")


def messages_of(transfer: RecordedResponse) -> Iterator[DecodedPayload]:
    """The JSON of a reply: of each event of a stream, or of the whole of it."""
    if not transfer.streamed:
        yield from _document(transfer)
        return
    for frame in transfer.frames:
        if frame.kind is FrameKind.EVENT or frame.kind is FrameKind.TAIL:
            if frame.kind is FrameKind.TAIL and sse.Block(frame.data).is_comment:
                continue
            event = sse.parse(frame.data)
            if event.has_data or event.event is not None:
                message = decoded(frame.seq, event.event, event.data)
                yield message._replace(unfinished=frame.kind is FrameKind.TAIL)


def _document(transfer: RecordedResponse) -> Iterator[DecodedPayload]:
    """A whole reply; of a transfer that broke, only if it had come whole by then."""
    body = b"".join(frame.data for frame in transfer.frames if frame.kind is FrameKind.BODY)
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    for frame in transfer.frames:
        ended = frame.kind is FrameKind.END and bool(text.strip())
        if ended or (frame.kind is FrameKind.ERROR and is_json(text, MAX_DEPTH)):
            yield decoded(frame.seq, None, text)._replace(document=True)
            return


def decoded(seq: int, name: str | None, text: str) -> DecodedPayload:
    """A text as the JSON that it should be; why not, where it is none."""
    if json_decoder.exceeds_depth(text, MAX_DEPTH):
        return DecodedPayload(seq, name, None, text, "The JSON is nested too deep to be read.")
    if not text or text.isspace():
        return DecodedPayload(seq, name, None, text, "The message has no data.")
    try:
        return DecodedPayload(seq, name, json_decoder.decode(text))
    except (ValueError, RecursionError) as error:
        return DecodedPayload(seq, name, None, text, f"The data is not JSON: {error}.")
