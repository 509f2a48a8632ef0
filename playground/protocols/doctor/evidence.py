"""What became of one call, put together from its frames: the facts that steps are judged by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import json_decoder, sse
from playground.protocols.doctor.detection import MAX_MESSAGES, DetectedProtocol, detect_protocol
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.problems import Problem
from playground.protocols.text import shorten

#: Bytes of a request and of a reply's body that a report shows.
SHOWN = 1500
_MAX_DEPTH = 100
#: A report is kept as it is shown, and a session's id lets its bearer in.
_SESSION = re.compile(r"(?im)^(mcp-session-id:[ \t]*)\S.*$")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One call and its reply. Secrets are out already: the frames come from the transport."""

    #: The request line without the protocol: `POST /ask`.
    request_line: str = ""
    #: Whether the connection stood, and the TLS version where there is one.
    connected: bool = False
    tls: str = ""
    #: 0 where no head came.
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False
    #: Whether the body came to its end as its framing says.
    ended: bool = False
    messages: tuple[tuple[str | None, Any], ...] = ()
    #: Parts of the body that are not JSON.
    unread: int = 0
    #: The body's beginning.
    text: str = ""
    #: Why the transfer failed.
    problem: Problem | None = None
    #: Request and reply as the report shows them, shortened.
    sent: str = ""
    received: str = ""
    #: Milliseconds from the call to the head.
    waited_ms: float | None = None
    #: What the reply speaks, None for nothing that is known.
    detected: DetectedProtocol | None = None

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()[:80]

    @property
    def payload(self) -> Any:
        """The first payload, None where there is none."""
        return self.messages[0][1] if self.messages else None

    @property
    def is_denied(self) -> bool:
        """Whether the server did not let the call in (401, 403, 407, 421, 429), or redirects."""
        return self.status in (401, 403, 407, 421, 429) or self.status // 100 == 3


def evidence_of(frames: Iterable[Frame]) -> Evidence:
    """The facts of one call's frames. Total for frames as the transport makes them."""
    facts: dict[str, Any] = {}
    body: list[bytes] = []
    blocks: list[bytes] = []
    called = 0
    head = b""
    for frame in frames:
        match frame.kind:
            case FrameKind.CALL:
                called = frame.at_us
                first, _, _ = frame.data.partition(b"\r\n")
                facts["request_line"] = " ".join(first.decode("utf-8", "replace").split(" ")[:2])[
                    :300
                ]
                facts["sent"] = _shown(frame.data)
            case FrameKind.OPEN:
                facts |= {"connected": True, "tls": str(json.loads(frame.data).get("tls") or "")}
            case FrameKind.HEAD:
                head = frame.data
                facts["status"], facts["headers"] = read_head(head)
                facts["waited_ms"] = (frame.at_us - called) / 1000
            case FrameKind.EVENT | FrameKind.TAIL:
                blocks.append(frame.data)
            case FrameKind.BODY:
                body.append(frame.data)
            case FrameKind.ERROR:
                facts["problem"] = Problem.from_bytes(frame.data)
            case FrameKind.END:
                facts["ended"] = True
    streamed = bool(blocks)
    whole = b"".join(blocks or body)
    messages, unread = _streamed(blocks) if streamed else _document(whole)
    received = _shown(head) + whole[:SHOWN].decode("utf-8", "replace") if head else ""
    return Evidence(
        **facts,
        streamed=streamed,
        messages=messages,
        unread=unread,
        text=whole[:SHOWN].decode("utf-8", "replace"),
        received=received + ("…" if len(whole) > SHOWN else ""),
        detected=detect_protocol(messages, streamed=streamed),
    )


Read = tuple[tuple[tuple[str | None, Any], ...], int]


def _streamed(blocks: list[bytes]) -> Read:
    found: list[tuple[str | None, Any]] = []
    unread = 0
    for block in blocks[:MAX_MESSAGES]:
        message = sse.parse(block)
        if not message.has_data:
            continue
        value = _decoded(message.data)
        if value is _UNREAD:
            unread += 1
        else:
            found.append((message.event, value))
    return tuple(found), unread


def _document(body: bytes) -> Read:
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if not text.strip():
        return (), 0
    value = _decoded(text)
    return ((), 1) if value is _UNREAD else (((None, value),), 0)


_UNREAD = object()


def _decoded(text: str) -> Any:
    if json_decoder.exceeds_depth(text, _MAX_DEPTH):
        return _UNREAD
    try:
        return json_decoder.decode(text)
    except (ValueError, RecursionError):
        return _UNREAD


def _shown(data: bytes) -> str:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _SESSION.sub(r"\1(not kept)", text)
    return shorten(text, SHOWN)
