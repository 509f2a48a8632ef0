"""Turns: those before on a run's page, the next one sent or composed, and branches."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from playground.conversation import transcript
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind
from tests.support.elicitations import elicitation_run, turn
from tests.support.markup import Element, one_line, read
from tests.support.run_page import html_of
from tests.views.conftest import form

HTMX = {"HX-Request": "true"}


def said(html: str) -> str:
    return read(html).words


def field(markup: Element, name: str) -> str | None:
    found = [e.attributes for e in markup.find("input") if e.attributes.get("name") == name]
    assert len(found) == 1
    return found[0].get("value")


def composed(html: str) -> Any:
    found = re.search(r'<textarea[^>]* name="document"[^>]*>(.*?)</textarea>', html, re.DOTALL)
    assert found
    return json.loads(read(f"<p>{found[1]}</p>").text)


@pytest.fixture
def talk(agent: Agent) -> list[Run]:
    """Questions, their answer, and a turn after it."""
    first = elicitation_run(agent, request={"query": {"text": "pasta"}})
    Run.objects.filter(pk=first.pk).update(text="pasta")
    second = turn(
        agent, first, kind="answer", answers={"sauce": "red", "diets": ["vegan", "none"]},
        parent_entry_seq=4, parent_entry_part=0, session_context={"turn": 2}, text="pasta",
        request={"query": {"text": "pasta", "site": "a"}, "meta": {"version": "0.55"}},
    )  # fmt: skip
    third = turn(agent, second, text="and wine", request={"query": {"text": "and wine"}})
    return [first, second, third]


class TestThread:
    def test_earlier_turns_stand_above_the_results(self, talk: list[Run]) -> None:
        first, second, third = talk
        html = html_of(third)
        fetched = [
            e.attributes["data-url"]
            for e in read(html).find("details")
            if "turn-fold" in str(e.attributes.get("class"))
        ]
        assert fetched == [f"/runs/{first.pk}/turn/", f"/runs/{second.pk}/turn/"]
        text = said(html)
        assert "sauce red" in text
        assert "Input required" in text
        for run in (first, second):
            assert f'href="/runs/{run.pk}/"' in html
            assert f'href="/runs/{run.pk}/next/"' in html

    def test_later_turns_follow_the_chosen_one(self, talk: list[Run]) -> None:
        html = html_of(talk[0])
        rows = [f'id="turn-{run.pk}"' for run in talk]
        assert [row in html for row in rows] == [False, True, True]
        assert html.index('id="cards"') < html.index(rows[1]) < html.index(rows[2])
        # The follow-up follows the last turn of the branch.
        assert f'hx-post="/runs/{talk[2].pk}/next/"' in html

    def test_a_long_conversation_shows_the_turns_around(
        self, agent: Agent, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(transcript, "WINDOW", 2)
        talk = [turn(agent, text="0")]
        for number in range(1, 9):
            talk.append(turn(agent, talk[-1], text=str(number)))

        def shown(html: str) -> list[int]:
            return [n for n in range(9) if f'id="turn-{talk[n].pk}"' in html]

        page = html_of(talk[4])
        assert shown(page) == [2, 3, 5, 6]
        assert ("2 earlier turns" in page, "2 later turns" in page) == (True, True)
        assert shown(html_of(talk[4], "turns/?part=earlier")) == [0, 1]
        assert shown(html_of(talk[4], "turns/?part=later")) == [7, 8]

    def test_a_hundred_turns_cost_no_more_queries_than_forty(
        self, agent: Agent, django_assert_max_num_queries: Any
    ) -> None:
        last = turn(agent, text="0", request={"query": {"text": "0"}})
        for number in range(1, 100):
            last = turn(agent, last, text=str(number), request={"query": {"text": str(number)}})
            if number == 40:
                with CaptureQueriesContext(connection) as few:
                    html_of(last)
        with django_assert_max_num_queries(len(few)):
            html = html_of(last)
        assert html.count('class="turn"') + html.count('class="turn ') <= transcript.WINDOW + 1
        assert "79 earlier turns" in html

    def test_a_question_of_a_megabyte_is_on_a_page_once(self, client: Client, agent: Agent) -> None:
        text = "lentils " * 131_072
        first = turn(agent, text=text, request={"query": {"text": text}})
        second = turn(agent, first, text="and wine", request={"query": {"text": "and wine"}})
        assert len(html_of(first)) < len(text) + 150_000, "in the composer"
        assert composed(html_of(first))["query"]["text"] == text
        assert len(html_of(second)) < 150_000
        assert len(html_of(second, "next/")) < len(text) + 150_000, "in context.prev"
        for url in ("/runs/", "/history/", f"/shares/new/?run={first.pk}"):
            assert len(client.get(url).content) < 150_000

    def test_a_json_request_is_told_by_its_first_difference(self, agent: Agent) -> None:
        first = turn(agent, text="eggs", request={"query": {"text": "eggs", "site": "a"}})
        second = turn(
            agent, first, text="eggs",
            request={"query": {"text": "eggs", "site": "b"}, "context": {"prev": ["eggs"]}},
        )  # fmt: skip
        third = turn(
            agent, second, text="", request={"query": {"text": "eggs", "site": "b", "mode": "list"}}
        )
        assert "eggs /query/site “a” → “b”" in said(html_of(second))
        assert "JSON request /query/mode “list”" in said(html_of(third))

    def test_another_agent_is_named(self, agent: Agent, talk: list[Run]) -> None:
        assert "turn-agent" not in html_of(talk[2])
        Run.objects.filter(pk=talk[2].pk).update(agent_name="Other", url="http://other.example")
        assert 'class="turn-agent"' in html_of(talk[2])

    def test_what_was_answered_stands_where_it_was_asked(self, talk: list[Run]) -> None:
        text = said(html_of(talk[0]))
        assert "saucered" in text
        assert "dietsvegan, none Answered: show response Complete" in text

    def test_branches(self, agent: Agent, talk: list[Run]) -> None:
        other = turn(agent, talk[0], text="never mind", request={"query": {"text": "never mind"}})
        html = html_of(talk[2])
        assert 'aria-label="Branch 1 of 2"' in html
        assert f'href="/runs/{other.pk}/" data-turn-link aria-label="Next branch"' in html
        html = html_of(other)
        assert 'aria-label="Branch 2 of 2"' in html
        assert f'href="/runs/{talk[1].pk}/" data-turn-link aria-label="Previous branch"' in html

    def test_the_entries_of_an_earlier_turn(self, talk: list[Run]) -> None:
        markup = read(html_of(talk[0], "turn/"))
        ids = [str(e.attributes["id"]) for e in markup.elements if "id" in e.attributes]
        assert ids
        assert all(f"r{talk[0].pk.hex[:12]}-" in each for each in ids)
        assert field(markup, "nested") == "1"

    def test_a_turn_with_many_entries_shows_the_first(self, run: Run) -> None:
        Run.objects.filter(pk=run.pk).update(entries=400)
        html = html_of(run, "turn/")
        assert len(read(html).find("article")) == 4
        assert "395 more" in html

    def test_a_check_says_what_it_belongs_to(self, agent: Agent, talk: list[Run]) -> None:
        check = turn(agent, talk[2], kind="check", parent_entry_seq=4, parent_entry_part=0)
        html = html_of(check)
        assert "Poll of and wine" in said(html)
        assert "follow-up-text" not in html
        assert f'data-url="/runs/{talk[0].pk}/turn/"' in html

    def test_a_run_from_before_there_were_conversations(self, agent: Agent) -> None:
        Run.objects.filter(pk=turn(agent).pk).update(conversation=None)
        html = html_of(Run.objects.get())
        assert "follow-up-text" in html
        assert "/turn/" not in html

    def test_the_history_lists_turns_only(
        self, client: Client, agent: Agent, talk: list[Run]
    ) -> None:
        turn(agent, talk[0], kind="check")
        markup = read(one_line(client.get("/runs/")))
        listed = [e.attributes.get("data-run") for e in markup.find("a")]
        assert listed == [str(run.pk) for run in reversed(talk)]
        assert markup.words.count("Follow-up: ") == 2


class TestCompose:
    def test_the_next_request_is_prefilled(self, talk: list[Run]) -> None:
        html = html_of(talk[1], "next/")
        assert composed(html) == {
            "query": {"text": "", "site": "a"},
            "meta": {"version": "0.55", "session_context": {"turn": 2}},
            "context": {"@type": "ConversationalContext", "prev": ["pasta"]},
        }
        assert field(read(html), "parent") == str(talk[1].pk)
        assert "turn 2, “pasta”" in html
        assert f'data-run="{talk[1].pk}"' in html

    def test_what_the_next_request_omits_is_said(self, agent: Agent) -> None:
        diet = {"@type": "UserDiet", "restrictions": ["vegan"]}
        only = turn(agent, request={"query": {"text": "pasta"}, "context": diet})
        omitted = "Previous queries are not sent: the context type UserDiet has no prev."
        html = html_of(only, "next/")
        assert composed(html)["context"] == diet
        assert f"Follow-up to turn 1, “eggs”. {omitted}" in said(html)
        text = said(html_of(only))
        assert f"{omitted} No session context returned by the agent." in text
        assert "Includes" not in text
        assert omitted in said(html_of(only, "session/"))

    def test_the_transcript_then_ends_at_the_turn_that_is_followed(self, talk: list[Run]) -> None:
        html = html_of(talk[0], "next/")
        assert f'hx-post="/runs/{talk[0].pk}/next/"' in html
        assert f'id="turn-{talk[1].pk}"' not in html
        assert "Includes 1 previous query" in html
        # Elsewhere the field says what it follows, where that is not the turn that is shown.
        html = html_of(talk[0])
        assert f'hx-post="/runs/{talk[2].pk}/next/"' in html
        assert "Ask a follow-up to turn 3" in html
        assert "Ask a follow-up to turn" not in html_of(talk[2])

    def test_a_turn_is_composed_after_the_turn_before(
        self, client: Client, talk: list[Run]
    ) -> None:
        expected = {"/": "", f"/runs/{talk[0].pk}/": "", f"/runs/{talk[1].pk}/": str(talk[0].pk)}
        for url, parent in expected.items():
            assert (field(read(client.get(url)), "parent") or "") == parent

    def test_the_request_of_a_turn(self, client: Client, agent: Agent, talk: list[Run]) -> None:
        """What the composer shows of a turn is what the turn's own page shows."""
        Run.objects.filter(pk=talk[1].pk).update(headers=[["X-Mine", "1"]])
        check = turn(agent, talk[1], kind="check")
        for run in (talk[1], check):
            answer = client.get(f"/runs/{run.pk}/request/").json()
            fields = answer["fields"]
            assert json.loads(fields["document"]) == composed(html_of(talk[1]))
            assert json.loads(fields["headers"]) == [["X-Mine", "1"]]
            assert (fields["agent"], fields["address"]) == (agent.slug, "")
            assert (fields["parent"], fields["continues"]) == (str(talk[0].pk), "turn 1, “pasta”")
            assert answer["saved"] is None

    def test_of_a_check_it_is_that_of_its_turn(self, agent: Agent, talk: list[Run]) -> None:
        check = turn(agent, talk[2], kind="check", request={"promise_token": "t"})
        html = html_of(check, "next/")
        assert field(read(html), "parent") == str(talk[2].pk)
        assert "promise_token" not in composed(html)

    def test_what_a_kept_promise_returned_is_carried(self, agent: Agent) -> None:
        first = turn(agent, request={"query": {"text": "a plan"}}, session_context={"n": 1})
        check = turn(agent, first, kind="check", session_context={"n": 2})
        PolledPromise.objects.create(
            run=first,
            entry_seq=4,
            token="t",
            polling_seconds=60,
            status=PollingStatus.FULFILLED,
            final_run=check,
        )
        assert composed(html_of(first, "next/"))["meta"]["session_context"] == {"n": 2}


class TestAsk:
    def ask(self, client: Client, run: Run, text: str, **fields: str) -> Any:
        data = {"text": text, **fields}
        return client.post(f"/runs/{run.pk}/next/", data, headers=HTMX)

    def test_becomes_the_next_turn(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        response = self.ask(client, talk[1], "  and wine?  ")
        [(run, _)] = started
        assert response["HX-Push-Url"] == f"/runs/{run.pk}/"
        assert (run.kind, run.parent_id, run.text) == (RunKind.ASK, talk[1].pk, "and wine?")
        assert run.conversation_id == talk[1].conversation_id
        assert run.request["query"] == {"text": "and wine?", "site": "a"}
        assert run.request["context"]["prev"] == ["pasta"]
        assert run.request["meta"]["session_context"] == {"turn": 2}

    def test_beside_a_turn_in_progress(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        self.ask(client, talk[2], "and dessert?", branch="1")
        [(run, _)] = started
        assert run.parent_id == talk[1].pk
        assert run.request["context"]["prev"] == ["pasta"]

    @pytest.mark.parametrize("text", ["", "   "])
    def test_needs_words(
        self, client: Client, talk: list[Run], started: list[Any], text: str
    ) -> None:
        response = self.ask(client, talk[1], text)
        assert (response.status_code, started) == (422, [])
        assert response["HX-Retarget"] == "this"
        markup = read(response)
        assert "Enter a follow-up." in markup.text
        (box,) = [e.attributes for e in markup.find("input") if e.attributes.get("name") == "text"]
        assert box["aria-invalid"] == "true"
        assert "follow-up-error" in str(box["aria-describedby"])

    def test_a_text_that_is_too_long_is_not_cut(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        response = self.ask(client, talk[1], "x" * 20_001)
        assert (response.status_code, started) == (422, [])
        assert "at most 20,000 characters" in response.text

    def test_headers_of_the_composer_for_the_same_url(
        self, client: Client, started: list[Any]
    ) -> None:
        url = "http://agent.example/ask"
        first = turn(None, url=url, sent_to_url=True)
        fields = {"agent": "", "headers": '[["Authorization", "Bearer t"]]'}
        for address in (url, "http://other.example/"):
            self.ask(client, first, "wine", address=address, **fields)
        headers = [dict(target.headers) for _, target in started]
        assert [each.get("Authorization") for each in headers] == ["Bearer t", None]

    def test_headers_that_cannot_be_sent(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        fields = {"agent": "recipes", "headers": '[["Host", "a"]]'}
        response = self.ask(client, talk[1], "wine", **fields)
        assert (response.status_code, started) == (422, [])
        assert "In the composer’s headers" in response.text.replace("&#x27;", "’")

    def test_the_agent_was_deleted(
        self, client: Client, agent: Agent, talk: list[Run], started: list[Any]
    ) -> None:
        agent.delete()
        response = self.ask(client, talk[1], "wine")
        assert (response.status_code, started) == (422, [])
        assert "was deleted" in response.text

    def test_a_run_from_before_gets_a_conversation(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        old = turn(agent, request={"query": {"text": "eggs"}})
        Run.objects.filter(pk=old.pk).update(conversation=None)
        self.ask(client, old, "soft ones")
        [(run, _)] = started
        old.refresh_from_db()
        assert run.conversation_id == old.conversation_id is not None
        html = client.get(f"/runs/{run.pk}/").text
        assert f'data-url="/runs/{old.pk}/turn/"' in html


class TestComposer:
    def test_with_a_parent_it_continues(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        response = client.post("/runs/", form(parent=str(talk[1].pk)), headers=HTMX)
        assert response.status_code == 200
        [(run, _)] = started
        assert (run.parent_id, run.kind) == (talk[1].pk, RunKind.ASK)
        assert run.conversation_id == talk[1].conversation_id

    def test_without_one_it_starts_a_conversation(
        self, client: Client, talk: list[Run], started: list[Any]
    ) -> None:
        client.post("/runs/", form(parent=""), headers=HTMX)
        [(run, _)] = started
        assert run.parent_id is None
        assert run.conversation_id not in {each.conversation_id for each in talk}

    @pytest.mark.database
    @pytest.mark.parametrize("parent", ["00000000-0000-4000-8000-000000000000", "nonsense", "\x00"])
    def test_a_parent_that_is_gone(
        self, client: Client, agent: Agent, started: list[Any], parent: str
    ) -> None:
        response = client.post("/runs/", form(parent=parent), headers=HTMX)
        assert (response.status_code, started) == (422, [])
        assert "The turn that this request continues was deleted" in response.text


def test_answers_are_words_of_the_user_and_stay_text(agent: Agent) -> None:
    hostile = "<b>x</b>"
    first = elicitation_run(agent)
    answer = turn(
        agent,
        first,
        kind="answer",
        answers={hostile: hostile},
        parent_entry_seq=4,
        parent_entry_part=0,
    )
    for run in (first, answer):
        html = html_of(run)
        assert "<b>x" not in html
        assert hostile in read(html).text
