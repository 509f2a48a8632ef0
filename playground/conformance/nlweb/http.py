"""Rules on the HTTP response: sections 4 and 7 (0.54: section 8), and rate limits, section 2.5."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from playground.conformance.nlweb.transcript import VERSIONS, Transcript, codes
from playground.conformance.rule import RuleIssue, Violation, always, info, missing, must, should
from playground.conformance.shape import (
    Place,
    RuleFactory,
    is_nonempty_text,
    never,
    type_with_article,
)
from playground.protocols import raw, sse
from playground.protocols.events import Outcome
from playground.protocols.frames import BODY_KINDS
from playground.protocols.headers import TOKEN

#: For rules on any response with a head: they do not apply to a transfer that failed before.
_on_head = RuleFactory[Transcript]("", VERSIONS, lambda t: t.head_seq is not None)
rule, row = _on_head.rule, _on_head.row

_HTML = re.compile(r"\s*(?:<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE)
#: The start of a second response within the first.
_SECOND_HEAD = re.compile(rb"HTTP/1\.[01] \d{3} ")
#: Statuses for each response type. A failure is one of the application, with 200, or one of the
#: request or the server.
_FITTING = {
    "answer": "200 OK",
    "elicitation": "200 OK",
    "promise": "202 Accepted",
    "failure": "200 OK, or an error status if the request or the server caused the failure",
}
#: Codes of failures of the application: the request was processed.
_APPLICATION = frozenset({"NO_RESULTS", "CANCELLED"})
#: Error statuses for codes of failures.
_STATUSES = {
    "INVALID_QUERY": (400, 422),
    "INVALID_PARAMETER": (400, 422),
    "UNSUPPORTED_FORMAT": (400, 406, 415, 422, 501),
    "UNSUPPORTED_MODE": (400, 406, 422, 501),
    "RATE_LIMITED": (429, 503),
    "INTERNAL_ERROR": (500, 502, 503),
    "TIMEOUT": (408, 500, 503, 504),
    "TOKEN_LIMIT": (400, 413, 422, 429, 500, 503),
}
#: Codes with an error status of their own in 0.54, which does not define failures with 200.
_NOT_200 = {"0.54": frozenset({"INVALID_QUERY", "INVALID_PARAMETER", "INTERNAL_ERROR"})}
_VALUE = rf"(?:{TOKEN}|\"(?:[^\"\\]|\\.)*\")"
#: The values of headers (RFC 9110, sections 8.3 and 10.2.3; RFC 9111, section 5.2). Possessive:
#: otherwise a list of empty items takes exponential time.
_MEDIA_TYPE = re.compile(rf"{TOKEN}/{TOKEN}(?:[ \t]*+;[ \t]*+(?:{TOKEN}={_VALUE})?+)*+")
_CHARSET = re.compile(rf";[ \t]*charset=({_VALUE})", re.IGNORECASE)
_DIRECTIVE = rf"{TOKEN}(?:={_VALUE})?"
_CACHE_CONTROL = re.compile(rf"{_DIRECTIVE}(?:[ \t]*+,[ \t]*+(?:{_DIRECTIVE})?+)*+")
_STORABLE = re.compile(
    r"(?:^|[ \t,])(?:public|immutable|(?:s-maxage|max-age)=\"?0*[1-9])", re.IGNORECASE
)
_UNSTORABLE = re.compile(r"(?:^|[ \t,])(?:no-cache|no-store)(?:$|[ \t,])", re.IGNORECASE)
_DAY, _MONTH = (
    "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)",
    "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
)
_TIME = r"\d\d:\d\d:\d\d"
#: A date in the format of HTTP, and in the two obsolete ones (RFC 9110, section 5.6.7).
_DATE = re.compile(
    rf"{_DAY}, \d\d {_MONTH} \d{{4}} {_TIME} GMT"
    rf"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \d\d-{_MONTH}-\d\d {_TIME} GMT"
    rf"|{_DAY} {_MONTH} [ \d]\d {_TIME} \d{{4}}"
)


def reply_object(t: Transcript) -> Iterator[RuleIssue]:
    document = t.document
    if t.is_json_lines:
        fix = "Send server-sent events, or a single JSON object."
        yield Violation(f"{sse.NOT_FRAMED} {fix}", t.messages[0].seq if t.messages else t.head_seq)
    elif document and not isinstance(document.payload, dict):
        actual = document.reason or f"The body is {type_with_article(document.payload)}."
        yield missing(t, f"{actual} Return a single JSON object.", document.seq)
    elif not t.messages:
        yield missing(t, "The body is empty. Return a single JSON object.", t.head_seq)
    elif not document and not any(isinstance(message.payload, dict) for message in t.messages):
        yield missing(t, "No event of the stream contains a JSON object.", t.messages[0].seq)


def without_failure(t: Transcript) -> Iterator[RuleIssue]:
    if t.outcome is not Outcome.NONE:
        return
    received, seq = "nothing", t.head_seq
    if t.messages:
        first, seq = t.messages[0], t.messages[0].seq
        if first.readable:
            received = "JSON that is not an NLWeb failure"
        else:
            received = "an HTML page" if _HTML.match(first.text) else "text that is not JSON"
    message = (
        f"The body of HTTP {t.status} is {received}. Send _meta and error, so that callers know "
        "the reason."
    )
    yield missing(t, message, seq)


def _second_heads(t: Transcript) -> Iterator[Place]:
    for frame in t.response.frames:
        if t.streamed and frame.kind in BODY_KINDS and _SECOND_HEAD.match(frame.data):
            yield frame.seq, "", None


def http_content_type(t: Transcript) -> Iterator[RuleIssue]:
    actual = t.response.media_type
    wanted = "text/event-stream" if t.streamed else "application/json"
    json_like = not t.streamed and actual.startswith("application/") and actual.endswith("+json")
    if actual != wanted and not json_like:
        received = f"is {actual[:60]}" if actual else "is missing"
        yield Violation(f"Content-Type {received}. Set it to {wanted}.", t.head_seq)


def http_status(t: Transcript) -> Iterator[RuleIssue]:
    kind, status = t.kind, t.status
    fits = status == (202 if kind == "promise" else 200)
    if kind == "failure":
        fits = fits or status >= 400
    if not fits and not (t.streamed and status == 200):
        message = f"HTTP status {status} does not match response type {kind}. Use {_FITTING[kind]}."
        yield Violation(message, t.head_seq)


def http_status_fits_code(t: Transcript) -> Iterator[RuleIssue]:
    for _, _, code in codes(t):
        needs_error = code in _NOT_200.get(t.version, ()) and not t.streamed
        if t.status < 400 and not (t.status == 200 and needs_error):
            continue  # Another rule compares the status with the response type.
        if t.version == "0.54" and t.status in (400, 500) and code not in _STATUSES:
            continue
        if code in _APPLICATION:
            yield Violation(f"{code} is an application failure. Send it with 200 OK.", t.head_seq)
        elif code in _STATUSES and t.status not in _STATUSES[code]:
            fitting = " or ".join(map(str, _STATUSES[code]))
            also = "" if needs_error else " or 200 OK"
            message = f"{code} was sent with HTTP {t.status}. Use {fitting}{also}."
            yield Violation(message, t.head_seq)


def _retry_after(t: Transcript) -> Iterator[Place]:
    if t.status == 429:
        yield t.head_seq, "", t.headers.get("retry-after")


_CHECKED_HEADERS = ("content-type", "cache-control", "retry-after")


def http_header_values(t: Transcript) -> Iterator[RuleIssue]:
    content_type, cache_control, retry_after = (
        t.headers.get(name, "").strip() for name in _CHECKED_HEADERS
    )
    charset = _CHARSET.search(content_type)
    if content_type and not _MEDIA_TYPE.fullmatch(content_type):
        message = "Invalid Content-Type. Use a media type such as application/json."
        yield Violation(message, t.head_seq)
    elif charset and t.has_response and charset[1].strip('"').lower() not in ("utf-8", "utf8"):
        message = "Set the charset to utf-8 or omit it: JSON and events are UTF-8."
        yield Violation(message, t.head_seq)
    if cache_control and not _CACHE_CONTROL.fullmatch(cache_control):
        yield Violation("Invalid Cache-Control. Use directives such as no-cache.", t.head_seq)
    elif t.streamed and _STORABLE.search(cache_control) and not _UNSTORABLE.search(cache_control):
        yield Violation("Cache-Control allows caching a stream. Use no-cache.", t.head_seq)
    is_delay = retry_after.isascii() and retry_after.isdigit()
    if retry_after and not is_delay and not _is_date(retry_after):
        yield Violation("Invalid Retry-After. Use a number of seconds or an HTTP date.", t.head_seq)


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return False


def _refused_method(t: Transcript) -> Iterator[Place]:
    if t.status == 405:
        yield t.head_seq, "", None


def http_no_redirect(t: Transcript) -> Iterator[RuleIssue]:
    if t.status // 100 == 3 and t.outcome is Outcome.NONE:
        message = f"The agent redirects (HTTP {t.status})."
        yield Violation(f"{message} Respond at this URL or publish the other one.", t.head_seq)


# fmt: off
RULES = (
    rule("reply-object", "Responses are a JSON object or a stream of JSON objects.", must("4"),
        reply_object, when=lambda t: t.status < 300,
        why="Clients need an object to read metadata and content from. Other rules check its "
            "members."),
    rule("http-400-failure", "400 responses include an NLWeb failure.",
        (should("4"), should("HTTP examples 6")), without_failure, when=lambda t: t.status == 400,
        why="The status means that the agent rejects the request. Agents always respond with "
            "JSON."),
    rule("http-error-failure", "HTTP errors include an NLWeb failure.",
        (info("7.4"), info("HTTP examples 6")), without_failure, when=lambda t: t.status > 400,
        why="Gateways and login pages respond in other formats. The specification leaves this "
            "open."),
    row("one-reply", "Each request gets one HTTP response.", (must("7"), must("8")),
        _second_heads, {
            never: "The body contains the status line of a second response. Once a stream has "
                   "started, report errors as an event.",
        }, when=always, needs_complete_response=True,
        why="Some servers start a second response when they fail during a stream.\n\n"
            "In a chunked body it breaks the transfer: what follows is not known, and the rule "
            "undecided."),
    row("http-retry-after", "429 responses include Retry-After.", (should("2.5"), None),
        _retry_after, {is_nonempty_text: "Add Retry-After, for example 30 (seconds)."},
        why="Clients that are limited learn when to retry. `http-header-values` checks the value."),
    row("http-method", "Agents accept POST requests.", (must("7.1"), must("8.1")),
        _refused_method, {never: "The agent rejects the method POST (HTTP 405). Accept it."},
        when=lambda t: raw.raw_of(t.request) is None,
        why="NLWeb requests are POST requests to `/ask` and `/await`."),
    rule("http-header-values", "Headers have valid values.", (should("7.2"), should("8.2")),
        http_header_values, when=lambda t: any(t.headers.get(name) for name in _CHECKED_HEADERS),
        why="Checked are Content-Type, Cache-Control and Retry-After, by the grammar of HTTP.\n\n"
            "JSON and event streams are UTF-8. Streams are not cached, as in the example."),
    rule("http-content-type", "Content-Type matches the body: JSON or an event stream.",
        (should("7.2"), should("HTTP examples, notes 1")), http_content_type,
        when=lambda t: t.has_response and not t.is_json_lines,
        why="Standard headers have their standard meaning in NLWeb."),
    rule("http-status", "The HTTP status matches the response type.",
        (should("7.4"), should("HTTP examples, notes 2")), http_status,
        when=lambda t: t.has_response and bool(t.kind),
        why="A stream that turns out to be a promise has already started with status 200."),
    rule("http-status-fits-code", "The HTTP status of a failure matches its code.",
        (should("7.4"), should("HTTP examples, notes 2")), http_status_fits_code,
        when=lambda t: t.has_response and t.kind == "failure",
        why="In 0.55 failures of the application have status 200, others one of their class or "
            "200.\n\n"
            "0.54 has 400 for invalid requests and 500 for errors. A stream has started with "
            "status 200."),
    rule("http-no-redirect", "Agents respond without redirecting.", (should("7.4"), info("8.1")),
        http_no_redirect,
        why="NLWeb lists no redirect statuses, and clients may drop the body on a redirect."),
)
# fmt: on
