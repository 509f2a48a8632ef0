"""Properties of elicitation: any questions and answers give a form, answers, a request."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from playground.elicitation import (
    SKIP_UNANSWERED,
    STRATEGIES,
    ElicitationForm,
    TemplateError,
    build_form,
    next_request,
    read_answers,
    to_data,
)
from playground.protocols.events import Elicitation
from playground.protocols.nlweb import content, requests
from tests.support.json_values import TEXTS, objects, values

QUESTION = ["id", "text", "type", "options", "default", "questions", "site", "prev", "@type"]
TYPES = ["single_select", "multi_select", "free_text", "number", "boolean", "text", "a", "b", "1"]
QUESTIONS = values(QUESTION, TYPES)
REQUEST = ["query", "context", "meta", "prefer", "promise_token", "text", "@type", "prev"]
REQUESTS = values(REQUEST) | objects(REQUEST)
PLACEHOLDERS = ["{{text}}", "{{answers}}", "{{answers.a}}", "{{prev}}", "{{ session_context }}"]


def asked(value: Any) -> ElicitationForm:
    (event,) = content.elicitation(1, value)
    assert isinstance(event, Elicitation)
    return build_form(event)


ELICITATIONS = QUESTIONS | st.builds(
    lambda questions: {"questions": questions}, st.lists(objects(QUESTION, TYPES), max_size=6)
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
    objects(QUESTION),
    st.lists(values(["a"]), max_size=3),
    st.none() | objects(REQUEST),
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
            assert requests.as_object(made.get("meta")).get("session_context") == session


@given(REQUESTS, objects(QUESTION), ELICITATIONS)
def test_filters_keep_every_member_of_the_query(
    request: Any, answers: dict[str, Any], question: Any
) -> None:
    made = next_request(request, asked(question), answers, "filters", prev=[], session_context=None)
    before = requests.as_object(requests.as_object(request).get("query"))
    assume(not any(name.startswith("answer_") for name in before))
    after = made["query"]
    assert before.keys() <= after.keys()
    for name, value in before.items():
        if name in ("text", "site") or name not in answers:
            assert after[name] == value
    assert all(value in after.values() for value in answers.values())


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
