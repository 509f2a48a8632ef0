"""Import of HTTP archives (HAR 1.2) of browsers and other tools: their entries as recordings.

An archive of the playground contains the run that it was exported from, each frame with its own
time. Others have only the times when a response began and ended, so all its events are at its end.
Credentials in headers and addresses are masked before anything is stored. Nothing is sent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any
from urllib.parse import urlencode, urlsplit

from playground.collections.credentials import clean_url_template
from playground.collections.fixture import FixtureError, FixtureProblem
from playground.collections.fixture_parser import decode_json
from playground.collections.recordings import frame_to_json, is_timestamp, validate_recording
from playground.formats.foreign_formats import foreign_format
from playground.formats.http_request import (
    ImportedRequest,
    UnsupportedRequestError,
    from_http_request,
)
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.protocols.problems import Problem, Stage
from playground.protocols.sse import Splitter, is_event_stream, is_json_lines
from playground.transport.redaction import MASK

MAX_ENTRIES = 5_000
_MAX_PROBLEMS = 20
_CALL = ("method", "url")
_KINDS = {kind.name.lower(): kind for kind in FrameKind}

#: Phases up to the first byte of the response; `ssl` is part of `connect`.
_PHASES_BEFORE_RESPONSE = ("blocked", "dns", "connect", "send", "wait")
Finding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class HarEntry:
    """A run that an archive holds: a single call, or several of one run of the playground."""

    #: Number of the (first) entry in the file, from 1.
    number: int
    method: str
    url: str
    status: int
    media_type: str
    #: Duration of all calls in milliseconds.
    took: float
    #: Number of calls; 0 for an invalid entry.
    calls: int = 1
    #: Recording that `run_from_recording` opens; empty if it cannot be opened.
    response: Mapping[str, Any] = field(default_factory=dict)
    #: Reason why it cannot be opened.
    why: str = ""


def read_har(text: str) -> list[HarEntry]:
    """Return the entries of an archive, in the order of the file; invalid ones with the reason.

    Raise `FixtureError` with the location if it is no archive, or has no valid entry.
    """
    try:
        entries = _entries(decode_json(text))
    except FixtureError as error:
        raise foreign_format(text, "a HAR file") or error from None
    problems = {
        number: FixtureProblem(f"/log/entries/{number - 1}{place}", message)
        for number, entry in enumerate(entries, 1)
        for place, message in islice(_check_entry(entry), 1)
    }
    if len(problems) == len(entries):
        raise FixtureError(*islice(problems.values(), _MAX_PROBLEMS))
    groups = (list(group) for _, group in groupby(enumerate(entries, 1), _run_key))
    return [_convert(group, problems) for group in groups]


def _entries(archive: Any) -> list[Any]:
    log = archive.get("log") if isinstance(archive, dict) else None
    if not isinstance(log, dict):
        raise FixtureError(
            FixtureProblem("/log", "Not a HAR file: an object with a “log” is expected.")
        )
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise FixtureError(FixtureProblem("/log/entries", "The log has no array of entries."))
    if not entries:
        raise FixtureError(FixtureProblem("/log/entries", "The log has no entries."))
    if len(entries) > MAX_ENTRIES:
        message = f"The log has {len(entries):,} entries. The limit is {MAX_ENTRIES:,}."
        raise FixtureError(FixtureProblem("/log/entries", message))
    return entries


def _run_key(numbered: tuple[int, Mapping[str, Any]]) -> str:
    """Return the key by which neighbours are one run: the playground's own, or else the number."""
    number, entry = numbered
    run = _extension_fields(entry).get("run") if isinstance(entry, dict) else None
    return run if isinstance(run, str) and run else f"#{number}"


def _convert(group: Sequence[tuple[int, Any]], problems: Mapping[int, FixtureProblem]) -> HarEntry:
    number, first = group[0]
    last = group[-1][1]
    if problem := next((problems[each] for each, _ in group if each in problems), None):
        request = last.get("request") if isinstance(last, dict) else None
        found = request if isinstance(request, dict) else {}
        method, url = (str(found.get(name, "")) for name in _CALL)
        return HarEntry(number, method[:20], clean_url_template(url), 0, "", 0, 0, why=str(problem))
    entry = HarEntry(
        number,
        last["request"]["method"][:20],
        clean_url_template(last["request"]["url"]),
        _status(last["response"]),
        last["response"]["content"].get("mimeType", "").partition(";")[0][:60],
        round(sum(_milliseconds(each.get("time")) for _, each in group), 1),
        len(group),
    )
    try:
        reply = _recording([each for _, each in group], first)
    except ValueError as error:  # Also for an invalid URL in any of the calls.
        return replace(entry, why=str(error))
    if invalid := validate_recording(reply):
        return replace(entry, why=f"Cannot be imported. {invalid[0].message}")
    return replace(entry, response=reply)


def _recording(entries: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recording of a run. Raise `ValueError` for an unsupported request or no body."""
    imported = _last_request(entries)
    extension = _extension_fields(first)
    overrides = {
        name: extension[name]
        for name in ("protocol", "binding", "version", "state")
        if isinstance(extension.get(name), str)
    }
    frames: list[Frame] = []
    for entry in entries:
        frames += _frames(entry, frames[-1].at_us if frames else 0)
    reply = {
        "url": clean_url_template(imported.address),
        "protocol": imported.protocol,
        "binding": imported.binding,
        "version": imported.version,
        **overrides,
        "request": imported.document,
        "frames": [frame_to_json(frame) for frame in frames],
    }
    if is_timestamp(first.get("startedDateTime")):
        reply["recorded_at"] = first["startedDateTime"]
    return reply


def _last_request(entries: Sequence[Mapping[str, Any]]) -> ImportedRequest:
    """Return the request of a run: that of the last of its calls that has one."""
    for entry in reversed(entries):
        request = entry["request"]
        try:
            return from_http_request(
                request["method"], request["url"], _headers(request), _request_body(request)
            )
        except UnsupportedRequestError as error:
            last_error = error
    raise last_error


def _check_entry(entry: Any) -> Iterator[Finding]:
    """Yield the errors of an entry, as far as it is read: a JSON Pointer, and a sentence."""
    if not isinstance(entry, dict):
        yield "", "An entry must be an object."
        return
    for name, check in (("request", _check_request), ("response", _check_response)):
        part = entry.get(name)
        if isinstance(part, dict):
            yield from ((f"/{name}{place}", message) for place, message in check(part))
        else:
            yield f"/{name}", f"Must be an object: the {name} of the entry."


def _check_request(request: Mapping[str, Any]) -> Iterator[Finding]:
    for name in _CALL:
        if not isinstance(request.get(name), str):
            yield f"/{name}", "Must be a string."
    yield from _check_headers(request)
    data = request.get("postData")
    if data is not None and not isinstance(data, dict):
        yield "/postData", "Must be an object."
    elif data is not None and not isinstance(data.get("text", ""), str):
        yield "/postData/text", "Must be a string."


def _check_response(response: Mapping[str, Any]) -> Iterator[Finding]:
    status = response.get("status")
    if type(status) is not int or not (status in (0, -1) or 100 <= status <= 999):
        yield "/status", "Must be an HTTP status, or 0 for no response."
    yield from _check_headers(response)
    content = response.get("content")
    if not isinstance(content, dict):
        yield "/content", "Must be an object: the content of the response."
        return
    for name in ("mimeType", "text", "encoding"):
        if not isinstance(content.get(name, ""), str):
            yield f"/content/{name}", "Must be a string."
    if content.get("encoding") and _response_body(response) is None:
        yield "/content/text", "Not valid base64."


def _check_headers(part: Mapping[str, Any]) -> Iterator[Finding]:
    rows = part.get("headers")
    if not isinstance(rows, list):
        yield "/headers", "Must be an array."
        return
    for number, row in enumerate(rows):
        is_valid = isinstance(row, dict) and isinstance(row.get("name"), str)
        if not is_valid or not isinstance(row.get("value", 0), str | None):
            yield f"/headers/{number}", "A header must have a name and a value, both strings."


def _frames(entry: Mapping[str, Any], latest: int) -> list[Frame]:
    """Return the frames of one call, not before `latest`, in microseconds.

    Raise `ValueError` with the reason if the response has no body in the file.
    """
    body = _response_body(entry["response"])
    if body is None and _status(entry["response"]):
        raise ValueError(
            "The file does not contain the body of this response. Save the HAR file with "
            "content (an option in some browsers), or send the request here."
        )
    start = _natural_number(_extension_fields(entry).get("at_us"), latest)
    call = Frame(0, max(start, latest), FrameKind.CALL, _call_bytes(entry["request"]))
    own = list(_recorded_frames(entry, body or b"", call.at_us))
    return [call, *(own or _frames_from_timings(entry, body or b"", call.at_us))]


def _status(response: Mapping[str, Any]) -> int:
    """Return the status of a response; 0 if none came, which some tools write as -1."""
    return max(0, int(response["status"]))


def _headers(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the headers of a request or a response, without the pseudo-headers of HTTP/2.

    The media type of a body stands in for a missing Content-Type.
    """
    pairs = [(row["name"], row["value"] or "") for row in part["headers"]]
    kind = (part.get("postData") or {}).get("mimeType")
    if isinstance(kind, str) and kind and not any(n.lower() == "content-type" for n, _ in pairs):
        pairs.append(("Content-Type", kind))
    return [(name, value) for name, value in pairs if not name.startswith(":")]


def _request_body(request: Mapping[str, Any]) -> str | None:
    """Return the body of a request as text, None if there is none."""
    data = request.get("postData") or {}
    text = data.get("text") or _form_body(data.get("params"))
    if text and data.get("_encoding") == "base64":
        text = (_decode_base64(text) or b"").decode("utf-8", "replace")
    return text or None


def _form_body(fields: Any) -> str:
    """Return the body of a form of which only the fields are given."""
    rows = fields if isinstance(fields, list) else []
    pairs = [(row.get("name"), row.get("value")) for row in rows if isinstance(row, dict)]
    return urlencode([(k, v) for k, v in pairs if isinstance(k, str) and isinstance(v, str)])


def _response_body(response: Mapping[str, Any]) -> bytes | None:
    """Return the body of a response; None if it was not recorded."""
    content = response["content"]
    text, size = content.get("text"), content.get("size", 0)
    if not text:
        # An empty body is recorded as none.
        has_size = isinstance(size, int | float) and size > 0
        return None if has_size or (text is None and _status(response) == 200) else b""
    if content.get("encoding", "").lower() == "base64":
        return _decode_base64(text)
    return str(text).encode("utf-8", "replace")


def _extension_fields(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members that the playground itself wrote into an entry."""
    extension = entry.get("_nlweb")
    return extension if isinstance(extension, dict) else {}


def _milliseconds(value: Any) -> float:
    """Return a duration; 0 if it was not measured (-1), or is not a sensible number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return float(value) if 0 < value < 10**9 else 0


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


def _call_bytes(request: Mapping[str, Any]) -> bytes:
    parts = urlsplit(clean_url_template(request["url"]))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{request['method']} {target} HTTP/1.1"]
    pairs = _headers(request)
    if not any(name.lower() == "host" for name, _ in pairs):
        lines.append(f"Host: {parts.netloc.rpartition('@')[2]}")
    lines += [f"{name}: {MASK if is_credential(name) else value}" for name, value in pairs]
    return _encode_head(lines) + (_request_body(request) or "").encode("utf-8", "replace")


def _head_bytes(response: Mapping[str, Any]) -> bytes:
    lines = [f"HTTP/1.1 {response['status']} {response.get('statusText', '')}"]
    lines += [
        f"{name}: {MASK if name.lower().startswith('set-cookie') else value}"
        for name, value in _headers(response)
    ]
    return _encode_head(lines)


def _encode_head(lines: Sequence[str]) -> bytes:
    clean = [line.replace("\r", " ").replace("\n", " ") for line in lines]
    return ("\r\n".join(clean) + "\r\n\r\n").encode("utf-8", "replace")


def _recorded_frames(entry: Mapping[str, Any], body: bytes, latest: int) -> Iterator[Frame]:
    """Yield the frames that the playground recorded; none if they do not fit the body."""
    own = _extension_fields(entry)
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
        latest = max(latest, _natural_number(row.get("at_us"), latest))
        yield Frame(0, latest, kind, _frame_bytes(kind, entry, body[at : at + size]))
        at += size


def _size(row: Any) -> int:
    """Return the size of a frame in the body; -1 for an invalid row, so that none is used."""
    kind = _KINDS.get(str(row.get("kind"))) if isinstance(row, dict) else None
    if kind is None:
        return -1
    return _natural_number(row.get("bytes"), -1) if kind in BODY_KINDS else 0


def _frame_bytes(kind: FrameKind, entry: Mapping[str, Any], data: bytes) -> bytes:
    if kind is FrameKind.HEAD:
        return _head_bytes(entry["response"])
    if kind is FrameKind.OPEN:
        return json.dumps(_extension_fields(entry).get("open")).encode()
    if kind is FrameKind.ERROR:
        return json.dumps(_extension_fields(entry).get("problem")).encode()
    return data


def _frames_from_timings(entry: Mapping[str, Any], body: bytes, start: int) -> Iterator[Frame]:
    """Yield frames made of the timings that any archive has."""
    response, timings = entry["response"], entry.get("timings")
    timings = timings if isinstance(timings, dict) else {}
    answered = start + round(
        1000 * sum(_milliseconds(timings.get(name)) for name in _PHASES_BEFORE_RESPONSE)
    )
    ended = answered + round(1000 * _milliseconds(timings.get("receive")))
    if not _status(response):
        yield Frame(0, ended, FrameKind.ERROR, _problem(entry).to_bytes())
        return
    yield Frame(0, answered, FrameKind.HEAD, _head_bytes(response))
    media_type = response["content"].get("mimeType", "")
    has_lines = is_json_lines(media_type, body) or False
    if has_lines or is_event_stream(media_type, body[:9]):
        splitter = Splitter(is_json_lines=has_lines)
        for block in splitter.feed(body):
            kind = FrameKind.COMMENT if block.is_comment else FrameKind.EVENT
            yield Frame(0, ended, kind, block.data)
        if rest := splitter.flush():
            yield Frame(0, ended, FrameKind.TAIL, rest)
    elif body:
        yield Frame(0, ended, FrameKind.BODY, body)
    yield Frame(0, ended, FrameKind.END)


def _problem(entry: Mapping[str, Any]) -> Problem:
    texts = (entry.get("_error"), entry["response"].get("_failureText"))
    detail = next((text[:500] for text in texts if isinstance(text, str)), "")
    return Problem(
        "failed",
        Stage.HEADERS,
        "No response was recorded.",
        "Resend the request.",
        detail,
    )


def _natural_number(value: Any, fallback: int) -> int:
    return value if type(value) is int and value >= 0 else fallback
