"""Recorded HTTP response of any protocol: head, body and end of one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from playground.conformance.response_parts import DecodedPayload
from playground.protocols import json_decoder, sse
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import is_json, read_head

#: The most levels of nesting of JSON that is read.
MAX_DEPTH = 100
#: States of a run that was stopped, so that its last response may be incomplete. A transfer that
#: broke off has no END frame; one with an END frame was complete, also in a truncated run.
INCOMPLETE_STATES = frozenset({"cancelled", "interrupted", "refused"})
_STREAM_KINDS = frozenset({FrameKind.EVENT, FrameKind.COMMENT, FrameKind.TAIL})


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """The frames of one response, and the facts in its head and framing."""

    frames: tuple[Frame, ...]
    #: HTTP status, 0 without a response head; header names in lower case.
    status: int
    headers: Mapping[str, str]
    head_seq: int | None
    streamed: bool
    #: Whether the response ended as its framing requires.
    ended: bool

    @property
    def media_type(self) -> str:
        """Return the media type in lower case without parameters, "" without one."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_json_lines(self) -> bool:
        """Return whether it is a stream of JSON lines, without the framing of events."""
        streamed = (each.data.strip() for each in self.frames if each.kind in _STREAM_KINDS)
        return sse.is_json_line(next(filter(None, streamed), b""))


def recorded_response(frames: tuple[Frame, ...]) -> RecordedResponse:
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


def _is_stream(frames: tuple[Frame, ...], headers: Mapping[str, str]) -> bool:
    if any(frame.kind in _STREAM_KINDS for frame in frames):
        return True
    has_no_body = not any(frame.kind is FrameKind.BODY for frame in frames)
    return has_no_body and headers.get("content-type", "").lower().startswith("text/event-stream")


def messages_of(http_response: RecordedResponse) -> Iterator[DecodedPayload]:
    """Yield the JSON of a response: of each event of a stream, or of the single body."""
    if not http_response.streamed:
        yield from _document(http_response)
        return
    for frame in http_response.frames:
        if frame.kind is FrameKind.EVENT or frame.kind is FrameKind.TAIL:
            if frame.kind is FrameKind.TAIL and sse.Block(frame.data).is_comment:
                continue
            found = sse.parse_all(frame.data)
            for event in found:
                if event.has_data or event.event is not None:
                    message = decoded(frame.seq, event.event, event.data)
                    is_tail = frame.kind is FrameKind.TAIL and event is found[-1]
                    yield as_tail(message, http_response) if is_tail else message


def as_tail(message: DecodedPayload, http_response: RecordedResponse) -> DecodedPayload:
    """Return a message without the blank line after it; of a broken transfer it is undecided."""
    return message._replace(undecided=not (message.readable and http_response.ended))


def _document(http_response: RecordedResponse) -> Iterator[DecodedPayload]:
    """Yield a single body; of a broken transfer only if the JSON is complete."""
    body = b"".join(frame.data for frame in http_response.frames if frame.kind is FrameKind.BODY)
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    for frame in http_response.frames:
        ended = frame.kind is FrameKind.END and bool(text.strip())
        if ended or (frame.kind is FrameKind.ERROR and is_json(text, MAX_DEPTH)):
            yield decoded(frame.seq, None, text)._replace(document=True)
            return


def decoded(seq: int, name: str | None, text: str) -> DecodedPayload:
    """Return a text as decoded JSON, or with the reason why it cannot be read."""
    if json_decoder.exceeds_depth(text, MAX_DEPTH) or json_decoder.has_too_many_values(text):
        return DecodedPayload(seq, name, None, text, "The JSON is too large.", undecided=True)
    if not text or text.isspace():
        return DecodedPayload(seq, name, None, text, "The message has no data.")
    try:
        return DecodedPayload(seq, name, json_decoder.decode(text))
    except (ValueError, RecursionError) as error:
        return DecodedPayload(seq, name, None, text, f"The data is not JSON: {error}.")
