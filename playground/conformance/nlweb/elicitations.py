"""Rules on elicitations and their questions: section 4.1.3."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
from playground.conformance.values import is_nonempty_text, is_number, type_with_article

_SELECTS = ("single_select", "multi_select")
#: The most questions a user can be expected to answer; the specification sets no limit.
MAX_QUESTIONS = 25
MAX_TEXT = 5_000
#: The most questions that are checked one by one; exceeding it is a finding of its own.
_MAX_CHECKED = 10_000
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")


def _elicitations(t: Transcript) -> list[Location]:
    return [
        location for location in t.parts.get("elicitation", ()) if isinstance(location.value, dict)
    ]


def _listed(t: Transcript) -> list[Location]:
    """Return every question of every elicitation, of any type."""
    return [
        Location(location.seq, f"{location.pointer}/questions/{at}", question)
        for location in _elicitations(t)
        if isinstance(questions := location.value.get("questions"), list)
        for at, question in enumerate(questions[:_MAX_CHECKED])
    ]


def _questions(t: Transcript) -> list[Location]:
    return [location for location in _listed(t) if isinstance(location.value, dict)]


def _has_questions(t: Transcript) -> bool:
    return t.has_response and bool(_questions(t))


@rule(
    "elicitation-object",
    "Elicitations are objects, and their questions an array.",
    v55=must("4.1.3"),
    v54=must("4.1.3"),
    when=lambda t: t.is_kind("elicitation", "elicitation"),
)
def elicitation_object(t: Transcript) -> Iterator[RuleIssue]:
    """`elicitation-not-empty` checks that there is something to answer."""
    if "elicitation" not in t.parts:
        yield missing(t, "Add elicitation, an object.", t.last_seq, "/elicitation")
    for seq, pointer, value in t.parts.get("elicitation", ()):
        if not isinstance(value, dict):
            yield wrong_type(
                t,
                f"elicitation is {type_with_article(value)}; expected an object with text and "
                "questions.",
                seq,
                pointer,
            )
            continue
        if "questions" in value and not isinstance(questions := value["questions"], list):
            actual = type_with_article(questions)
            yield wrong_type(
                t, f"questions is {actual}; expected an array.", seq, f"{pointer}/questions"
            )


@rule(
    "elicitation-not-empty",
    "Elicitations have a text or questions.",
    v55=should("4.1.3"),
    v54=should("4.1.3"),
    when=lambda t: t.has_response and bool(_elicitations(t)),
)
def elicitation_not_empty(t: Transcript) -> Iterator[RuleIssue]:
    """Both members are optional; without either there is nothing to answer."""
    for seq, pointer, value in _elicitations(t):
        text, questions = value.get("text", ""), value.get("questions", [])
        if questions == [] and isinstance(text, str) and not text.strip():
            message = "The elicitation is empty. Add text or an array of questions."
            yield Violation(message, seq, pointer)


@rule(
    "question-complete",
    "Questions have an id, a text and a type.",
    v55=must("4.1.3"),
    v54=should("4.1.3"),
    when=lambda t: t.has_response and bool(_listed(t)),
)
def question_complete(t: Transcript) -> Iterator[RuleIssue]:
    """0.55 requires them; 0.54 has them in its example."""
    for seq, pointer, question in _listed(t):
        if not isinstance(question, dict):
            yield Violation(
                f"This question is {type_with_article(question)}; expected an object.", seq, pointer
            )
            continue
        for name in ("id", "text", "type"):
            if not is_nonempty_text(question.get(name)):
                yield Violation(f"Set {name} to a string.", seq, f"{pointer}/{name}")


@rule(
    "question-ids-unique",
    "Question ids are unique.",
    v55=must("4.1.3"),
    v54=should("4.1.3"),
    when=_has_questions,
)
def question_ids_unique(t: Transcript) -> Iterator[RuleIssue]:
    """Answers are assigned to their questions by the id."""
    seen: set[tuple[int, str]] = set()
    for seq, pointer, question in _questions(t):
        if not is_nonempty_text(name := question.get("id")):
            continue
        if (seq, name) in seen:
            message = f'Another question already has the id "{name[:60]}". Use a unique id.'
            yield Violation(message, seq, f"{pointer}/id")
        seen.add((seq, name))


@rule(
    "question-type-known",
    "Question types are listed in the specification.",
    v55=info("4.1.3"),
    v54=info("4.1.3"),
    when=_has_questions,
)
def question_type_known(t: Transcript) -> Iterator[RuleIssue]:
    """Other types are allowed; clients that do not know them show a text field."""
    known: tuple[str, ...] = t.traits["question_types"]
    for seq, pointer, question in _questions(t):
        if is_nonempty_text(kind := question.get("type")) and kind not in known:
            yield Violation(
                f'"{kind[:60]}" is not one of {", ".join(known)}. It is allowed, but clients '
                "that don’t support it show a text field.",
                seq,
                f"{pointer}/type",
            )


def _with_options(t: Transcript) -> bool:
    return t.has_response and any(
        location.value.get("type") in _SELECTS or "options" in location.value
        for location in _questions(t)
    )


@rule(
    "question-options",
    "Select questions have options, an array of strings.",
    v55=must("4.1.3"),
    v54=should("4.1.3"),
    when=_with_options,
)
def question_options(t: Transcript) -> Iterator[RuleIssue]:
    """Questions of type single_select and multi_select require options."""
    for seq, pointer, question in _questions(t):
        options, at = question.get("options", []), f"{pointer}/options"
        if options == []:
            if (kind := question.get("type")) in _SELECTS:
                yield Violation(f"Add options to {kind}: an array of strings.", seq, at)
        elif not isinstance(options, list):
            message = f"options is {type_with_article(options)}; expected an array of strings."
            yield Violation(message, seq, at)
        else:
            yield from _option_problems(seq, at, options)


def _option_problems(seq: int, pointer: str, options: list[Any]) -> Iterator[RuleIssue]:
    for at, option in enumerate(options):
        if not isinstance(option, str):
            message = f"This option is {type_with_article(option)}; expected a string."
            yield Violation(message, seq, f"{pointer}/{at}")


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


@rule(
    "question-default",
    "The default of a question is a valid answer.",
    v55=info("4.1.3"),
    v54=info("4.1.3"),
    when=lambda t: (
        t.has_response and any(p.value.get("default") is not None for p in _questions(t))
    ),
)
def question_default(t: Transcript) -> Iterator[RuleIssue]:
    """The specification allows any value, but clients cannot preselect an invalid answer."""
    for seq, pointer, question in _questions(t):
        if question.get("default") is not None and not _fits(question):
            message = "The default is not a valid answer, so clients can’t use it."
            yield Violation(message, seq, f"{pointer}/default")


@rule(
    "elicitation-readable",
    "Elicitations are short and readable plain text.",
    v55=info("4.1.3"),
    v54=info("4.1.3"),
    when=lambda t: t.has_response and bool(_elicitations(t)),
)
def elicitation_readable(t: Transcript) -> Iterator[RuleIssue]:
    """The specification sets no limits. Checked are number, length and markup of the texts."""
    for location in _elicitations(t):
        questions = location.value.get("questions")
        if isinstance(questions, list) and len(questions) > MAX_QUESTIONS:
            yield Violation(
                f"There are {len(questions)} questions. Ask fewer at a time.",
                location.seq,
                f"{location.pointer}/questions",
            )
    for location in (*_elicitations(t), *_questions(t)):
        text, pointer = location.value.get("text"), f"{location.pointer}/text"
        if isinstance(text, str) and len(text) > MAX_TEXT:
            yield Violation(
                f"This text has {len(text):,} characters. Shorten it.", location.seq, pointer
            )
        elif isinstance(text, str) and _MARKUP.search(text):
            yield Violation(
                "This looks like HTML, but clients show it as plain text. Remove the tags.",
                location.seq,
                pointer,
            )


RULES = (
    elicitation_object,
    elicitation_not_empty,
    question_complete,
    question_ids_unique,
    question_type_known,
    question_options,
    question_default,
    elicitation_readable,
)
