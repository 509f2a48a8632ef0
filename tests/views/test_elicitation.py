"""Answers to an agent's questions: checked, previewed, sent as a turn, declined."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.http import HttpRequest
from django.test import Client

from playground.conversation import elicitation
from playground.models import Agent, Run, RunKind
from playground.models.storage import LIMITS
from playground.ui.helpers import get_run
from tests.support.elicitations import (
    ENTRY,
    FILLED,
    GUESTS,
    QUESTIONS,
    SAUCE,
    elicitation_run,
    turn,
)
from tests.support.markup import Element, read
from tests.support.run_page import html_of

pytestmark = pytest.mark.database

HTMX = {"HX-Request": "true"}


def controls(markup: Element, name: str) -> list[dict[str, str | None]]:
    tags = ("input", "textarea")
    elements = [e.attributes for tag in tags for e in markup.find(tag)]
    return [attributes for attributes in elements if attributes.get("name") == name]


class TestForm:
    def test_has_a_control_for_each_question(self, agent: Agent) -> None:
        markup = read(html_of(elicitation_run(agent)))
        kinds = [[c.get("type") for c in controls(markup, f"q{n}")] for n in range(5)]
        assert kinds == [
            ["radio"] * 2, ["checkbox"] * 2, ["text"], ["radio"] * 2, [None],
        ]  # fmt: skip
        classes = [e.attributes.get("class") for e in markup.find("fieldset")]
        assert (classes.count("question"), classes.count("ways")) == (3, 1)
        assert "Input required Recipes http://agent.example" in " ".join(markup.text.split())

    @pytest.mark.parametrize(
        ("question", "values"),
        [
            ({"type": "free_text", "default": "x"}, ["x"]),
            ({"type": "number", "default": 0}, ["0"]),
            ({"type": "number", "default": 2.5}, ["2.5"]),
            ({"type": "number"}, [""]),
            ({"type": "single_select", "options": ["a", "b"], "default": "b"}, ["b"]),
            ({"type": "multi_select", "options": ["a", "b"], "default": ["a", "b"]}, ["a", "b"]),
            ({"type": "boolean", "default": False}, ["false"]),
            ({"type": "boolean"}, []),
        ],
    )
    def test_a_default_is_what_a_control_begins_with(
        self, agent: Agent, question: dict[str, Any], values: list[str]
    ) -> None:
        run = elicitation_run(agent, [{"id": "a", "text": "A?", **question}])
        markup = read(html_of(run))
        boxes = [c for c in controls(markup, "q0") if c.get("type") in {"radio", "checkbox"}]
        found = [c["value"] for c in boxes if "checked" in c]
        if not boxes:
            texts = [e.text.strip() for e in markup.select("textarea", name="q0")]
            found = texts or [c.get("value") for c in controls(markup, "q0")]
        assert found == values

    @pytest.mark.parametrize(
        ("url", "origin"),
        [
            ("http://a.example/ask?x#y", "http://a.example"),
            ("https://user:secret@a.example:8443/ask", "https://a.example:8443"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
        ],
    )
    def test_says_where_the_answers_go(self, agent: Agent, url: str, origin: str) -> None:
        run = elicitation_run(agent)
        Agent.objects.update(url=url)
        Run.objects.update(url=url)
        for _ in range(2):
            (asked,) = read(html_of(run)).select(class_="ask-origin")
            assert asked.words.endswith(f" {origin}")
            Agent.objects.all().delete()

    @pytest.mark.parametrize(
        ("fields", "strategy", "template"),
        [
            ({"answer_strategy": "text"}, "text", '"{{answers}}"'),
            ({"answer_strategy": "gone"}, "filters", '"{{answers}}"'),
            ({"answer_template": '{"mine": 1}'}, "filters", '{"mine": 1}'),
        ],
    )
    def test_the_way_and_the_template_are_the_agents(
        self, agent: Agent, fields: dict[str, str], strategy: str, template: str
    ) -> None:
        Agent.objects.update(**fields)
        markup = read(html_of(elicitation_run(agent)))
        chosen = [c["value"] for c in controls(markup, "strategy") if "checked" in c]
        assert chosen == [strategy]
        (box,) = markup.select("textarea", name="template")
        assert template in box.text

    def test_required_questions_are_marked_before_they_are_missed(self, agent: Agent) -> None:
        html = html_of(elicitation_run(agent))
        markup = read(html)
        labels = re.findall(r'class="question-text".*?</(?:label|legend)>', html, re.DOTALL)
        marked = ["required</span>" in label for label in labels[:5]]
        assert marked == [True, True, True, True, False]
        groups = [e.attributes for e in markup.find("fieldset") if e.attributes.get("role")]
        assert [each.get("aria-required") for each in groups] == ["true", "true"]
        assert controls(markup, "q2")[0]["aria-required"] == "true"
        assert "aria-required" not in controls(markup, "q4")[0]

    def test_every_label_belongs_to_a_control(self, agent: Agent) -> None:
        markup = read(html_of(elicitation_run(agent)))
        ids = [e.attributes["id"] for e in markup.elements if "id" in e.attributes]
        assert len(ids) == len(set(ids))
        assert {e.attributes["for"] for e in markup.find("label") if "for" in e.attributes} <= set(
            ids
        )
        described = [e.attributes.get("aria-describedby") or "" for e in markup.elements]
        assert {name for names in described for name in names.split()} <= set(ids)

    def test_in_words_alone_there_is_one_free_answer(self, agent: Agent) -> None:
        markup = read(html_of(elicitation_run(agent, [])))
        assert [c.get("type") for c in controls(markup, "q0")] == [None]
        assert "Your answer" in markup.text
        assert not controls(markup, "partial")

    def test_what_an_answer_omits_is_said(self, client: Client, agent: Agent) -> None:
        diet = {"@type": "UserDiet", "restrictions": ["vegan"]}
        run = elicitation_run(agent, request={"query": {"text": "pasta"}, "context": diet})
        omitted = "Previous queries are not sent: the context type UserDiet has no prev."
        as_filters = "Answers are sent as filters: the context type UserDiet is not changed."
        text = read(html_of(run)).text
        assert (omitted in text, text.count(as_filters)) == (True, 1)
        for strategy, expected in (("filters", 0), ("context", 1)):
            data = {**FILLED, "strategy": strategy}
            shown = client.post(f"/runs/{run.pk}/answers/preview/", data).text
            assert (omitted in shown, shown.count(as_filters)) == (True, expected)
            assert "ElicitationAnswers" not in shown
        plain = read(html_of(elicitation_run(agent))).text
        assert "not sent: the context" not in plain

    def test_a_question_for_a_secret_carries_a_warning(self, agent: Agent) -> None:
        question = {"id": "pin", "text": "Your password?", "type": "free_text"}
        markup = read(html_of(elicitation_run(agent, [question])))
        assert controls(markup, "q0")[0]["type"] == "password"
        text = " ".join(markup.text.split())
        assert "Only answer if you trust Recipes at http://agent.example" in text

    def test_five_hundred_questions(self, agent: Agent) -> None:
        many = [{**GUESTS, "id": f"g{n}"} for n in range(500)]
        markup = read(html_of(elicitation_run(agent, many)))
        assert controls(markup, "q199")
        assert not controls(markup, "q200")
        assert "300 more questions are in the JSON" in markup.text

    def test_what_the_agent_writes_stays_text(self, agent: Agent) -> None:
        hostile = '"><script>alert(1)</script>'
        question = {"id": hostile, "text": hostile, "type": hostile, "options": [hostile]}
        select = {**question, "id": "b", "type": "single_select", "default": hostile}
        html = html_of(elicitation_run(agent, [question, select], text=hostile))
        assert "<script>alert" not in html
        assert controls(read(html), "q1")[0]["value"] == hostile

    def test_the_agent_was_deleted(self, agent: Agent) -> None:
        run = elicitation_run(agent)
        agent.delete()
        html = html_of(run)
        assert "can no longer be answered" in html
        assert "/answers/" not in html
        assert "so no follow-up can be sent" in html

    def test_an_old_run_without_a_conversation(self, agent: Agent) -> None:
        run = elicitation_run(agent, conversation=None)
        assert controls(read(html_of(run)), "q0")


class TestAnswer:
    @pytest.fixture
    def asking(self, agent: Agent) -> Run:
        request = {"query": {"text": "pasta", "site": "a"}, "prefer": {"streaming": True}}
        return elicitation_run(
            agent, request=request, text="For whom?", session_context={"turn": 1}
        )

    def answer(self, client: Client, run: Run, **fields: Any) -> Any:
        data = {name: value for name, value in {**FILLED, **fields}.items() if value is not None}
        return client.post(f"/runs/{run.pk}/answers/", data, headers=HTMX)

    def test_becomes_a_turn_that_follows(
        self, client: Client, asking: Run, started: list[Any]
    ) -> None:
        response = self.answer(client, asking)
        assert response.status_code == 200
        [(run, target)] = started
        assert target.url == "http://agent.example/api"
        assert response["HX-Push-Url"] == f"/runs/{run.pk}/"
        assert (run.kind, run.parent_id, run.parent_entry) == (RunKind.ANSWER, asking.pk, (4, 0))
        assert run.conversation_id == asking.conversation_id
        values = {
            "sauce": "red", "diets": ["vegan", "none"], "guests": 6, "children": True,
            "wishes": "olives",
        }  # fmt: skip
        assert run.answers == values
        assert run.request == {
            "query": {"text": "pasta", "site": "a", **values},
            "prefer": {"streaming": True},
            "context": {"@type": "ConversationalContext", "prev": ["pasta"]},
            "meta": {"session_context": {"turn": 1}},
        }

    def test_without_scripts_it_leads_to_the_run(
        self, client: Client, asking: Run, started: list[Any]
    ) -> None:
        response = client.post(f"/runs/{asking.pk}/answers/", FILLED)
        [(run, _)] = started
        assert (response.status_code, response["Location"]) == (302, f"/runs/{run.pk}/")

    @pytest.mark.parametrize(
        ("fields", "error"),
        [
            ({"q0": None}, "Choose one of the options."),
            ({"q0": ["red", "white"]}, "Enter exactly one answer."),
            ({"q1": None}, "Choose at least one option."),
            ({"q2": "many"}, "Enter a number such as"),
            ({"q3": "maybe"}, "Answer yes or no."),
            ({"strategy": "telepathy"}, "Choose how the answers are sent."),
            ({"strategy": None}, "Choose how the answers are sent."),
            ({"strategy": "template", "template": "{"}, "The template is not valid JSON"),
            ({"strategy": "template", "template": '{"a": "{{b}}"}'}, "Unknown placeholder “b”"),
            ({"strategy": "template", "template": "{}"}, "The request requires a query."),
            ({"agent": "recipes", "headers": '[["Host", "a"]]'}, "Host"),
        ],
    )
    def test_is_checked_and_what_was_filled_in_is_kept(
        self, client: Client, asking: Run, started: list[Any],
        fields: dict[str, Any], error: str,
    ) -> None:  # fmt: skip
        response = self.answer(client, asking, **fields)
        assert (response.status_code, started) == (422, [])
        assert response["HX-Retarget"] == "closest answer-form"
        markup = read(response)
        assert error in markup.text
        assert controls(markup, "q4")[0]["id"] == "q4-entry-4-0"
        assert "olives" in markup.text
        if set(fields) & {"q0", "q1", "q2", "q3"}:
            wrong = [e.attributes for e in markup.elements if e.attributes.get("aria-invalid")]
            assert wrong
            ids = " ".join(e.attributes.get("aria-describedby") or "" for e in markup.elements)
            (name,) = fields
            assert f"{name}-entry-4-0-error" in ids
        assert Run.objects.count() == 1

    def test_some_may_be_left_out(self, client: Client, asking: Run, started: list[Any]) -> None:
        self.answer(client, asking, q0=None, q1=None, q4=None, partial="on")
        [(run, _)] = started
        assert run.answers == {"guests": 6, "children": True}

    def test_the_way_is_remembered_with_the_agent(
        self, client: Client, asking: Run, agent: Agent, started: list[Any]
    ) -> None:
        template = '{"query": {"text": "{{text}}", "sauce": "{{answers.sauce}}"}}'
        fields = {"strategy": "template", "template": template}
        self.answer(client, asking, **fields)
        [(run, _)] = started
        assert run.request == {"query": {"text": "pasta", "sauce": "red"}}
        agent.refresh_from_db()
        assert (agent.answer_strategy, agent.answer_template) == ("template", template)
        self.answer(client, asking, strategy="text", template="{")
        agent.refresh_from_db()
        assert (agent.answer_strategy, agent.answer_template) == ("text", template)
        html = client.get(f"/runs/{asking.pk}/").text
        chosen = [c["value"] for c in controls(read(html), "strategy") if "checked" in c]
        assert chosen == ["text"]

    def test_a_template_beyond_the_limit_is_not_remembered(
        self,
        client: Client,
        asking: Run,
        agent: Agent,
        started: list[Any],
        settings: Any,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        settings.QUOTA = 1024**3
        monkeypatch.setitem(LIMITS, Agent, replace(LIMITS[Agent], size=1))
        template = '{"query": {"text": "{{text}}"}}'
        self.answer(client, asking, strategy="template", template=template)
        assert len(started) == 1
        agent.refresh_from_db()
        assert (agent.answer_strategy, agent.answer_template) == ("filters", "")

    def test_a_refused_way_is_not_remembered(
        self, client: Client, asking: Run, agent: Agent
    ) -> None:
        self.answer(client, asking, strategy="context", q0=None)
        agent.refresh_from_db()
        assert agent.answer_strategy == "filters"

    def test_again_makes_a_branch(self, client: Client, asking: Run, started: list[Any]) -> None:
        self.answer(client, asking)
        self.answer(client, asking, q0="white")
        (first, _), (second, _) = started
        assert {first.parent_id, second.parent_id} == {asking.pk}
        assert [each.answers["sauce"] for each in (first, second)] == ["red", "white"]
        html = client.get(f"/runs/{asking.pk}/").text
        text = read(html).text
        assert "Another answer starts a branch" in text
        assert "Answer again" in text
        for run in (first, second):
            assert f'href="/runs/{run.pk}/"' in html
        beside = client.get(f"/runs/{first.pk}/").text
        assert "Branch 1 of 2" in beside
        assert f'href="/runs/{second.pk}/"' in beside

    def test_headers_are_the_composers_for_the_same_agent(
        self, client: Client, asking: Run, started: list[Any]
    ) -> None:
        own = '[["X-Mine", "1"]]'
        self.answer(client, asking, agent="recipes", headers=own)
        self.answer(client, asking, agent="another", headers=own)
        assert [("X-Mine", "1") in target.headers for _, target in started] == [True, False]

    def test_headers_of_the_run_go_along_without_its_credentials(
        self, client: Client, asking: Run, started: list[Any]
    ) -> None:
        asking.headers = [["X-Kept", "1"], ["Authorization", ""]]
        asking.save()
        self.answer(client, asking)
        [(run, target)] = started
        assert ("X-Kept", "1") in target.headers
        assert "authorization" not in {name.lower() for name, _ in target.headers}
        assert run.headers == [["X-Kept", "1"]]

    def test_questions_of_a_kept_promise(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        """What a promise became may ask: the answer follows on the check, within the turn."""
        first = turn(agent, request={"query": {"text": "a plan"}})
        check = elicitation_run(
            agent, [SAUCE], parent=first, kind="check", conversation_id=first.conversation_id,
            request={"promise_token": "t", "action": "checkin"}, parent_entry_seq=4,
            parent_entry_part=0,
        )  # fmt: skip
        fields = {**ENTRY, "q0": "red", "strategy": "filters", "nested": "1"}
        response = client.post(f"/runs/{check.pk}/answers/", fields, headers=HTMX)
        assert response.status_code == 200
        [(run, _)] = started
        assert (run.parent_id, run.answers) == (check.pk, {"sauce": "red"})
        assert run.request["query"] == {"text": "a plan", "sauce": "red"}
        html = client.get(f"/runs/{run.pk}/").text
        assert f'data-url="/runs/{first.pk}/turn/"' in html
        html = client.get(f"/runs/{first.pk}/").text
        assert f'href="/runs/{run.pk}/"' in html

    def test_nested_ids_are_told_from_those_of_the_page(self, client: Client, asking: Run) -> None:
        response = self.answer(client, asking, q0=None, nested="1")
        ids = [c["id"] for c in controls(read(response), "q4")]
        assert ids == [f"q4-r{asking.pk.hex[:12]}-entry-4-0"]

    @pytest.mark.parametrize(
        "place",
        [
            {"seq": "3"},
            {"seq": "99"},
            {"part": "1"},
            {"seq": "x"},
            {"seq": "9" * 30},
            {"seq": "-4"},
        ],
    )
    def test_there_are_no_questions(
        self, client: Client, asking: Run, place: dict[str, str]
    ) -> None:
        assert (self.answer(client, asking, **place)).status_code == 404

    def test_the_agent_was_deleted(
        self, client: Client, asking: Run, agent: Agent, started: list[Any]
    ) -> None:
        agent.delete()
        response = self.answer(client, asking)
        assert (response.status_code, started) == (422, [])


#: Fields of the form, words of the preview, and words that are not in it.
PREVIEWS: dict[str, tuple[dict[str, str], list[str], list[str]]] = {
    "the call": (
        {}, ["POST", "http://agent.example/api/ask", '"sauce": "red"', '"guests": 6',
             "Authorization"], ["unanswered question", "hunter2"]),
    "as far as it is answered": (
        {"q0": "", "q2": "x"}, ["2 unanswered questions", '"children": true'], ['"sauce"']),
    "a template that is none": (
        {"strategy": "template", "template": "[]"}, ["The template must be a JSON object."],
        ["http://agent.example"]),
    "a deleted agent": ({}, ["was deleted"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", PREVIEWS)
def test_the_preview(client: Client, agent: Agent, name: str) -> None:
    agent.auth, agent.auth_secret = Agent.Auth.BEARER, "hunter2hunter2"
    agent.save()
    run = elicitation_run(agent)
    fields, words, absent = PREVIEWS[name]
    if name == "a deleted agent":
        agent.delete()
    response = client.post(f"/runs/{run.pk}/answers/preview/", {**FILLED, **fields})
    assert response.status_code == 200
    text = read(response).text
    assert [each for each in words if each not in text] == []
    assert [each for each in absent if each in text] == []


class TestDecline:
    def decline(self, client: Client, run: Run, **fields: str) -> Element:
        url = f"/runs/{run.pk}/answers/declined/"
        response = client.post(url, {**ENTRY, **fields}, headers=HTMX)
        assert response.status_code == 200
        return read(response)

    def test_is_recorded_and_nothing_is_sent(self, client: Client, agent: Agent) -> None:
        run = elicitation_run(agent)
        assert "You declined to answer. Nothing was sent" in self.decline(client, run).text
        run.refresh_from_db()
        assert run.declined_elicitations == ["4-0"]
        assert Run.objects.count() == 1
        assert "You declined to answer" in html_of(run)
        self.decline(client, run)
        run.refresh_from_db()
        assert run.declined_elicitations == ["4-0"]

    def test_can_be_taken_back(self, client: Client, agent: Agent) -> None:
        run = elicitation_run(agent)
        run.declined_elicitations = ["4-0", "9-1"]
        run.save()
        assert controls(self.decline(client, run, declined="0"), "q0")
        run.refresh_from_db()
        assert run.declined_elicitations == ["9-1"]

    def test_without_scripts(self, client: Client, agent: Agent) -> None:
        run = elicitation_run(agent)
        response = client.post(f"/runs/{run.pk}/answers/declined/", ENTRY)
        assert (response.status_code, response["Location"]) == (302, f"/runs/{run.pk}/")

    def test_two_tabs_decline_different_questions(
        self, client: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = elicitation_run(agent)

        def declining_elsewhere(request: HttpRequest, pk: str) -> Run:
            found = get_run(request, pk)
            Run.objects.filter(pk=run.pk).update(declined_elicitations=["9-1"])
            return found

        monkeypatch.setattr(elicitation, "get_run", declining_elsewhere)
        self.decline(client, run)
        run.refresh_from_db()
        assert run.declined_elicitations == ["9-1", "4-0"]

    def test_only_what_was_asked(self, client: Client, agent: Agent) -> None:
        run = elicitation_run(agent, QUESTIONS[:1])
        response = client.post(f"/runs/{run.pk}/answers/declined/", {"seq": "1", "part": "0"})
        assert response.status_code == 404
