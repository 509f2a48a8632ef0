"""What an answer has to be where its question says so."""

from __future__ import annotations

from typing import Any

import pytest

from playground.elicitation import form_of, read_answers, to_data
from playground.elicitation.bounds import in_words, refusal
from playground.protocols.events import Bounds, Elicitation, Question

WHOLE = Bounds(required=True, whole=True, least=1, most=12)


@pytest.mark.parametrize(
    ("control", "bounds", "words"),
    [
        ("number", None, ""),
        ("number", WHOLE, "A whole number from 1 to 12."),
        ("number", Bounds(least=0.5), "A number of at least 0.5; may be left out."),
        ("number", Bounds(required=True, most=9), "A number of at most 9."),
        ("number", Bounds(required=True), ""),
        ("text", Bounds(), "May be left out."),
        ("text", Bounds(required=True, format="email"), "An e-mail address."),
        ("text", Bounds(required=True, shortest=2, longest=2), "2 characters."),
        ("text", Bounds(required=True, shortest=1), "At least 1 character."),
        (
            "text",
            Bounds(required=True, format="date", longest=10),
            "A date like 2026-11-21 of at most 10 characters.",
        ),
        ("text", Bounds(required=True, format="ipv6"), ""),
        ("checkboxes", Bounds(required=True, least=1, most=3), "1 to 3 options."),
        ("radio", Bounds(required=True), ""),
    ],
)
def test_bounds_are_said_in_words(control: str, bounds: Bounds | None, words: str) -> None:
    assert in_words(control, bounds) == words


@pytest.mark.parametrize(
    ("bounds", "good", "bad", "said"),
    [
        (WHOLE, [1, 12, 5.0], [0, 13, 2.5], "whole number"),
        (Bounds(least=0.5), [0.5, 7], [0.4, -1], "at least 0.5"),
        (Bounds(shortest=2, longest=3), ["ab", "abc"], ["a", "abcd"], "2 to 3 characters"),
        (Bounds(least=1, most=2), [["a"], ["a", "b"]], [["a", "b", "c"]], "1 to 2 options"),
        (Bounds(format="email"), ["a@b.de"], ["a", "a@b", "a b@c.de"], "e-mail"),
        (Bounds(format="uri"), ["https://a.de/x", "urn:x"], ["a.de", "http://a b"], "address"),
        (Bounds(format="date"), ["2026-11-21"], ["tomorrow", "2026-13-01"], "date"),
        (Bounds(format="date-time"), ["2026-11-21T18:30:00Z"], ["soon"], "time"),
        (Bounds(format="colour"), ["", "red"], [], ""),
        (None, [1, "x", []], [], ""),
        (WHOLE, [True, False, None], [], ""),
    ],
)
def test_answers_are_held_against_them(
    bounds: Bounds | None, good: list[Any], bad: list[Any], said: str
) -> None:
    assert [refusal(bounds, value) for value in good] == [None] * len(good)
    for value in bad:
        assert said in (refusal(bounds, value) or "")


def test_a_question_is_taken_at_its_word() -> None:
    questions = (
        Question("guests", "Guests?", "number", bounds=WHOLE),
        Question("mail", "Mail?", "free_text", bounds=Bounds(required=True)),
        Question("diet", "Diet?", "single_select", ("v",), labels=("Vegan",), bounds=Bounds()),
    )
    form = form_of(Elicitation(1, "", questions, reply={"kind": "x"}))
    assert form.fields[2].labels == ("Vegan",)
    read = read_answers(form, {})
    assert read.errors == {"q0": "Give a number.", "q1": "Write something."}
    read = read_answers(form, to_data(form, {"guests": 13, "mail": "x"}))
    assert read.errors == {"q0": "Give a whole number from 1 to 12."}
    read = read_answers(form, to_data(form, {"guests": 3, "mail": "x"}))
    assert (read.values, read.errors) == ({"guests": 3, "mail": "x"}, {})


def test_what_asks_nothing_can_be_answered_with_nothing() -> None:
    form = form_of(Elicitation(1, "Log in", reply={"kind": "x"}, links=("https://a.example",)))
    assert (form.fields, form.links) == ((), ("https://a.example",))
    assert read_answers(form, {}).errors == {}
