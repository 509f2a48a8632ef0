"""Requests to a URL without an agent: no agent is saved, and the run can be continued."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from playground.engine import preparation, promise_polling, runs
from playground.engine.request import request_to
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind
from tests.support.elicitations import elicitation_run
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, recorded
from tests.views.conftest import form

URL = "http://agent.example/api"


def sent_to(url: str = URL, **fields: Any) -> Run:
    run = recorded([[CALL, OPEN, HEAD, END]])
    values = {"sent_to_url": True, "agent_name": "agent.example/api", "url": url, **fields}
    Run.objects.filter(pk=run.pk).update(**values)
    run.refresh_from_db()
    return run


def test_sending_saves_no_agent(client: Client, started: list[Any]) -> None:
    found = {"protocol": "nlweb", "binding": "mcp", "version": "0.55"}
    client.post("/runs/", form(agent="", address=f"{URL}/mcp", **found))
    ((run, target),) = started
    assert not Agent.objects.exists()
    assert (run.sent_to_url, run.agent, run.url) == (True, None, f"{URL}/mcp")
    assert (target.url, target.binding) == (f"{URL}/mcp", "mcp")


def test_the_url_of_an_agent_is_that_agent(
    client: Client, agent: Agent, started: list[Any]
) -> None:
    client.post("/runs/", form(agent="", address="HTTP://Agent.example:80/api", protocol="nlweb"))
    assert (started[0][0].agent, started[0][0].sent_to_url) == (agent, False)


@pytest.mark.parametrize("is_there", [True, False], ids=["url", "deleted agent"])
class TestARunWithoutAnAgent:
    def test_is_repeated(self, client: Client, started: list[Any], is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there, version="0.54", headers=[["X-Trace", "7"]])
        response = client.post(f"/runs/{run.pk}/repetition/")
        assert response.status_code == (302 if is_there else 404)
        assert len(started) == int(is_there)
        for again, target in started:
            assert (again.sent_to_url, again.url, again.version) == (True, URL, "0.54")
            assert ("X-Trace", "7") in target.headers

    def test_is_followed(self, client: Client, started: list[Any], is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        response = client.post(f"/runs/{run.pk}/next/", {"text": "and wine"})
        assert response.status_code == (302 if is_there else 422)
        if is_there:
            assert (started[0][0].parent, started[0][1].url) == (run, URL)
        else:
            assert "deleted" in response.content.decode()

    def test_its_full_follow_up_is_for_the_same_url(self, client: Client, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there, version="0.54")
        page = read(client.get(f"/runs/{run.pk}/next/").content.decode())
        (address,) = page.select("input", name="address")
        versions = page.by_id("version-select").select("option", selected=None)
        assert address.attributes["value"] == URL
        assert [each.attributes["value"] for each in versions] == ["0.54"]

    def test_says_only_of_a_deleted_agent_that_it_was(self, client: Client, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        assert ("was deleted" in client.get(f"/runs/{run.pk}/").content.decode()) != is_there

    def test_offers_its_questions(self, client: Client, agent: Agent, is_there: bool) -> None:
        run = elicitation_run(agent)
        Run.objects.update(agent=None, sent_to_url=is_there)
        html = client.get(f"/runs/{run.pk}/").content.decode()
        assert ("can no longer be answered" in html) != is_there
        assert ("Answer</button>" in html) == is_there

    def test_has_its_promise_polled(self, is_there: bool) -> None:
        run = sent_to(sent_to_url=is_there)
        promise = PolledPromise.objects.create(
            run=run,
            entry_seq=1,
            entry_part=0,
            token="t",
            polling_seconds=60,
            status=PollingStatus.POLLING,
        )
        if not is_there:
            with pytest.raises(promise_polling.CannotPollError, match="The agent was deleted"):
                promise_polling._record(promise.pk, RunKind.POLL, None)
            return
        _, polled, _ = promise_polling._record(promise.pk, RunKind.POLL, None)
        assert (polled.sent_to_url, polled.url) == (True, URL)


def test_a_follow_up_uses_the_handshake_and_the_secrets_of_none(client: Client) -> None:
    handshake = {"url": URL, "session": "s"}
    run = sent_to(binding="mcp")
    Run.objects.filter(pk=run.pk).update(handshake=handshake)
    run.refresh_from_db()
    prepared = preparation.follow_up_request(run, {"query": {"text": "b"}})
    assert (prepared.target.handshake, prepared.target.binding) == (handshake, "mcp")
    assert prepared.redact == []


def test_a_child_of_a_deleted_agents_run_is_of_a_deleted_agent(agent: Agent) -> None:
    parent = sent_to(sent_to_url=False)
    stand_in = Agent(name="A", url=URL)
    prepared = request_to(stand_in, {"query": {"text": "b"}})
    for kind, expected in ((RunKind.ACTION, False), (RunKind.ASK, True)):
        run = runs.create_run(prepared, None, runs.RunParent(kind, parent))
        assert run.sent_to_url is expected
