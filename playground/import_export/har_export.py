"""Export of a run as an HTTP archive (HAR 1.2): one entry for each call, as recorded.

Headers and bodies are those of the frames, redacted when they were stored. Times are in
milliseconds since the first call. Members with an underscore are extensions, as the format provides
for: `_nlweb` holds the sizes of the frames, by which a reader can split the body again, and their
times in microseconds.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playground import __version__
from playground.import_export.snippets import full_url
from playground.models import Run
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind, is_reused
from playground.protocols.http import read_head
from playground.protocols.problems import Problem

_NO_SIZE = -1
_UNKNOWN_TYPE = "x-unknown"


def to_har(run: Run) -> str:
    """Return the text of the archive."""
    start = run.started_at or run.created_at
    archive = {
        "log": {
            "version": "1.2",
            "creator": {"name": "NLWeb Playground", "version": __version__},
            "pages": [],
            "entries": [_entry(run, start, call) for call in _exchanges(run.read_frames())],
            "comment": f"{run.text or 'A run'} → {run.agent_name}",
        }
    }
    text = json.dumps(archive, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


@dataclass(slots=True)
class RecordedExchange:
    """A call and the frames of its response."""

    call: Frame
    response_frames: list[Frame] = field(default_factory=list)

    def first(self, kind: FrameKind) -> Frame | None:
        """Return the first frame of a kind."""
        return next((frame for frame in self.response_frames if frame.kind is kind), None)

    @property
    def body(self) -> bytes:
        """Return the body of the response."""
        return b"".join(frame.data for frame in self.response_frames if frame.kind in BODY_KINDS)


def _exchanges(frames: Iterable[Frame]) -> list[RecordedExchange]:
    """Return the calls of a run, in order. Frames before the first one, of a refusal, are none."""
    found: list[RecordedExchange] = []
    for frame in frames:
        if frame.kind is FrameKind.CALL:
            found.append(RecordedExchange(frame))
        elif found:
            found[-1].response_frames.append(frame)
    return found


def _entry(run: Run, start: datetime, exchange: RecordedExchange) -> dict[str, Any]:
    timings = _timings(exchange)
    open_frame = exchange.first(FrameKind.OPEN)
    peer = json.loads(open_frame.data).get("peer") if open_frame else None
    entry: dict[str, Any] = {
        "startedDateTime": (start + timedelta(microseconds=exchange.call.at_us)).isoformat(),
        "time": round(sum(value for value in timings.values() if value >= 0), 3),
        "request": _request(run, exchange.call.data),
        "response": _response(exchange),
        "cache": {},
        "timings": timings,
    }
    if isinstance(peer, str):
        entry["serverIPAddress"] = peer.rpartition(":")[0].strip("[]")
    entry["_nlweb"] = {
        "run": str(run.pk),
        **{name: getattr(run, name) for name in ("protocol", "binding", "version", "state")},
        "at_us": exchange.call.at_us,
        "frames": [
            {"kind": frame.kind.name.lower(), "at_us": frame.at_us, "bytes": len(frame.data)}
            for frame in exchange.response_frames
        ],
    }
    if open_frame:
        entry["_nlweb"]["open"] = json.loads(open_frame.data)
    if error := exchange.first(FrameKind.ERROR):
        problem = Problem.from_bytes(error.data)
        entry["_error"] = problem.cause
        entry["_nlweb"]["problem"] = problem.to_json()
    return entry


def _timings(exchange: RecordedExchange) -> dict[str, float]:
    """Return the milliseconds of each phase, -1 for one that was not measured or never reached."""
    open_frame, head = exchange.first(FrameKind.OPEN), exchange.first(FrameKind.HEAD)
    sent = open_frame.at_us if open_frame else exchange.call.at_us
    last = exchange.response_frames[-1].at_us if exchange.response_frames else exchange.call.at_us
    answered = head.at_us if head else last
    before = _ms(exchange.call.at_us, sent) if open_frame else -1
    reused = open_frame is not None and is_reused(open_frame)
    return {
        "blocked": before if reused else -1,
        # DNS lookup and TLS handshake are part of connecting: their ends are not recorded.
        "dns": -1,
        "connect": -1 if reused else before,
        "send": 0,
        "wait": _ms(sent, answered),
        "receive": _ms(answered, last),
        "ssl": -1,
    }


def _ms(before: int, after: int) -> float:
    return round(max(0, after - before) / 1000, 3)


def _request(run: Run, data: bytes) -> dict[str, Any]:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "replace").split("\r\n")
    method, _, rest = first.partition(" ")
    url = full_url(rest.rpartition(" ")[0] or "/", lines, run.url)
    request: dict[str, Any] = {
        "method": method or "POST",
        "url": url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(lines),
        "queryString": _query(url),
        "headersSize": len(head) + 4,
        "bodySize": len(body),
    }
    if body:
        kind = read_head(head)[1].get("content-type", "")
        request["postData"] = {"mimeType": kind, "text": body.decode("utf-8", "replace")}
        if not _is_text(body):
            request["postData"]["_encoding"] = "base64"
            request["postData"]["text"] = base64.b64encode(body).decode()
    return request


def _response(exchange: RecordedExchange) -> dict[str, Any]:
    head, body = exchange.first(FrameKind.HEAD), exchange.body
    data = head.data if head else b""
    status, headers = read_head(data)
    first, *lines = data.decode("utf-8", "replace").split("\r\n")
    content: dict[str, Any] = {
        "size": len(body),
        "mimeType": headers.get("content-type", _UNKNOWN_TYPE),
        "text": body.decode("utf-8", "replace"),
    }
    if not _is_text(body):
        content |= {"text": base64.b64encode(body).decode(), "encoding": "base64"}
    return {
        "status": status,
        "statusText": first.split(" ", 2)[2] if first.count(" ") > 1 else "",
        "httpVersion": first.partition(" ")[0],
        "cookies": [],
        "headers": _headers(lines),
        "content": content,
        "redirectURL": headers.get("location", ""),
        "headersSize": len(data) if head else _NO_SIZE,
        "bodySize": len(body) if head else _NO_SIZE,
    }


def _headers(lines: Iterable[str]) -> list[dict[str, str]]:
    fields = (line.partition(":") for line in lines if line)
    return [{"name": name, "value": value.strip()} for name, _, value in fields]


def _query(url: str) -> list[dict[str, str]]:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []
    return [{"name": name, "value": value} for name, value in pairs]


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
