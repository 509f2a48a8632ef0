"""Actions: the exact call in the panel, and running it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.engine import tasks
from playground.models import Agent, Run, RunKind
from playground.protocols import registry
from tests.support.markup import Element, read
from tests.support.nlweb_values import VALUES
from tests.support.run_page import offered
from tests.support.servers import Server, free_port, reply, serve

AGENT = "http://agent.example/api"
GET = {"name": "look", "protocol": "HTTP", "method": "GET", "endpoint": "http://agent.example/cart",
       "description": "Look into the cart"}  # fmt: skip
POST = {**GET, "name": "add", "method": "POST", "params": {"items": [1]},
        "headers": {"X-Cart": "agent"}}  # fmt: skip


def offering(*actions: Any, **fields: Any) -> Run:
    """Return a run with one result at (4, 0) that has these actions."""
    return offered({"name": "Soup", "actions": list(actions)}, url=AGENT, **fields)


def path(run: Run, number: int = 0, more: str = "") -> str:
    return f"/runs/{run.pk}/actions/4/0/{number}/{more}"


def panel(client: Client, run: Run, number: int = 0) -> Element:
    response = client.get(path(run, number))
    assert response.status_code == 200, response.content
    return read(response.content.decode())


def preview(client: Client, run: Run, number: int = 0, **fields: str) -> str:
    response = client.post(path(run, number, "preview/"), fields)
    assert response.status_code == 200, response.content
    return read(response.content.decode()).text


def can_run(markup: Element) -> bool:
    buttons = [
        e for e in markup.find("button") if "action-panel-run" in (e.attributes.get("class") or "")
    ]
    return any("disabled" not in button.attributes for button in buttons)


#: An action, words of its panel, each there once unless it is a fact of the call, and whether it
#: can be run.
PANELS: list[tuple[Any, list[str], bool]] = [
    (POST, ["Look into the cart", "X-Cart", "from the agent", "application/json",
            '"items": [ 1 ]'], True),
    (GET, ["Same origin as the agent"], True),
    ({**GET, "endpoint": "http://agent.example:8080/cart"},
     ["Different origin than the agent", "new origin"], True),
    # What the agent did not say is marked.
    ({"endpoint": "cart", "params": {"a": 1}},
     ["has no method", "The URL is relative", "http://agent.example/api/cart"], True),
    # A name before the host is not where it goes.
    ({**GET, "endpoint": "http://agent.example@evil.example/"}, ["Targethttp://evil.example "],
     False),
    ({**GET, "endpoint": "javascript:alert(1)"}, ["javascript"], False),
    ({**GET, "endpoint": None}, ["The action has no endpoint."], False),
    ({**GET, "endpoint": " "}, ["The endpoint of the action is empty."], False),
    ({**GET, "endpoint": 5}, ["The endpoint of the action is not a string."], False),
    ({**GET, "endpoint": "http://169.254.169.254/"}, [], False),
    ({**GET, "headers": "a"}, ["The headers of the action are not an object."], False),
    ({**GET, "headers": {"Host": "evil.example"}}, ["Host is set by the playground"], False),
    ({**GET, "headers": {"Cookie": "a=b"}}, ["Cookie is set by the playground"], False),
    ({**GET, "headers": {"Transfer-Encoding": "chunked"}}, ["Transfer-Encoding"], False),
    ({**GET, "method": "CONNECT"}, ["CONNECT"], False),
    ({**GET, "protocol": "gopher"}, ["gopher"], False),
    ("nonsense", ["not an object"], False),
]  # fmt: skip


class TestPanel:
    @pytest.mark.parametrize(("action", "words", "is_runnable"), PANELS)
    def test_shows_the_exact_call_or_why_it_cannot_be_sent(
        self, client: Client, action: Any, words: list[str], is_runnable: bool
    ) -> None:
        run = offering(action)
        markup = panel(client, run)
        for each in words:
            assert each in f"{markup.words} ", each
            assert not each.endswith(".") or markup.words.count(each) == 1
        assert can_run(markup) is is_runnable
        preview(client, run)
        if not is_runnable:
            assert client.post(path(run), {"confirmed": "1"}).status_code == 422
        # Nothing is sent by looking.
        assert Run.objects.count() == 1

    def test_marks_what_the_agent_did_not_say(self, client: Client) -> None:
        markup = panel(client, offering({"endpoint": "cart", "params": {"a": 1}}))
        assert markup.words.count("inferred") == 4

    def test_an_address_that_the_policy_refuses(self, client: Client, settings: Any) -> None:
        hosts = ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "agent.example")
        user = User.objects.create(username="member")
        run = offering(*({**GET, "endpoint": f"http://{host}/"} for host in hosts), owner=user)
        client.force_login(user)
        settings.HOSTED = True
        assert [can_run(panel(client, run, n)) for n in range(5)] == [False] * 4 + [True]
        settings.OUTBOUND_ALLOW = ["127.0.0.1"]
        assert can_run(panel(client, run))

    @pytest.mark.parametrize("where", ["4/0/1/", "4/1/0/", "5/0/0/", "1/0/0/", "0/0/0/", "99/0/0/"])
    def test_what_is_not_there(self, client: Client, where: str) -> None:
        run = offering(GET)
        assert client.get(f"/runs/{run.pk}/actions/{where}").status_code == 404

    def test_an_agent_that_was_deleted(self, client: Client) -> None:
        run = offering(GET)
        assert run.agent is None
        assert "scripted" in panel(client, run).text


#: An action, what is filled in, words of the preview, words that are not in it, and whether the
#: action can then be run.
PREVIEWS: list[tuple[Any, dict[str, str], list[str], list[str], bool]] = [
    (POST, {"params": '{"items": ["soup"]}', "headers": '[["X-Mine", "1"]]'},
     ['"soup"', "X-Mine", "added"], [], True),
    (GET, {"params": '{"q": "soup & salt"}'}, ["http://agent.example/cart?q=soup+%26+salt"], [],
     True),
    (POST, {"params": " "}, [], ["items"], True),
    (POST, {"params": "{"}, ["Line 1", "Fix the errors"],
     ["http://agent.example/cart", "X-Cart", '"items"'], False),
    (POST, {"params": '{"a": NaN}'}, ["number"], [], False),
    (POST, {"params": '{"a": 1, "a": 2}'}, ["Duplicate name “a”"], [], False),
    (POST, {"headers": '[["Host", "a"]]'}, ["Host is set by the playground"], [], False),
    (POST, {"headers": '[["a b", "c"]]'}, ["not a valid header name"], [], False),
    (POST, {"headers": "nonsense"}, ["not valid JSON", "Fix the errors"],
     ["http://agent.example/cart", "X-Cart", '"items"'], False),
    (GET, {"params": "[]"}, [], [], False),
    ({**GET, "params": [1]}, {"params": "{}"}, [], [], True),
    ({**GET, "headers": {"Authorization": "Bearer canary"}}, {},
     ["The action itself includes credentials in Authorization"], ["canary"], True),
]  # fmt: skip


@pytest.mark.parametrize(("action", "fields", "words", "absent", "is_runnable"), PREVIEWS)
def test_the_preview_follows_what_is_filled_in(
    client: Client, action: Any, fields: Any, words: list[str], absent: list[str], is_runnable: bool
) -> None:
    run = offering(action)
    response = client.post(path(run, 0, "preview/"), fields)
    markup = read(response.content.decode())
    for each in words:
        assert each in markup.words, each
    for each in absent:
        assert each not in markup.words, each
    assert can_run(markup) is is_runnable
    (place,) = markup.select(hx_swap_oob=None)
    assert place.attributes["id"] == "action-panel-entry-4-0-ready"
    if not is_runnable:
        answer = client.post(path(run), {**fields, "confirmed": "1"})
        assert answer.status_code == 422
        assert not can_run(read(answer.content.decode()))
    assert Run.objects.count() == 1


class TestCredentials:
    @pytest.fixture
    def agent(self) -> Agent:
        return Agent.objects.create(
            name="Shop", url=AGENT, auth="bearer", auth_secret="canary-secret"
        )

    def test_none_go_along_by_themselves(self, client: Client, agent: Agent) -> None:
        html = client.get(path(offering(GET, agent=agent))).content.decode()
        assert "Authorization" not in html
        assert "Send the credentials of Shop" in html

    def test_are_offered_for_the_own_origin_only(self, client: Client, agent: Agent) -> None:
        run = offering({**GET, "endpoint": "http://other.example/"}, agent=agent)
        assert "Send the credentials" not in panel(client, run).text
        assert "Authorization" not in preview(client, run, as_agent="1")

    def test_go_along_where_the_user_says_so(self, client: Client, agent: Agent) -> None:
        text = preview(client, offering(GET, agent=agent), as_agent="1")
        assert "Authorization" in text
        assert "credentials of Shop" in text
        assert "canary" not in text


@pytest.mark.django_db(transaction=True)
class TestRunning:
    """POST makes a run of it, at a server that records what comes."""

    htmx = {"HX-Request": "true"}

    async def _ended(self) -> list[Run]:
        found = [run async for run in Run.objects.filter(kind=RunKind.ACTION)]
        for run in found:
            await tasks.cancel(run)
        return found

    async def _until_asked(self, server: Server) -> Run:
        await server.asked.wait()
        (run,) = await self._ended()
        return run

    async def test_a_get_runs_at_once(self, async_client: AsyncClient) -> None:
        async with serve(reply(b'{"items": []}')) as server:
            run = await _offering({**GET, "endpoint": f"{server.url}/cart"})
            response = await async_client.post(path(run), headers=self.htmx)
            child = await self._until_asked(server)
        html = response.content.decode()
        assert response.status_code == 200
        assert f'id="child-{child.pk}"' in html
        assert 'id="children-entry-4-0" data-patched hx-swap-oob="true"' in html
        assert f'ws-connect="/ws/runs/{run.pk}/"' in html
        assert (child.parent_id, child.parent_entry, child.kind) == (run.pk, (4, 0), "action")
        assert (child.protocol, child.text) == (registry.ACTION, "look")
        assert server.requests[0].startswith(b"GET /cart HTTP/1.1\r\n")

    async def test_anything_else_asks_first(self, async_client: AsyncClient) -> None:
        async with serve(reply(b'{"saved": true}')) as server:
            run = await _offering({**POST, "endpoint": f"{server.url}/cart"})
            for confirmed in ("", "0", "yes"):
                response = await async_client.post(
                    path(run), {"confirmed": confirmed}, headers=self.htmx
                )
                assert f"Send POST to <code>{server.url}/cart</code>?" in response.content.decode()
                assert response["HX-Retarget"] == "#action-panel-entry-4-0-confirmation"
            assert await Run.objects.acount() == 1
            fields = {"confirmed": "1", "params": '{"items": ["soup"]}',
                      "headers": '[["X-Mine", "1"]]'}  # fmt: skip
            await async_client.post(path(run), fields, headers=self.htmx)
            child = await self._until_asked(server)
        assert server.requests[0].startswith(b"POST /cart HTTP/1.1\r\n")
        assert server.requests[0].endswith(b'{"items": ["soup"]}')
        assert b"X-Mine: 1\r\n" in server.requests[0]
        assert child.request["body"] == {"items": ["soup"]}

    async def test_the_users_secrets_are_not_kept(self, async_client: AsyncClient) -> None:
        async with serve(reply(b"{}")) as server:
            run = await _offering({**GET, "endpoint": f"{server.url}/cart"})
            fields = {"headers": '[["Authorization", "Bearer canary"]]'}
            await async_client.post(path(run), fields, headers=self.htmx)
            child = await self._until_asked(server)
        assert b"Bearer canary" in server.requests[0]
        assert "canary" not in json.dumps([child.request, child.headers])

    async def test_without_scripts_it_leads_back(self, async_client: AsyncClient) -> None:
        run = await _offering({**GET, "endpoint": f"http://127.0.0.1:{free_port()}/"})
        response = await async_client.post(path(run))
        assert (response.status_code, response["Location"]) == (302, f"/runs/{run.pk}/")
        await self._ended()

    async def test_an_action_of_a_reply_belongs_to_that_and_shows_on_the_page(
        self, async_client: AsyncClient
    ) -> None:
        async with serve(reply(b"{}")) as server:
            run = await _offering(GET)
            answer = await _offering(
                {**GET, "endpoint": f"{server.url}/"},
                parent=run, kind=RunKind.POLL, parent_entry_seq=4, parent_entry_part=0,
            )  # fmt: skip
            response = await async_client.post(
                path(answer), {"page": str(run.pk)}, headers=self.htmx
            )
            child = await self._until_asked(server)
        assert child.parent_id == answer.pk
        html = response.content.decode()
        assert 'id="children-entry-4-0"' in html
        assert f'ws-connect="/ws/runs/{run.pk}/"' in html

    async def test_a_page_that_it_did_not_come_of_is_not_believed(
        self, async_client: AsyncClient
    ) -> None:
        run = await _offering({**GET, "endpoint": f"http://127.0.0.1:{free_port()}/"})
        other = await _offering(GET)
        response = await async_client.post(path(run), {"page": str(other.pk)}, headers=self.htmx)
        assert f'ws-connect="/ws/runs/{run.pk}/"' in response.content.decode()
        await self._ended()


async def _offering(*actions: Any, **fields: Any) -> Run:
    return await sync_to_async(offering)(*actions, **fields)


@hypothesis(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    VALUES,
    st.sampled_from(["", "name", "description", "protocol", "method", "endpoint", "params",
                     "headers", "server", "tool", "arguments", "agent_url", "skill", "message"]),
    st.sampled_from(["HTTP", "MCP", "A2A"]),
    st.text(max_size=20),
)  # fmt: skip
def test_no_action_breaks_the_panel(
    client: Client, value: Any, key: str, protocol: str, text: str
) -> None:
    action: Any = {**POST, "protocol": protocol, "server": "s", "tool": "t", "agent_url": AGENT,
                   "skill": "k"}  # fmt: skip
    action = {**action, key: value} if key else value
    run = offering(action)
    response = client.get(path(run))
    assert response.status_code == 200, response.content
    read(response.content.decode())
    shown = client.post(path(run, 0, "preview/"), {"params": text, "headers": text})
    read(shown.content.decode())
