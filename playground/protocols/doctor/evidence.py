"""Evidence: the facts of one call from its frames, from which steps are concluded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import json_decoder, sse
from playground.protocols.doctor.detection import MAX_MESSAGES, detect_protocol
from playground.protocols.doctor.kinds import DetectedProtocol
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.mcp import http_sse
from playground.protocols.problems import Problem
from playground.protocols.text import shorten

#: Bytes of a request and of a response body that a report shows.
MAX_SHOWN = 1500
_MAX_DEPTH = 100
#: Masked because a report is stored as shown, and a session id authenticates.
_SESSION_HEADER = re.compile(r"(?im)^(mcp-session-id:[ \t]*)\S.*$")
#: Text of an error page for plain HTTP at a port with TLS (nginx and others).
_TLS_PORT = re.compile(r"plain HTTP request was sent to (?:HTTPS|a TLS|an HTTPS)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One call and its response. The transport has redacted the frames already."""

    #: The name of the call in a diagnosis, "" elsewhere.
    name: str = ""
    #: The request line without the protocol: `POST /ask`.
    request_line: str = ""
    #: Names of the request's headers, in lower case.
    request_headers: frozenset[str] = frozenset()
    #: Whether there was a connection, and its TLS version.
    connected: bool = False
    tls: str = ""
    #: The HTTP status, 0 without response headers.
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool = False
    is_json_lines: bool = False
    #: Whether the body ended as its framing says.
    ended: bool = False
    #: Name (None if unnamed) and payload of each message.
    messages: tuple[tuple[str | None, Any], ...] = ()
    #: Number of messages that are not JSON.
    unread: int = 0
    #: The beginning of the body.
    text: str = ""
    #: Why the transfer failed.
    problem: Problem | None = None
    #: Request and response as the report shows them, shortened.
    sent: str = ""
    received: str = ""
    #: Milliseconds from the call to the response headers.
    waited_ms: float | None = None
    #: The detected protocol, None if none is known.
    detected: DetectedProtocol | None = None

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()[:80]

    @property
    def payload(self) -> Any:
        """The first payload, None without any."""
        return self.messages[0][1] if self.messages else None

    @property
    def is_denied(self) -> bool:
        """Return whether the server denied the call (401, 403, 407, 421, 429), or redirects."""
        return self.status in (401, 403, 407, 421, 429) or self.status // 100 == 3

    @property
    def target(self) -> str:
        """The path and the query of the request."""
        return self.request_line.partition(" ")[2][:200]

    @property
    def path(self) -> str:
        """The path of the request in a sentence."""
        return self.request_line.partition(" ")[2].partition("?")[0][:200] or "this URL"

    @property
    def kind(self) -> str:
        """The kind of server that was detected, "" if none was."""
        return self.detected.kind if self.detected else ""

    @property
    def label(self) -> str:
        """The label of the detected protocol, "" if none was."""
        return self.detected.label if self.detected else ""

    @property
    def is_json_rpc_error(self) -> bool:
        payload = self.payload
        is_rpc = isinstance(payload, Mapping) and payload.get("jsonrpc") == "2.0"
        return is_rpc and isinstance(payload.get("error"), Mapping)

    @property
    def wants_tls(self) -> bool:
        """Whether the response to plain HTTP says that this port speaks TLS."""
        return self.status in (400, 426) and bool(_TLS_PORT.search(self.text))

    @property
    def is_old_transport(self) -> bool:
        """Whether it is the event stream of MCP's transport before streamable HTTP."""
        is_stream = self.media_type == "text/event-stream"
        return is_stream and http_sse.is_endpoint(sse.Splitter().feed(self.text.encode()))


def evidence_of(frames: Iterable[Frame]) -> Evidence:
    """Return the evidence in one call's frames. Total for frames of the transport."""
    facts: dict[str, Any] = {}
    body: list[bytes] = []
    blocks: list[bytes] = []
    called_at = 0
    head = b""
    for frame in frames:
        match frame.kind:
            case FrameKind.CALL:
                called_at = frame.at_us
                first, _, _ = frame.data.partition(b"\r\n")
                facts["request_line"] = " ".join(first.decode("utf-8", "replace").split(" ")[:2])[
                    :300
                ]
                fields = frame.data.partition(b"\r\n\r\n")[0].lower().split(b"\r\n")[1:]
                names = (line.partition(b":")[0].decode("latin-1") for line in fields)
                facts["request_headers"] = frozenset(names)
                facts["sent"] = _shown(frame.data)
            case FrameKind.OPEN:
                facts |= {"connected": True, "tls": str(json.loads(frame.data).get("tls") or "")}
            case FrameKind.HEAD:
                head = frame.data
                facts["status"], facts["headers"] = read_head(head)
                facts["waited_ms"] = (frame.at_us - called_at) / 1000
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
    messages, unread = _read_stream(blocks) if streamed else _read_document(whole)
    received = _shown(head) + whole[:MAX_SHOWN].decode("utf-8", "replace") if head else ""
    return Evidence(
        **facts,
        streamed=streamed,
        is_json_lines=streamed and sse.is_json_line(blocks[0]),
        messages=messages,
        unread=unread,
        text=whole[:MAX_SHOWN].decode("utf-8", "replace"),
        received=received + ("…" if len(whole) > MAX_SHOWN else ""),
        detected=detect_protocol(messages, streamed=streamed),
    )


#: Messages, and the number of those that are not JSON.
_Read = tuple[tuple[tuple[str | None, Any], ...], int]


def _read_stream(blocks: list[bytes]) -> _Read:
    found: list[tuple[str | None, Any]] = []
    unread = 0
    for message in (each for block in blocks[:MAX_MESSAGES] for each in sse.parse_all(block)):
        if not message.has_data:
            continue
        value = _decode(message.data)
        if value is _UNREADABLE:
            unread += 1
        else:
            found.append((message.event, value))
    return tuple(found), unread


def _read_document(body: bytes) -> _Read:
    text = body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if not text.strip():
        return (), 0
    value = _decode(text)
    return ((), 1) if value is _UNREADABLE else (((None, value),), 0)


_UNREADABLE = object()


def _decode(text: str) -> Any:
    if json_decoder.exceeds_depth(text, _MAX_DEPTH):
        return _UNREADABLE
    try:
        return json_decoder.decode(text)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _shown(data: bytes) -> str:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _SESSION_HEADER.sub(r"\1(not kept)", text)
    return shorten(text, MAX_SHOWN)
