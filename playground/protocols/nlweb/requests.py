"""Requests: build one, and say what is wrong with one before it is sent.

Ask (0.55 section 3; 0.54 section 3) and await (section 4.2 of both). The structure in full
is in the JSON Schema files; here is the core that decides whether a send makes sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from playground.protocols import http
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import RequestProblem, Target
from playground.protocols.json_pointer import pointer_of
from playground.protocols.nlweb import legacy, versions

Document = Mapping[str, Any]


def new_request(version: str, text: str, *, streaming: bool = True) -> dict[str, Any]:
    """An ask request with this query text. Raises `ValueError` for an unknown version."""
    return {
        "query": {"text": text},
        "prefer": {"streaming": streaming},
        "meta": {"version": versions.get_version(version).name},
    }


def http_call(target: Target, document: Document) -> HttpCall:
    """The call that carries a request over HTTP (0.55 section 7), by the target's version.

    A promise is asked after the standard's way whatever the version: an agent that made one
    is no older server. Raises `ValueError` for an unknown version.
    """
    name, streaming = operation(document), wants_stream(document)
    if versions.is_flat(target.version) and name == "ask":
        return legacy.legacy_call(target, document, streaming=streaming)
    return http.post(target, name, document, streaming=streaming)


def new_await(
    version: str,
    request: Document,
    *,
    token: Any,
    action: str,
    session_context: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """An await request (section 4.2) for the promise that `request` was answered with.

    `action` is `checkin` or `cancel`. The metadata is that of the request, with the latest
    session context in it. Raises `ValueError` for an unknown version.
    """
    asked = request.get("meta")
    meta = dict(asked) if isinstance(asked, Mapping) else {}
    meta = {"version": versions.get_version(version).name, **meta}
    meta.pop("session_context", None)
    if session_context is not None:
        meta["session_context"] = dict(session_context)
    return {"promise_token": token, "action": action, "meta": meta}


def operation(document: Document) -> str:
    """What a request asks the agent to do: `ask`, or `await` for one with a promise token."""
    return "await" if "promise_token" in document and "query" not in document else "ask"


def wants_stream(document: Document) -> bool:
    """Whether the request prefers a stream (section 3.3); a plain reply unless it says so."""
    prefer = document.get("prefer")
    return isinstance(prefer, Mapping) and prefer.get("streaming") is True


def validate_request(document: Any, version: str) -> list[RequestProblem]:
    """What is wrong with a request, errors first.

    Errors are what no agent could answer; everything else that departs from the
    specification is a warning, because exploring that is what the playground is for.
    Raises `ValueError` for an unknown version.
    """
    target = versions.get_version(version).name
    if not isinstance(document, Mapping):
        return [RequestProblem("", "The request must be a JSON object.", "error")]
    problems = [*_CHECKS[operation(document)](document), *_check_meta(document, target)]
    if versions.is_flat(target):
        problems += legacy.legacy_warnings(document)
    return sorted(problems, key=lambda problem: problem.level != "error")


def _check_ask(document: Document) -> Iterator[RequestProblem]:
    query = document.get("query")
    if "query" not in document:
        yield RequestProblem("/query", "A request needs a query.", "error")
    elif not isinstance(query, Mapping):
        yield RequestProblem("/query", "The query must be a JSON object.", "error")
    else:
        yield from _required_text(query, "/query/text", "text", "The query needs a text.")
        yield from _check_types(query, "/query", {"site": _TEXT})
    yield from _check_section(document, "prefer", _PREFER)
    yield from _check_section(document, "context", _context_types(document))
    yield from _unknown_sections(document, ("query", "context", "prefer", "meta"))


def _check_await(document: Document) -> Iterator[RequestProblem]:
    yield from _required_text(
        document, "/promise_token", "promise_token", "An await request needs a promise token."
    )
    yield from _required_text(
        document, "/action", "action", "An await request needs an action: checkin or cancel."
    )
    action = document.get("action")
    if isinstance(action, str) and action.strip() and action not in ("checkin", "cancel"):
        yield RequestProblem("/action", "NLWeb defines the actions checkin and cancel.")
    yield from _unknown_sections(document, ("promise_token", "action", "meta"))


def _check_meta(document: Document, target: str) -> Iterator[RequestProblem]:
    yield from _check_section(document, "meta", _META)
    meta = document.get("meta")
    if not isinstance(meta, Mapping):
        return
    for field in ("version", "api_version"):
        if field not in meta:
            continue
        pointer = f"/meta/{field}"
        if field not in versions.get_version(target).traits["version_fields"]:
            yield RequestProblem(pointer, f"NLWeb {target} names this field version.")
        if isinstance(meta[field], str) and meta[field] != target:
            yield RequestProblem(
                pointer, f"The request says version {meta[field]}, it is sent as {target}."
            )


def _required_text(
    section: Document, pointer: str, name: str, message: str
) -> Iterator[RequestProblem]:
    value = section.get(name)
    if value is not None and not isinstance(value, str):
        yield RequestProblem(pointer, "This must be a string.", "error")
    elif value is None or not value.strip():
        yield RequestProblem(pointer, message, "error")


def _check_section(
    document: Document, name: str, types: Mapping[str, _Type]
) -> Iterator[RequestProblem]:
    if name not in document:
        return
    section = document[name]
    if isinstance(section, Mapping):
        yield from _check_types(section, f"/{name}", types)
    else:
        yield RequestProblem(f"/{name}", f"The section {name} must be a JSON object.")


def _check_types(
    section: Document, pointer: str, types: Mapping[str, _Type]
) -> Iterator[RequestProblem]:
    for name, (fits, wanted) in types.items():
        if name in section and not fits(section[name]):
            yield RequestProblem(f"{pointer}/{name}", f"NLWeb defines {name} as {wanted}.")


def _unknown_sections(document: Document, known: tuple[str, ...]) -> Iterator[RequestProblem]:
    for name in document:
        if name not in known:
            yield RequestProblem(pointer_of([name]), f"NLWeb defines no section {name}.")


def _context_types(document: Document) -> Mapping[str, _Type]:
    context = document.get("context")
    # A custom @type (section 3.2) brings its own attributes, whatever they are called.
    if isinstance(context, Mapping) and context.get("@type", _CONVERSATION) != _CONVERSATION:
        return {"@type": _TEXT}
    return _CONTEXT


_Type = tuple[Callable[[Any], bool], str]
_CONVERSATION = "ConversationalContext"

_TEXT: _Type = (lambda value: isinstance(value, str), "a string")
_FLAG: _Type = (lambda value: isinstance(value, bool), "true or false")
_OBJECT: _Type = (lambda value: isinstance(value, Mapping), "an object")
_TEXT_OR_OBJECT: _Type = (
    lambda value: isinstance(value, str | Mapping),
    "a string or an object",
)
_TEXTS: _Type = (
    lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "an array of strings",
)

_CONTEXT: Mapping[str, _Type] = {"@type": _TEXT, "prev": _TEXTS, "text": _TEXT, "memory": _TEXT}
_PREFER: Mapping[str, _Type] = {
    "streaming": _FLAG,
    "response_format": _TEXT,
    "mode": _TEXT,
    "accept-language": _TEXT,
    "user-agent": _TEXT,
}
_META: Mapping[str, _Type] = {
    "version": _TEXT,
    "api_version": _TEXT,
    "session_context": _OBJECT,
    "user": _TEXT_OR_OBJECT,
    "remember": _FLAG,
}
_CHECKS: Mapping[str, Callable[[Document], Iterator[RequestProblem]]] = {
    "ask": _check_ask,
    "await": _check_await,
}
