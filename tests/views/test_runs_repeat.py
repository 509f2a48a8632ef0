"""Sending the request of a run again."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from playground.composer import views as runs
from playground.models import Agent, Run, RunKind
from tests.support.stored_runs import CALL, END, HEAD, OPEN, recorded

REQUEST = {"query": {"text": "eggs"}, "meta": {"version": "0.54"}}


#: What was handed to the engine.
Calls = list[dict[str, Any]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """What was handed to the engine; nothing is sent."""
    calls: Calls = []

    async def send(run: Run, prepared: Any) -> None:
        shown = {"redact": prepared.redact, "headers": prepared.headers}
        calls.append({"run": run, "target": prepared.target, **shown})

    monkeypatch.setattr(runs.tasks, "send", send)
    return calls


@pytest.fixture
def first(agent: Agent) -> Run:
    run = recorded([[CALL, OPEN, HEAD, END]])
    parent = recorded([[CALL, OPEN, HEAD, END]])
    fields: dict[str, Any] = {
        "agent": agent, "request": REQUEST, "version": "0.54", "parent": parent,
        "kind": RunKind.ANSWER, "parent_entry_seq": 5, "parent_entry_part": 1,
        "answers": {"diet": "vegan"},
        "headers": [["X-Trace", "7"], ["Authorization", ""]],
    }  # fmt: skip
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


def repeat(client: Client, run: Run, **fields: str) -> Any:
    return client.post(f"/runs/{run.pk}/repetition/", fields, headers={"HX-Request": "true"})


def test_is_the_same_request_at_the_same_place(client: Client, first: Run, started: Calls) -> None:
    Agent.objects.update(auth="bearer", auth_secret="s3cret")
    response = client.post(f"/runs/{first.pk}/repetition/")
    again = Run.objects.exclude(pk__in=[first.pk, first.parent_id]).get()
    assert response["Location"] == again.get_absolute_url()
    for name in "agent request version kind parent parent_entry answers text".split():
        assert getattr(again, name) == getattr(first, name), name
    (call,) = started
    headers = dict(call["target"].headers)
    assert headers["X-Trace"] == "7"
    assert headers["Authorization"] == "Bearer s3cret"
    assert call["target"].version == "0.54"
    assert "s3cret" in call["redact"]


def test_takes_the_place_of_the_response(client: Client, first: Run, started: Calls) -> None:
    response = repeat(client, first)
    (call,) = started
    assert response["HX-Push-Url"] == call["run"].get_absolute_url()
    assert 'id="response"' in response.content.decode()
    assert str(call["run"].pk) in response.content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"agent": None},
        {"kind": RunKind.POLL},
        {"kind": RunKind.CANCEL},
        {"kind": RunKind.ACTION, "protocol": "action"},
        {"protocol": "unheard-of"},
    ],
)
def test_what_cannot_be_sent_again(
    client: Client, first: Run, started: Calls, fields: dict[str, Any]
) -> None:
    Run.objects.filter(pk=first.pk).update(**fields)
    assert repeat(client, first).status_code == 404
    assert not started
    assert Run.objects.count() == 2


def test_too_many_at_once_are_refused_and_shown(
    client: Client, first: Run, started: Calls, settings: Any
) -> None:
    settings.RUN_LIMITS = settings.RUN_LIMITS.__class__(max_runs=0)
    response = repeat(client, first)
    assert "Too many" in response.content.decode()


class TestSwitching:
    """The target of the repetition is another one."""

    FIELDS = {"protocol": "nlweb", "binding": "mcp", "version": "0.54"}

    def test_an_agent_is_set_to_it(self, client: Client, first: Run, started: Calls) -> None:
        Run.objects.filter(pk=first.pk).update(url="http://agent.example/api")
        Agent.objects.update(handshake={"session": "s"})
        response = repeat(client, first, **self.FIELDS, url="http://agent.example/mcp")
        (call,) = started
        assert (call["target"].url, call["target"].binding) == ("http://agent.example/mcp", "mcp")
        agent = Agent.objects.get()
        assert (agent.binding, agent.url, agent.handshake) == ("mcp", call["target"].url, {})
        assert call["run"].request == first.request
        assert '"agent": "recipes"' in response["HX-Trigger"]

    def test_an_agent_keeps_its_origin(self, client: Client, first: Run, started: Calls) -> None:
        response = repeat(client, first, **self.FIELDS, url="http://evil.example/mcp")
        assert (response.status_code, started) == (422, [])
        assert Agent.objects.get().binding == "http"

    def test_a_url_gets_a_run_of_its_own(self, client: Client, first: Run, started: Calls) -> None:
        Run.objects.filter(pk=first.pk).update(agent=None, sent_to_url=True, url="http://b.example")
        target = {"protocol": "agent-api", "binding": "http", "version": "1"}
        repeat(client, first, **target, url="http://c.example")
        (call,) = started
        assert call["target"].url == "http://c.example"
        assert call["target"].protocol == "agent-api"
        assert call["run"].request["input"][0]["content"][0]["text"] == "eggs"
        assert (call["run"].sent_to_url, call["run"].agent) == (True, None)

    def test_another_version_is_named_in_the_document(
        self, client: Client, first: Run, started: Calls
    ) -> None:
        repeat(client, first, version="0.55")
        assert started[0]["run"].request["meta"]["version"] == "0.55"

    @pytest.mark.parametrize("url", ["ftp://b.example", "http://u:p@b.example", "x"])
    def test_a_url_that_cannot_be_called(
        self, client: Client, first: Run, started: Calls, url: str
    ) -> None:
        Run.objects.filter(pk=first.pk).update(agent=None, sent_to_url=True)
        response = repeat(client, first, url=url)
        assert (response.status_code, started) == (422, [])
