"""Rules on results, promises, elicitations and failures (4.1), and on await requests (4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.nlweb.transcript import (
    Transcript,
    absent,
    blocks,
    codes,
    content,
    errors,
    items,
    milder_in_054,
    part,
    promises,
)
from playground.conformance.rule import RuleIssue, Violation, info, missing, must, should
from playground.conformance.rule_input import TaskEnd
from playground.conformance.shape import (
    Fix,
    Place,
    Selector,
    elements,
    integer,
    is_array,
    is_given,
    is_integer,
    is_nonempty_text,
    is_number,
    is_object,
    is_string,
    members,
    never,
    number,
    objects,
    one_of,
    present,
    those,
    type_with_article,
)
from playground.conformance.uris import is_uri_reference
from playground.protocols.nlweb import versions
from playground.protocols.nlweb.content import number_of

rule, row = content.rule, content.row

# Results: section 4.1.1

_SET_TYPE = "Set it to a single type, from schema.org if possible."
_url = present(items, "url")


def _urls(t: Transcript) -> Iterator[Place]:
    for seq, pointer, url in _url(t):
        if isinstance(url, list):
            yield from ((seq, f"{pointer}/{at}", each) for at, each in enumerate(url))
        elif not isinstance(url, dict):
            yield seq, pointer, url


# Promises: section 4.1.2

#: The most seconds that a caller can be expected to wait: a day.
MAX_ESTIMATE = 24 * 60 * 60
_estimates = present(promises, "estimated_time")

# Elicitations: section 4.1.3

_SELECTS = ("single_select", "multi_select")
#: The most questions a user can be expected to answer; the specification sets no limit.
MAX_QUESTIONS = 25
MAX_TEXT = 5_000
#: The most questions that are checked one by one; exceeding it is a finding of its own.
_MAX_CHECKED = 10_000
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")

_elicitations = objects(part("elicitation"))
#: Every question of every elicitation, of any type, and those that are objects.
_listed = elements(present(_elicitations, "questions"), _MAX_CHECKED)
_questions = objects(_listed)
_with_default = those(_questions, lambda question: question.get("default") is not None)


def _is_answerable(elicitation: dict[str, Any]) -> bool:
    text, questions = elicitation.get("text", ""), elicitation.get("questions", [])
    return questions != [] or not isinstance(text, str) or bool(text.strip())


def question_ids_unique(t: Transcript) -> Iterator[RuleIssue]:
    seen: set[tuple[int | None, str]] = set()
    for seq, pointer, name in those(present(_questions, "id"), is_nonempty_text)(t):
        if (seq, name) in seen:
            message = f'Another question already has the id "{name[:60]}". Use a unique id.'
            yield Violation(message, seq, pointer)
        seen.add((seq, name))


def question_type_known(t: Transcript) -> Iterator[RuleIssue]:
    known: tuple[str, ...] = t.traits["question_types"]
    for seq, pointer, kind in those(present(_questions, "type"), is_nonempty_text)(t):
        if kind not in known:
            message = (
                f'"{kind[:60]}" is not one of {", ".join(known)}. It is allowed, but clients '
                "that don’t support it show a text field."
            )
            yield Violation(message, seq, pointer)


def _has_options(t: Transcript) -> bool:
    return any(q.get("type") in _SELECTS or "options" in q for _, _, q in _questions(t))


def question_options(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, question in _questions(t):
        options, at = question.get("options", []), f"{pointer}/options"
        if options == []:
            if (kind := question.get("type")) in _SELECTS:
                yield Violation(f"Add options to {kind}: an array of strings.", seq, at)
        elif not isinstance(options, list):
            message = f"options is {type_with_article(options)}; expected an array of strings."
            yield Violation(message, seq, at)
        else:
            for position, option in enumerate(options):
                if not isinstance(option, str):
                    message = f"This option is {type_with_article(option)}; expected a string."
                    yield Violation(message, seq, f"{at}/{position}")


def _fits(question: dict[str, Any]) -> bool:
    """Return whether the default of a question is a valid answer."""
    kind, default = question.get("type"), question["default"]
    if kind == "boolean":
        return isinstance(default, bool)
    if kind == "number":
        return is_number(default)
    if kind == "free_text":
        return isinstance(default, str)
    options = question.get("options")
    if kind not in _SELECTS or not isinstance(options, list):
        return True
    chosen = default if kind == "multi_select" and isinstance(default, list) else [default]
    return all(one in options for one in chosen)


def elicitation_readable(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, questions in present(_elicitations, "questions")(t):
        if isinstance(questions, list) and len(questions) > MAX_QUESTIONS:
            message = f"There are {len(questions)} questions. Ask fewer at a time."
            yield Violation(message, seq, pointer)
    for seq, pointer, holder in (*_elicitations(t), *_questions(t)):
        if not isinstance(text := holder.get("text"), str):
            continue
        if len(text) > MAX_TEXT:
            message = f"This text has {len(text):,} characters. Shorten it."
            yield Violation(message, seq, f"{pointer}/text")
        elif _MARKUP.search(text):
            message = "This looks like HTML, but clients show it as plain text. Remove the tags."
            yield Violation(message, seq, f"{pointer}/text")


# Failures: section 4.1.4

#: A code that the text of 0.55 mentions and its list does not contain (section 4.2).
_CANCELLED = "CANCELLED"
_CODES = frozenset(versions.get_version("0.55").traits["error_codes"])
#: Known codes. 0.54 lists none: those of its examples, and those of the list in 0.55.
_NAMED = {"0.54": _CODES | {"NO_RESULTS", "INVALID_PARAMETER"}, "0.55": _CODES}


def failure_code_known(t: Transcript) -> Iterator[RuleIssue]:
    known = _NAMED[t.version] - {_CANCELLED}
    if t.operation == "await":
        known |= {_CANCELLED}
    for seq, pointer, code in codes(t):
        if code not in known:
            message = (
                f"NLWeb {t.version} does not list {code[:60]}. Custom codes are allowed; document "
                "them for callers."
            )
            yield Violation(message, seq, pointer)


# Responses to await requests: section 4.2

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
    row("item-object", "Results are objects.", must("4.1.1"),
        items, {is_object: "This result is {actual}; expected an object."},
        why="A string or a number has no type and no attributes."),
    row("item-type", "Results have an @type.", should("4.1.1"),
        members(items, "@type"), {
            is_given: f"@type is missing. {_SET_TYPE}",
            lambda kind: not isinstance(kind, str) or kind.strip(): f"@type is empty. {_SET_TYPE}",
        }, when=items,
        why="The type selects how clients show a result. `item-type-string` checks its value."),
    row("item-type-string", "The @type of a result is a string.", must("4.1.1"),
        present(items, "@type"),
        {is_string: "@type is {actual}; expected a string with a single type."},
        why="JSON-LD also allows an array of types; NLWeb defines one string."),
    row("item-url", "The url of a result is a URL.", should("4.1.1"),
        _urls, {
            is_string: "This is {actual}; expected a string with a URL.",
            is_uri_reference: "This is not a URL. Escape spaces and other characters, or omit it.",
        },
        why="The member url is that of schema.org, which NLWeb recommends; it may be relative."),
    row("item-grounding", "The grounding of a result is an object.", must("4.1.1"),
        present(items, "grounding"),
        {is_object: 'grounding is {actual}; expected an object such as {"source": …}.'},
        why="It holds the origin of the data: sources, citations, references."),

    row("promise-object", "Promises have a promise object.", must("4.1.2"),
        part("promise"), {is_object: "promise is {actual}; expected an object with a token."},
        (absent("promise", "promise"),
         {never: Fix("Add promise, an object with a token.", may_follow=True)}),
        why="The promise object holds the token that clients poll with."),
    row("promise-token", "Promises have a token, a string.", must("4.1.2"),
        members(promises, "token"),
        {is_nonempty_text: "Set token to a string; await requests identify the promise by it."},
        why="Without the token, clients cannot request the answer."),
    row("promise-estimated-time", "The estimated time is an integer number of seconds, 0 or more.",
        (must("4.1.2"), should("4.1.2")), _estimates,
        {integer(0): "Set estimated_time to an integer number of seconds such as 30, or omit it."},
        why="0.55 defines an integer; 0.54 has one in an example."),
    row("promise-estimate-plausible", "The estimated time is at most one day.", info("4.1.2"),
        those(_estimates, is_number), {
            lambda seconds: seconds <= MAX_ESTIMATE:
                "estimated_time is more than a day. Check that it is in seconds.",
        }, when=those(_estimates, is_integer),
        why="The specification sets no limit."),
    row("promise-progress", "The progress of a promise is a number from 0 to 1.",
        (must("4.1.2"), should("HTTP examples 4")), present(promises, "progress"),
        {number(0, 1): "Set progress to a number from 0 to 1, for example 0.5 for 50%."},
        why="Progress is a fraction, not a percentage and not a string."),

    row("elicitation-object", "Elicitations are objects, and their questions an array.",
        must("4.1.3"), absent("elicitation", "elicitation"),
        {never: Fix("Add elicitation, an object.", may_follow=True)},
        (part("elicitation"), {
            is_object: Fix("elicitation is {actual}; expected an object with text and questions.",
                           milder_in_054),
        }),
        (present(_elicitations, "questions"), {
            is_array: Fix("questions is {actual}; expected an array.", milder_in_054),
        }),
        why="`elicitation-not-empty` checks that there is something to answer."),
    row("elicitation-not-empty", "Elicitations have a text or questions.", should("4.1.3"),
        _elicitations,
        {_is_answerable: "The elicitation is empty. Add text or an array of questions."},
        why="Both members are optional; without either there is nothing to answer."),
    row("question-complete", "Questions have an id, a text and a type.",
        (must("4.1.3"), should("4.1.3")), _listed,
        {is_object: "This question is {actual}; expected an object."},
        (members(_questions, "id", "text", "type"), {is_nonempty_text: "Set {name} to a string."}),
        why="0.55 requires them; 0.54 has them in its example."),
    rule("question-ids-unique", "Question ids are unique.", (must("4.1.3"), should("4.1.3")),
        question_ids_unique, when=_questions,
        why="Answers are assigned to their questions by the id."),
    rule("question-type-known", "Question types are listed in the specification.", info("4.1.3"),
        question_type_known, when=_questions,
        why="Other types are allowed; clients that do not know them show a text field."),
    rule("question-options", "Select questions have options, an array of strings.",
        (must("4.1.3"), should("4.1.3")), question_options, when=_has_options,
        why="Questions of type single_select and multi_select require options."),
    row("question-default", "The default of a question is a valid answer.", info("4.1.3"),
        members(those(_with_default, lambda question: not _fits(question)), "default"),
        {never: "The default is not a valid answer, so clients can’t use it."}, when=_with_default,
        why="The specification allows any value, but clients cannot preselect an invalid answer."),
    rule("elicitation-readable", "Elicitations are short and readable plain text.", info("4.1.3"),
        elicitation_readable, when=_elicitations,
        why="The specification sets no limits. Checked are number, length and markup of the "
            "texts."),

    row("failure-error", "Failures have an error object.", must("4.1.4"),
        part("error"), {
            is_object: Fix("error is {actual}; expected an object with code and message.",
                           milder_in_054),
        },
        (absent("error", "failure"),
         {never: Fix("Add error, an object with a code.", may_follow=True)}),
        why="Responses of type failure have it, and error events as well (0.55, section 6.1)."),
    row("failure-code", "Failures have a code, a string.", (must("4.1.4"), should("4.1.4")),
        members(errors, "code"),
        {is_nonempty_text: "Set code to a machine-readable string such as INTERNAL_ERROR."},
        why="0.55 requires the code; 0.54 has it in its example."),
    rule("failure-code-known", "Failure codes are listed in the specification.", info("4.1.4"),
        failure_code_known, when=errors,
        why="Custom codes are allowed. CANCELLED is only for await requests (section 4.2)."),

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
