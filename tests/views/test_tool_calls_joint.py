"""Several open tool calls of one response, answered with one request from any of their forms."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient, Client

from playground.models import Agent, Run, RunKind
from tests.support.messages import a_call, an_output, data, message
from tests.views.test_tool_calls import ASKED, SESSION, made, page, reply

#: Where the entries of the calls are, in their order.
FIRST, SECOND, APPROVAL = "5-0", "8-0", "11-0"
JOINT: dict[str, str] = {
    f"{FIRST}-output": "42",
    f"{FIRST}-format": "text",
    f"{SECOND}-output": "",
    f"{SECOND}-format": "text",
    f"{APPROVAL}-reason": "",
    f"{APPROVAL}-decision": "refuse",
}

pytestmark = pytest.mark.database


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(
        name="Talker", url="http://agent.example/process", protocol="agent-api", version="1"
    )


def leaving_three(agent: Agent | None, **fields: Any) -> Run:
    """A reply with two calls of the same function, and a request for approval."""
    kind = "mcp_approval_request"
    asking = [message("m3", kind), data("m3", ASKED), message("m3", kind, "completed")]
    return reply(agent, *a_call(), *a_call("m2", "c2"), *asking, **fields)


def at(place: str) -> dict[str, str]:
    seq, _, part = place.partition("-")
    return {"seq": seq, "part": part}


def form_of(shown: str, place: str) -> str:
    """The HTML of one form."""
    return shown.split(f'data-place="{place}"', 1)[1].split("</answer-form>", 1)[0]


class TestForms:
    def test_each_button_says_how_many_it_answers(self, client: Client, agent: Agent) -> None:
        shown = page(client, leaving_three(agent))
        for place in (FIRST, SECOND, APPROVAL):
            assert "Answer 3 calls" in form_of(shown, place)
        assert 'type="radio" name="11-0-decision"' in form_of(shown, APPROVAL)

    def test_a_call_that_has_its_output_is_not_counted(self, client: Client, agent: Agent) -> None:
        shown = page(client, reply(agent, *a_call(), *a_call("m2", "c2"), *an_output("m3")))
        assert "Answer the call" in shown
        assert "calls</button>" not in shown


@pytest.mark.django_db(transaction=True)
class TestAnswering:
    async def post(self, client: AsyncClient, run: Run, place: str, form: Any) -> Any:
        sent = {**at(place), **form}
        return await client.post(f"/runs/{run.pk}/calls/", sent, headers={"HX-Request": "true"})

    @pytest.mark.parametrize("place", [FIRST, SECOND, APPROVAL])
    async def test_one_request_has_them_all_in_their_order(
        self, async_client: AsyncClient, agent: Agent, started: list[Any], place: str
    ) -> None:
        run = await made(leaving_three, agent)
        assert (await self.post(async_client, run, place, JOINT)).status_code == 200
        ((sent, _),) = started
        assert [part["data"] for said in sent.request["input"] for part in said["content"]] == [
            {"call_id": "c1", "output": "42"},
            {"call_id": "c2", "output": ""},
            {"approval_request_id": "a1", "approve": False},
        ]
        assert {name: sent.request[name] for name in SESSION} == SESSION
        assert (sent.kind, sent.parent_id) == (RunKind.ANSWER, run.pk)
        assert f"{sent.parent_entry_seq}-{sent.parent_entry_part}" == place
        assert sent.answers == {"look_up": "42", "look_up (2)": "", "cart_add": "denied"}

    @pytest.mark.parametrize(
        ("wrong", "place", "sentence"),
        [
            ({f"{SECOND}-output": "{oops", f"{SECOND}-format": "json"}, SECOND, "Line 1, column 2"),
            ({f"{APPROVAL}-decision": ""}, APPROVAL, "Approve or deny"),
        ],
    )
    async def test_refused_at_the_form_that_lacks_something(
        self,
        async_client: AsyncClient,
        agent: Agent,
        started: list[Any],
        wrong: dict[str, str],
        place: str,
        sentence: str,
    ) -> None:
        run = await made(leaving_three, agent)
        response = await self.post(async_client, run, FIRST, {**JOINT, **wrong})
        assert response.status_code == 422
        target = f'[data-calls="{run.pk}"][data-place="{place}"]'
        assert response.headers["HX-Retarget"] == target
        shown = response.content.decode()
        assert sentence in form_of(shown, place)
        assert shown.count("question-error") == 1
        assert "42</textarea>" in form_of(shown, FIRST)
        assert shown.count("hx-swap-oob") == 2
        assert started == []

    async def test_a_form_that_is_not_on_the_page_is_named(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(leaving_three, agent)
        form = {name: value for name, value in JOINT.items() if not name.startswith(SECOND)}
        response = await self.post(async_client, run, FIRST, form)
        assert response.status_code == 422
        shown = response.content.decode()
        assert "Unanswered calls are not loaded yet: look_up (2)." in form_of(shown, FIRST)
        assert f'data-place="{SECOND}"' not in shown
        assert started == []

    async def test_what_the_run_did_not_ask_is_not_sent(
        self, async_client: AsyncClient, agent: Agent, started: list[Any]
    ) -> None:
        run = await made(leaving_three, agent)
        await self.post(async_client, run, FIRST, {**JOINT, "4-0-output": "?", "99-0-output": "?"})
        assert len(started[0][0].request["input"]) == 3


class TestPreview:
    def shown(self, client: Client, run: Run, form: dict[str, str]) -> str:
        url = f"/runs/{run.pk}/calls/preview/"
        return str(client.post(url, {**at(SECOND), **form}).content.decode())

    def test_it_has_them_all(self, client: Client, agent: Agent) -> None:
        shown = self.shown(client, leaving_three(agent), JOINT)
        assert shown.index("c1") < shown.index("c2") < shown.index("a1")
        assert "mcp_approval_response" in shown

    def test_what_is_missing_is_named(self, client: Client, agent: Agent) -> None:
        shown = self.shown(client, leaving_three(agent), {**JOINT, f"{APPROVAL}-decision": ""})
        assert "cart_add: Approve or deny" in shown
        assert "function_call_output" not in shown


class TestAnswered:
    def answered(self, agent: Agent, run: Run, answers: dict[str, str]) -> None:
        about = {
            "kind": RunKind.ANSWER,
            "parent": run,
            "parent_entry_seq": 8,
            "parent_entry_part": 0,
        }
        reply(agent, **about, conversation=run.conversation, answers=answers)

    def test_every_call_shows_it(self, client: Client, agent: Agent) -> None:
        run = leaving_three(agent)
        self.answered(agent, run, {"look_up": "1", "look_up (2)": "2", "cart_add": "approved"})
        shown = page(client, run)
        for place in (FIRST, SECOND, APPROVAL):
            assert "Answer again" in form_of(shown, place)

    def test_one_that_was_answered_alone_is_the_only_one(
        self, client: Client, agent: Agent
    ) -> None:
        run = leaving_three(agent)
        self.answered(agent, run, {"look_up (2)": "2"})
        shown = page(client, run)
        assert "Answer again" in form_of(shown, SECOND)
        assert "unanswered" in form_of(shown, FIRST)
