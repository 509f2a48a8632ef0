"""HTTP archives (HAR 1.2) of browsers and other tools: their entries as recordings to be opened.

An archive of the playground gives the run that it was written of, each frame with its own time.
Others say only when a reply began and ended, so its events all stand at its end. Credentials in
headers and addresses are masked before anything is kept. Nothing is sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from playground.library.credentials import clean_address
from playground.library.har_entries import check_entry, headers_of, reply_body, request_body
from playground.library.parsing import json_of
from playground.library.recognising import Recognised, UnrecognisedError, recognise
from playground.library.recordings import check, frame_to_json
from playground.library.shape import FixtureError, Problem
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.protocols.problems import Problem as Failure
from playground.protocols.problems import Stage
from playground.protocols.sse import Splitter, is_event_stream
from playground.transport.redaction import MASK

MAX_ENTRIES = 5_000
_MAX_PROBLEMS = 20
_KINDS = {kind.name.lower(): kind for kind in FrameKind}
#: Phases up to the first byte of the answer; `ssl` is part of `connect`.
_BEFORE = ("blocked", "dns", "connect", "send", "wait")


@dataclass(frozen=True, slots=True)
class Entry:
    """One run that an archive holds: a single call, or several of one run of the playground."""

    #: Of the (first) entry in the file, from 1.
    number: int
    method: str
    url: str
    status: int
    media_type: str
    #: Milliseconds of all calls.
    took: float
    calls: int = 1
    #: What `replaying.replay` opens; empty where it cannot be opened.
    reply: Mapping[str, Any] = field(default_factory=dict)
    #: Why it cannot be opened.
    why: str = ""


def read_har(text: str) -> list[Entry]:
    """The entries of an archive, in the order of the file.

    Raises `FixtureError` for what is no archive, with the place.
    """
    entries = _entries(json_of(text))
    problems = [
        Problem(f"/log/entries/{number}{place}", message)
        for number, entry in enumerate(entries)
        for place, message in check_entry(entry)
    ]
    if problems:
        raise FixtureError(*problems[:_MAX_PROBLEMS])
    numbered = enumerate(entries, 1)
    return [_read(list(group)) for _, group in groupby(numbered, _run_of)]


def _entries(archive: Any) -> list[Any]:
    log = archive.get("log") if isinstance(archive, dict) else None
    if not isinstance(log, dict):
        raise FixtureError(Problem("/log", "A HAR file is an object with a “log”; there is none."))
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise FixtureError(Problem("/log/entries", "The log has no list of entries."))
    if not entries:
        raise FixtureError(Problem("/log/entries", "The log is empty: nothing was recorded."))
    if len(entries) > MAX_ENTRIES:
        message = f"The log has {len(entries):,} entries; up to {MAX_ENTRIES:,} can be read."
        raise FixtureError(Problem("/log/entries", message))
    return entries


def _run_of(numbered: tuple[int, Mapping[str, Any]]) -> str:
    """What makes neighbours one run: the playground's own key of it, or else the number."""
    number, entry = numbered
    run = _own(entry).get("run")
    return run if isinstance(run, str) and run else f"#{number}"


def _own(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    own = entry.get("_nlweb")
    return own if isinstance(own, dict) else {}


def _read(group: Sequence[tuple[int, Mapping[str, Any]]]) -> Entry:
    number, first = group[0]
    last = group[-1][1]
    found = Entry(
        number,
        last["request"]["method"][:20],
        clean_address(last["request"]["url"]),
        last["response"]["status"],
        last["response"]["content"].get("mimeType", "").partition(";")[0][:60],
        round(sum(_ms(entry.get("time")) for _, entry in group), 1),
        len(group),
    )
    try:
        reply = _reply([entry for _, entry in group], first)
    except ValueError as error:  # Also for an address that is none, in any of the calls.
        return _with(found, why=str(error))
    if problems := check(reply):
        return _with(found, why=f"It cannot be opened: {problems[0].message}")
    return _with(found, reply=reply)


def _with(entry: Entry, *, reply: Mapping[str, Any] | None = None, why: str = "") -> Entry:
    return Entry(
        entry.number, entry.method, entry.url, entry.status, entry.media_type, entry.took,
        entry.calls, reply or {}, why,
    )  # fmt: skip


class _WithoutBodyError(ValueError):
    """A reply was recorded without its body."""


def _reply(entries: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> dict[str, Any]:
    """The recording of a run. Raises what `recognise` raises, and for bodies left out."""
    asked = _asked(entries)
    own = _own(first)
    said = {
        name: own[name]
        for name in ("protocol", "binding", "version", "state")
        if isinstance(own.get(name), str)
    }
    frames: list[Frame] = []
    for entry in entries:
        frames += _frames(entry, frames[-1].at_us if frames else 0)
    reply = {
        "url": clean_address(asked.address),
        "protocol": asked.protocol,
        "binding": asked.binding,
        "version": asked.version,
        **said,
        "request": asked.document,
        "frames": [frame_to_json(frame) for frame in frames],
    }
    if _is_moment(first.get("startedDateTime")):
        reply["recorded_at"] = first["startedDateTime"]
    return reply


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _asked(entries: Sequence[Mapping[str, Any]]) -> Recognised:
    """What the run asked: the last of its calls that asks anything."""
    for entry in reversed(entries):
        request = entry["request"]
        try:
            return recognise(
                request["method"], request["url"], headers_of(request), request_body(request)
            )
        except UnrecognisedError as error:
            refusal = error
    raise refusal


def _frames(entry: Mapping[str, Any], latest: int) -> list[Frame]:
    """The frames of one call, not before `latest`."""
    body = reply_body(entry["response"])
    if body is None and entry["response"]["status"]:
        raise _WithoutBodyError(
            "The file holds no body of this reply. Save it again with the contents (in some "
            "browsers an option of its own), or record it here."
        )
    start = _whole(_own(entry).get("at_us"), latest)
    call = Frame(0, max(start, latest), FrameKind.CALL, _call(entry["request"]))
    own = list(_own_frames(entry, body or b"", call.at_us))
    return [call, *(own or _plain_frames(entry, body or b"", call.at_us))]


def _call(request: Mapping[str, Any]) -> bytes:
    parts = urlsplit(clean_address(request["url"]))
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
    own = _own(entry)
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
        return json.dumps(_own(entry).get("open")).encode()
    if kind is FrameKind.ERROR:
        return json.dumps(_own(entry).get("problem")).encode()
    return piece


def _plain_frames(entry: Mapping[str, Any], body: bytes, start: int) -> Iterator[Frame]:
    """Frames made of what any archive says."""
    response, timings = entry["response"], entry.get("timings")
    timings = timings if isinstance(timings, dict) else {}
    answered = start + round(1000 * sum(_ms(timings.get(name)) for name in _BEFORE))
    ended = answered + round(1000 * _ms(timings.get("receive")))
    if not response["status"]:
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
    said = entry.get("_error")
    detail = said[:500] if isinstance(said, str) else ""
    return Failure(
        "failed",
        Stage.HEADERS,
        "No answer came when this was recorded.",
        "Send the request again to see what comes now.",
        detail,
    )


def _ms(value: Any) -> float:
    """Milliseconds; 0 for what was not measured (-1), and for what is no sensible number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return float(value) if 0 < value < 10**9 else 0


def _whole(value: Any, otherwise: int) -> int:
    return value if type(value) is int and value >= 0 else otherwise
