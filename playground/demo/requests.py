"""Requests of `ask` and `await`: a parser of JSON bytes into validated records.

Strict about structure, as section 7.4 requires (400 for a malformed request); unknown
attributes are ignored. An attribute that is null counts as absent.
"""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.demo import languages
from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.languages import ENGLISH, Language

VERSIONS = ("0.54", "0.55")
FORMATS = ("conversational_search", "chatgpt_app")
#: Most characters of a query; longer ones get TOKEN_LIMIT.
MAX_TEXT = 4000
#: Most bytes of a request.
MAX_BODY = 200_000
_CONVERSATION = "ConversationalContext"
_MAX_PACE = 100.0
_MAX_TURN = 1_000_000
_MAX_TOPIC = 80


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A validated `ask` request."""

    version: str
    text: str
    #: The attributes of query other than text.
    filters: Mapping[str, Any]
    context: Mapping[str, Any]
    #: The session context to return: the one received, one turn later.
    session: Mapping[str, Any]
    streaming: bool = False
    response_format: str = FORMATS[0]
    modes: frozenset[str] = frozenset({"list"})
    #: The language of the texts that the agent writes.
    language: Language = ENGLISH
    #: Factor of every deliberate delay; 0 means none.
    pace: float = 1.0
    #: Answers to this agent's questions, by id, wherever the request had them.
    answers: Mapping[str, Any] = field(default_factory=dict)
    #: Answers to the first of two rounds of questions, from the session context.
    pending: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AwaitRequest:
    """A validated `await` request (section 4.2)."""

    version: str
    token: str
    action: str
    session: Mapping[str, Any]


def read_json(body: bytes) -> dict[str, Any]:
    """Return the body as a JSON object. Raise `FailureError` INVALID_QUERY for anything else."""
    document = parse_json(body)
    if not isinstance(document, dict):
        raise FailureError("INVALID_QUERY", "The request must be a JSON object.")
    return document


def parse_json(body: bytes) -> Any:
    """Return the body as JSON. Raise `FailureError` INVALID_QUERY if it is not JSON."""
    try:
        return json.loads(body, parse_constant=_reject_constant, parse_float=_finite_float)
    except RecursionError:
        raise FailureError("INVALID_QUERY", "The request is nested too deeply.") from None
    except ValueError as error:
        raise FailureError("INVALID_QUERY", f"The request is not JSON: {error}.") from None


def version_of(document: Mapping[str, Any]) -> str:
    """Return the version of the response: the requested one, or the newest. Never raise."""
    meta = document.get("meta")
    _, version = _named_version(meta) if isinstance(meta, dict) else ("", None)
    return version if isinstance(version, str) and version in VERSIONS else VERSIONS[-1]


def session_of(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the session context of a request, even of an invalid one. Never raise."""
    meta = document.get("meta")
    session = meta.get("session_context") if isinstance(meta, dict) else None
    return session if isinstance(session, dict) else None


def read_ask(document: Mapping[str, Any], accept: str, pace: float) -> AskRequest:
    """Read an `ask` request from `document`, the Accept header and the factor `pace`.

    Raise `FailureError` with the code of the response.
    """
    check_meta(document)
    query = _object(document, "query", required=True)
    prefer = _object(document, "prefer")
    version = version_of(document)
    _check_string(prefer, "prefer.user-agent")
    text = _text(query)
    return AskRequest(
        version=version,
        text=text,
        filters={k: v for k, v in query.items() if k != "text" and v is not None},
        context=_context(document, version),
        session=next_turn(document, text),
        streaming=_streaming(prefer, accept),
        response_format=_format(prefer),
        modes=_modes(prefer, version),
        language=_language(prefer),
        pace=pace,
        pending=_pending(document),
    )


def read_await(document: Mapping[str, Any]) -> AwaitRequest:
    """Read an `await` request from `document`. Raise `FailureError`."""
    check_meta(document)
    token = document.get("promise_token")
    if not isinstance(token, str) or not token:
        raise invalid_parameter("promise_token", token, "string", "a string")
    action = document.get("action")
    if action not in ("checkin", "cancel"):
        raise invalid_parameter("action", action, "checkin | cancel", "'checkin' or 'cancel'")
    return AwaitRequest(version_of(document), token, action, session_of(document) or {})


def read_pace(value: str | None) -> float:
    """Read the factor of deliberate delays; 1 by default. Raise `FailureError`."""
    if value is None:
        return 1.0
    if re.fullmatch(r"\d{1,3}(\.\d{1,6})?", value, re.ASCII) and float(value) <= _MAX_PACE:
        return float(value)
    raise invalid_parameter("pace", value, "number", "a number from 0 to 100")


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite_float(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError("a number is too large")
    return value


def check_meta(document: Mapping[str, Any]) -> None:
    """Check the attributes of `meta` (section 3.4), which all requests have. Raise `FailureError`.

    An unknown version is an error: its requests may mean something else.
    """
    meta = _object(document, "meta")
    name, version = _named_version(meta)
    if version is not None and (not isinstance(version, str) or version not in VERSIONS):
        known = " or ".join(VERSIONS)
        raise invalid_parameter(f"meta.{name}", version, " | ".join(VERSIONS), known)
    _object(meta, "session_context", within="meta.")
    if not isinstance(user := meta.get("user"), str | dict | None):
        raise invalid_parameter("meta.user", user, "string | object", "a string or an object")
    if not isinstance(remember := meta.get("remember"), bool | None):
        raise invalid_parameter("meta.remember", remember, "boolean", "true or false")


def _named_version(meta: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the version in `meta` with its name; None for none.

    0.54 calls the attribute api_version in its text and version in its examples.
    """
    name = "version" if meta.get("version") is not None else "api_version"
    return name, meta.get(name)


def _object(
    document: Mapping[str, Any], name: str, *, required: bool = False, within: str = ""
) -> dict[str, Any]:
    value = document.get(name)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise invalid_parameter(within + name, value, "object", "an object")
    return value


def _check_string(section: Mapping[str, Any], path: str) -> None:
    """Check that an attribute is a string or absent; `path` is the section and its name."""
    if not isinstance(value := section.get(path.partition(".")[2]), str | None):
        raise invalid_parameter(path, value, "string", "a string")


def _context(document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """Return the context (section 3.2); only a ConversationalContext has attributes to check."""
    context = _object(document, "context")
    _check_string(context, "context.@type")
    if context.get("@type") not in (None, _CONVERSATION):
        return context
    previous = context.get("prev")
    if previous is not None and not _is_strings(previous):
        raise invalid_parameter("context.prev", previous, "array of strings", "a list of strings")
    for name in ("text", "memory"):
        # 0.54 gives no type, and agents in use have memory as a list.
        if version != "0.54" or not _is_strings(context.get(name)):
            _check_string(context, f"context.{name}")
    return context


def _is_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _language(prefer: Mapping[str, Any]) -> Language:
    """Return the language of `prefer.accept-language` (section 3.3)."""
    _check_string(prefer, "prefer.accept-language")
    accepted = prefer.get("accept-language")
    if accepted is None:
        return ENGLISH
    if language := languages.negotiate(accepted):
        return language
    raise invalid_parameter(
        "prefer.accept-language", accepted, "Accept-Language", "like 'de-AT, en;q=0.5'"
    )


def _text(query: Mapping[str, Any]) -> str:
    text = query.get("text")
    if not isinstance(text, str) or not text.strip():
        raise invalid_parameter("query.text", text, "string", "a non-empty string")
    if len(text) > MAX_TEXT:
        raise FailureError(
            "TOKEN_LIMIT",
            f"The query has {len(text):,} characters; the limit is {MAX_TEXT:,}.",
        )
    return text.strip()


def next_turn(document: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the session context of the response: the caller's, with this turn counted and named.

    A conversation id is added if there is none. `pending` answers are removed; another round
    of questions sets them again.
    """
    received = session_of(document) or {}
    session = {"conversation_id": f"conv_{secrets.token_hex(6)}"} | received
    session.pop("pending", None)
    turn = session.get("turn")
    counted = turn if isinstance(turn, int) and 0 <= turn < _MAX_TURN else 0
    return session | {"turn": counted + 1, "last_topic": text[:_MAX_TOPIC]}


def _pending(document: Mapping[str, Any]) -> dict[str, Any]:
    pending = (session_of(document) or {}).get("pending")
    return pending if isinstance(pending, dict) else {}


def _streaming(prefer: Mapping[str, Any], accept: str) -> bool:
    """Return `prefer.streaming`, by default the choice of the Accept header (section 7.3)."""
    streaming = prefer.get("streaming")
    if streaming is None:
        return "text/event-stream" in accept and "json" not in accept
    if not isinstance(streaming, bool):
        raise invalid_parameter("prefer.streaming", streaming, "boolean", "true or false")
    return streaming


def _list_of(prefer: Mapping[str, Any], name: str) -> list[str]:
    value = prefer.get(name)
    if value is None:
        return []
    if not isinstance(value, str):
        raise invalid_parameter(f"prefer.{name}", value, "string", "a string")
    return [word.strip() for word in value.split(",") if word.strip()]


def _format(prefer: Mapping[str, Any]) -> str:
    """Return the first supported format of the list (section 3.3.1)."""
    requested = _list_of(prefer, "response_format")
    for name in requested or FORMATS:
        if name in FORMATS:
            return name
    raise FailureError(
        "UNSUPPORTED_FORMAT",
        f"Unsupported format {', '.join(requested)}: this agent supports {' and '.join(FORMATS)}.",
    )


def _modes(prefer: Mapping[str, Any], version: str) -> frozenset[str]:
    """Return the requested modes (section 3.3.2); `detailed` is in the 0.54 examples only."""
    known = {"list", "summarize"} | ({"detailed"} if version == "0.54" else set())
    requested = frozenset(_list_of(prefer, "mode") or ["list"])
    if unknown := sorted(requested - known):
        raise FailureError(
            "UNSUPPORTED_MODE",
            f"Unsupported mode {', '.join(unknown)}:"
            f" this agent supports {', '.join(sorted(known))}.",
        )
    return requested
