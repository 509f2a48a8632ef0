"""Rules on failures, and on responses to await requests: sections 4.1.4 and 4.2."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.response_parts import Location
from playground.conformance.rule import (
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    rule,
    should,
    wrong_type,
)
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.nlweb import versions

#: A code that the text of 0.55 mentions and its list does not contain (section 4.2).
_CANCELLED = "CANCELLED"
#: Known codes. 0.54 lists none: those of its examples, and those of the list in 0.55.
_NAMED = {
    "0.54": {
        *versions.get_version("0.55").traits["error_codes"],
        "NO_RESULTS",
        "INVALID_PARAMETER",
    },
    "0.55": {*versions.get_version("0.55").traits["error_codes"]},
}


def _errors(t: Transcript) -> list[Location]:
    return [location for location in t.parts.get("error", ()) if isinstance(location.value, dict)]


def _has_error(t: Transcript) -> bool:
    return t.has_response and bool(_errors(t))


@rule(
    "failure-error",
    "Failures have an error object.",
    v55=must("4.1.4"),
    v54=must("4.1.4"),
    when=lambda t: t.is_kind("failure", "error"),
)
def failure_error(t: Transcript) -> Iterator[RuleIssue]:
    """Responses of type failure have it, and error events as well (0.55, section 6.1)."""
    for location in t.parts.get("error", ()):
        if not isinstance(location.value, dict):
            yield wrong_type(
                t,
                f"error is {type_with_article(location.value)}; expected an object with code and "
                "message.",
                location.seq,
                location.pointer,
            )
    if "error" not in t.parts:
        yield missing(t, "Add error, an object with a code.", t.last_seq, "/error")


@rule(
    "failure-code",
    "Failures have a code, a string.",
    v55=must("4.1.4"),
    v54=should("4.1.4"),
    when=_has_error,
)
def failure_code(t: Transcript) -> Iterator[RuleIssue]:
    """0.55 requires the code; 0.54 has it in its example."""
    for location in _errors(t):
        if not is_nonempty_text(location.value.get("code")):
            yield Violation(
                "Set code to a machine-readable string such as INTERNAL_ERROR.",
                location.seq,
                f"{location.pointer}/code",
            )


@rule(
    "failure-code-known",
    "Failure codes are listed in the specification.",
    v55=info("4.1.4"),
    v54=info("4.1.4"),
    when=_has_error,
)
def failure_code_known(t: Transcript) -> Iterator[RuleIssue]:
    """Custom codes are allowed. CANCELLED is only for await requests (section 4.2)."""
    listed = _NAMED[t.version] - {_CANCELLED}
    for location in _errors(t):
        code = location.value.get("code")
        if (
            not is_nonempty_text(code)
            or code in listed
            or (code == _CANCELLED and t.operation == "await")
        ):
            continue
        yield Violation(
            f"NLWeb {t.version} does not list {code[:60]}. Custom codes are allowed; document "
            "them for callers.",
            location.seq,
            f"{location.pointer}/code",
        )


# Responses to await requests


def _awaits(t: Transcript, action: str) -> bool:
    return t.has_response and t.operation == "await" and t.request.get("action") == action


def _type_location(t: Transcript) -> tuple[int | None, str]:
    blocks = [location for location in t.metas if isinstance(location.value, dict)]
    return (blocks[-1].seq, f"{blocks[-1].pointer}/response_type") if blocks else (t.last_seq, "")


@rule(
    "await-reply",
    "checkin requests are answered with a promise, an answer or a failure.",
    v55=info("4.2"),
    v54=info("4.2"),
    when=lambda t: _awaits(t, "checkin") and bool(t.kind),
)
def await_reply(t: Transcript) -> Iterator[RuleIssue]:
    """Agents return a promise while the task is running, and the answer when it is done.

    The specification allows any standard response, and then names these.
    """
    if t.kind == "elicitation":
        yield Violation(
            "A checkin request was answered with an elicitation. Return a promise while the task "
            "is running.",
            *_type_location(t),
        )


@rule(
    "await-cancelled",
    "cancel requests are answered with a failure or an answer.",
    v55=should("4.2"),
    v54=info("4.2"),
    when=lambda t: _awaits(t, "cancel") and bool(t.kind),
)
def await_cancelled(t: Transcript) -> Iterator[RuleIssue]:
    """A task that was already done returns its answer; a cancelled task returns a failure."""
    if t.kind not in ("failure", "answer"):
        yield Violation(
            "The cancel request was not answered with a failure with code CANCELLED.",
            *_type_location(t),
        )


@rule(
    "await-cancelled-code",
    "The failure of a cancelled task has the code CANCELLED.",
    v55=must("4.2"),
    v54=info("4.2"),
    when=lambda t: _awaits(t, "cancel") and t.kind == "failure" and t.status < 400,
)
def await_cancelled_code(t: Transcript) -> Iterator[RuleIssue]:
    """Failures with an HTTP error are not checked: there the await request itself failed."""
    codes = [
        Location(location.seq, f"{location.pointer}/code", location.value.get("code"))
        for location in _errors(t)
    ]
    if all(location.value != _CANCELLED for location in codes):
        where = codes[0][:2] if codes else _type_location(t)
        yield missing(t, "The code of the failure is not CANCELLED.", *where)


@rule(
    "await-token-kept",
    "The token of a promise does not change.",
    v55=info("4.2"),
    v54=info("4.2"),
    when=lambda t: _awaits(t, "checkin") and bool(_tokens(t)),
)
def await_token_kept(t: Transcript) -> Iterator[RuleIssue]:
    """A promise with another token is another promise; clients should poll the new token."""
    for location in _tokens(t):
        if location.value != t.request.get("promise_token"):
            yield Violation(
                "The token differs from that of the await request. Keep it, or callers that "
                "stored the first token lose the task.",
                location.seq,
                location.pointer,
            )


def _tokens(t: Transcript) -> list[Location]:
    return [
        Location(location.seq, f"{location.pointer}/token", location.value["token"])
        for location in t.parts.get("promise", ())
        if isinstance(location.value, dict) and is_nonempty_text(location.value.get("token"))
    ]


RULES = (
    failure_error,
    failure_code,
    failure_code_known,
    await_reply,
    await_cancelled,
    await_cancelled_code,
    await_token_kept,
)
