"""The older public server: one flat set of parameters, and no `await`.

It knows six parameters: `query`, `site`, `prev`, `streaming`, `generate_mode` and `query_id`.
A stream is asked for by GET with a query string, a document by POST with a flat JSON body in
which `streaming` is the string `"false"`. Requests are composed as in every other version, so
that one can be sent to either; what has no parameter stays at home, and `check` says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from playground.protocols import http
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import RequestProblem, Target
from playground.protocols.json_pointer import pointer_of

Document = Mapping[str, Any]

#: Where the parameters come from: (section, member) to the parameter's name. Of two that have
#: the same name the first that is given counts.
_PARAMETERS: Mapping[tuple[str, str], str] = {
    ("query", "text"): "query",
    ("query", "site"): "site",
    ("context", "prev"): "prev",
    ("prefer", "streaming"): "streaming",
    ("prefer", "generate_mode"): "generate_mode",
    ("prefer", "mode"): "generate_mode",
    ("meta", "query_id"): "query_id",
}
#: What has no parameter and says nothing that the address does not say already.
_SILENT = frozenset({("meta", "version"), ("meta", "api_version"), ("context", "@type")})
_SECTIONS = ("query", "context", "prefer", "meta")


def parameters(document: Document) -> dict[str, Any]:
    """The flat parameters of a request, `streaming` left out.

    Values as JSON has them. `prefer.mode` names several modes at once, of which the server
    takes one: `summarize` lists as well, so it stands for both.
    """
    found: dict[str, Any] = {}
    for (section, member), name in _PARAMETERS.items():
        value = _member(document, section, member)
        if value is None or name in found or name == "streaming":
            continue
        found[name] = _mode(value) if member == "mode" else value
    return {name: value for name, value in found.items() if value not in ("", [])}


def legacy_call(target: Target, document: Document, *, streaming: bool) -> HttpCall:
    """The call that carries a request to the older server."""
    url = http.operation_url(target.url, "ask")
    if streaming:
        defaults = (("Accept", "text/event-stream"), ("User-Agent", http.USER_AGENT))
        headers = http.merge_headers(defaults, target.headers)
        return HttpCall("GET", _with_query(url, parameters(document)), headers, streaming=True)
    flat = {**parameters(document), "streaming": "false"}
    return http.post(target, "ask", flat, streaming=False)


def legacy_warnings(document: Document) -> Iterator[RequestProblem]:
    """What of a request does not travel, as warnings. The rest every version checks."""
    if "promise_token" in document and "query" not in document:
        yield RequestProblem("", "The older server makes no promises and has no await.")
        return
    for section in _SECTIONS:
        inner = document.get(section)
        for member in inner if isinstance(inner, Mapping) else ():
            if (section, member) not in _PARAMETERS and (section, member) not in _SILENT:
                yield RequestProblem(
                    pointer_of([section, member]),
                    f"The older server has no parameter for {member}: it is not sent.",
                )


def _member(document: Document, section: str, member: str) -> Any:
    inner = document.get(section)
    return inner.get(member) if isinstance(inner, Mapping) else None


def _mode(value: Any) -> Any:
    """The one mode that stands for a list of modes; anything but text as it is."""
    if not isinstance(value, str):
        return value
    named = [part.strip() for part in value.split(",") if part.strip()]
    return "summarize" if "summarize" in named else next(iter(named), "")


def _with_query(url: str, values: Mapping[str, Any]) -> str:
    """An address with parameters after those that it has; lists as JSON."""
    parts = urlsplit(url)
    pairs = [(name, _in_url(value)) for name, value in values.items()]
    query = "&".join(filter(None, (parts.query, urlencode(pairs, errors="replace"))))
    return urlunsplit(parts._replace(query=query))


def _in_url(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
