from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.elicitation.form import (
    SKIP_UNANSWERED,
    ElicitationForm,
    build_form,
    read_answers,
    to_data,
)
from playground.elicitation.strategies import (
    STRATEGIES,
    TemplateError,
    default_template,
    next_request,
    omissions,
)
from playground.protocols import lenient
from playground.protocols.events import Elicitation, Question
from playground.protocols.nlweb import content
from playground.protocols.nlweb.requests import validate_request
from tests.support.json_values import TEXTS, objects, values

REQUEST = {
    "query": {"text": "dinner", "site": "meals.example.com", "itemType": "Recipe"},
    "context": {"@type": "ConversationalContext", "prev": ["stale"], "memory": "no nuts"},
    "prefer": {"streaming": True},
    "meta": {"version": "0.55", "session_context": {"id": "old"}},
}
FORM = build_form(
    Elicitation(
        1,
        "",
        (
            Question("sauce", "Which sauce?", "single_select", ("tomato", "cream")),
            Question("diet", "Diets", "multi_select", ("vegan", "kosher", "halal")),
            Question("kids", "Any children?", "boolean"),
            Question("guests", "How many guests:", "number"),
            Question("wish", "Wishes?", "free_text"),
        ),
    )
)
VALUES = {
    "sauce": "cream",
    "diet": ["vegan", "kosher", "halal"],
    "kids": False,
    "guests": 6,
    "wish": "Surprise me!",
}
SESSION = {"id": "new"}


def answer(
    strategy: str,
    values: dict[str, Any] | None = None,
    *,
    request: Any = REQUEST,
    form: ElicitationForm = FORM,
    **given: Any,
) -> dict[str, Any]:
    options: dict[str, Any] = {"prev": ["lunch"], "session_context": SESSION, **given}
    return next_request(request, form, VALUES if values is None else values, strategy, **options)


def test_filters() -> None:
    assert answer("filters") == {
        "query": {**REQUEST["query"], **VALUES},
        "context": {
            "@type": "ConversationalContext",
            "prev": ["lunch", "dinner"],
            "memory": "no nuts",
        },
        "prefer": {"streaming": True},
        "meta": {"version": "0.55", "session_context": SESSION},
    }


def test_filters_of_a_chain_stay_and_an_answer_given_again_is_the_new_one() -> None:
    first = answer("filters", {"sauce": "cream", "kids": True})
    second = answer("filters", {"sauce": "tomato", "guests": 2}, request=first)
    assert second["query"] == {**REQUEST["query"], "sauce": "tomato", "kids": True, "guests": 2}
    # The query is the same one, so it is not an earlier query twice.
    assert second["context"]["prev"] == ["lunch", "dinner"]


def test_filters_never_replace_the_text_or_the_site() -> None:
    values = {"text": "a", "site": "b", "answer_text": "c"}
    assert answer("filters", values)["query"] == {
        **REQUEST["query"],
        "answer_answer_text": "a",
        "answer_site": "b",
        "answer_text": "c",
    }


def test_text() -> None:
    made = answer("text")
    assert made["query"] == {
        **REQUEST["query"],
        "text": (
            "dinner. Which sauce? cream. Diets: vegan, kosher and halal. Any children? no."
            " How many guests: 6. Wishes? Surprise me!"
        ),
    }
    assert made["context"]["prev"] == ["lunch", "dinner"]
    assert made["meta"]["session_context"] == SESSION


def test_text_says_only_what_was_answered() -> None:
    made = answer("text", {"diet": ["vegan"], "kids": True})
    assert made["query"]["text"] == "dinner. Diets: vegan. Any children? yes."


def test_text_to_an_elicitation_in_words_is_the_answer_alone() -> None:
    form = build_form(Elicitation(1, "Which pasta?"))
    made = answer("text", {"answer": "with pesto"}, form=form)
    assert made["query"]["text"] == "dinner with pesto."


def test_context() -> None:
    made = answer("context")
    assert made["query"] == REQUEST["query"]
    assert made["context"] == {
        "@type": "ConversationalContext",
        "memory": "no nuts",
        **VALUES,
        "prev": ["lunch", "dinner"],
    }
    assert made["meta"]["session_context"] == SESSION


def test_context_keeps_the_answers_of_a_chain_and_its_own_members() -> None:
    first = answer("context", {"sauce": "cream", "prev": "x", "@type": "y"})
    second = answer("context", {"kids": True}, request=first)
    assert second["context"] == {
        "@type": "ConversationalContext",
        "memory": "no nuts",
        "sauce": "cream",
        "answer_prev": "x",
        "answer_@type": "y",
        "kids": True,
        "prev": ["lunch", "dinner"],
    }


DIET = {"@type": "UserDiet", "@context": "https://example.com/diet", "restrictions": ["vegan"]}
NO_PREV = "Previous queries are not sent: the context type UserDiet has no prev."


@pytest.mark.parametrize("strategy", ["filters", "text", "context"])
def test_a_context_of_another_type_is_not_changed(strategy: str) -> None:
    made = answer(strategy, {"sauce": "cream"}, request={**REQUEST, "context": DIET})
    assert made["context"] == DIET
    assert "cream" in json.dumps(made["query"])
    assert made["meta"]["session_context"] == SESSION


@pytest.mark.parametrize(
    ("strategy", "context", "prev", "expected"),
    [
        ("filters", DIET, [], [NO_PREV]),
        ("context", DIET, ["lunch"], [
            NO_PREV,
            "Answers are sent as filters: the context type UserDiet is not changed.",
        ]),
        ("text", {"@type": ["A", "B"]}, [], [
            'Previous queries are not sent: the context type ["A", "B"] has no prev.',
        ]),
        ("template", DIET, ["lunch"], []),
        ("context", {"@type": "ConversationalContext"}, ["lunch"], []),
        ("context", {"@type": None, "memory": "m"}, ["lunch"], []),
        ("filters", {}, ["lunch"], []),
        ("filters", "words", ["lunch"], []),
    ],
)  # fmt: skip
def test_what_is_omitted_is_said(
    strategy: str, context: Any, prev: list[str], expected: list[str]
) -> None:
    request = {**REQUEST, "context": context}
    assert omissions(request, strategy, prev=prev) == expected


def test_without_queries_there_is_nothing_to_omit() -> None:
    assert omissions({"context": DIET}, "filters", prev=[]) == []


def test_template() -> None:
    template = {
        "q": "{{text}}",
        "all": "{{ answers }}",
        "{{text}}": ["{{answers.guests}}", "{{answers.kids}}", 1, None],
        "said": "{{text}} for {{answers.guests}}, {{answers.diet}}; kids: {{answers.kids}}",
        "history": {"prev": "{{prev}}", "session": "{{session_context}}"},
        "text": "prev {{prev}}, session {{session_context}}",
        "none": "{none} {{ }",
    }
    assert answer("template", template=json.dumps(template)) == {
        "q": "dinner",
        "all": VALUES,
        "{{text}}": [6, False, 1, None],
        "said": "dinner for 6, vegan, kosher and halal; kids: no",
        "history": {"prev": ["lunch", "dinner"], "session": SESSION},
        "text": 'prev lunch and dinner, session {"id": "new"}',
        "none": "{none} {{ }",
    }


def test_template_with_what_was_not_answered() -> None:
    made = answer("template", {}, template='{"a": "{{answers.wish}}", "b": "x{{answers.wish}}"}')
    assert made == {"a": None, "b": "x"}


def test_what_a_template_is_filled_with_is_not_filled_again() -> None:
    made = answer("template", {"wish": "{{text}}"}, template='{"a": "wish: {{answers.wish}}"}')
    assert made == {"a": "wish: {{text}}"}


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("", "The template is empty. Enter the JSON document to send."),
        (" \n", "The template is empty. Enter the JSON document to send."),
        ('{"a": }', "The template is not valid JSON: expected a value (line 1, column 7)."),
        ("[1]", "The template must be a JSON object."),
        ('"{{text}}"', "The template must be a JSON object."),
        ("9" * 5000, "The template must be a JSON object."),
        ("[" * 200 + "]" * 200, "The template is nested more than 100 levels deep."),
        ('{"a": "{{answers.spice}}"}', "The agent sent no question with the id “spice”."),
        (
            '{"a": ["{{user}}"]}',
            "Unknown placeholder “user”. Supported: text, answers, prev, session_context and"
            " answers.<id>.",
        ),
        (
            '{"a": "x {{}}"}',
            "Unknown placeholder “”. Supported: text, answers, prev, session_context and"
            " answers.<id>.",
        ),
    ],
)
def test_a_template_that_makes_no_request_says_why(template: str, message: str) -> None:
    with pytest.raises(TemplateError) as raised:
        answer("template", template=template)
    assert str(raised.value) == message


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_changed_that_was_passed_in(strategy: str) -> None:
    request, values = copy.deepcopy(REQUEST), copy.deepcopy(VALUES)
    session, prev = {"id": "new"}, ["lunch"]
    made = answer(
        strategy, values, request=request, prev=prev, session_context=session, template="{}"
    )
    made["query"] = made["context"] = None
    assert (request, values, session, prev) == (REQUEST, VALUES, {"id": "new"}, ["lunch"])


@pytest.mark.parametrize("strategy", ["filters", "text", "context"])
def test_the_request_can_be_sent(strategy: str) -> None:
    assert validate_request(answer(strategy), "0.55") == []


@pytest.mark.parametrize("strategy", ["filters", "text", "context"])
def test_a_question_that_came_of_a_promise_is_answered_with_a_query(strategy: str) -> None:
    request = {"promise_token": "t", "action": "checkin", "meta": {"version": "0.55"}}
    made = answer(strategy, {"sauce": "cream"}, request=request)
    assert "promise_token" not in made
    assert "action" not in made


def test_an_unknown_strategy() -> None:
    known = "Supported: filters, text, context, template."
    with pytest.raises(ValueError, match=f"Unknown answer strategy 'smoke'. {known}"):
        answer("smoke")


def test_a_template_to_begin_with_is_like_the_request() -> None:
    text = default_template(REQUEST, True)
    made = answer("template", template=text)
    assert made["query"] == {"text": "dinner"}
    assert made["context"]["answers"] == VALUES
    assert made["context"]["prev"] == ["lunch", "dinner"]
    assert made.get("prefer") == REQUEST.get("prefer")
    assert made["meta"] == {**REQUEST["meta"], "session_context": SESSION}
    assert "session_context" not in default_template(REQUEST, False)


def test_a_template_to_begin_with_keeps_a_context_of_another_type() -> None:
    made = answer("template", template=default_template({**REQUEST, "context": DIET}, True))
    assert made["context"] == DIET
    assert made["query"] == {"text": "dinner", "answers": VALUES}


@pytest.mark.parametrize("request_", [None, [], "text", {"meta": 7, "prefer": "fast"}])
def test_a_template_to_begin_with_for_odd_requests(request_: Any) -> None:
    assert set(json.loads(default_template(request_, False))) == {"query", "context"}


QUESTION_NAMES = ["id", "text", "type", "options", "default", "questions", "site", "prev", "@type"]
TYPES = ["single_select", "multi_select", "free_text", "number", "boolean", "text", "a", "b", "1"]
QUESTIONS = values(QUESTION_NAMES, TYPES)
REQUEST_NAMES = ["query", "context", "meta", "prefer", "promise_token", "text", "@type", "prev"]
REQUESTS = values(REQUEST_NAMES) | objects(REQUEST_NAMES)
PLACEHOLDERS = ["{{text}}", "{{answers}}", "{{answers.a}}", "{{prev}}", "{{ session_context }}"]


def asked(value: Any) -> ElicitationForm:
    (event,) = content.elicitation(1, value)
    assert isinstance(event, Elicitation)
    return build_form(event)


ELICITATIONS = QUESTIONS | st.builds(
    lambda questions: {"questions": questions}, st.lists(objects(QUESTION_NAMES, TYPES), max_size=6)
)


@given(ELICITATIONS)
def test_any_elicitation_is_a_form(value: Any) -> None:
    form = asked(value)
    assert form.fields
    assert len({field.id for field in form.fields}) == len(form.fields)
    for number, field in enumerate(form.fields):
        assert (field.number, field.name) == (number, f"q{number}")
        assert field.text
        assert field.control in ("radio", "checkboxes", "text", "number", "boolean")
        assert field.options or field.control not in ("radio", "checkboxes")


@given(ELICITATIONS)
def test_a_default_is_an_answer(value: Any) -> None:
    form = asked(value)
    for field in form.fields:
        if field.default in (None, (), "") or str(field.default).isspace():
            continue
        data = to_data(form, {field.id: field.default})
        answers = read_answers(form, {**data, SKIP_UNANSWERED: ["on"]})
        too_long = type(field.default) is int and len(str(field.default)) > 100
        assert (field.name in answers.errors) == too_long


@given(
    ELICITATIONS,
    st.dictionaries(
        st.sampled_from(["q0", "q1", "q2", "q9", SKIP_UNANSWERED]),
        st.lists(TEXTS | st.sampled_from([*TYPES, "true", "1e400"]), max_size=3),
    ),
)
def test_any_data_is_answers_or_errors(value: Any, data: dict[str, list[str]]) -> None:
    form = asked(value)
    answers = read_answers(form, data)
    assert answers.values or answers.errors
    assert answers.values.keys() <= {field.id for field in form.fields}
    assert all(error.endswith(".") for error in answers.errors.values())
    again = read_answers(form, {**to_data(form, answers.values), SKIP_UNANSWERED: ["on"]})
    assert again.values == answers.values


@given(
    REQUESTS,
    ELICITATIONS,
    objects(QUESTION_NAMES),
    st.lists(values(["a"]), max_size=3),
    st.none() | objects(REQUEST_NAMES),
)
def test_any_request_is_answered(
    request: Any, question: Any, answers: dict[str, Any], prev: list[Any], session: Any
) -> None:
    form = asked(question)
    for name in STRATEGIES:
        made = next_request(
            request,
            form,
            answers,
            name,
            prev=prev,
            session_context=session,
            template='{"all": "{{answers}}", "said": "so: {{answers}} {{prev}} {{text}}"}',
        )
        assert isinstance(made, dict)
        assert json.loads(json.dumps(made, allow_nan=False)) == made
        if name != "template":
            assert lenient.members(made.get("meta")).get("session_context") == session


@given(
    st.text(max_size=30)
    | values(["text"], PLACEHOLDERS).map(json.dumps)
    | objects(["text"], [*PLACEHOLDERS, "{{answers.x}}", "{{ }} {{prev}}"]).map(json.dumps)
)
def test_any_template_makes_a_request_or_says_why_not(template: str) -> None:
    form = asked({"questions": [{"id": "a", "text": "?", "type": "number"}]})
    message, made = ".", {}
    try:
        made = next_request(
            {}, form, {"a": 1}, "template", prev=[], session_context=None, template=template
        )
    except TemplateError as error:
        message = str(error)
    assert message.endswith(".")
    assert json.dumps(made, allow_nan=False)
