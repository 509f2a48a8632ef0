"""The next request of a conversation: what is taken along, and what is put in.

Earlier queries go into `context.prev` (0.55 section 3.2), what the agent returned as session
context goes back in `meta.session_context` (section 3.4). Total: a request of any shape makes
an object. Nothing that is passed in is changed; the new document shares the parts that stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Earlier queries that are sent; the oldest give way.
MAX_PREVIOUS = 50

_CONVERSATION = "ConversationalContext"
#: What makes a request one for `await` (section 4.2); no part of the next question.
_AWAIT_ONLY = frozenset({"promise_token", "action"})


def follow_up_document(
    request: Any,
    *,
    prev: Sequence[str],
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """The document of the turn after `request`: a new query `text` to the same site.

    Filters go, they belong to the query that they were given with; everything else stays.
    `prev` is the queries so far, oldest first; `session_context` is echoed, None removes it.
    """
    document = request_base(request)
    query = {"text": text, **_only(as_object(document.get("query")), "site")}
    document = {"query": query, **without(document, "query")}
    return with_session_context(with_previous(document, prev), session_context)


def request_base(request: Any) -> dict[str, Any]:
    """A copy of a request that asks anew: what only an await request has is left out."""
    document = as_object(request)
    left_out = _AWAIT_ONLY if "promise_token" in document else ()
    return {name: value for name, value in document.items() if name not in left_out}


def query_text(request: Any) -> str:
    """The text of a request's query, "" where there is none."""
    text = as_object(as_object(request).get("query")).get("text")
    return text if isinstance(text, str) else ""


def text_of_request(request: Any) -> str:
    """What a request says in words: its query, or the action of one that asks after a promise."""
    action = as_object(request).get("action")
    return query_text(request) or (action if isinstance(action, str) else "")


def session_context(request: Any, returned: Mapping[str, Any] | None) -> Any:
    """The session context after a turn: what came back, or else what was sent holds on."""
    sent = as_object(as_object(request).get("meta")).get("session_context")
    return sent if returned is None else returned


def previous_queries(queries: Iterable[Any]) -> list[str]:
    """Queries as `context.prev` has them: no empty ones, none twice in a row, the last 50."""
    found: list[str] = []
    for text in queries:
        if isinstance(text, str) and text.strip() and found[-1:] != [text]:
            found.append(text)
    return found[-MAX_PREVIOUS:]


def with_previous(document: Mapping[str, Any], prev: Iterable[Any]) -> dict[str, Any]:
    """The document with `context.prev` set; without it where there are no earlier queries.

    A context of another type than NLWeb's own is left as it is: what `prev` means there is
    for its schema to say.
    """
    queries = previous_queries(prev)
    context = document.get("context")
    if isinstance(context, Mapping):
        if context.get("@type", _CONVERSATION) != _CONVERSATION:
            return dict(document)
        added = {"prev": queries} if queries else {}
        return {**document, "context": {**without(context, "prev"), **added}}
    if not queries:
        return dict(document)
    return {**document, "context": {"@type": _CONVERSATION, "prev": queries}}


def with_session_context(
    document: Mapping[str, Any], session_context: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The document with `meta.session_context` set, or without it for None."""
    meta = document.get("meta")
    if session_context is not None:
        return {**document, "meta": {**as_object(meta), "session_context": session_context}}
    if not isinstance(meta, Mapping):
        return dict(document)
    return {**document, "meta": without(meta, "session_context")}


def as_object(value: Any) -> Mapping[str, Any]:
    """`value` where it is a JSON object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def without(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object without one of its members."""
    return {key: inner for key, inner in value.items() if key != name}


def _only(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: value[name]} if name in value else {}
