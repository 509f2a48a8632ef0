"""Sample requests of NLWeb: valid ones, and invalid ones with the part of a schema they break.

What sections 3 and 4.2 allow (0.54: 3), and what the schemas of 0.55 A.1 and A.2 (0.54: MCP
examples) reject.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jsonschema.exceptions import ValidationError

#: Keywords that restrict a string to some values.
_VALUES = frozenset({"enum", "const", "pattern", "minLength", "maxLength"})


class ValidRequest(NamedTuple):
    """A request that every schema has to accept."""

    name: str
    arguments: Mapping[str, Any]


class InvalidRequest(NamedTuple):
    """A request that the schema of the specification rejects, and how."""

    name: str
    arguments: Mapping[str, Any]
    #: The property whose schema rejects it (none: the schema of the tool), and the keyword.
    properties: tuple[str, ...]
    keyword: str
    fix: str


def valid_requests(tool: str, version: str) -> Iterator[ValidRequest]:
    for name, members in (_AWAIT if tool == "await" else _ask(version)).items():
        yield ValidRequest(name, _in_version(members, version))


def invalid_requests(tool: str) -> tuple[InvalidRequest, ...]:
    return _INVALID_AWAIT if tool == "await" else _INVALID_ASK


def is_agent_defined(error: ValidationError) -> bool:
    """Return whether an error is about a value that an agent may define itself.

    These are filters other than `text`, the values of `site`, tokens and session contexts.
    """
    path, keyword = tuple(error.absolute_path), error.validator
    match path:
        case ("query", name, *rest) if name not in ("text", "site"):
            return True
        case ("query", "site") | ("promise_token",):
            return keyword in _VALUES
        case ("meta", "session_context", *rest):
            return bool(rest) or keyword != "type"
    return False


#: Stands for the version that a schema is judged by.
_VERSION = "@version"


def _in_version(value: Any, version: str) -> Any:
    if isinstance(value, dict):
        return {name: _in_version(inner, version) for name, inner in value.items()}
    return version if value == _VERSION else value


_QUERY: Mapping[str, Any] = {"text": "healthy breakfast recipes with eggs"}


def _ask(version: str) -> Mapping[str, Mapping[str, Any]]:
    found = {name: {"query": _QUERY, **members} for name, members in _ASK.items()}
    if version != "0.54":
        found |= {name: {"query": _QUERY, **members} for name, members in _ASK_55.items()}
    return found


_ASK: Mapping[str, Mapping[str, Any]] = {
    "a query with text only": {},
    "a query with a site": {"query": {**_QUERY, "site": "breakfast-central.com"}},
    "a query with custom filters": {
        "query": {**_QUERY, "location": "Idaho", "price": "less than $20", "personalized": True}
    },
    "a context without @type": {
        "context": {"prev": ["snacks"], "text": "Plans a party", "memory": "vegetarian"}
    },
    "a context with previous queries only": {"context": {"prev": ["breakfast", "snacks"]}},
    "a context with memory only": {"context": {"memory": "vegetarian"}},
    "a ConversationalContext": {"context": {"@type": "ConversationalContext", "prev": ["snacks"]}},
    "a context of another @type": {
        "context": {
            "@type": "UserDiet",
            "@context": "https://example.com/schemas/diet",
            "restrictions": ["vegan"],
        }
    },
    "a preference for streaming": {"prefer": {"streaming": True}},
    "all preferences": {
        "prefer": {
            "streaming": False,
            "response_format": "chatgpt_app",
            "mode": "list",
            "accept-language": "en",
            "user-agent": "Copilot/1.0.0",
        }
    },
    "a version": {"meta": {"version": _VERSION}},
    "a session context": {
        "meta": {"version": _VERSION, "session_context": {"conversation_id": "conv_98765"}}
    },
}
_ASK_55: Mapping[str, Mapping[str, Any]] = {
    "a preference for two modes": {"prefer": {"mode": "list, summarize"}},
    "a user as a string": {"meta": {"user": "user_12345"}},
    "a user as an object": {
        "meta": {
            "user": {
                "@type": "Person",
                "@context": "https://schema.org",
                "identifier": "user_12345",
                "name": "Jane Smith",
            }
        }
    },
    "a request to remember": {"meta": {"remember": True}},
}
_TOKEN = "promise_mealplan_xyz789"  # noqa: S105 - a token of an example
_CHECKIN = {"promise_token": _TOKEN, "action": "checkin"}
_CANCEL = {"promise_token": _TOKEN, "action": "cancel"}
_AWAIT: Mapping[str, Mapping[str, Any]] = {
    "the action checkin": _CHECKIN,
    "the action cancel": _CANCEL,
    "checkin with a version": {**_CHECKIN, "meta": {"version": _VERSION}},
    "cancel with a version": {**_CANCEL, "meta": {"version": _VERSION}},
    "checkin with a session context": {
        **_CHECKIN,
        "meta": {"version": _VERSION, "session_context": {"conversation_id": "conv_98765"}},
    },
}
_INVALID_ASK = (
    InvalidRequest("a request without query", {}, (), "required", "Add query to required."),
    InvalidRequest(
        "a query that is a string",
        {"query": "eggs"},
        ("query",),
        "type",
        "Set its type to object.",
    ),
    InvalidRequest(
        "a query without text",
        {"query": {"site": "breakfast-central.com"}},
        ("query",),
        "required",
        "Add text to required.",
    ),
    InvalidRequest(
        "a text that is not a string",
        {"query": {"text": 7}},
        ("query", "text"),
        "type",
        "Set its type to string.",
    ),
)
_INVALID_AWAIT = (
    InvalidRequest(
        "a request without promise_token",
        {"action": "checkin"},
        (),
        "required",
        "Add promise_token to required.",
    ),
    InvalidRequest(
        "a request without action",
        {"promise_token": _TOKEN},
        (),
        "required",
        "Add action to required.",
    ),
    InvalidRequest(
        'the action "stop"',
        {"promise_token": _TOKEN, "action": "stop"},
        ("action",),
        "enum",
        "Allow only checkin and cancel.",
    ),
    InvalidRequest(
        "a promise_token that is a number",
        {"promise_token": 7, "action": "checkin"},
        ("promise_token",),
        "type",
        "Set its type to string.",
    ),
)
