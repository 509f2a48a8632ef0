"""Rules on the responses to await requests: section 4.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from playground.conformance.earlier import TaskEnd
from playground.conformance.nlweb.selectors import blocks, codes, content, errors, part, promises
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, should
from playground.conformance.shape import Place, Selector, members, never, one_of, present, those
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, is_number
from playground.protocols.nlweb.content import number_of

rule, row = content.rule, content.row

_progress = those(present(promises, "progress"), is_number)


def promise_progress_monotone(t: Transcript) -> Iterator[RuleIssue]:
    before = number_of(t.earlier.progress[-1])
    for seq, pointer, progress in _progress(t):
        if before is not None and progress < before:
            message = (
                f"progress was {before:g} before. Callers expect it to grow; omit it if it is "
                "unknown."
            )
            yield Violation(message, seq, pointer)


def _awaits(t: Transcript, action: str) -> bool:
    return t.operation == "await" and t.request.get("action") == action


def _checks_in_after(t: Transcript, *ends: TaskEnd) -> bool:
    return _awaits(t, "checkin") and t.earlier.task_end in ends


def promise_kept(t: Transcript) -> Iterator[RuleIssue]:
    if t.kind == "promise":
        seq, pointer, _ = next(iter(part("promise")(t)), (t.last_seq, "", None))
        message = (
            f"An earlier response says that the task was {t.earlier.task_end}, but this one is a "
            "promise."
        )
        yield Violation(message, seq, pointer)


def promise_cancellation_kept(t: Transcript) -> Iterator[RuleIssue]:
    if t.status < 400 and all(code != "CANCELLED" for _, _, code in codes(t)):
        message = "The task was cancelled before. Return a failure with code CANCELLED."
        yield missing(t, message, t.last_seq)


def _type_place(t: Transcript) -> Place:
    """Return the place of the response type in the last metadata block, and the type."""
    *_, (seq, pointer, _) = [(t.last_seq, "", None), *blocks(t)]
    return seq, pointer and f"{pointer}/response_type", t.kind


def _type_after(action: str) -> Selector[Transcript]:
    """Select the type of a response to this kind of await request."""
    return lambda t: [_type_place(t)] if _awaits(t, action) and t.kind else []


def await_cancelled_code(t: Transcript) -> Iterator[RuleIssue]:
    places = list(members(errors, "code")(t))
    if all(code != "CANCELLED" for _, _, code in places):
        seq, pointer, _ = places[0] if places else _type_place(t)
        yield missing(t, "The code of the failure is not CANCELLED.", seq, pointer)


def _tokens(t: Transcript) -> Iterable[Place]:
    return _texts(t) if _awaits(t, "checkin") else ()


_texts = those(present(promises, "token"), is_nonempty_text)


def _other_tokens(t: Transcript) -> Iterator[Place]:
    return (place for place in _tokens(t) if place[2] != t.request.get("promise_token"))


# fmt: off
RULES = (
    rule("promise-progress-monotone", "The progress of a promise never decreases.", info("4.2"),
        promise_progress_monotone, when=lambda t: _progress(t) if t.earlier.progress else (),
        why="Compared from poll to poll. The specification says that progress is updated, and "
            "no more."),
    rule("promise-kept", "A task that was answered or cancelled is not promised again.",
        must("4.2"), promise_kept,
        when=lambda t: _checks_in_after(t, *TaskEnd),
        why="A promise means that the task is still running. A failure is allowed at any time."),
    rule("promise-cancellation-kept",
        "A checkin request for a cancelled task returns a failure with code CANCELLED.",
        (must("4.2"), info("4.2")), promise_cancellation_kept,
        when=lambda t: _checks_in_after(t, TaskEnd.CANCELLED) and t.kind != "promise",
        why="HTTP errors without an NLWeb response are not checked.\n\n"
            "`promise-kept` reports a task that is promised again."),
    row("await-reply", "checkin requests are answered with a promise, an answer or a failure.",
        info("4.2"), _type_after("checkin"), {
            one_of("answer", "promise", "failure"):
                "A checkin request was answered with an elicitation. Return a promise while the "
                "task is running.",
        },
        why="Agents return a promise while the task is running, and the answer when it is "
            "done.\n\n"
            "The specification allows any standard response, and then names these."),
    row("await-cancelled", "cancel requests are answered with a failure or an answer.",
        (should("4.2"), info("4.2")), _type_after("cancel"), {
            one_of("failure", "answer"):
                "The cancel request was not answered with a failure with code CANCELLED.",
        },
        why="A task that was already done returns its answer; a cancelled task returns a failure."),
    rule("await-cancelled-code", "The failure of a cancelled task has the code CANCELLED.",
        (must("4.2"), info("4.2")), await_cancelled_code,
        when=lambda t: _awaits(t, "cancel") and t.kind == "failure" and t.status < 400,
        why="Failures with an HTTP error are not checked: there the await request itself failed."),
    row("await-token-kept", "The token of a promise does not change.", info("4.2"),
        _other_tokens, {
            never: "The token differs from that of the await request. Keep it, or callers that "
                   "stored the first token lose the task.",
        }, when=_tokens,
        why="A promise with another token is another promise; clients should poll the new token."),
)
# fmt: on
