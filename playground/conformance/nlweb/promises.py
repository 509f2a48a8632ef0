"""Rules on promises: section 4.1.2."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.earlier import TaskEnd
from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_integer, is_nonempty_text, is_number, type_with_article
from playground.protocols.nlweb.content import number_of

#: The most seconds that a caller can be expected to wait: a day.
MAX_ESTIMATE = 24 * 60 * 60


def _promises(t: Transcript) -> list[Location]:
    return [location for location in t.parts.get("promise", ()) if isinstance(location.value, dict)]


def _members_named(t: Transcript, name: str) -> list[Location]:
    """Return a member of the promises with its location."""
    return [
        Location(location.seq, f"{location.pointer}/{name}", location.value[name])
        for location in _promises(t)
        if name in location.value
    ]


@rule(
    "promise-object",
    "Promises have a promise object.",
    v55=must("4.1.2"),
    v54=must("4.1.2"),
    when=lambda t: t.is_kind("promise", "promise"),
)
def promise_object(t: Transcript) -> Iterator[RuleIssue]:
    """The promise object holds the token that clients poll with."""
    for location in t.parts.get("promise", ()):
        if not isinstance(location.value, dict):
            actual = type_with_article(location.value)
            yield Violation(
                f"promise is {actual}; expected an object with a token.",
                location.seq,
                location.pointer,
            )
    if "promise" not in t.parts:
        yield missing(t, "Add promise, an object with a token.", t.last_seq, "/promise")


@rule(
    "promise-token",
    "Promises have a token, a string.",
    v55=must("4.1.2"),
    v54=must("4.1.2"),
    when=lambda t: t.has_response and bool(_promises(t)),
)
def promise_token(t: Transcript) -> Iterator[RuleIssue]:
    """Without the token, clients cannot request the answer."""
    for location in _promises(t):
        if not is_nonempty_text(location.value.get("token")):
            yield Violation(
                "Set token to a string; await requests identify the promise by it.",
                location.seq,
                f"{location.pointer}/token",
            )


@rule(
    "promise-estimated-time",
    "The estimated time is an integer number of seconds, 0 or more.",
    v55=must("4.1.2"),
    v54=should("4.1.2"),
    when=lambda t: t.has_response and bool(_members_named(t, "estimated_time")),
)
def promise_estimated_time(t: Transcript) -> Iterator[RuleIssue]:
    """0.55 defines an integer; 0.54 has one in an example."""
    for location in _members_named(t, "estimated_time"):
        if not is_integer(location.value) or location.value < 0:
            yield Violation(
                "Set estimated_time to an integer number of seconds such as 30, or omit it.",
                location.seq,
                location.pointer,
            )


@rule(
    "promise-estimate-plausible",
    "The estimated time is at most one day.",
    v55=info("4.1.2"),
    v54=info("4.1.2"),
    when=lambda t: (
        t.has_response and any(is_integer(p.value) for p in _members_named(t, "estimated_time"))
    ),
)
def promise_estimate_plausible(t: Transcript) -> Iterator[RuleIssue]:
    """The specification sets no limit."""
    for location in _members_named(t, "estimated_time"):
        if is_number(location.value) and location.value > MAX_ESTIMATE:
            yield Violation(
                "estimated_time is more than a day. Check that it is in seconds.",
                location.seq,
                location.pointer,
            )


@rule(
    "promise-progress",
    "The progress of a promise is a number from 0 to 1.",
    v55=must("4.1.2"),
    v54=should("HTTP examples 4"),
    when=lambda t: t.has_response and bool(_members_named(t, "progress")),
)
def promise_progress(t: Transcript) -> Iterator[RuleIssue]:
    """Progress is a fraction, not a percentage and not a string."""
    for location in _members_named(t, "progress"):
        if not is_number(location.value) or not 0 <= location.value <= 1:
            yield Violation(
                "Set progress to a number from 0 to 1, for example 0.5 for 50%.",
                location.seq,
                location.pointer,
            )


def _progress(t: Transcript) -> list[Location]:
    return [location for location in _members_named(t, "progress") if is_number(location.value)]


@rule(
    "promise-progress-monotone",
    "The progress of a promise never decreases.",
    v55=info("4.2"),
    v54=info("4.2"),
    when=lambda t: t.has_response and bool(t.earlier.progress) and bool(_progress(t)),
)
def promise_progress_monotone(t: Transcript) -> Iterator[RuleIssue]:
    """Compared from poll to poll. The specification says that progress is updated, and no more."""
    before = number_of(t.earlier.progress[-1])
    for location in _progress(t):
        if before is not None and location.value < before:
            yield Violation(
                f"progress was {before:g} before. Callers expect it to grow; omit it if it is "
                "unknown.",
                location.seq,
                location.pointer,
            )


def _checks_in(t: Transcript) -> bool:
    return t.operation == "await" and t.request.get("action") == "checkin"


@rule(
    "promise-kept",
    "A task that was answered or cancelled is not promised again.",
    v55=must("4.2"),
    v54=must("4.2"),
    when=lambda t: t.has_response and _checks_in(t) and t.earlier.task_end is not None,
)
def promise_kept(t: Transcript) -> Iterator[RuleIssue]:
    """A promise means that the task is still running. A failure is allowed at any time."""
    if t.kind != "promise":
        return
    location = next(iter(t.parts.get("promise", ())), None)
    yield Violation(
        f"An earlier response says that the task was {t.earlier.task_end}, but this one is a "
        "promise.",
        location.seq if location else t.last_seq,
        location.pointer if location else "",
    )


@rule(
    "promise-cancellation-kept",
    "A checkin request for a cancelled task returns a failure with code CANCELLED.",
    v55=must("4.2"),
    v54=info("4.2"),
    when=lambda t: (
        t.has_response
        and _checks_in(t)
        and t.earlier.task_end is TaskEnd.CANCELLED
        and t.kind != "promise"
    ),
)
def promise_cancellation_kept(t: Transcript) -> Iterator[RuleIssue]:
    """HTTP errors without an NLWeb response are not checked.

    `promise-kept` reports a task that is promised again.
    """
    codes = [
        location.value.get("code")
        for location in t.parts.get("error", ())
        if isinstance(location.value, dict)
    ]
    if t.status < 400 and "CANCELLED" not in codes:
        message = "The task was cancelled before. Return a failure with code CANCELLED."
        yield missing(t, message, t.last_seq)


RULES = (
    promise_object,
    promise_token,
    promise_estimated_time,
    promise_estimate_plausible,
    promise_progress,
    promise_progress_monotone,
    promise_kept,
    promise_cancellation_kept,
)
