"""Raw requests: documents whose member `raw` replaces parts of the HTTP request.

    {"raw": {"method": "PATCH", "path": "/who", "content_type": "text/plain", "body": "hello"}}

A raw request is not validated against its protocol, so that invalid requests can be sent on
purpose, and saved. All members of `raw` are optional:

- `method`: POST by default.
- `path`: added to the agent's URL in place of the protocol's path, such as `/ask`. It may have a
  query; "" is the URL itself.
- `content_type`: `application/json` by default, if there is a body; "" for none.
- `body`: a text, which is sent unchanged, or another JSON value; with `"encoding": "base64"` the
  Base64 of any bytes. By default the other members of the document, except for GET and HEAD.

An empty `raw` replaces nothing: the other members are sent as the protocol and the binding define.
Otherwise the request is one HTTP request, over MCP as well, without a handshake or a JSON-RPC
message around the body.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from playground.protocols import headers
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import RequestProblem, Target
from playground.protocols.http import USER_AGENT, encode, merge_headers, operation_url
from playground.protocols.json_pointer import pointer_of
from playground.protocols.text import shorten

MEMBER = "raw"
_KNOWN = ("method", "path", "content_type", "body", "encoding")
#: Characters of a path and a query that are not encoded: those of URLs, and of placeholders.
_PATH = "/?&=%:@!$'()*+,;~{}"


def raw_of(request: Any) -> Mapping[str, Any] | None:
    found = request.get(MEMBER) if isinstance(request, Mapping) else None
    return found if isinstance(found, Mapping) else None


def document_of(request: Any) -> Any:
    if raw_of(request) is None:
        return request
    return {name: value for name, value in request.items() if name != MEMBER}


def sent_document(request: Any) -> Any:
    """Return the protocol's document that a request sends.

    Of a raw request that sends none, such as a GET request, it is `raw` alone.
    """
    raw = raw_of(request)
    if not raw:
        return document_of(request)
    sent = None
    if _text(raw, "method", "POST") == "POST":
        with contextlib.suppress(ValueError, RecursionError):
            sent = json.loads(_body(raw, document_of(request)) or b"")
    return sent if isinstance(sent, dict) else {MEMBER: raw}


def title_of(raw: Mapping[str, Any]) -> str:
    """Return the method of a raw request, and its path if it has one."""
    return f"{_text(raw, 'method', 'POST')} {_text(raw, 'path')}".rstrip()


def problems_of(request: Any) -> list[RequestProblem]:
    """Return why a raw request cannot be sent, before variables are substituted in it."""
    raw = raw_of(request)
    if not raw:
        return []
    found = {
        name: f"Unknown member “{shorten(name, 61)}”. Known: {', '.join(_KNOWN)}."
        for name in raw
        if name not in _KNOWN
    }
    method = _text(raw, "method", "POST")
    if not headers.is_token(method) or method == "CONNECT":
        found["method"] = f"“{shorten(method, 61)}” is not an HTTP method that can be sent."
    if refusal := headers.header_error("Content-Type", _text(raw, "content_type")):
        found["content_type"] = refusal
    if _text(raw, "encoding") not in ("", "base64") or _body(raw, {}) is None:
        found["encoding"] = "The encoding must be base64, and the body Base64."
    return [RequestProblem(pointer_of((MEMBER, name)), why, "error") for name, why in found.items()]


def http_call(target: Target, request: Mapping[str, Any], operation: str) -> HttpCall:
    """Return the call of a raw request to an operation, "" for one without a path of its own."""
    raw = request[MEMBER]
    body = _body(raw, document_of(request)) or b""
    content_type = _text(raw, "content_type", "application/json" if body else "")
    defaults = (
        ("Content-Type", content_type),
        ("Accept", "application/json, text/event-stream"),
        ("User-Agent", USER_AGENT),
    )
    url = operation_url(target.url, operation)
    if "path" in raw:
        url = _url(target.url, _text(raw, "path"), has_operations=bool(operation))
    own = merge_headers(defaults[not content_type :], target.headers)
    return HttpCall(_text(raw, "method", "POST"), url, own, body, streaming=True)


def _url(url: str, path: str, *, has_operations: bool) -> str:
    """Return the URL with a path and a query added. Nothing in them changes the origin."""
    parts = urlsplit(url)._replace(fragment="")
    added, _, query = quote(path, safe=_PATH, errors="replace").partition("?")
    if added:
        base = parts.path.rstrip("/")
        base = base.removesuffix("/ask") if has_operations else base
        parts = parts._replace(path=f"{base}/{added.removeprefix('/')}")
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, query)))))


def _body(raw: Mapping[str, Any], document: Mapping[str, Any]) -> bytes | None:
    """Return the bytes of the body, None for a text that should be Base64."""
    if "body" not in raw:
        has_body = document and raw.get("method") not in ("GET", "HEAD")
        return encode(document) if has_body else b""
    body = _text(raw, "body")
    if not raw.get("encoding"):
        return body.encode("utf-8", "backslashreplace")
    with contextlib.suppress(ValueError):
        return base64.b64decode(body, validate=True)
    return None


def _text(raw: Mapping[str, Any], name: str, default: str = "") -> str:
    """Return a member as text: a variable may have another value."""
    value = raw.get(name, default)
    return value if isinstance(value, str) else encode(value).decode()
