"""HTTP archives (HAR 1.2): import of the requests in one as a fixture, and export of a run.

Each entry that an agent could have received becomes a saved request. Of the others, which in an
archive of a browser are most, the reasons are listed. Responses are not imported, and values of
credentials are left out.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from playground import __version__
from playground.collections.fixture import REQUEST, FixtureError, FixtureProblem
from playground.collections.fixture_parser import decode_json
from playground.import_export.http_request import (
    FixtureBuilder,
    UnsupportedRequestError,
    collection_slug,
    saved_request_fields,
    short_name,
)
from playground.import_export.snippets import stored_call
from playground.models import Run
from playground.protocols import lenient, registry
from playground.protocols.frames import Frame, FrameKind, is_reused
from playground.protocols.problems import Problem
from playground.protocols.response import Response

LABEL = "HAR file"
_START = re.compile(r'\s*\{\s*"log"\s*:')


def is_har(text: str) -> bool:
    """Return whether a text looks like an archive, whose only member is the log."""
    return _START.match(text.lstrip("\ufeff")) is not None


def read_har(text: str) -> tuple[str, list[FixtureProblem]]:
    """Return the text of a fixture, and remarks on entries that were skipped or changed.

    Raise `FixtureError` if the text is not an archive, or none of its entries can be imported.
    """
    built = FixtureBuilder()
    #: Locations of the skipped entries by reason.
    skipped: dict[str, list[str]] = {}
    for number, entry in enumerate(_entries(decode_json(text))):
        location = f"/log/entries/{number}"
        try:
            fields, remarks = _request_fields(entry)
        except UnsupportedRequestError as error:
            skipped.setdefault(str(error), []).append(location)
            continue
        built.remark(location, *remarks)
        asked = registry.request_text(fields["protocol"], fields["document"]).strip()
        title = short_name(asked or urlsplit(fields["address"]).path or "Request")
        built.add(REQUEST, {**fields, "name": title}, {})
    for reason, locations in skipped.items():
        count = len(locations)
        subject = f"Skipped {count:,} entries." if count > 1 else "Skipped."
        built.skip(locations[0], f"{subject} {reason}", count)
    built.check()
    host = urlsplit(next(iter(built.requests.values()))["address"]).netloc.rpartition("@")[2]
    name = short_name(f"Requests to {host or 'an agent'}")
    return built.text({"name": name, "slug": collection_slug(re.sub(r"[.:]", "-", name))})


def _entries(archive: Any) -> list[Any]:
    entries = lenient.members(lenient.members(archive).get("log")).get("entries")
    if not isinstance(entries, list):
        message = "Not a HAR file: an object with a “log” that has an array of entries is expected."
        raise FixtureError(FixtureProblem("/log/entries", message))
    if not entries:
        raise FixtureError(FixtureProblem("/log/entries", "The log has no entries."))
    return entries


def _request_fields(entry: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a saved request. Raise `UnsupportedRequestError` with the reason."""
    request = lenient.members(entry).get("request")
    if not isinstance(request, Mapping):
        raise UnsupportedRequestError("An entry must be an object with a request.")
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        raise UnsupportedRequestError("A request must have a method and a URL, both strings.")
    body, media_type = _body(lenient.members(request.get("postData")))
    headers = list(_header_pairs(request.get("headers")))
    fields, remarks = saved_request_fields(method.upper(), url, headers, body, media_type)
    # A version that the body does not name, in an archive that the playground exported.
    version = lenient.members(entry.get("_nlweb")).get("version")
    if version in [known.name for known in registry.of(fields["protocol"]).versions]:
        fields["version"] = version
    return fields, remarks


def _header_pairs(rows: Any) -> Iterator[tuple[str, str]]:
    """Yield the valid headers, without the pseudo-headers of HTTP/2."""
    for row in map(lenient.members, lenient.items(rows)):
        if isinstance(name := row.get("name"), str) and not name.startswith(":"):
            yield name, lenient.text(row.get("value"))


def _body(data: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the body of a request, and its media type."""
    text, fields = data.get("text"), lenient.items(data.get("params"))
    if not text and fields:  # A form of which only the fields are given.
        rows = map(lenient.members, fields)
        pairs = [(row.get("name"), row.get("value")) for row in rows]
        text = urlencode([(k, v) for k, v in pairs if isinstance(k, str) and isinstance(v, str)])
    text = lenient.text(text)
    if data.get("_encoding") == "base64":
        try:
            text = base64.b64decode(text, validate=True).decode()
        except ValueError:
            raise UnsupportedRequestError("The body is not text.") from None
    return text or None, lenient.text(data.get("mimeType"))


_NO_SIZE = -1
_UNKNOWN_TYPE = "x-unknown"


def to_har(run: Run) -> str:
    start = run.started_at or run.created_at
    archive = {
        "log": {
            "version": "1.2",
            "creator": {"name": "NLWeb Playground", "version": __version__},
            "pages": [],
            "entries": [_entry(run, start, *each) for each in _exchanges(run.read_frames())],
            "comment": f"{run.text or 'A run'} → {run.agent_name}",
        }
    }
    text = json.dumps(archive, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _exchanges(frames: Iterable[Frame]) -> list[tuple[Frame, Response]]:
    """Return the calls of a run and their responses, in order.

    Frames before the first call, of a refusal, are none.
    """
    found: list[tuple[Frame, list[Frame]]] = []
    for frame in frames:
        if frame.kind is FrameKind.CALL:
            found.append((frame, []))
        elif found:
            found[-1][1].append(frame)
    return [(call, Response(tuple(received))) for call, received in found]


def _entry(run: Run, start: datetime, call: Frame, response: Response) -> dict[str, Any]:
    timings = _timings(call, response)
    open_frame = response.first(FrameKind.OPEN)
    peer = json.loads(open_frame.data).get("peer") if open_frame else None
    entry: dict[str, Any] = {
        "startedDateTime": (start + timedelta(microseconds=call.at_us)).isoformat(),
        "time": round(sum(value for value in timings.values() if value >= 0), 3),
        "request": _request(run, call.data),
        "response": _response(response),
        "cache": {},
        "timings": timings,
    }
    if isinstance(peer, str):
        entry["serverIPAddress"] = peer.rpartition(":")[0].strip("[]")
    entry["_nlweb"] = {
        "run": str(run.pk),
        **{name: getattr(run, name) for name in ("protocol", "binding", "version", "state")},
        "at_us": call.at_us,
        "frames": [
            {"kind": frame.kind.name.lower(), "at_us": frame.at_us, "bytes": len(frame.data)}
            for frame in response.frames
        ],
    }
    if open_frame:
        entry["_nlweb"]["open"] = json.loads(open_frame.data)
    if error := response.first(FrameKind.ERROR):
        problem = Problem.from_bytes(error.data)
        entry["_error"] = problem.cause
        entry["_nlweb"]["problem"] = problem.to_json()
    return entry


def _timings(call: Frame, response: Response) -> dict[str, float]:
    """Return the milliseconds of each phase, -1 for one that was not measured or never reached."""
    open_frame, head = response.first(FrameKind.OPEN), response.first(FrameKind.HEAD)
    sent = open_frame.at_us if open_frame else call.at_us
    last = response.frames[-1].at_us if response.frames else call.at_us
    answered = head.at_us if head else last
    before = _ms(call.at_us, sent) if open_frame else -1
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
    call = stored_call(data, run.url)
    request: dict[str, Any] = {
        "method": call.method,
        "url": call.url,
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _headers(call.headers),
        "queryString": _query(call.url),
        "headersSize": len(data) - len(call.body),
        "bodySize": len(call.body),
    }
    if call.body:
        kinds = (value for name, value in call.headers if name.lower() == "content-type")
        body, encoding = _body_text(call.body)
        request["postData"] = {"mimeType": next(kinds, ""), "text": body}
        request["postData"] |= {"_encoding": encoding} if encoding else {}
    return request


def _response(response: Response) -> dict[str, Any]:
    head, headers, body = response.first(FrameKind.HEAD), response.headers, response.data
    data = head.data if head else b""
    first, *lines = data.decode("utf-8", "replace").split("\r\n")
    kind = headers.get("content-type", _UNKNOWN_TYPE)
    text, encoding = _body_text(body)
    content: dict[str, Any] = {"size": len(body), "mimeType": kind, "text": text}
    pairs = (line.partition(":") for line in lines if line)
    return {
        "status": response.status,
        "statusText": first.split(" ", 2)[2] if first.count(" ") > 1 else "",
        "httpVersion": first.partition(" ")[0],
        "cookies": [],
        "headers": _headers((name, value.strip()) for name, _, value in pairs),
        "content": content | ({"encoding": encoding} if encoding else {}),
        "redirectURL": headers.get("location", ""),
        "headersSize": len(data) if head else _NO_SIZE,
        "bodySize": len(body) if head else _NO_SIZE,
    }


def _headers(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _query(url: str) -> list[dict[str, str]]:
    try:
        pairs = parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []
    return _headers(pairs)


def _body_text(data: bytes) -> tuple[str, str]:
    """Return a body as text, and "base64" if it is encoded, as it is not UTF-8."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), "base64"
