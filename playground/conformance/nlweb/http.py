"""Rules on the HTTP binding, section 7 (0.54: section 8), and on rate limits, section 2.5."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from playground.conformance.rule import RuleIssue, Violation, info, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text
from playground.protocols.events import Outcome

#: Statuses for each response type. A failure is one of the application, with 200, or one of the
#: request or the server.
_FITTING = {
    "answer": "200 OK",
    "elicitation": "200 OK",
    "promise": "202 Accepted",
    "failure": "200 OK, or an error status if the request or the server caused the failure",
}
#: Codes of failures of the application: the request was processed.
_APPLICATION = frozenset({"NO_RESULTS", "CANCELLED", "TOKEN_LIMIT"})
#: Error statuses for codes of failures.
_STATUSES = {
    "INVALID_QUERY": (400, 422),
    "INVALID_PARAMETER": (400, 422),
    "UNSUPPORTED_FORMAT": (400, 406, 422, 501),
    "UNSUPPORTED_MODE": (400, 406, 422, 501),
    "RATE_LIMITED": (429,),
    "INTERNAL_ERROR": (500, 502, 503),
    "TIMEOUT": (500, 503, 504),
}


def _has_head(t: Transcript) -> bool:
    return t.head_seq is not None


def _media_type(t: Transcript) -> str:
    return t.headers.get("content-type", "").partition(";")[0].strip().lower()


@rule(
    "http-content-type",
    "Content-Type matches the body: JSON or an event stream.",
    v55=should("7.2"),
    v54=should("HTTP examples, notes 1"),
    when=lambda t: _has_head(t) and t.has_response,
)
def http_content_type(t: Transcript) -> Iterator[RuleIssue]:
    """Standard headers have their standard meaning."""
    actual = _media_type(t)
    wanted = "text/event-stream" if t.streamed else "application/json"
    json_like = not t.streamed and actual.startswith("application/") and actual.endswith("+json")
    if actual != wanted and not json_like:
        received = f"is {actual[:60]}" if actual else "is missing"
        yield Violation(f"Content-Type {received}. Set it to {wanted}.", t.head_seq)


@rule(
    "http-status",
    "The HTTP status matches the response type.",
    v55=should("7.4"),
    v54=should("HTTP examples, notes 2"),
    when=lambda t: _has_head(t) and t.has_response and bool(t.kind),
)
def http_status(t: Transcript) -> Iterator[RuleIssue]:
    """A stream that turns out to be a promise has already begun with 200."""
    kind, status = t.kind, t.status
    fits = status == (202 if kind == "promise" else 200)
    if kind == "failure":
        fits = fits or status >= 400
    if not fits and not (t.streamed and status == 200):
        yield Violation(
            f"HTTP status {status} does not match response type {kind}. Use {_FITTING[kind]}.",
            t.head_seq,
        )


@rule(
    "http-status-fits-code",
    "The HTTP status of a failure matches its code.",
    v55=info("7.4"),
    v54=info("HTTP examples, notes 2"),
    when=lambda t: t.has_response and t.kind == "failure" and t.status >= 400,
)
def http_status_fits_code(t: Transcript) -> Iterator[RuleIssue]:
    """A failure of the application typically has 200; others a status of their class."""
    for location in t.parts.get("error", ()):
        code = location.value.get("code") if isinstance(location.value, dict) else None
        if not is_nonempty_text(code):
            continue
        if code in _APPLICATION:
            yield Violation(f"{code} is an application failure. Send it with 200 OK.", t.head_seq)
        elif code in _STATUSES and t.status not in _STATUSES[code]:
            fitting = " or ".join(map(str, _STATUSES[code]))
            yield Violation(
                f"{code} was sent with HTTP {t.status}. Use {fitting} or 200 OK.", t.head_seq
            )


@rule(
    "http-retry-after",
    "429 responses include Retry-After.",
    v55=should("2.5"),
    when=lambda t: t.status == 429,
)
def http_retry_after(t: Transcript) -> Iterator[RuleIssue]:
    """Seconds, or an HTTP date."""
    actual = t.headers.get("retry-after", "").strip()
    if not actual:
        yield Violation("Add Retry-After, for example 30 (seconds).", t.head_seq)
    elif not (actual.isascii() and actual.isdigit()) and not _is_date(actual):
        yield Violation(
            "Invalid Retry-After. Use a number of seconds or an HTTP date.",
            t.head_seq,
        )


def _is_date(text: str) -> bool:
    try:
        parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return False
    return True


@rule(
    "http-no-redirect",
    "Agents respond without redirecting.",
    v55=should("7.4"),
    v54=info("8.1"),
    when=_has_head,
)
def http_no_redirect(t: Transcript) -> Iterator[RuleIssue]:
    """NLWeb lists no redirect statuses, and clients drop the body on a redirect."""
    if t.status // 100 == 3 and t.outcome is Outcome.NONE:
        yield Violation(
            f"The agent redirects (HTTP {t.status}). Respond at this URL or publish the other one.",
            t.head_seq,
        )


RULES = (
    http_retry_after,
    http_content_type,
    http_status,
    http_status_fits_code,
    http_no_redirect,
)
