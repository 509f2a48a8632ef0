"""Elicitations as controls: values, defaults, errors and descriptions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.elicitation.form import ElicitationForm, QuestionField
from playground.models import Agent, Run
from playground.rendering.elicitation import ElicitationView, QuestionControl, Submitted
from playground.rendering.thread import Thread


class ChildlessThread(Thread):
    """Thread of a run without child runs and without queries."""

    def __init__(self, run: Run, page: Run) -> None:
        self.run, self.page = run, page
        self._depth = 0
        self._by_entry = {}


def elicitation(
    *fields: QuestionField, filled: Submitted | None = None, **agent: Any
) -> ElicitationView:
    run = Run(agent=Agent(name="A", url="http://a.example/x", **agent), agent_name="A")
    return ElicitationView(
        ChildlessThread(run, run), (4, 1), ElicitationForm("", fields), filled or Submitted()
    )


def field(control: str, **more: Any) -> QuestionField:
    return QuestionField(0, "id", "Text?", control, **more)


def only(*fields: QuestionField, **options: Any) -> QuestionControl:
    (control,) = elicitation(*fields, **options).controls
    return control


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://a.example/ask?x#y", "http://a.example"),
        ("https://user:secret@a.example:8443/ask", "https://a.example:8443"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://[::1/", "http://[::1/"),
        ("http://a.example:port/", "http://a.example:port/"),
    ],
)
def test_where_the_answers_would_go(url: str, origin: str) -> None:
    view = elicitation()
    view.run.agent.url = view.run.url = url
    assert view.origin == origin
    view.run.agent = None
    assert view.origin == origin


@pytest.mark.parametrize(
    ("control", "default", "value", "chosen"),
    [
        ("text", "x", "x", []),
        ("text", None, "", []),
        ("number", 0, "0", []),
        ("number", 2.5, "2.5", []),
        ("radio", "b", "b", ["b"]),
        ("checkboxes", ("a", "b"), "b", ["a", "b"]),
        ("boolean", False, "false", ["false"]),
        ("boolean", None, "", []),
    ],
)
def test_a_default_is_what_a_control_begins_with(
    control: str, default: Any, value: str, chosen: list[str]
) -> None:
    options = ("a", "b") if control in ("radio", "checkboxes") else ()
    shown = only(field(control, default=default, options=options))
    assert shown.value == value
    assert [choice.value for choice in shown.choices if choice.chosen] == chosen


def test_what_was_filled_in_wins_over_a_default() -> None:
    filled = Submitted({"seq": ["4"]}, {"q0": "Enter a number."})
    shown = only(field("number", default=3), filled=filled)
    assert (shown.value, shown.error) == ("", "Enter a number.")
    assert shown.id == "q0-entry-4-1"
    assert shown.described_by == "q0-entry-4-1-error"


def test_everything_that_is_said_describes_the_control() -> None:
    shown = only(field("text", note="N.", sensitive=True), filled=Submitted({}, {"q0": "E."}))
    assert shown.described_by.split() == [f"q0-entry-4-1-{n}" for n in ("note", "warning", "error")]


def test_the_way_is_the_agents_until_another_is_chosen() -> None:
    def chosen(way: ElicitationView) -> list[str]:
        return [strategy.name for strategy, is_chosen in way.strategies if is_chosen]

    assert chosen(elicitation(answer_strategy="text")) == ["text"]
    assert chosen(elicitation(answer_strategy="gone")) == ["filters"]
    filled = Submitted({"strategy": ["context"]})
    assert chosen(elicitation(answer_strategy="text", filled=filled)) == ["context"]


def test_the_template_is_the_agents_until_another_is_written() -> None:
    assert json.loads(elicitation().template)["context"]["answers"] == "{{answers}}"
    assert elicitation(answer_template="{}").template == "{}"
    assert elicitation(answer_template="{}", filled=Submitted({"template": [""]})).template == ""


def test_on_another_page_it_is_nested() -> None:
    run, page = Run(agent_name="A"), Run(agent_name="B")
    assert ElicitationView(ChildlessThread(run, page), (4, 1), ElicitationForm("", ())).is_nested
    assert not ElicitationView(ChildlessThread(run, run), (4, 1), ElicitationForm("", ())).is_nested
