"""The parts of a HAR entry: whether they are what the format says, and what they hold."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

Finding = tuple[str, str]


def check_entry(entry: Any) -> Iterator[Finding]:
    """What is wrong with an entry, as far as it is read: a JSON pointer into it, and a sentence."""
    if not isinstance(entry, dict):
        yield "", "An entry is an object."
        return
    for name, check in (("request", _request), ("response", _response)):
        part = entry.get(name)
        if isinstance(part, dict):
            yield from ((f"/{name}{place}", message) for place, message in check(part))
        else:
            yield f"/{name}", f"An entry has a {name}, which is an object."


def _request(request: Mapping[str, Any]) -> Iterator[Finding]:
    for name in ("method", "url"):
        if not isinstance(request.get(name), str):
            yield f"/{name}", "This must be text."
    yield from _headers(request)
    data = request.get("postData")
    if data is not None and not isinstance(data, dict):
        yield "/postData", "This must be an object."
    elif data is not None and not isinstance(data.get("text", ""), str):
        yield "/postData/text", "This must be text."


def _response(response: Mapping[str, Any]) -> Iterator[Finding]:
    status = response.get("status")
    if type(status) is not int or not (status in (0, -1) or 100 <= status <= 999):
        yield "/status", "This must be an HTTP status, or 0 where no answer came."
    yield from _headers(response)
    content = response.get("content")
    if not isinstance(content, dict):
        yield "/content", "A response has a content, which is an object."
        return
    for name in ("mimeType", "text", "encoding"):
        if not isinstance(content.get(name, ""), str):
            yield f"/content/{name}", "This must be text."
    if content.get("encoding") and response_body(response) is None:
        yield "/content/text", "This is not the base64 that it says it is."


def _headers(part: Mapping[str, Any]) -> Iterator[Finding]:
    rows = part.get("headers")
    if not isinstance(rows, list):
        yield "/headers", "This must be a list."
        return
    for number, row in enumerate(rows):
        pair = [row.get(name) for name in ("name", "value")] if isinstance(row, dict) else [None]
        if not all(isinstance(each, str) for each in pair):
            yield f"/headers/{number}", "A header has a name and a value, which are texts."


def status_of(response: Mapping[str, Any]) -> int:
    """The status of a reply; 0 where no answer came, which some tools write as -1."""
    return max(0, int(response["status"]))


def headers_of(part: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The headers of a request or a response, without those that HTTP/2 invents."""
    pairs = ((row["name"], row["value"]) for row in part["headers"])
    return [(name, value) for name, value in pairs if not name.startswith(":")]


def request_body(request: Mapping[str, Any]) -> str | None:
    """The body of a request as text, None where there is none."""
    data = request.get("postData") or {}
    text = data.get("text") or _form(data.get("params"))
    if text and data.get("_encoding") == "base64":
        text = (_decoded(text) or b"").decode("utf-8", "replace")
    return text or None


def _form(fields: Any) -> str:
    """A form of which only the fields are said, as it was sent."""
    rows = fields if isinstance(fields, list) else []
    pairs = [(row.get("name"), row.get("value")) for row in rows if isinstance(row, dict)]
    return urlencode([(k, v) for k, v in pairs if isinstance(k, str) and isinstance(v, str)])


def response_body(response: Mapping[str, Any]) -> bytes | None:
    """The body of a reply; None where one came that was not recorded."""
    content = response["content"]
    text, size = content.get("text"), content.get("size", 0)
    if not text:
        # Nothing is recorded where nothing came.
        came = isinstance(size, int | float) and size > 0
        return None if came or (text is None and status_of(response) == 200) else b""
    if content.get("encoding", "").lower() == "base64":
        return _decoded(text)
    return str(text).encode("utf-8", "replace")


def extension_fields_of(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the playground wrote of its own into an entry."""
    own = entry.get("_nlweb")
    return own if isinstance(own, dict) else {}


def milliseconds(value: Any) -> float:
    """A time; 0 for what was not measured (-1), and for what is no sensible number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return float(value) if 0 < value < 10**9 else 0


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
