"""Responses as frames of the transport, and diagnoses driven by them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from playground.protocols import sse
from playground.protocols.calls import HttpCall
from playground.protocols.doctor.diagnosis import Diagnosis
from playground.protocols.exchange import Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage

K = FrameKind

#: A raw response, or the problem of a call without one.
Response = bytes | Problem
Server = Callable[[HttpCall], Response]

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\nNot Found"


def response(
    body: Any, status: int = 200, media_type: str = "application/json", **headers: str
) -> bytes:
    """Return a raw response; `body` is bytes, or a JSON value."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {media_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def stream(*payloads: Any) -> bytes:
    """Return a raw response that is an event stream of unnamed messages."""
    blocks = [b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads]
    return response(b"".join(blocks), media_type="text/event-stream")


def frames_of(answer: Response, call: HttpCall | None = None) -> list[Frame]:
    """Return the frames of a call with this response."""
    found: list[tuple[FrameKind, bytes]] = []
    if call:
        target = "/" + call.url.split("://", 1)[1].partition("/")[2]
        head = f"{call.method} {target} HTTP/1.1\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in call.headers)
        found.append((K.CALL, head.encode() + b"\r\n" + call.body))
    if isinstance(answer, Problem):
        if answer.stage in (Stage.HEADERS, Stage.BODY):
            found.append((K.OPEN, b'{"tls": null, "peer": "a:80"}'))
        found.append((K.ERROR, answer.to_bytes()))
    else:
        head_bytes, _, body = answer.partition(b"\r\n\r\n")
        found += [(K.OPEN, b'{"tls": null, "peer": "a:80"}'), (K.HEAD, head_bytes + b"\r\n\r\n")]
        found += _body(head_bytes, body)
        found.append((K.END, b""))
    return [Frame(number, number * 1000, *each) for number, each in enumerate(found, 1)]


def _body(head: bytes, body: bytes) -> list[tuple[FrameKind, bytes]]:
    if b"event-stream" not in head.lower():
        return [(K.BODY, body)] if body else []
    splitter = sse.Splitter()
    blocks = [
        (K.COMMENT if each.is_comment else K.EVENT, each.data) for each in splitter.feed(body)
    ]
    rest = splitter.flush()
    return [*blocks, (K.TAIL, rest)] if rest else blocks


class FullDiagnosis:
    """A completed diagnosis: its report, and the calls that it made."""

    def __init__(self, target: Target, server: Server, url_error: str = "") -> None:
        diagnosis = Diagnosis(target, url_error)
        self.calls: list[HttpCall] = []
        while call := diagnosis.next_call():
            assert len(self.calls) < 30, "it never ends"
            self.calls.append(call)
            diagnosis.add(frames_of(server(call), call))
            # Each report on the way must be valid JSON like the last one.
            json.dumps(diagnosis.report())
        if call := diagnosis.end_call():
            self.calls.append(call)
        self.report = diagnosis.report()

    def step(self, name: str) -> dict[str, Any]:
        return next(s for s in self.report["steps"] if s["name"] == name)

    @property
    def statuses(self) -> dict[str, str]:
        return {step["name"]: step["status"] for step in self.report["steps"]}

    @property
    def failed(self) -> list[str]:
        return [name for name, status in self.statuses.items() if status == "failed"]

    @property
    def urls(self) -> list[str]:
        return [f"{call.method} {call.url}" for call in self.calls]
