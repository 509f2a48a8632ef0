"""Promises: section 4.1.2."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_integer, is_nonempty_text, is_number, type_with_article

#: Seconds that a caller can be expected to wait: a day.
MAX_ESTIMATE = 24 * 60 * 60


def _is_promise(t: Transcript) -> bool:
    return t.is_kind("promise", "promise")


def _promises(t: Transcript) -> list[Location]:
    return [place for place in t.parts.get("promise", ()) if isinstance(place.value, dict)]


def _has_promise(t: Transcript) -> bool:
    return t.has_response and bool(_promises(t))


def _told(t: Transcript, name: str) -> list[Location]:
    """A member of the promises, where it stands."""
    return [
        Location(place.seq, f"{place.pointer}/{name}", place.value[name])
        for place in _promises(t)
        if name in place.value
    ]


@rule(
    "promise-object",
    "A promise stands in the member promise, an object.",
    v55=must("4.1.2"),
    v54=must("4.1.2"),
    when=_is_promise,
)
def promise_object(t: Transcript) -> Iterator[RuleIssue]:
    """The reply that announces a promise has one."""
    for place in t.parts.get("promise", ()):
        if not isinstance(place.value, dict):
            yield Violation(
                f"The promise is {type_with_article(place.value)}. Make it an object with a token.",
                place.seq,
                place.pointer,
            )
    if "promise" not in t.parts:
        yield missing(t, "Add promise, an object with a token.", t.last_seq, "/promise")


@rule(
    "promise-token",
    "A promise has a token, a string.",
    v55=must("4.1.2"),
    v54=must("4.1.2"),
    when=_has_promise,
)
def promise_token(t: Transcript) -> Iterator[RuleIssue]:
    """Without it nobody can ask for the answer."""
    for place in _promises(t):
        if not is_nonempty_text(place.value.get("token")):
            yield Violation(
                "Set token to a string: await requests name the promise by it.",
                place.seq,
                f"{place.pointer}/token",
            )


@rule(
    "promise-estimated-time",
    "The estimated time is a whole number of seconds, 0 or more.",
    v55=must("4.1.2"),
    v54=should("4.1.2"),
    when=lambda t: t.has_response and bool(_told(t, "estimated_time")),
)
def promise_estimated_time(t: Transcript) -> Iterator[RuleIssue]:
    """An integer in 0.55; 0.54 shows one and defines nothing."""
    for place in _told(t, "estimated_time"):
        if not is_integer(place.value) or place.value < 0:
            yield Violation(
                "Set estimated_time to whole seconds, for instance 30, or leave it out.",
                place.seq,
                place.pointer,
            )


@rule(
    "promise-estimate-plausible",
    "The estimated time is one that somebody can wait for.",
    v55=info("4.1.2"),
    v54=info("4.1.2"),
    when=lambda t: t.has_response and any(is_integer(p.value) for p in _told(t, "estimated_time")),
)
def promise_estimate_plausible(t: Transcript) -> Iterator[RuleIssue]:
    """The specification sets no limit."""
    for place in _told(t, "estimated_time"):
        if is_number(place.value) and place.value > MAX_ESTIMATE:
            yield Violation(
                "This is more than a day: check that estimated_time is in seconds.",
                place.seq,
                place.pointer,
            )


@rule(
    "promise-progress",
    "The progress of a promise is a number from 0 to 1.",
    v55=must("4.1.2"),
    v54=should("HTTP examples 4"),
    when=lambda t: t.has_response and bool(_told(t, "progress")),
)
def promise_progress(t: Transcript) -> Iterator[RuleIssue]:
    """Not per cent, and not in words."""
    for place in _told(t, "progress"):
        if not is_number(place.value) or not 0 <= place.value <= 1:
            yield Violation(
                "Set progress to a number from 0 to 1, for instance 0.5 for half.",
                place.seq,
                place.pointer,
            )


def _progress(t: Transcript) -> list[Location]:
    return [place for place in _told(t, "progress") if is_number(place.value)]


@rule(
    "promise-progress-monotone",
    "The progress of a promise never goes back.",
    v55=should("4.2"),
    v54=should("4.2"),
    when=lambda t: t.has_response and bool(t.earlier_progress) and bool(_progress(t)),
)
def promise_progress_monotone(t: Transcript) -> Iterator[RuleIssue]:
    """From check to check, as far as earlier checks are known."""
    before = t.earlier_progress[-1]
    for place in _progress(t):
        if place.value < before:
            yield Violation(
                f"The check before told {before:g}. Let progress only grow, or leave it out.",
                place.seq,
                place.pointer,
            )


RULES = (
    promise_object,
    promise_token,
    promise_estimated_time,
    promise_estimate_plausible,
    promise_progress,
    promise_progress_monotone,
)
