from __future__ import annotations

from typing import Any

import pytest

from playground.elicitation.controls import MAX_TEXT
from playground.elicitation.form import MAX_FIELDS, MAX_OPTIONS, QuestionField, build_form
from playground.protocols.events import Elicitation, Question
from playground.protocols.nlweb import content


def read(*questions: Any, text: str = "First:") -> Elicitation:
    """An elicitation as the reader makes it of JSON."""
    (event,) = content.elicitation(1, {"text": text, "questions": list(questions)})
    assert isinstance(event, Elicitation)
    return event


def field(**question: Any) -> QuestionField:
    return build_form(read({"id": "a", "text": "Which?", **question})).fields[0]


@pytest.mark.parametrize(
    ("kind", "options", "control"),
    [
        ("single_select", ["x", "y"], "radio"),
        ("multi_select", ["x", "y"], "checkboxes"),
        ("free_text", [], "text"),
        ("number", [], "number"),
        ("boolean", [], "boolean"),
        ("Multi-Select", ["x"], "checkboxes"),
    ],
)
def test_every_type_has_its_control(kind: str, options: list[str], control: str) -> None:
    made = field(type=kind, options=options)
    assert (made.control, made.options, made.note) == (control, tuple(options), "")


@pytest.mark.parametrize("kind", ["single_select", "multi_select"])
def test_a_select_without_options_is_free_text(kind: str) -> None:
    made = field(type=kind)
    assert made.control == "text"
    assert made.note == "The question has no options, so a text field is shown."


@pytest.mark.parametrize("kind", ["text", "slider", "select", "x" * 500])
def test_an_unknown_type_is_free_text_and_says_so(kind: str) -> None:
    made = field(type=kind, options=["x"])
    assert (made.control, made.options) == ("text", ("x",))
    assert made.note.startswith(f"NLWeb does not define the question type “{kind[:60]}")
    assert len(made.note) < 200


def test_a_question_that_is_only_a_text_is_asked() -> None:
    (made,) = build_form(read("How many?")).fields
    assert (made.id, made.text, made.control, made.note) == (
        "question_1", "How many?", "text", "",
    )  # fmt: skip


@pytest.mark.parametrize(("name", "label"), [("spice", "spice"), ("  ", "Question 1")])
def test_a_question_without_text_still_has_a_label(name: str, label: str) -> None:
    (made,) = build_form(Elicitation(1, "", (Question(name, " ", "number"),))).fields
    assert (made.text, made.control) == (label, "number")
    assert "no text" in made.note


@pytest.mark.parametrize(
    ("kind", "default", "taken"),
    [
        ("single_select", "y", "y"),
        ("single_select", 2, "2"),
        ("multi_select", ["2", "x"], ("x", "2")),
        ("multi_select", "y", ("y",)),
        ("multi_select", [], ()),
        ("free_text", "<b>hi</b>", "<b>hi</b>"),
        ("free_text", 5, "5"),
        ("number", 6, 6),
        ("number", 2.5, 2.5),
        ("number", 10**400, 10**400),
        ("boolean", False, False),
        ("boolean", True, True),
    ],
)
def test_a_default_that_fits_is_taken(kind: str, default: Any, taken: Any) -> None:
    made = field(type=kind, default=default, options=["x", "y", 2] if "select" in kind else [])
    assert (made.default, type(made.default), made.note) == (taken, type(taken), "")


@pytest.mark.parametrize(
    ("kind", "default", "wanted"),
    [
        ("single_select", "z", "one of the options"),
        ("single_select", True, "one of the options"),
        ("single_select", ["x"], "one of the options"),
        ("multi_select", ["x", "z"], "a list of options"),
        ("multi_select", {"x": 1}, "a list of options"),
        ("free_text", ["x"], "text of"),
        ("free_text", "x" * (MAX_TEXT + 1), "text of"),
        ("number", "6", "a number"),
        ("number", True, "a number"),
        ("number", float("inf"), "a number"),
        ("boolean", "true", "true or false"),
        ("boolean", 1, "true or false"),
    ],
)
def test_a_default_that_does_not_fit_is_left_out_with_a_note(
    kind: str, default: Any, wanted: str
) -> None:
    made = field(type=kind, default=default, options=["x", "y"])
    assert made.default is None
    assert f"default is ignored, because it is not {wanted}" in made.note


def test_options_are_different_and_not_blank() -> None:
    made = field(type="single_select", options=["x", "y", "x", " ", {"label": "<i>z</i>"}])
    assert (made.options, made.note) == (("x", "y", "<i>z</i>"), "")


def test_options_are_limited_in_number_and_length() -> None:
    options = ["long" * MAX_TEXT, *map(str, range(MAX_OPTIONS + 3))]
    made = field(type="multi_select", options=options)
    assert made.options == tuple(map(str, range(MAX_OPTIONS)))
    assert made.note.endswith("; 4 more were omitted.")
    short = field(type="multi_select", options=["x", "long" * MAX_TEXT])
    assert short.note.endswith("; 1 more was omitted.")


def test_a_long_text_is_cut_with_a_note() -> None:
    form = build_form(read({"id": "a", "text": "y" * 1_000_000}, text="x" * 1_000_000))
    assert len(form.text) == len(form.fields[0].text) == MAX_TEXT + 1
    assert form.note == "The text was truncated to 20,000 characters."
    assert form.fields[0].note == "The question was truncated to 20,000 characters."
    assert build_form(read("a")).note == ""


def test_ids_are_made_unique_without_taking_those_of_others() -> None:
    form = build_form(read(*({"id": name, "text": "?"} for name in ("a", "a", "a_2", "a", "a_2"))))
    assert [made.id for made in form.fields] == ["a", "a_3", "a_2", "a_4", "a_2_2"]
    assert [bool(made.note) for made in form.fields] == [False, True, False, True, True]
    assert "uses this id more than once" in form.fields[1].note


def test_too_many_questions_are_counted() -> None:
    form = build_form(read(*({"id": "same", "text": f"{n}?"} for n in range(500))))
    assert (len(form.fields), form.remaining) == (MAX_FIELDS, 300)
    assert [made.name for made in form.fields] == [f"q{n}" for n in range(MAX_FIELDS)]
    assert len({made.id for made in form.fields}) == MAX_FIELDS


def test_an_elicitation_in_words_alone_gets_a_free_answer() -> None:
    form = build_form(Elicitation(1, "Which pasta?"))
    assert form.text_only
    assert [(made.id, made.control, made.note) for made in form.fields] == [("answer", "text", "")]
    assert not build_form(read("a")).text_only


@pytest.mark.parametrize(
    "text",
    [
        "Your password?", "PIN", "pin_code", "userPassword", "API key", "api-key", "apiKey",
        "access_token", "credit card number", "CVV", "Social Security number", "client secret",
        "passcode", "the passphrase",
    ],
)  # fmt: skip
def test_a_question_for_a_secret_is_sensitive(text: str) -> None:
    assert build_form(Elicitation(1, "", (Question("a", text, "free_text"),))).fields[0].sensitive
    assert build_form(Elicitation(1, "", (Question(text, "?", "free_text"),))).fields[0].sensitive
    assert build_form(Elicitation(1, "", (Question("a", "?", text),))).fields[0].sensitive
    assert build_form(Elicitation(1, text)).fields[0].sensitive


@pytest.mark.parametrize("text", ["spinach", "pinot", "secretary", "What to cook?", "keys"])
def test_an_ordinary_question_is_not(text: str) -> None:
    assert not build_form(Elicitation(1, text, (Question(text, text, "x"),))).fields[0].sensitive
