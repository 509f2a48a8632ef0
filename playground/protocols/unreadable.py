"""Unreadable HTTP responses: descriptions, causes and fixes as tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from playground.protocols import challenges
from playground.protocols.problems import Problem, Stage

#: Most characters of a response that a problem quotes.
QUOTED = 500

_FIXES: Mapping[int, str] = {
    400: "Compare the request with what the agent documents; the reply's body may say more.",
    401: "Set the agent's authentication: the agent wants to know who is asking.",
    403: "Check the agent's credentials, and whether they may do this.",
    404: "Check the path of the agent's URL; NLWeb requests go to /ask below it.",
    405: "Check the agent's URL: this address does not take POST requests.",
    406: "Switch streaming on or off: the agent does not offer what Accept asks for.",
    413: "Shorten the request, for instance its context.",
    415: "Check the Content-Type among the request's headers; agents expect application/json.",
    421: "Check the agent's URL: this server does not answer for that host name.",
    422: "Compare the request with what the agent documents; the reply's body may say more.",
    429: "Wait before sending again: the agent limits how often it may be asked.",
    502: "Ask again later: a gateway could not reach the agent behind it.",
    503: "Ask again later: the agent is down or overloaded.",
    504: "Ask again later: a gateway gave up waiting for the agent.",
}
_CLASS_FIXES: Mapping[int, str] = {
    3: "The playground follows no redirects: if you trust the new address, set it as the URL.",
    4: "Check the request and the agent's URL; the reply's body may say what was wrong.",
    5: "Look into the agent's log: it failed while it was answering.",
}
_DEFAULT_FIX = "Check that the URL is that of an agent, and look at what was received."
_HTML = re.compile(r"\s*(?:<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE)


def fix_for_status(status: int, headers: Mapping[str, str]) -> str:
    """Return what to do about an unreadable response with this status.

    `headers` with names in lower case; `retry-after` and `www-authenticate` are included.
    """
    fix = _FIXES.get(status) or _CLASS_FIXES.get(status // 100) or _DEFAULT_FIX
    if status == 401 and (advice := challenges.auth_advice(headers.get("www-authenticate", ""))):
        return advice
    if (wait := headers.get("retry-after", "").strip()[:60]) and status in (429, 503):
        return f"{fix} It says when: Retry-After {wait}."
    return fix


def unreadable_problem(
    description: str,
    status: int,
    headers: Mapping[str, str],
    detail: str = "",
    *,
    stream: bool = False,
) -> Problem:
    """Return a problem of the decode stage.

    `description` completes the sentence "The reply to this request (HTTP 200) …"; with `stream` it
    is "The event stream to this request …".
    """
    name = "event stream" if stream else "reply"
    cause = f"The {name} to this request (HTTP {status}) {description}."
    if status // 100 == 3:
        where = headers.get("location", "").strip()[:200] or "an address that it does not name"
        cause = f"The agent redirects to {where} (HTTP {status})."
    return Problem("failed", Stage.DECODE, cause, fix_for_status(status, headers), detail[:QUOTED])


def is_html(body: str) -> bool:
    """Return whether a body begins like an HTML page."""
    return bool(_HTML.match(body))


def describe_body(body: str, error: ValueError | RecursionError, *, utf8: bool) -> tuple[str, str]:
    """Return a description of a body that is not JSON, and an excerpt as detail.

    `utf8` is false if bytes had to be replaced to decode the body.
    """
    if not body.strip():
        return "is empty", ""
    if is_html(body):
        return "is an HTML page, not JSON", body
    where = ""
    if isinstance(error, json.JSONDecodeError):
        where = f" (line {error.lineno}, column {error.colno})"
    broken = "" if utf8 else ", and not valid UTF-8 either"
    if body.lstrip()[0] in '{["':
        return f"is not valid JSON{where}{broken}", f"{error}\n{body}"
    return f"is text, not JSON{broken}", body
