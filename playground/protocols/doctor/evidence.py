"""Evidence: the facts of one call from its frames, from which steps are concluded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from playground.protocols import sse
from playground.protocols.doctor.detection import MAX_MESSAGES, DetectedProtocol, detect_protocol
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.mcp.responses import OLD_TRANSPORT_EVENT
from playground.protocols.problems import Problem
from playground.protocols.response import Message, Response, request_headers
from playground.protocols.text import shorten

#: Bytes of a request and of a response body that a report shows.
MAX_SHOWN = 1500
#: Kinds whose bytes are shown: those of the body without comments.
_SHOWN_KINDS = frozenset({FrameKind.EVENT, FrameKind.TAIL, FrameKind.BODY})
#: The last message of a stream in the manner of OpenAI's API, which is no JSON.
_END_MARK = "[DONE]"
#: Masked because a report is stored as shown, and a session id authenticates.
_SESSION_HEADER = re.compile(r"(?im)^(mcp-session-id:[ \t]*)\S.*$")
#: Text of an error page for plain HTTP at a port with TLS (nginx and others).
_TLS_PORT = re.compile(r"plain HTTP request was sent to (?:HTTPS|a TLS|an HTTPS)", re.IGNORECASE)


@dataclass(frozen=True)
class Evidence:
    """One call and its response. The transport has redacted the frames already."""

    response: Response
    #: The name of the call in a diagnosis, "" elsewhere.
    name: str = ""

    def _data(self, kind: FrameKind) -> bytes:
        frame = self.response.first(kind)
        return frame.data if frame else b""

    # The request

    @property
    def request_line(self) -> str:
        """The request line without the protocol: `POST /ask`."""
        first, _, _ = self._data(FrameKind.CALL).partition(b"\r\n")
        return " ".join(first.decode("utf-8", "replace").split(" ")[:2])[:300]

    @property
    def target(self) -> str:
        """The path and the query of the request."""
        return self.request_line.partition(" ")[2][:200]

    @property
    def path(self) -> str:
        """The path of the request in a sentence."""
        return self.request_line.partition(" ")[2].partition("?")[0][:200] or "this URL"

    @property
    def request_headers(self) -> frozenset[str]:
        """Names of the request's headers, in lower case."""
        return frozenset(request_headers(self.response.frames))

    @property
    def sent(self) -> str:
        """The request as the report shows it, shortened."""
        return _shown(self._data(FrameKind.CALL))

    # The response

    @property
    def connected(self) -> bool:
        return FrameKind.OPEN in self.response.kinds

    @property
    def tls(self) -> str:
        """The version of TLS, "" without it."""
        opened = self._data(FrameKind.OPEN)
        return str(json.loads(opened).get("tls") or "") if opened else ""

    @property
    def problem(self) -> Problem | None:
        """Why the transfer failed."""
        error = self.response.first(FrameKind.ERROR)
        return Problem.from_bytes(error.data) if error else None

    @property
    def status(self) -> int:
        """The HTTP status, 0 without response headers."""
        return self.response.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self.response.headers

    @property
    def waited_ms(self) -> float | None:
        """Milliseconds from the call to the response headers."""
        call, head = self.response.first(FrameKind.CALL), self.response.first(FrameKind.HEAD)
        return (head.at_us - (call.at_us if call else 0)) / 1000 if head else None

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return self.response.media_type[:80]

    @cached_property
    def _body(self) -> bytes:
        return b"".join(frame.data for frame in self.response.frames if frame.kind in _SHOWN_KINDS)

    @property
    def text(self) -> str:
        """The beginning of the body."""
        return self._body[:MAX_SHOWN].decode("utf-8", "replace")

    @property
    def received(self) -> str:
        """The response as the report shows it, shortened."""
        head = self._data(FrameKind.HEAD)
        shown = _shown(head) + self.text if head else ""
        return shown + ("…" if len(self._body) > MAX_SHOWN else "")

    @cached_property
    def _messages(self) -> list[Message]:
        messages = islice(self.response.read(), MAX_MESSAGES)
        return [each for each in messages if each.text not in ("", _END_MARK)]

    @cached_property
    def messages(self) -> tuple[tuple[str | None, Any], ...]:
        """Name (None if unnamed) and payload of each message."""
        return tuple((each.name, each.payload) for each in self._messages if each.readable)

    @property
    def unread(self) -> int:
        """The number of messages that are not JSON."""
        return len(self._messages) - len(self.messages)

    @property
    def payload(self) -> Any:
        """The first payload, None without any."""
        return self.messages[0][1] if self.messages else None

    @property
    def is_denied(self) -> bool:
        """Whether the server denied the call (401, 403, 407, 421, 429), or redirects."""
        return self.status in (401, 403, 407, 421, 429) or self.status // 100 == 3

    # What it says of the server

    @cached_property
    def detected(self) -> DetectedProtocol | None:
        return detect_protocol(self.messages, streamed=self.response.streamed)

    @property
    def kind(self) -> str:
        return self.detected.kind if self.detected else ""

    @property
    def label(self) -> str:
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
        first = self.response.first(FrameKind.EVENT)
        if first is None or self.media_type != "text/event-stream":
            return False
        return sse.parse(first.data).event == OLD_TRANSPORT_EVENT


def evidence_of(frames: Iterable[Frame], name: str = "") -> Evidence:
    """Return the evidence in one call's frames. Total for frames of the transport."""
    return Evidence(Response(tuple(frames)), name)


def _shown(data: bytes) -> str:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _SESSION_HEADER.sub(r"\1(not kept)", text)
    return shorten(text, MAX_SHOWN)
