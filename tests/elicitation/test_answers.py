from __future__ import annotations

from typing import Any

import pytest

from playground.elicitation.form import (
    FORM_ERROR_KEY,
    SKIP_UNANSWERED,
    Answers,
    ElicitationForm,
    build_form,
    constraint_error,
    describe_constraints,
    read_answers,
    to_data,
)
from playground.protocols.events import Constraints, Elicitation, Question

FORM = build_form(
    Elicitation(
        1,
        "",
        (
            Question("sauce", "Which?", "single_select", ("tomato", "cream", "two\nlines")),
            Question("diet", "Which?", "multi_select", ("vegan", "vegetarian", "none")),
            Question("wish", "What?", "free_text"),
            Question("guests", "How many?", "number"),
            Question("kids", "Any?", "boolean"),
        ),
    )
)
GOOD = {"q0": ["cream"], "q1": ["vegan"], "q3": ["6"], "q4": ["true"]}


def one(number: int, *given: str) -> Answers:
    """Only one of the questions answered."""
    return read_answers(FORM, {f"q{number}": given, SKIP_UNANSWERED: ["on"]})


def test_what_was_answered_is_read_by_id() -> None:
    answers = read_answers(FORM, {**GOOD, "q2": ["Soup\r\nand bread"], "q99": ["x"]})
    assert answers == Answers(
        {"sauce": "cream", "diet": ["vegan"], "wish": "Soup\nand bread", "guests": 6, "kids": True},
        {},
    )


def test_every_question_but_free_text_must_be_answered() -> None:
    answers = read_answers(FORM, {"q2": ["  "], "q3": [""], "q0": []})
    assert answers.values == {}
    assert answers.errors == {
        "q0": "Choose one of the options.",
        "q1": "Choose at least one option.",
        "q3": "Enter a number.",
        "q4": "Answer yes or no.",
    }


def test_with_partial_every_question_may_be_left_out() -> None:
    assert read_answers(FORM, {"q3": ["6"], SKIP_UNANSWERED: ["on"]}) == Answers({"guests": 6}, {})
    wrong = read_answers(FORM, {"q3": ["six"], SKIP_UNANSWERED: ["on"]})
    assert wrong.errors.keys() == {"q3"}


@pytest.mark.parametrize(
    ("form", "data"),
    [(FORM, {SKIP_UNANSWERED: ["on"]}), (build_form(Elicitation(1, "Which?")), {"q0": [""]})],
)
def test_nothing_at_all_is_no_answer(form: ElicitationForm, data: dict[str, list[str]]) -> None:
    assert read_answers(form, data) == Answers(
        {}, {FORM_ERROR_KEY: "Answer at least one question."}
    )


@pytest.mark.parametrize(
    ("number", "given", "value"),
    [
        (0, ["tomato"], "tomato"),
        (0, ["two\r\nlines"], "two\nlines"),
        (1, ["none", "vegan", "none"], ["vegan", "none"]),
        (2, [" <b>spicy</b> "], " <b>spicy</b> "),
        (3, ["0"], 0),
        (3, [" -12 "], -12),
        (3, ["5.0"], 5.0),
        (3, [".5"], 0.5),
        (3, ["1e3"], 1000.0),
        (3, ["9" * 100], 10**100 - 1),
        (4, ["false"], False),
    ],
)
def test_values_have_the_type_of_the_question(number: int, given: list[str], value: Any) -> None:
    answers = one(number, *given)
    assert answers.errors == {}
    (found,) = answers.values.values()
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("number", "given", "error"),
    [
        (0, ["pesto"], "This is not one of the options."),
        (0, ["tomato", "cream"], "Enter exactly one answer."),
        (1, ["vegan", "halal"], "Some of the choices are not among the options."),
        (2, ["a", "b"], "Enter exactly one answer."),
        (3, ["many"], "Enter a number such as 12 or 2.5."),
        (3, ["nan"], "Enter a number such as 12 or 2.5."),
        (3, ["1_000"], "Enter a number such as 12 or 2.5."),
        (3, ["٣"], "Enter a number such as 12 or 2.5."),
        (3, ["9" * 5000], "Enter a number such as 12 or 2.5."),
        (3, ["1e400"], "This number is too large."),
        (3, ["1", "2"], "Enter exactly one answer."),
        (4, ["yes"], "Answer yes or no."),
        (4, ["true", "false"], "Enter exactly one answer."),
    ],
)
def test_what_does_not_fit_is_an_error_of_its_field(
    number: int, given: list[str], error: str
) -> None:
    assert one(number, *given) == Answers({}, {f"q{number}": error})


@pytest.mark.parametrize(
    "values",
    [
        {"sauce": "cream", "diet": ["vegan", "none"], "guests": 2.5, "kids": False},
        {"sauce": "two\nlines", "diet": ["none"], "wish": "Soup", "guests": 10**30, "kids": True},
    ],
)
def test_answers_become_data_and_are_read_again(values: dict[str, Any]) -> None:
    assert read_answers(FORM, to_data(FORM, values)) == Answers(values, {})


def test_answers_from_a_file_are_checked_like_others() -> None:
    values = {"sauce": 5, "diet": "vegan", "guests": "6", "kids": None, "wish": {"a": 1}, "x": 1}
    answers = read_answers(FORM, {**to_data(FORM, values), SKIP_UNANSWERED: ["on"]})
    assert answers.values == {"diet": ["vegan"], "guests": 6, "wish": '{"a": 1}'}
    assert answers.errors == {"q0": "This is not one of the options."}


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
