"""What failures mean and what to try: every code of NLWeb, and what agents use beside them.

Codes of 0.54 and 0.55 (section 4.1.4 of both), those that the text and the examples use
without listing them (`CANCELLED`, section 4.2; `INVALID_PARAMETER`, 0.54 HTTP examples,
section 6), and those of the public ask agent. Any other code is shown as it came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import mktime_tz, parsedate_tz
from types import MappingProxyType

from playground.protocols import rpc_codes, unreadable
from playground.protocols.explanations import Explanation

EXPLAINED: Mapping[str, Explanation] = MappingProxyType(
    {
        "NO_RESULTS": Explanation(
            "The agent understood the query and found nothing that matches it.",
            "Use other or fewer words, drop a filter, or leave the site out.",
        ),
        "INVALID_QUERY": Explanation(
            "The agent could not make sense of the query or of the request around it.",
            "Compare the request with the specification; its JSON view shows what was sent.",
        ),
        "UNSUPPORTED_FORMAT": Explanation(
            "The agent does not offer the response format that was asked for.",
            "Set another format under prefer, or none to get the agent's own.",
        ),
        "UNSUPPORTED_MODE": Explanation(
            "The agent does not offer the mode that was asked for.",
            "Set the mode to list, which every agent should offer, or leave it out.",
        ),
        "RATE_LIMITED": Explanation(
            "The agent has had more requests than it takes in this time.",
            "Wait before sending again; a Retry-After header says for how long.",
        ),
        "INTERNAL_ERROR": Explanation(
            "Something went wrong within the agent.",
            "Send it again, and look into the agent's log if it happens again.",
        ),
        "TIMEOUT": Explanation(
            "The agent, or something that it asked, took too long.",
            "Send it again, or ask for less at once.",
        ),
        "TOKEN_LIMIT": Explanation(
            "The request is more than the agent can process.",
            "Shorten the query or the context, or ask for less at once.",
        ),
        "CANCELLED": Explanation(
            "What was asked for was cancelled before it was done.",
            "Ask again to start it anew; if it was a promise, its token is of no more use.",
        ),
        "INVALID_PARAMETER": Explanation(
            "One of the request's attributes has a value that the agent cannot use.",
            "Correct the attribute that the details name.",
        ),
        "INVALID_REQUEST": Explanation(
            "The agent could not read the request as one that it knows.",
            "Leave out attributes that the agent may not know, and check the types of the others.",
        ),
        "MISSING_FIELD": Explanation(
            "The request lacks something that the agent needs.",
            "Add the attribute that the message names.",
        ),
        "INVALID_ACTION": Explanation(
            "The agent does not know what it was asked to do with the promise.",
            "Use checkin or cancel, the two actions that NLWeb defines for a promise.",
        ),
    }
)

#: What a status means. What to do about it is the same as for a reply that cannot be read.
_STATUSES: Mapping[int, str] = {
    400: "The server found the request to be malformed.",
    401: "The server wants to know who is asking.",
    403: "The server does not allow this to whoever asked.",
    404: "There is nothing at this address.",
    429: "The server has had more requests than it takes in this time.",
    500: "Something went wrong within the server.",
    502: "A gateway got no usable reply from the server behind it.",
    503: "The server is down for the moment, or overloaded.",
    504: "A gateway got no reply from the server behind it in time.",
}

_SECONDS = re.compile(r"\d{1,18}(?:\.\d{1,18})?", re.ASCII)


def explain(code: str) -> Explanation | None:
    """What a failure's code means, however it is capitalised; None for an unknown one.

    A number is a code of JSON-RPC: over MCP and A2A that is what a refusal has.
    """
    if (number := rpc_codes.code_of(code)) is not None:
        return rpc_codes.explain_code(number)
    name = code.strip().upper()
    return EXPLAINED.get(name) or rpc_codes.NAMED.get(name)


def explain_status(status: int) -> Explanation | None:
    """What an HTTP status means, for those of failures; None for all others."""
    meaning = _STATUSES.get(status)
    return Explanation(meaning, unreadable.fix_for_status(status, {})) if meaning else None


def retry_after_seconds(value: str, now: str | float) -> float | None:
    """How long a `Retry-After` header asks to wait, in seconds from `now`; None if unreadable.

    The header holds seconds or an HTTP date (RFC 9110, section 10.2.3). `now` is the reply's
    own `Date` header, so that clocks need not agree, or a time in seconds since 1970 (UTC).
    """
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    until, since = _seconds(value), _seconds(now) if isinstance(now, str) else now
    return None if until is None or since is None else max(0.0, until - since)


def _seconds(date: str) -> float | None:
    """An HTTP date in seconds since 1970."""
    try:
        parts = parsedate_tz(date[:100])
        return float(mktime_tz(parts)) if parts else None
    except (ValueError, OverflowError, TypeError, IndexError):
        return None
