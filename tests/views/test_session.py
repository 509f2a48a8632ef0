"""The session history, and the choice of the next session context."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.models import Agent, Run
from tests.support.elicitations import turn
from tests.support.json_values import values
from tests.support.markup import Element, read
from tests.support.run_page import part, words

HTMX = {"HX-Request": "true"}
OBJECTS = st.dictionaries(
    st.sampled_from(["turn", "topics", "a/b", "~"]), values(["turn", "topics", "a/b", "~"]),
    min_size=1, max_size=3,
)  # fmt: skip


@pytest.fixture
def talk(agent: Agent) -> list[Run]:
    """Two turns: the second gives back what the first returned, and gets something new."""
    first = turn(
        agent,
        text="eggs",
        request={"query": {"text": "eggs"}},
        session_context={"turn": 1, "a": "x"},
    )
    sent = {"session_context": {"turn": 1, "a": "x"}}
    second = turn(
        agent, first, text="without milk", session_context={"turn": 2, "topics": ["eggs"]},
        request={"query": {"text": "without milk"}, "meta": sent},
    )  # fmt: skip
    return [first, second]


def decide(run: Run, echo: str, value: str = "", status: int = 200) -> str:
    data = {"echo": echo, "value": value}
    response = Client().post(f"/runs/{run.pk}/session/", data, headers=HTMX)
    assert response.status_code == status
    run.refresh_from_db()
    return read(response).words


def test_what_each_turn_sent_and_got(talk: list[Run]) -> None:
    text = words(talk[1], "session/")
    assert "± changed /turn 1 → 2" in text
    assert "− dropped /a “x”" in text
    assert "+ added /topics eggs" in text
    assert "The latest session context that the agent returned." in text
    assert (
        text.split("Previous queries")[1]
        .strip()
        .startswith("Sent as context.prev, oldest first. eggswithout milk")
    )


#: What a turn sent, what it got, and what the page says of the difference.
CHANGES: list[tuple[Any, Any, list[str]]] = [
    ({"a": 1}, {"a": 1}, []),
    ({"z": 0}, {"z": 0, "a": 1}, ["+ added /a 1"]),
    ({"z": 0, "a": "x"}, {"z": 0}, ["− dropped /a “x”"]),
    ({"a": 1}, {"a": 2}, ["± changed /a 1 → 2"]),
    ({"a": 1}, {"a": "1"}, ["± changed /a 1 → “1”"]),
    ({"a": 1}, {"a": True}, ["± changed /a 1 → yes"]),
    ({"z": 0, "a": None}, {"z": 0}, ["− dropped /a null"]),
    ({"a": []}, {"a": None}, ["± changed /a [] → null"]),
    ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}}, ["± changed /a/b 1 → 3"]),
    ({"a": [1, 2]}, {"a": [1, 3, 4]}, ["± changed /a/1 2 → 3", "+ added /a/2 4"]),
    ({"a": [1, 2]}, {"a": [1]}, ["− dropped /a/1 2"]),
    ({"a": [1]}, {"a": {}}, ["± changed /a 1 → {}"]),
    ({"z": 0}, {"z": 0, "a/b~c": 0}, ["+ added /a~1b~0c 0"]),
    ({"z": 0, "": 0}, {"z": 0}, ["− dropped / 0"]),
    ({"b": 1, "a": 1}, {"c": 1, "a": 2}, ["− dropped /b 1", "± changed /a 1 → 2", "+ added /c 1"]),
]  # fmt: skip


def conversation(agent: Agent, *contexts: tuple[Any, Any]) -> list[list[Element]]:
    """Return the changes that the page shows of turns which sent and got these contexts."""
    run = None
    for sent, got in contexts:
        request = {"query": {"text": "a"}, "meta": {"session_context": sent}}
        run = turn(agent, run, session_context=got, request=request)
    assert run
    turns = part(run, "session/").select("li", class_="session-turn")
    return [each.select("li", class_="change") for each in turns]


def pointers(changes: list[Element]) -> list[str]:
    return [each.find("code")[0].text for each in changes]


def test_differences_of_two_contexts(agent: Agent) -> None:
    found = conversation(agent, *(row[:2] for row in CHANGES))
    assert [[each.words for each in changes] for changes in found] == [row[2] for row in CHANGES]


def test_what_is_huge_is_cut_and_what_is_very_deep_is_compared_as_a_whole(agent: Agent) -> None:
    def nest(value: Any) -> Any:
        for _ in range(50):
            value = {"a": value}
        return value

    wide = {str(number): "x" * 1_000 for number in range(500)}
    many, deep = conversation(agent, ({"z": 0}, wide), (nest(1), nest(2)))
    assert len(many) == 100
    assert max(len(each.words) for each in many) < 200
    assert pointers(deep) == ["/a" * 12]


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(OBJECTS, OBJECTS)
def test_any_two_contexts_have_the_same_differences_both_ways(
    agent: Agent, before: Any, after: Any
) -> None:
    there, back, none = conversation(agent, (before, after), (after, before), (after, after))
    assert set(pointers(there)) == set(pointers(back)) or len(there) == 100
    assert none == []


def test_an_earlier_turn_has_an_earlier_ledger(talk: list[Run]) -> None:
    text = words(talk[0], "session/")
    assert "/topics" not in text
    assert "without milk" not in text


def test_nothing_was_handed_out(agent: Agent) -> None:
    text = words(turn(agent, request={"query": {"text": "eggs"}}), "session/")
    assert "No turn of this conversation has returned one." in text
    assert "Turn by turn" not in text
    assert "None: none was sent or returned" in text


@pytest.mark.parametrize(
    ("echo", "value", "kept", "says"),
    [
        ("off", "", {"mode": "off"}, "Turned off by you"),
        ("clear", "", {"mode": "edited", "value": None}, "Cleared by you"),
        ("edit", '{"b": 1}', {"mode": "edited", "value": {"b": 1}}, "Edited by you"),
        ("edit", "{}", {"mode": "edited", "value": {}}, "Edited by you"),
        ("latest", "", {"mode": "latest"}, "The latest session context"),
    ],
)
def test_a_decision(talk: list[Run], echo: str, value: str, kept: Any, says: str) -> None:
    text = decide(talk[1], echo, value)
    assert says in text
    assert talk[1].session_override == kept
    assert ("Use latest from agent" in text) == (echo != "latest")


def test_what_was_returned_can_be_edited_after_it_was_turned_off(
    client: Client, talk: list[Run]
) -> None:
    decide(talk[1], "off")
    editor = read(client.get(f"/runs/{talk[1].pk}/session/")).by_id("session-value")
    assert editor
    assert json.loads(editor.text) == {"turn": 2, "topics": ["eggs"]}


def test_a_decision_can_be_taken_back(talk: list[Run]) -> None:
    decide(talk[1], "off")
    text = decide(talk[1], "latest")
    assert "The latest session context that the agent returned." in text
    assert "Includes 2 previous queries and the session context." in text


@pytest.mark.parametrize(
    ("echo", "value", "error"),
    [
        ("edit", "", "Line 1, column 1"),
        ("edit", "{", "Line 1, column 2"),
        ("edit", "[1]", "The session context must be a JSON object."),
        ("edit", "null", "The session context must be a JSON object."),
        ("edit", '{"a": NaN}', "Not a valid JSON number"),
        ("edit", '{"a":' * 200 + "1" + "}" * 200, "nested more than"),
        ("", "", "Choose what to send with the next request."),
        ("shout", "{}", "Choose what to send with the next request."),
    ],
)
def test_what_cannot_be_echoed(talk: list[Run], echo: str, value: str, error: str) -> None:
    text = decide(talk[1], echo, value, status=422)
    assert error in text
    assert value in text
    assert talk[1].session_override is None


def test_of_a_check_it_is_the_turn_that_is_decided(agent: Agent, talk: list[Run]) -> None:
    check = turn(agent, talk[1], kind="check")
    decide(check, "off")
    talk[1].refresh_from_db()
    assert (check.session_override, talk[1].session_override) == (None, {"mode": "off"})


def test_without_scripts(client: Client, talk: list[Run]) -> None:
    response = client.post(f"/runs/{talk[1].pk}/session/", {"echo": "off"})
    assert (response.status_code, response["Location"]) == (302, f"/runs/{talk[1].pk}/")


def test_the_next_request_obeys(client: Client, talk: list[Run]) -> None:
    url = f"/runs/{talk[1].pk}/next/"
    assert "&quot;topics&quot;" in client.get(url).text
    decide(talk[1], "off")
    assert "&quot;session_context&quot;" not in client.get(url).text


def test_what_an_agent_hands_out_stays_text(client: Client, agent: Agent) -> None:
    hostile = "<script>alert(1)</script>"
    run = turn(agent, session_context={hostile: hostile, "list": [hostile], "n": {"d": [hostile]}})
    html = client.get(f"/runs/{run.pk}/session/").text
    assert "<script>" not in html
    assert hostile in read(html).text
