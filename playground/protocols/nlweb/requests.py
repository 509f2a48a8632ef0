"""Requests of NLWeb: build one, follow one up, and validate one.

Ask (0.55 section 3; 0.54 section 3) and await (section 4.2 of both). A request is validated
with its JSON Schema, and here with the version of the agent.

In a follow-up, earlier queries go into `context.prev` (0.55 section 3.2), and the session context
that the agent returned into `meta.session_context` (section 3.4). Everything is total: a request
of any shape is accepted. No argument is changed; the new document shares the parts that stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from playground.protocols import http, lenient, schema_check
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import RequestProblem, Target
from playground.protocols.nlweb import legacy, versions
from playground.protocols.text import shorten

Document = Mapping[str, Any]

#: Most earlier queries that are sent; the oldest are dropped.
MAX_PREVIOUS = 50

CONVERSATION = "ConversationalContext"
#: Members of an await request (section 4.2), which are not part of the next query.
_AWAIT_ONLY = frozenset({"promise_token", "action"})


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    """Raises `ValueError` for an unknown version."""
    return {
        "query": {"text": text},
        "prefer": {"streaming": streaming},
        "meta": {"version": versions.get_version(version).name},
    }


def new_await(
    version: str,
    request: Document,
    *,
    token: Any,
    action: str,
    session_context: Mapping[str, Any] | None,
    request_id: str,
) -> dict[str, Any]:
    """Return an await request (section 4.2) for the promise that `request` was answered with.

    `action` is `checkin` or `cancel`. The metadata is that of the request, with the latest
    session context in it, and with `request_id` if the request had one. Raises `ValueError` for an
    unknown version.
    """
    meta = {
        "version": versions.get_version(version).name,
        **lenient.members(request.get("meta")),
    }
    meta.pop("session_context", None)
    if session_context is not None:
        meta["session_context"] = dict(session_context)
    return with_request_id({"promise_token": token, "action": action, "meta": meta}, request_id)


def new_checkin(version: str) -> dict[str, Any]:
    """Return an await request without a promise token. Raises like `new_request`."""
    meta = {"version": versions.get_version(version).name}
    return {"promise_token": "", "action": "checkin", "meta": meta}


def http_call(target: Target, document: Document) -> HttpCall:
    """Return the call that sends a request over HTTP (0.55 section 7), by the target's version.

    A promise is always polled as the specification says: an agent that made one is not a legacy
    server. Raises `ValueError` for an unknown version.
    """
    name, streaming = operation(document), wants_stream(document)
    if versions.is_flat(target.version) and name == "ask":
        return legacy.legacy_call(target, document, streaming=streaming)
    return http.post(target, name, document, streaming=streaming)


def operation(document: Document) -> str:
    """Return the operation of a request: `ask`, or `await` for one with a promise token."""
    return "await" if "promise_token" in document and "query" not in document else "ask"


def wants_stream(document: Document) -> bool:
    """Return whether the request prefers a stream (section 3.3); false by default."""
    return lenient.members(document.get("prefer")).get("streaming") is True


def query_text(request: Any) -> str:
    """Return the text of a request's query, "" if there is none."""
    query = lenient.members(lenient.members(request).get("query"))
    return lenient.text(query.get("text"))


def text_of_request(request: Any) -> str:
    """Return the text of a request: its query, or the action of an await request."""
    return query_text(request) or lenient.text(lenient.members(request).get("action"))


# The next request of a conversation


def follow_up_document(
    request: Any,
    *,
    prev: Sequence[str],
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """Return the document of the turn after `request`: a new query `text` to the same site.

    Filters are dropped, because they belong to their query; everything else stays. `prev` are the
    queries so far, oldest first; `session_context` is sent back, None removes it.
    """
    document = request_base(request)
    asked = lenient.members(document.get("query"))
    query = {"text": text} | ({"site": asked["site"]} if "site" in asked else {})
    document = {"query": query, **without(document, "query")}
    return with_session_context(with_previous(document, prev), session_context)


def request_base(request: Any) -> dict[str, Any]:
    """Return a copy of a request for a new query, without the members of an await request."""
    document = lenient.members(request)
    dropped = _AWAIT_ONLY if "promise_token" in document else ()
    return {name: value for name, value in document.items() if name not in dropped}


def session_context(request: Any, returned: Mapping[str, Any] | None) -> Any:
    """Return the session context after a turn: the returned one, or else the one that was sent."""
    sent = lenient.members(lenient.members(request).get("meta")).get("session_context")
    return sent if returned is None else returned


def previous_queries(queries: Iterable[Any]) -> list[str]:
    """Return queries for `context.prev`: no empty ones, none twice in a row, the last 50."""
    found: list[str] = []
    for text in queries:
        if isinstance(text, str) and text.strip() and found[-1:] != [text]:
            found.append(text)
    return found[-MAX_PREVIOUS:]


def with_previous(document: Mapping[str, Any], prev: Iterable[Any]) -> dict[str, Any]:
    """Return the document with `context.prev` set, without it if there are no earlier queries.

    A context of another type than NLWeb's own is not changed: only its schema defines the meaning
    of `prev`.
    """
    if foreign_context(document):
        return dict(document)
    queries = previous_queries(prev)
    context = document.get("context")
    if isinstance(context, Mapping):
        added = {"prev": queries} if queries else {}
        return {**document, "context": {**without(context, "prev"), **added}}
    if not queries:
        return dict(document)
    return {**document, "context": {"@type": CONVERSATION, "prev": queries}}


def foreign_context(document: Any) -> str:
    """Return the type of a request's context if that does not define `prev`; "" if it does.

    ConversationalContext defines it, which is also the type of a context without one (section 3.2).
    """
    context = lenient.members(lenient.members(document).get("context"))
    kind = context.get("@type")
    if kind is None or kind == CONVERSATION:
        return ""
    return kind if isinstance(kind, str) and kind.strip() else json.dumps(kind)


def omitted_previous(document: Any, prev: Iterable[Any]) -> str:
    """Return a sentence about previous queries that a follow-up omits; "" if it omits none.

    `document` is the follow-up, or the request before it: both have the same context.
    """
    kind = foreign_context(document)
    if not kind or not previous_queries(prev):
        return ""
    return f"Previous queries are not sent: the context type {shorten(kind, 60)} has no prev."


def with_session_context(
    document: Mapping[str, Any], session_context: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the document with `meta.session_context` set, or without it for None."""
    meta = document.get("meta")
    if session_context is not None:
        return {**document, "meta": {**lenient.members(meta), "session_context": session_context}}
    if not isinstance(meta, Mapping):
        return dict(document)
    return {**document, "meta": without(meta, "session_context")}


def with_request_id(document: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """Return the document with another `meta.request_id` (0.54 section 4.2), if it has one."""
    meta = document.get("meta")
    if not isinstance(meta, Mapping) or "request_id" not in meta:
        return dict(document)
    return {**document, "meta": {**meta, "request_id": request_id}}


def with_version(document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the document with the version in its metadata, under the name that it has there.

    Raises `ValueError` for an unknown version.
    """
    known = versions.get_version(version)
    meta = lenient.members(document.get("meta"))
    name = "version"
    if "api_version" in meta and "api_version" in known.traits["version_fields"]:
        name = "api_version"
    kept = {key: value for key, value in meta.items() if key not in ("version", "api_version")}
    return {**document, "meta": {name: known.name, **kept}}


def without(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: inner for key, inner in value.items() if key != name}


# Validation


def validate_request(document: Any, version: str) -> list[RequestProblem]:
    """Return the validation problems of a request, errors first.

    Errors are problems that no agent could handle; every other deviation from the specification
    is a warning, because exploring deviations is the purpose of the playground. Raises
    `ValueError` for an unknown version.
    """
    target = versions.get_version(version).name
    name = operation(lenient.members(document))
    problems = schema_check.problems(
        document, schema_check.load("nlweb", target, f"{name}-request")
    )
    if versions.is_flat(target) and name == "await":
        problems.append(RequestProblem("", legacy.NO_AWAIT))
    problems += _check_version(lenient.members(lenient.members(document).get("meta")), target)
    return sorted(problems, key=lambda problem: problem.level != "error")


def _check_version(meta: Document, target: str) -> Iterator[RequestProblem]:
    for field in ("version", "api_version"):
        if field not in meta:
            continue
        pointer = f"/meta/{field}"
        if field not in versions.get_version(target).traits["version_fields"]:
            yield RequestProblem(pointer, f"In NLWeb {target}, this field is named version.")
        if isinstance(meta[field], str) and meta[field] != target:
            yield RequestProblem(
                pointer, f"The request has version {meta[field]}, but is sent as {target}."
            )
