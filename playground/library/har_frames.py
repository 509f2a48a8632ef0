"""The frames of a HAR entry: those that the playground recorded, or what any archive says of them.

An archive of the playground has each frame with its own time. Others say only when a reply began
and ended, so its events all stand at its end. Credentials in headers and addresses are masked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from playground.library.credentials import clean_url_template
from playground.library.har_entries import (
    extension_fields_of,
    headers_of,
    milliseconds,
    request_body,
    response_body,
    status_of,
)
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.protocols.problems import Problem as Failure
from playground.protocols.problems import Stage
from playground.protocols.sse import Splitter, is_event_stream
from playground.transport.redaction import MASK

_KINDS = {kind.name.lower(): kind for kind in FrameKind}
#: Phases up to the first byte of the answer; `ssl` is part of `connect`.
_BEFORE = ("blocked", "dns", "connect", "send", "wait")


def frames_of(entry: Mapping[str, Any], latest: int) -> list[Frame]:
    """The frames of one call, not before `latest`, in microseconds.

    Raises `ValueError` with the reason for a reply whose body was left out.
    """
    body = response_body(entry["response"])
    if body is None and status_of(entry["response"]):
        raise ValueError(
            "The file holds no body of this reply. Save it again with the contents (in some "
            "browsers an option of its own), or record it here."
        )
    start = _whole(extension_fields_of(entry).get("at_us"), latest)
    call = Frame(0, max(start, latest), FrameKind.CALL, _call(entry["request"]))
    own = list(_own_frames(entry, body or b"", call.at_us))
    return [call, *(own or _plain_frames(entry, body or b"", call.at_us))]


def _call(request: Mapping[str, Any]) -> bytes:
    parts = urlsplit(clean_url_template(request["url"]))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{request['method']} {target} HTTP/1.1"]
    pairs = headers_of(request)
    if not any(name.lower() == "host" for name, _ in pairs):
        lines.append(f"Host: {parts.netloc.rpartition('@')[2]}")
    lines += [f"{name}: {MASK if is_credential(name) else value}" for name, value in pairs]
    return _head(lines) + (request_body(request) or "").encode("utf-8", "replace")


def _answer(response: Mapping[str, Any]) -> bytes:
    lines = [f"HTTP/1.1 {response['status']} {response.get('statusText', '')}"]
    lines += [
        f"{name}: {MASK if name.lower().startswith('set-cookie') else value}"
        for name, value in headers_of(response)
    ]
    return _head(lines)


def _head(lines: Sequence[str]) -> bytes:
    clean = [line.replace("\r", " ").replace("\n", " ") for line in lines]
    return ("\r\n".join(clean) + "\r\n\r\n").encode("utf-8", "replace")


def _own_frames(entry: Mapping[str, Any], body: bytes, latest: int) -> Iterator[Frame]:
    """The frames that the playground recorded; none where they do not fit the body."""
    own = extension_fields_of(entry)
    rows = own.get("frames")
    rows = rows if isinstance(rows, list) else []
    sizes = [_size(row) for row in rows]
    if not rows or sum(sizes) != len(body):
        return
    at = 0
    for row, size in zip(rows, sizes, strict=True):
        kind = _KINDS.get(str(row.get("kind")))
        if kind is None:
            continue
        latest = max(latest, _whole(row.get("at_us"), latest))
        yield Frame(0, latest, kind, _data(kind, entry, body[at : at + size]))
        at += size


def _size(row: Any) -> int:
    """Bytes of the body that a frame has; -1 for what is no frame, so that none is taken."""
    kind = _KINDS.get(str(row.get("kind"))) if isinstance(row, dict) else None
    if kind is None:
        return -1
    return _whole(row.get("bytes"), -1) if kind in BODY_KINDS else 0


def _data(kind: FrameKind, entry: Mapping[str, Any], piece: bytes) -> bytes:
    if kind is FrameKind.HEAD:
        return _answer(entry["response"])
    if kind is FrameKind.OPEN:
        return json.dumps(extension_fields_of(entry).get("open")).encode()
    if kind is FrameKind.ERROR:
        return json.dumps(extension_fields_of(entry).get("problem")).encode()
    return piece


def _plain_frames(entry: Mapping[str, Any], body: bytes, start: int) -> Iterator[Frame]:
    """Frames made of what any archive says."""
    response, timings = entry["response"], entry.get("timings")
    timings = timings if isinstance(timings, dict) else {}
    answered = start + round(1000 * sum(milliseconds(timings.get(name)) for name in _BEFORE))
    ended = answered + round(1000 * milliseconds(timings.get("receive")))
    if not status_of(response):
        yield Frame(0, ended, FrameKind.ERROR, _failure(entry).to_bytes())
        return
    yield Frame(0, answered, FrameKind.HEAD, _answer(response))
    if is_event_stream(response["content"].get("mimeType", ""), body[:9]):
        splitter = Splitter(len(body) + 1)
        for block in splitter.feed(body):
            kind = FrameKind.COMMENT if block.is_comment else FrameKind.EVENT
            yield Frame(0, ended, kind, block.data)
        if rest := splitter.flush():
            yield Frame(0, ended, FrameKind.TAIL, rest)
    elif body:
        yield Frame(0, ended, FrameKind.BODY, body)
    yield Frame(0, ended, FrameKind.END)


def _failure(entry: Mapping[str, Any]) -> Failure:
    said = (entry.get("_error"), entry["response"].get("_failureText"))
    detail = next((text[:500] for text in said if isinstance(text, str)), "")
    return Failure(
        "failed",
        Stage.HEADERS,
        "No answer came when this was recorded.",
        "Send the request again to see what comes now.",
        detail,
    )


def _whole(value: Any, otherwise: int) -> int:
    return value if type(value) is int and value >= 0 else otherwise
