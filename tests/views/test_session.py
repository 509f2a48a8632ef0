"""The session history, and the choice of the next session context."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from playground.models import Agent, Run
from tests.support.elicitations import turn
from tests.support.markup import read

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


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


def shown(client: Client, run: Run) -> str:
    response = client.get(f"/runs/{run.pk}/session/")
    assert response.status_code == 200
    return " ".join(read(response.content.decode()).text.split())


def decide(client: Client, run: Run, echo: str, value: str = "", status: int = 200) -> str:
    data = {"echo": echo, "value": value}
    response = client.post(f"/runs/{run.pk}/session/", data, headers=HTMX)
    assert response.status_code == status
    run.refresh_from_db()
    return " ".join(read(response.content.decode()).text.split())


def test_what_each_turn_sent_and_got(client: Client, talk: list[Run]) -> None:
    text = shown(client, talk[1])
    assert "± changed /turn 1 → 2" in text
    assert "− dropped /a “x”" in text
    assert "+ added /topics eggs" in text
    assert "The latest session context that the agent returned." in text
    assert (
        text.split("Previous queries")[1]
        .strip()
        .startswith("Sent as context.prev, oldest first. eggswithout milk")
    )


def test_an_earlier_turn_has_an_earlier_ledger(client: Client, talk: list[Run]) -> None:
    text = shown(client, talk[0])
    assert "/topics" not in text
    assert "without milk" not in text


def test_nothing_was_handed_out(client: Client, agent: Agent) -> None:
    text = shown(client, turn(agent, request={"query": {"text": "eggs"}}))
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
def test_a_decision(
    client: Client, talk: list[Run], echo: str, value: str, kept: Any, says: str
) -> None:
    text = decide(client, talk[1], echo, value)
    assert says in text
    assert talk[1].session_override == kept
    assert ("Use latest from agent" in text) == (echo != "latest")


def test_a_decision_can_be_taken_back(client: Client, talk: list[Run]) -> None:
    decide(client, talk[1], "off")
    text = decide(client, talk[1], "latest")
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
def test_what_cannot_be_echoed(
    client: Client, talk: list[Run], echo: str, value: str, error: str
) -> None:
    text = decide(client, talk[1], echo, value, status=422)
    assert error in text
    assert value in text
    assert talk[1].session_override is None


def test_of_a_check_it_is_the_turn_that_is_decided(
    client: Client, agent: Agent, talk: list[Run]
) -> None:
    check = turn(agent, talk[1], kind="check")
    decide(client, check, "off")
    talk[1].refresh_from_db()
    assert (check.session_override, talk[1].session_override) == (None, {"mode": "off"})


def test_without_scripts(client: Client, talk: list[Run]) -> None:
    response = client.post(f"/runs/{talk[1].pk}/session/", {"echo": "off"})
    assert (response.status_code, response["Location"]) == (302, f"/runs/{talk[1].pk}/")


def test_the_next_request_obeys(client: Client, talk: list[Run]) -> None:
    url = f"/runs/{talk[1].pk}/next/"
    assert "&quot;topics&quot;" in client.get(url).content.decode()
    decide(client, talk[1], "off")
    assert "&quot;session_context&quot;" not in client.get(url).content.decode()


def test_what_an_agent_hands_out_stays_text(client: Client, agent: Agent) -> None:
    hostile = "<script>alert(1)</script>"
    run = turn(agent, session_context={hostile: hostile, "list": [hostile], "n": {"d": [hostile]}})
    html = client.get(f"/runs/{run.pk}/session/").content.decode()
    assert "<script>" not in html
    assert hostile in read(html).text
