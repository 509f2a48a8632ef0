"""Rules on the existence of a response, and on HTTP errors without one: section 4."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playground.conformance.rule import (
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    rule,
    should,
)
from playground.conformance.transcript import Transcript
from playground.conformance.values import type_with_article
from playground.protocols import sse
from playground.protocols.events import Outcome
from playground.protocols.frames import BODY_KINDS

_HTML = re.compile(r"\s*(?:<!doctype html|<html|<head|<body|<!--)", re.IGNORECASE)
#: The start of a second response within the first.
_SECOND_HEAD = re.compile(rb"HTTP/1\.[01] \d{3} ")


def _is_success(t: Transcript) -> bool:
    return t.head_seq is not None and t.status < 300


@rule(
    "reply-object",
    "Responses are a JSON object or a stream of JSON objects.",
    v55=must("4"),
    v54=must("4"),
    when=_is_success,
)
def reply_object(t: Transcript) -> Iterator[RuleIssue]:
    """Clients need an object to read metadata and content from. Other rules check its members."""
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


@rule(
    "http-400-failure",
    "400 responses include an NLWeb failure.",
    v55=should("4"),
    v54=should("HTTP examples 6"),
    when=lambda t: t.status == 400,
)
def http_400_failure(t: Transcript) -> Iterator[RuleIssue]:
    """The status means that the agent rejects the request. Agents always respond with JSON."""
    yield from _without_failure(t)


@rule(
    "http-error-failure",
    "HTTP errors include an NLWeb failure.",
    v55=info("7.4"),
    v54=info("HTTP examples 6"),
    when=lambda t: t.status > 400,
)
def http_error_failure(t: Transcript) -> Iterator[RuleIssue]:
    """Gateways and login pages respond in other formats. The specification leaves this open."""
    yield from _without_failure(t)


def _without_failure(t: Transcript) -> Iterator[RuleIssue]:
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


@rule(
    "one-reply",
    "Each request gets one HTTP response.",
    v55=must("7"),
    v54=must("8"),
    when=lambda t: t.head_seq is not None,
    needs_complete_response=True,
)
def one_reply(t: Transcript) -> Iterator[RuleIssue]:
    """Some servers start a second response when they fail during a stream.

    In a chunked body it breaks the transfer: what follows is not known, and the rule undecided.
    """
    for frame in t.response.frames:
        if t.streamed and frame.kind in BODY_KINDS and _SECOND_HEAD.match(frame.data):
            yield Violation(
                "The body contains the status line of a second response. Once a stream has "
                "started, report errors as an event.",
                frame.seq,
            )


RULES = (reply_object, http_400_failure, http_error_failure, one_reply)
