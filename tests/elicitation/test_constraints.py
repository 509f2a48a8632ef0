"""Constraints on answers, as text and as a check."""

from __future__ import annotations

from typing import Any

import pytest

from playground.elicitation import build_form, read_answers, to_data
from playground.elicitation.constraints import constraint_error, describe_constraints
from playground.protocols.events import Constraints, Elicitation, Question

WHOLE = Constraints(required=True, integer=True, minimum=1, maximum=12)


@pytest.mark.parametrize(
    ("control", "bounds", "words"),
    [
        ("number", None, ""),
        ("number", WHOLE, "A whole number from 1 to 12."),
        ("number", Constraints(minimum=0.5), "A number of at least 0.5; optional."),
        ("number", Constraints(required=True, maximum=9), "A number of at most 9."),
        ("number", Constraints(required=True), ""),
        ("text", Constraints(), "Optional."),
        ("text", Constraints(required=True, format="email"), "An email address."),
        ("text", Constraints(required=True, min_length=2, max_length=2), "2 characters."),
        ("text", Constraints(required=True, min_length=1), "At least 1 character."),
        (
            "text",
            Constraints(required=True, format="date", max_length=10),
            "A date such as 2026-11-21 of at most 10 characters.",
        ),
        ("text", Constraints(required=True, format="ipv6"), ""),
        ("checkboxes", Constraints(required=True, minimum=1, maximum=3), "1 to 3 options."),
        ("radio", Constraints(required=True), ""),
    ],
)
def test_bounds_are_said_in_words(control: str, bounds: Constraints | None, words: str) -> None:
    assert describe_constraints(control, bounds) == words


@pytest.mark.parametrize(
    ("bounds", "good", "bad", "said"),
    [
        (WHOLE, [1, 12, 5.0], [0, 13, 2.5], "whole number"),
        (Constraints(minimum=0.5), [0.5, 7], [0.4, -1], "at least 0.5"),
        (
            Constraints(min_length=2, max_length=3),
            ["ab", "abc"],
            ["a", "abcd"],
            "2 to 3 characters",
        ),
        (
            Constraints(minimum=1, maximum=2),
            [["a"], ["a", "b"]],
            [["a", "b", "c"]],
            "1 to 2 options",
        ),
        (Constraints(format="email"), ["a@b.de"], ["a", "a@b", "a b@c.de"], "email"),
        (Constraints(format="uri"), ["https://a.de/x", "urn:x"], ["a.de", "http://a b"], "URL"),
        (Constraints(format="date"), ["2026-11-21"], ["tomorrow", "2026-13-01"], "date"),
        (Constraints(format="date-time"), ["2026-11-21T18:30:00Z"], ["soon"], "time"),
        (Constraints(format="colour"), ["", "red"], [], ""),
        (None, [1, "x", []], [], ""),
        (WHOLE, [True, False, None], [], ""),
    ],
)
def test_answers_are_held_against_them(
    bounds: Constraints | None, good: list[Any], bad: list[Any], said: str
) -> None:
    assert [constraint_error(bounds, value) for value in good] == [None] * len(good)
    for value in bad:
        assert said in (constraint_error(bounds, value) or "")


def test_a_question_is_taken_at_its_word() -> None:
    questions = (
        Question("guests", "Guests?", "number", constraints=WHOLE),
        Question("mail", "Mail?", "free_text", constraints=Constraints(required=True)),
        Question(
            "diet", "Diet?", "single_select", ("v",), labels=("Vegan",), constraints=Constraints()
        ),
    )
    form = build_form(Elicitation(1, "", questions, resume={"kind": "x"}))
    assert form.fields[2].labels == ("Vegan",)
    read = read_answers(form, {})
    assert read.errors == {"q0": "Enter a number.", "q1": "Enter an answer."}
    read = read_answers(form, to_data(form, {"guests": 13, "mail": "x"}))
    assert read.errors == {"q0": "Enter a whole number from 1 to 12."}
    read = read_answers(form, to_data(form, {"guests": 3, "mail": "x"}))
    assert (read.values, read.errors) == ({"guests": 3, "mail": "x"}, {})


def test_what_asks_nothing_can_be_answered_with_nothing() -> None:
    form = build_form(Elicitation(1, "Log in", resume={"kind": "x"}, links=("https://a.example",)))
    assert (form.fields, form.links) == ((), ("https://a.example",))
    assert read_answers(form, {}).errors == {}
