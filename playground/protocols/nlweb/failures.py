"""Explanations of failures: every code of NLWeb, and those of other agents.

Codes of 0.54 and 0.55 (section 4.1.4 of both), those that the text and the examples use
without listing them (`CANCELLED`, section 4.2; `INVALID_PARAMETER`, 0.54 HTTP examples,
section 6), and those of the public ask agent. Any other code is shown verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from types import MappingProxyType

from playground.protocols import jsonrpc
from playground.protocols.problems import CodeExplanation

EXPLAINED: Mapping[str, CodeExplanation] = MappingProxyType(
    {
        "NO_RESULTS": CodeExplanation(
            "The agent found no results for the query.",
            "Use different or fewer words, or remove filters or the site.",
        ),
        "INVALID_QUERY": CodeExplanation(
            "The agent could not interpret the query or the request.",
            "Compare the request that was sent with the specification.",
        ),
        "UNSUPPORTED_FORMAT": CodeExplanation(
            "The agent does not support the requested response format.",
            "Set a different format in prefer, or omit it to use the agent’s default.",
        ),
        "UNSUPPORTED_MODE": CodeExplanation(
            "The agent does not support the requested mode.",
            "Set the mode to list, which every agent should support, or omit it.",
        ),
        "RATE_LIMITED": CodeExplanation(
            "The agent’s rate limit was exceeded.",
            "Wait before sending again, for as long as the Retry-After header says.",
        ),
        "INTERNAL_ERROR": CodeExplanation(
            "Internal error of the agent.",
            "Send it again; if the error persists, check the agent’s log.",
        ),
        "TIMEOUT": CodeExplanation(
            "The agent or one of its backends timed out.",
            "Send it again, or request less at once.",
        ),
        "TOKEN_LIMIT": CodeExplanation(
            "The request is too large for the agent.",
            "Shorten the query or the context, or request less at once.",
        ),
        "CANCELLED": CodeExplanation(
            "The request was cancelled before it completed.",
            "Send it again; if it was a promise, its token is no longer valid.",
        ),
        "INVALID_PARAMETER": CodeExplanation(
            "An attribute of the request has an invalid value.",
            "Correct the attribute named in the details.",
        ),
        "INVALID_REQUEST": CodeExplanation(
            "The agent did not recognize the request.",
            "Remove attributes that the agent may not support, and check the types of the others.",
        ),
        "MISSING_FIELD": CodeExplanation(
            "The request lacks a required attribute.",
            "Add the attribute named in the message.",
        ),
        "INVALID_ACTION": CodeExplanation(
            "The agent does not support this action for promises.",
            "Use checkin or cancel, the actions that NLWeb defines for promises.",
        ),
    }
)

_SECONDS = re.compile(r"\d{1,18}(?:\.\d{1,18})?", re.ASCII)


def explain(code: str) -> CodeExplanation | None:
    """Return the explanation of a failure's code in any capitalisation, None for an unknown one.

    A number is a code of JSON-RPC, which failures over MCP and A2A have.
    """
    if (number := jsonrpc.code_of(code)) is not None:
        return jsonrpc.explain_code(number)
    name = code.strip().upper()
    return EXPLAINED.get(name) or jsonrpc.NAMED.get(name)


def retry_after_seconds(value: str, now: str | float) -> float | None:
    """Return the delay of a `Retry-After` header in seconds from `now`, None if unreadable.

    The header holds seconds or an HTTP date (RFC 9110, section 10.2.3). `now` is the response's
    own `Date` header, so that clocks need not agree, or a time in seconds since 1970 (UTC).
    """
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    until, since = _seconds(value), _seconds(now) if isinstance(now, str) else now
    return None if until is None or since is None else max(0.0, until - since)


def _seconds(date: str) -> float | None:
    """Return an HTTP date in seconds since 1970."""
    try:
        parts = parsedate_tz(date[:100])
        return float(mktime_tz(parts)) if parts else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
