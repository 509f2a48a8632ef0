"""Unreadable HTTP responses: descriptions, causes and fixes as tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from playground.protocols import challenges, lenient
from playground.protocols.json_decoder import MAX_VALUES, TooManyValuesError
from playground.protocols.problems import Problem, Stage

#: Most characters of a response that a problem quotes.
QUOTED = 500

_FIXES: Mapping[int, str] = {
    400: "Compare the request with the agent’s documentation; the response body may have details.",
    401: "Add credentials to the agent’s authentication.",
    403: "Check the agent’s credentials and their permissions.",
    404: "Check the path of the URL; NLWeb requests are sent to /ask below it.",
    405: "Check the path of the URL: it does not accept POST requests.",
    406: "Switch streaming on or off: the agent does not support the requested format.",
    413: "Shorten the request, for instance its context.",
    415: "Check the Content-Type header of the request; agents expect application/json.",
    421: "Check the host in the URL: this server does not serve it.",
    422: "Compare the request with the agent’s documentation; the response body may have details.",
    429: "Wait before sending again: the agent limits the request rate.",
    502: "Retry later: a gateway could not reach the agent behind it.",
    503: "Retry later: the agent is down or overloaded.",
    504: "Retry later: a gateway timed out waiting for the agent.",
}
_CLASS_FIXES: Mapping[int, str] = {
    3: "Redirects aren’t followed, to protect credentials. If you trust the new URL, use it.",
    4: "Check the request and the URL; the response body may have details.",
    5: "Check the agent’s log: it failed while processing the request.",
}
#: Protocols of agents that are often taken for NLWeb: a member of their messages, its values, a
#: name.
_FOREIGN = (
    ("type", r"REPLY_(START|END)|[A-Z]+_BLOCK_(START|DELTA|END)", "AgentScope 2.0’s chat protocol"),
    ("type", r"RUN_(STARTED|FINISHED)|TEXT_MESSAGE_[A-Z]+", "the AG-UI protocol"),
    ("object", r"chat\.completion(\.chunk)?", "Chat Completions"),
)
FOREIGN_FIX = (
    "The playground does not support it. Use the agent’s endpoint for a protocol that it does; "
    "AgentScope Runtime has the Agent API at /process."
)
#: What to do instead about those that it supports.
_FIXES_BY_PROTOCOL = {"Chat Completions": "Set the agent’s protocol to Chat Completions."}
#: Statuses that deny a request for want of credentials.
DENIALS = frozenset({401, 403, 407})
#: Description of a body that is text and neither markup nor JSON.
PROSE = "is text, not JSON"
_DEFAULT_FIX = "Check that this is the URL of an agent; the response is in the Wire tab."
_HTML = re.compile(r"\s*(?:<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE)


def fix_for_status(status: int, headers: Mapping[str, str]) -> str:
    """Return what to do about an unreadable response with this status.

    `headers` with names in lower case; `retry-after` and `www-authenticate` are included.
    """
    fix = _FIXES.get(status) or _CLASS_FIXES.get(status // 100) or _DEFAULT_FIX
    if status in (401, 403) and (
        advice := challenges.auth_advice(headers.get("www-authenticate", ""))
    ):
        return advice
    if (wait := headers.get("retry-after", "").strip()[:60]) and status in (429, 503):
        return f"{fix} Retry-After: {wait}."
    return fix


def unreadable_problem(
    description: str,
    status: int,
    headers: Mapping[str, str],
    detail: str = "",
    *,
    stream: bool = False,
    payload: Any = None,
) -> Problem:
    """Return a problem of the decode stage; `payload` is the JSON that cannot be read.

    `description` completes the sentence "The response (HTTP 200) …"; with `stream` it is "The event
    stream (HTTP 200) …".
    """
    name = "event stream" if stream else "response"
    cause = f"The {name} (HTTP {status}) {description}."
    if status // 100 == 3:
        cause = redirect_cause(status, headers)
    elif status in DENIALS:
        cause = challenges.describe_denial(status, headers)
    fix = fix_for_status(status, headers)
    if foreign := foreign_protocol(payload):
        cause, fix = (
            f"The {name} (HTTP {status}) is {foreign}, not NLWeb or the Agent API.",
            _FIXES_BY_PROTOCOL.get(foreign, FOREIGN_FIX),
        )
    return Problem("failed", Stage.DECODE, cause, fix, detail[:QUOTED])


def foreign_protocol(payload: Any) -> str:
    """Return the name of a protocol that is neither NLWeb nor the Agent API, "" for none."""
    members = lenient.members(payload)
    for key, values, name in _FOREIGN:
        if isinstance(value := members.get(key), str) and re.fullmatch(values, value):
            return name
    return ""


def redirect_cause(status: int, headers: Mapping[str, str]) -> str:
    where = headers.get("location", "").strip()[:200] or "an unspecified URL"
    return f"The agent redirects to {where} (HTTP {status})."


def is_html(body: str) -> bool:
    """Return whether a body begins like an HTML page."""
    return bool(_HTML.match(body))


def describe_body(
    body: str, error: ValueError | RecursionError, *, utf8: bool, with_reason: bool = False
) -> tuple[str, str]:
    """Return a description of a body that is not JSON, and an excerpt as detail.

    `utf8` is false if bytes had to be replaced to decode the body. The detail has the reason why
    JSON is not valid; `with_reason` adds it to the description.
    """
    if not body.strip():
        return "is empty", ""
    if is_html(body):
        return "is an HTML page, not JSON", body
    if isinstance(error, TooManyValuesError):
        return f"has more than {MAX_VALUES:,} JSON values", ""
    broken = "" if utf8 else ", and not valid UTF-8"
    if body.lstrip()[0] in '{["':
        where = ""
        if isinstance(error, json.JSONDecodeError):
            where = f" (line {error.lineno}, column {error.colno})"
        what = f"{broken}: {error}" if with_reason else f"{where}{broken}"
        return f"is not valid JSON{what}", f"{error}\n{body[:QUOTED]}"
    return f"{PROSE}{broken}", body
