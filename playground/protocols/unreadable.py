"""Unreadable HTTP responses and denied requests: descriptions, causes and fixes as tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient
from playground.protocols.headers import TOKEN
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
    if status in (401, 403) and (advice := auth_advice(headers.get("www-authenticate", ""))):
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
        cause = describe_denial(status, headers)
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


# Authentication challenges: the `WWW-Authenticate` header (RFC 9110, section 11.6.1). The
# parameters of bearer tokens are those of RFC 6750 (section 3) and RFC 9728 (section 5.1), which
# MCP servers use.

#: Most characters of a header that are read, and of a value that are shown.
_MAX_HEADER, _MAX_VALUE = 4_000, 200

_PARAM = re.compile(rf"\s*,?\s*({TOKEN})\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s,\"]*))")
_SCHEME = re.compile(rf"\s*,?\s*({TOKEN})(?=\s|,|$)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """One authentication scheme that a server accepts."""

    scheme: str
    #: Names in lower case.
    params: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str) -> str:
        """Return a parameter for display, "" without it."""
        return self.params.get(name, "")[:_MAX_VALUE].strip()


def read_challenges(header: str) -> list[Challenge]:
    text, at = header[:_MAX_HEADER], 0
    found: list[Challenge] = []
    while scheme := _SCHEME.match(text, at):
        at = scheme.end()
        params: dict[str, str] = {}
        while param := _PARAM.match(text, at):
            at = param.end()
            quoted, plain = param[2], param[3]
            value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain
            params.setdefault(param[1].lower(), value)
        found.append(Challenge(scheme[1], params))
    return found


def describe_denial(status: int, headers: Mapping[str, str]) -> str:
    """Return the cause of a 401, 403 or 407 as a sentence: scheme, realm and missing scope."""
    name = "proxy-authenticate" if status == 407 else "www-authenticate"
    found = map(_describe, read_challenges(headers.get(name, ""))[:3])
    described = "; or ".join(found)
    if not described and status == 403:
        return "Authentication required, or access denied (HTTP 403)."
    return f"Authentication required (HTTP {status}){described and f': {described}'}."


def _describe(challenge: Challenge) -> str:
    parts = [challenge.scheme[:60]]
    is_missing = challenge.params.get("error") == "insufficient_scope"
    labels = {"realm": "realm", "scope": "missing scope" if is_missing else "scope"}
    for name, label in labels.items():
        if value := challenge.value(name):
            parts.append(f"{label} “{value}”")
    return ", ".join(parts)


def auth_advice(header: str) -> str:
    """Return what to enter in the agent's settings, as sentences, "" without a challenge."""
    sentences = [_advice_for(challenge) for challenge in read_challenges(header)[:3]]
    return " Or: ".join(filter(None, sentences))


def _advice_for(challenge: Challenge) -> str:
    advice = _ADVICE.get(challenge.scheme.lower())
    if advice is None:
        advice = f"Add an Authorization header with the scheme {challenge.scheme[:60]}."
    sentences = [advice]
    for name, sentence in _PARAMETER_SENTENCES.items():
        if value := challenge.value(name):
            sentences.append(sentence.format(value.rstrip(".")))
    return " ".join(sentences)


_ADVICE: Mapping[str, str] = {
    "bearer": "Add a bearer token to the agent’s authentication.",
    "basic": "Add a user name and password to the agent’s authentication.",
    "apikey": "Add an API key to the agent’s authentication.",
}
_PARAMETER_SENTENCES: Mapping[str, str] = {
    "error_description": "Server message: {}.",
    "scope": "The token requires the scope “{}”.",
    "resource_metadata": "Resource metadata: {}",
}
