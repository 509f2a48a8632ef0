"""Actions: the exact call in the panel, running it, and servers over MCP and A2A."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, Client
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from playground.engine import tasks
from playground.models import ActionServer, Agent, Run, RunKind
from playground.protocols import registry
from playground.protocols.events import Elicitation
from playground.protocols.frames import FrameKind
from playground.protocols.mcp.messages import read_call
from playground.stored_runs import read_events
from tests.support import action_runs
from tests.support.a2a_servers import Waiter
from tests.support.a2a_servers import serving as serving_a2a
from tests.support.background_tasks import wait_for_tasks
from tests.support.markup import Element, one_line, read
from tests.support.mcp_servers import Recipes
from tests.support.mcp_servers import serving as serving_mcp
from tests.support.nlweb_values import VALUES
from tests.support.run_page import offered
from tests.support.servers import Server, free_port, reply, serve

AGENT = "http://agent.example/api"
HTMX = {"HX-Request": "true"}
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
    return read(one_line(response))


def preview(client: Client, run: Run, number: int = 0, **fields: str) -> str:
    response = client.post(path(run, number, "preview/"), fields)
    assert response.status_code == 200, response.content
    return read(one_line(response)).text


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
    ({**GET, "endpoint": "http://agent.example@evil.example/"}, ["Target http://evil.example "],
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
    markup = read(response)
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
        assert not can_run(read(answer))
    assert Run.objects.count() == 1


class TestCredentials:
    @pytest.fixture
    def agent(self) -> Agent:
        return Agent.objects.create(
            name="Shop", url=AGENT, auth="bearer", auth_secret="canary-secret"
        )

    @pytest.mark.parametrize(
        ("endpoint", "is_offered"), [(GET["endpoint"], True), ("http://other.example/", False)]
    )
    def test_go_along_to_the_own_origin_where_the_user_says_so(
        self, client: Client, agent: Agent, endpoint: str, is_offered: bool
    ) -> None:
        run = offering({**GET, "endpoint": endpoint}, agent=agent)
        shown = panel(client, run).text
        assert "Authorization" not in shown
        assert ("Send the credentials of Shop" in shown) is is_offered
        text = preview(client, run, as_agent="1")
        assert ("Authorization" in text, "credentials of Shop" in text) == (is_offered,) * 2
        assert "canary" not in text


@pytest.mark.django_db(transaction=True)
class TestRunning:
    """POST makes a run of it, at a server that records what comes."""

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
            response = await async_client.post(path(run), headers=HTMX)
            child = await self._until_asked(server)
        html = response.text
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
                    path(run), {"confirmed": confirmed}, headers=HTMX
                )
                assert f"Send POST to <code>{server.url}/cart</code>?" in response.text
                assert response["HX-Retarget"] == "#action-panel-entry-4-0-confirmation"
            assert await Run.objects.acount() == 1
            fields = {"confirmed": "1", "params": '{"items": ["soup"]}',
                      "headers": '[["X-Mine", "1"]]'}  # fmt: skip
            await async_client.post(path(run), fields, headers=HTMX)
            child = await self._until_asked(server)
        assert server.requests[0].startswith(b"POST /cart HTTP/1.1\r\n")
        assert server.requests[0].endswith(b'{"items": ["soup"]}')
        assert b"X-Mine: 1\r\n" in server.requests[0]
        assert child.request["body"] == {"items": ["soup"]}

    async def test_the_users_secrets_are_not_kept(self, async_client: AsyncClient) -> None:
        async with serve(reply(b"{}")) as server:
            run = await _offering({**GET, "endpoint": f"{server.url}/cart"})
            fields = {"headers": '[["Authorization", "Bearer canary"]]'}
            await async_client.post(path(run), fields, headers=HTMX)
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
            response = await async_client.post(path(answer), {"page": str(run.pk)}, headers=HTMX)
            child = await self._until_asked(server)
        assert child.parent_id == answer.pk
        html = response.text
        assert 'id="children-entry-4-0"' in html
        assert f'ws-connect="/ws/runs/{run.pk}/"' in html

    async def test_a_page_that_it_did_not_come_of_is_not_believed(
        self, async_client: AsyncClient
    ) -> None:
        run = await _offering({**GET, "endpoint": f"http://127.0.0.1:{free_port()}/"})
        other = await _offering(GET)
        response = await async_client.post(path(run), {"page": str(other.pk)}, headers=HTMX)
        assert f'ws-connect="/ws/runs/{run.pk}/"' in response.text
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
    read(response)
    shown = client.post(path(run, 0, "preview/"), {"params": text, "headers": text})
    read(shown)


# Servers over MCP and A2A: their URL, loading their description, running their actions

MCP = {"name": "add_up", "description": "Add up", "protocol": "MCP", "server": "kitchen",
       "tool": "break", "arguments": {}}  # fmt: skip
ASK = {**MCP, "tool": "ask", "arguments": {"query": {"text": "eggs"}}}
A2A = {"name": "serve", "description": "Serve a table", "protocol": "A2A", "skill": "serve",
       "message": "soup"}  # fmt: skip
CARD = {"name": "Cook", "url": "http://cook.example/a2a", "skills": [{"id": "serve"}],
        "protocolVersion": "0.3.0", "capabilities": {}}  # fmt: skip
TOOLS = {
    "version": "2025-11-25", "server": {"name": "Kitchen"},
    "tools": [{"name": "scale", "description": "Scales a recipe", "inputSchema": {
        "properties": {"dish": {"type": "string", "title": "Dish"},
                       "servings": {"type": "integer"}, "cold": {"type": "boolean"}},
        "required": ["dish"]}}],
}  # fmt: skip
SCALE = {**MCP, "tool": "scale", "arguments": {"dish": "soup", "servings": 4, "extra": [1]}}


def text_of(html: bytes) -> str:
    return re.sub(r"\s+", " ", read(html.decode()).text)


def known(protocol: str, identifier: str, description: Any = None, **fields: Any) -> ActionServer:
    """A server that somebody has said something of."""
    url = fields.pop("url", f"http://{identifier}.example/mcp")
    return ActionServer.objects.create(
        protocol=protocol,
        identifier=identifier,
        url=url,
        description=description,
        described_at=timezone.now() if description else None,
        **fields,
    )


def server_panel(client: Client, action: Any, **fields: Any) -> tuple[Element, str]:
    response = client.get(path(offering(action, **fields)))
    assert response.status_code == 200
    return read(one_line(response)), text_of(response.content)


def field(markup: Element, name: str) -> Any:
    """The attributes of the one control of this name."""
    (found,) = (each for each in markup.elements if each.attributes.get("name") == name)
    return found.attributes


COOK = ("a2a", CARD["url"], CARD, CARD["url"])
KITCHEN = ("mcp", "kitchen", None, None)
SCALES = ("mcp", "kitchen", TOOLS, None)


def of_schema(schema: Any) -> tuple[Any, ...]:
    """Return the kitchen, whose tool has this schema."""
    (tool,) = TOOLS["tools"]  # type: ignore[misc]
    return ("mcp", "kitchen", {**TOOLS, "tools": [{**tool, "inputSchema": schema}]}, None)  # type: ignore[dict-item]


#: What is known of a server (protocol, name, description, URL), an action, words of its panel, the
#: values of fields, and whether it can be run.
SERVER_PANELS: dict[str, tuple[Any, Any, list[str], dict[str, str], bool]] = {
    "nothing is known": (
        None, MCP, ["URL of the server “kitchen”", "Enter the server URL first",
                    '"method": "tools/call"'], {"server_url": ""}, False),
    "its URL is known": (
        KITCHEN, MCP, ["http://kitchen.example/mcp", "Different origin than the agent"],
        {"server_url": "http://kitchen.example/mcp"}, True),
    "its tools are known": (
        SCALES, SCALE, ["Kitchen has the tool scale: Scales a recipe", "MCP 2025-11-25", "Dish",
                        '"extra"'], {"argument-0": "soup", "argument-1": "4"}, True),
    "an unknown tool": (
        SCALES, {**SCALE, "tool": "scales"},
        ["Kitchen has no tool “scales”.", "Did you mean “scale”?"], {}, True),
    "no tools": (("mcp", "kitchen", {"tools": []}, None), SCALE, ["It lists no tools."], {}, True),
    **{f"a schema that refers to itself, {n}": (
        of_schema(schema), SCALE, ["has the tool scale"], {}, True)
       for n, schema in enumerate((
           {"$ref": "#"},
           {"properties": {"dish": {"$ref": "#"}, "cold": {"type": "boolean"}}},
           {"properties": {"dish": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
       ))},
    "the card is wanted first": (
        None, {**A2A, "agent_url": CARD["url"]},
        ["Agent URL in the action http://cook.example/a2a", "Fetch the agent card first.",
         "sends one GET request to http://cook.example",
         "Fetch the agent card to see the exact request"], {}, False),
    "the card is known": (
        COOK, {**A2A, "agent_url": CARD["url"]},
        ["✓ Cook", "A2A 0.3, loaded", '"method": "message/send"'], {}, True),
    "an unknown skill": (
        COOK, {**A2A, "agent_url": CARD["url"], "skill": "server"},
        ["Skill “server” is not in the agent card.", "Did you mean “serve”?"], {}, True),
    "another URL of the same origin": (
        ("a2a", "http://cook.example/", CARD, CARD["url"]),
        {**A2A, "agent_url": "http://cook.example/"}, ["Different URL, same origin"], {}, True),
}  # fmt: skip


@pytest.mark.parametrize("name", SERVER_PANELS)
def test_the_panel_by_what_is_known_of_the_server(client: Client, name: str) -> None:
    server, action, words, values, is_runnable = SERVER_PANELS[name]
    if server:
        protocol, identifier, description, url = server
        known(protocol, identifier, description, **({"url": url} if url else {}))
    markup, text = server_panel(client, action)
    for each in words:
        assert each in text, each
    assert {key: field(markup, key)["value"] for key in values} == values
    assert can_run(markup) is is_runnable
    if name == "the card is known":
        assert field(markup, "message_id")["value"] in text


#: Fields of the panel of a tool with a schema, its arguments in the call (None without a call), the
#: values of controls that are replaced, words, and words that are not there.
TOOL_PREVIEWS: dict[str, tuple[dict[str, str], Any, dict[str, str], list[str], list[str]]] = {
    "the call follows the form, and the JSON with it": (
        {"via": "form", "argument-0": "stew", "argument-1": "", "argument-2": "true",
         "params": json.dumps(SCALE["arguments"])},
        {"extra": [1], "dish": "stew", "cold": True}, {"params": ""}, [], []),
    "the form follows the JSON": (
        {"via": "json", "argument-0": "stew", "params": '{"dish": "pie"}'},
        {"dish": "pie"}, {"argument-0": "pie"}, [], []),
    "what is wrong with the form": (
        {"via": "form", "argument-0": "", "argument-1": "two", "params": "{}"},
        None, {}, ["Dish is missing.", "servings: Invalid JSON", "Fix the errors"], []),
    # The tools were those of another address.
    "another address": (
        {"server_url": "http://other.example/mcp", "params": "{}"},
        {}, {}, ["POST http://other.example/mcp"], ["has the tool"]),
}  # fmt: skip


@pytest.mark.database
@pytest.mark.parametrize("name", TOOL_PREVIEWS)
def test_the_preview_of_a_tool(client: Client, name: str) -> None:
    fields, arguments, values, words, absent = TOOL_PREVIEWS[name]
    known("mcp", "kitchen", TOOLS)
    url = "http://kitchen.example/mcp"
    response = client.post(path(offering(SCALE), 0, "preview/"), {"server_url": url, **fields})
    markup, text = read(response), text_of(response.content)
    sent = re.search(r'"arguments": (\{.*?\}) \}', text)
    assert (sent and json.loads(sent[1])) == arguments
    assert can_run(markup) is (arguments is not None)
    named = {str(each.attributes.get("name")) for each in markup}
    assert ("params" in named) is ("params" in values)
    for control, value in values.items():
        found = field(markup, control)
        assert found["hx-swap-oob"] == "true" if control == "params" else found["value"] == value
    assert [each for each in words if each not in text] == []
    assert [each for each in absent if each in text] == []
    assert ActionServer.objects.get().url == url


class TestMcp:
    def test_knows_its_version_from_then_on(self, client: Client) -> None:
        known("mcp", "kitchen", mcp_version="2025-06-18")
        markup, _ = server_panel(client, MCP)
        chosen = [each.attributes["value"] for each in markup.elements
                  if each.tag == "option" and "selected" in each.attributes]  # fmt: skip
        assert chosen == ["2025-06-18"]

    @pytest.mark.parametrize(
        ("url", "reason"),
        [("ftp://x/", "http or https"), ("http://me:secret@x/", "password"), ("x", "http")],
    )
    def test_addresses_that_are_none(self, client: Client, url: str, reason: str) -> None:
        run = offering(MCP)
        response = client.post(path(run, 0, "preview/"), {"server_url": url})
        assert reason in text_of(response.content)
        assert client.post(path(run), {"server_url": url, "confirmed": "1"}).status_code == 422
        asked = client.post(path(run, 0, "server/"), {"server_url": url})
        assert "Loading failed." in text_of(asked.content)
        assert not ActionServer.objects.exists()

    @pytest.mark.database
    def test_one_users_servers_are_not_anothers(self, client: Client, settings: Any) -> None:
        settings.HOSTED = True
        ann, bob = (User.objects.create(username=name) for name in ("ann", "bob"))
        known("mcp", "kitchen", TOOLS, owner=bob)
        client.force_login(ann)
        markup, _ = server_panel(client, SCALE, owner=ann)
        assert field(markup, "server_url")["value"] == ""
        client.force_login(bob)
        markup, _ = server_panel(client, SCALE, owner=bob)
        assert field(markup, "server_url")["value"] == "http://kitchen.example/mcp"

    def test_private_addresses_are_refused_where_it_is_hosted(
        self, client: Client, settings: Any
    ) -> None:
        settings.HOSTED = True
        ann = User.objects.create(username="ann")
        client.force_login(ann)
        run = offering(MCP, owner=ann)
        for url in ("http://10.0.0.1/mcp", "http://localhost/mcp", "http://[fe80::1]/"):
            fields = {"server_url": url, "confirmed": "1"}
            assert client.post(path(run), fields).status_code == 422
        assert not Run.objects.filter(kind=RunKind.ACTION).exists()


class TestA2A:
    def test_another_origin_has_to_be_agreed_to(self, client: Client) -> None:
        known("a2a", "http://asked.example/", CARD, url=CARD["url"])
        run = offering({**A2A, "agent_url": "http://asked.example/"})
        shown = client.get(path(run))
        text = text_of(shown.content)
        assert "Different origin: http://cook.example instead of http://asked.example" in text
        assert "Send to http://cook.example, the origin in the card" in text
        assert not can_run(read(shown))
        for agreed in ("", "1", "http://asked.example/"):
            response = client.post(path(run), {"confirmed_url": agreed, "confirmed": "1"})
            assert response.status_code == 422
        response = client.post(path(run, 0, "preview/"), {"confirmed_url": CARD["url"]})
        assert can_run(read(response))
        asked = client.post(path(run), {"confirmed_url": CARD["url"]})
        assert f"Send the message to {CARD['url']}?" in text_of(asked.content)
        assert Run.objects.count() == 1

    @pytest.mark.parametrize("url", ["http://169.254.169.254/", "file:///etc/passwd", ""])
    def test_a_card_that_leads_astray(self, client: Client, url: str) -> None:
        known("a2a", "http://asked.example/", {**CARD, "url": url}, url=url)
        run = offering({**A2A, "agent_url": "http://asked.example/"})
        response = client.post(path(run), {"confirmed_url": url, "confirmed": "1"})
        assert response.status_code == 422
        assert not can_run(read(response))

    def test_credentials_are_offered_for_the_own_origin_only(self, client: Client) -> None:
        agent = Agent.objects.create(
            name="Shop", url="http://cook.example/ask", auth="bearer", auth_secret="canary"
        )
        known("a2a", CARD["url"], CARD, url=CARD["url"])
        action = {**A2A, "agent_url": CARD["url"]}
        run = offering(action, agent=agent)
        _, text = server_panel(client, action, agent=agent)
        assert "Send the credentials of Shop" in text
        shown = client.post(path(run, 0, "preview/"), {"as_agent": "1"}).content
        assert "Authorization" in text_of(shown)
        assert b"canary" not in shown
        other = {**CARD, "url": "http://other.example/"}
        ActionServer.objects.update(description=other, url=other["url"])
        shown = client.post(path(run, 0, "preview/"), {"as_agent": "1"}).content
        assert "Authorization" not in text_of(shown)


async def _post(client: AsyncClient, run: Run, more: str = "", **fields: str) -> str:
    response = await client.post(path(run, 0, more), fields, headers=HTMX)
    assert response.status_code == 200, response.content
    return text_of(response.content)


async def ended_action(kind: str = RunKind.ACTION) -> Run:
    """The newest run of this kind, once it has ended."""
    run = await Run.objects.filter(kind=kind).alatest("created_at")
    await wait_for_tasks()
    await run.arefresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
class TestMcpVersion:
    """The official package's server speaks both generations."""

    @staticmethod
    async def _run(client: AsyncClient, url: str, version: str, **fields: Any) -> Run:
        run = await _offering(MCP, **fields)
        await _post(client, run, server_url=url, mcp_version=version, confirmed="1")
        return await ended_action()

    @staticmethod
    async def _methods(run: Run) -> list[str]:
        def read() -> list[str]:
            calls = [frame.data for frame in run.read_frames() if frame.kind is FrameKind.CALL]
            return [str(read_call(data).method) for data in calls]

        return await sync_to_async(read)()

    @pytest.mark.parametrize(
        ("version", "first"),
        [("", "server/discover"), ("2025-06-18", "initialize"), ("2026-07-28", "server/discover"),
         ("2020-01-01", "server/discover")],
    )  # fmt: skip
    async def test_of_the_server(self, async_client: AsyncClient, version: str, first: str) -> None:
        with serving_mcp(Recipes()) as url:
            run = await self._run(async_client, url, version)
        assert (await self._methods(run))[0] == first
        kept = "" if version == "2020-01-01" else version
        assert run.request.get("mcp_version", "") == kept
        assert (await ActionServer.objects.aget()).mcp_version == kept

    @pytest.mark.parametrize("binding", ["mcp", "http"])
    async def test_of_the_agent(self, async_client: AsyncClient, binding: str) -> None:
        """It holds for the agent's own server, unless another is set for that."""
        with serving_mcp(Recipes()) as url:
            agent = await Agent.objects.acreate(
                name="Kitchen", url=url, binding=binding, mcp_version="2025-11-25"
            )
            run = await self._run(async_client, url, "", agent=agent)
            other = await self._run(async_client, url, "2026-07-28", agent=agent)
        first = "initialize" if binding == "mcp" else "server/discover"
        assert (await self._methods(run))[0] == first
        assert (await self._methods(other))[0] == "server/discover"

    async def test_while_tools_are_loaded(self, async_client: AsyncClient) -> None:
        with serving_mcp(Recipes()) as url:
            run = await _offering(MCP)
            fields = {"server_url": url, "mcp_version": "2025-06-18"}
            await _post(async_client, run, "server/", **fields)
        server = await ActionServer.objects.aget()
        assert (server.mcp_version, server.description["version"]) == ("2025-06-18", "2025-06-18")


@pytest.mark.django_db(transaction=True)
class TestReading:
    """What is read is read when somebody asks for it, and kept."""

    @pytest.mark.database
    async def test_the_tools_of_a_server(self, async_client: AsyncClient) -> None:
        with serving_mcp(Recipes()) as url:
            run = await _offering(MCP)
            text = await _post(async_client, run, "server/", server_url=url)
        assert "recipes has the tool break" in text
        server = await ActionServer.objects.aget()
        assert (server.protocol, server.identifier, server.url) == ("mcp", "kitchen", url)
        assert server.described_at is not None
        assert "session" not in server.description

    @pytest.mark.parametrize("name", ["", "k" * 3_000], ids=["none", "too long"])
    async def test_a_server_without_a_name_to_keep_it_by(
        self, async_client: AsyncClient, name: str
    ) -> None:
        with serving_mcp(Recipes()) as url:
            run = await _offering({**MCP, "server": name})
            await _post(async_client, run, "server/", server_url=url)
        assert not await ActionServer.objects.aexists()

    async def test_a_server_that_wants_to_know_who_asks(self, async_client: AsyncClient) -> None:
        recipes = Recipes(token="canary-of-thirty-two-characters!")
        with serving_mcp(recipes) as url:
            run = await _offering(MCP)
            text = await _post(async_client, run, "server/", server_url=url)
            assert "Loading failed." in text
            assert not await ActionServer.objects.aexists()
            headers = json.dumps([["Authorization", f"Bearer {recipes.token}"]])
            text = await _post(async_client, run, "server/", server_url=url, headers=headers)
        assert "has the tool break" in text
        server = await ActionServer.objects.aget()
        assert "canary" not in json.dumps(server.description)

    async def test_a_list_of_tools_that_never_ends(self, async_client: AsyncClient) -> None:
        async with serve(answer=_endless) as server:
            run = await _offering(MCP)
            text = await _post(async_client, run, "server/", server_url=f"{server.url}/mcp")
        assert "has no tool “break”" in text
        assert len(server.requests) < 50
        assert len((await ActionServer.objects.aget()).description["tools"]) <= 1_000

    async def test_nothing_is_kept_of_what_could_not_be_read(
        self, async_client: AsyncClient
    ) -> None:
        async with serve(reply(b"<html>", "text/html")) as server:
            run = await _offering(MCP)
            text = await _post(async_client, run, "server/", server_url=server.url)
            assert "Loading failed." in text
            run = await _offering({**A2A, "agent_url": server.url})
            text = await _post(async_client, run, "server/")
            assert "Loading failed. No agent card was found." in text
        assert not await ActionServer.objects.aexists()

    async def test_a_card(self, async_client: AsyncClient) -> None:
        with serving_a2a(Waiter()) as url:
            run = await _offering({**A2A, "agent_url": url})
            headers = json.dumps([["X-Api-Key", "canary"]])
            text = await _post(async_client, run, "server/", headers=headers)
        assert "✓ Waiter: Serves tables" in text
        assert '"method": "SendStreamingMessage"' in text
        server = await ActionServer.objects.aget()
        assert (server.protocol, server.identifier, server.url) == ("a2a", url, url)
        # Read once more, it is the same row.
        assert await ActionServer.objects.acount() == 1

    async def test_no_header_goes_along_with_the_request_for_a_card(
        self, async_client: AsyncClient
    ) -> None:
        async with serve(reply(json.dumps(CARD).encode())) as server:
            run = await _offering({**A2A, "agent_url": server.url})
            headers = json.dumps([["X-Api-Key", "canary"]])
            await _post(async_client, run, "server/", headers=headers)
        assert server.requests
        assert not any(b"canary" in request for request in server.requests)

    async def test_it_is_the_owners_alone(self, async_client: AsyncClient) -> None:
        owner = await User.objects.acreate(username="somebody")
        run = await _offering(MCP, owner=owner)
        response = await async_client.post(
            path(run, 0, "server/"), {"server_url": "http://x.example/"}
        )
        assert response.status_code == 404

    async def test_the_policy_holds(self, async_client: AsyncClient, settings: Any) -> None:
        settings.HOSTED = True
        ann = await User.objects.acreate(username="ann")
        await sync_to_async(async_client.force_login)(ann)
        run = await _offering(MCP, owner=ann)
        async with serve(reply(b"{}")) as server:
            text = await _post(async_client, run, "server/", server_url=server.url)
        assert "Loading failed." in text
        assert server.requests == []


def _endless(request: bytes) -> list[bytes]:
    body = json.loads(request.partition(b"\r\n\r\n")[2])
    if body["method"] == "tools/list":
        cursor = str(int(body.get("params", {}).get("cursor", 0)) + 1)
        tools = [{"name": f"tool-{cursor}-{n}"} for n in range(100)]
        result: Any = {"tools": tools, "nextCursor": cursor}
    elif body["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "Endless"}}
    else:
        error = {"code": -32601, "message": "no"}
        return [
            reply(json.dumps({"jsonrpc": "2.0", "id": body.get("id"), "error": error}).encode())
        ]
    return [reply(json.dumps({"jsonrpc": "2.0", "id": body["id"], "result": result}).encode())]


@pytest.mark.django_db(transaction=True)
class TestRunningOnServers:
    async def test_a_tool(self, async_client: AsyncClient) -> None:
        with serving_mcp(Recipes()) as url:
            run = await _offering(ASK)
            asked = await _post(async_client, run, server_url=url)
            assert f"Call the tool ask at {url}?" in asked
            await _post(async_client, run, server_url=url, confirmed="1")
            child = await ended_action()
        assert (child.binding, child.state, child.outcome) == ("mcp", "completed", "answer")
        assert (child.parent_id, child.parent_entry) == (run.pk, (4, 0))
        # Where the server is, is known from now on.
        assert (await ActionServer.objects.aget()).url == url

    async def test_a_message_is_sent_as_it_was_shown(self, async_client: AsyncClient) -> None:
        waiter = Waiter()
        with serving_a2a(waiter) as url:
            run = await _offering({**A2A, "agent_url": url})
            await _post(async_client, run, "server/")
            await _post(async_client, run, confirmed="1", message_id="as-shown", params='"hello"')
            child = await ended_action()
        assert (child.binding, child.outcome) == ("a2a", "answer")
        assert child.request["message_id"] == "as-shown"
        assert waiter.heard == [("hello", "serve", False)]

    async def test_a_question_of_a_task_is_answered_below_it(
        self, async_client: AsyncClient
    ) -> None:
        waiter = Waiter()
        agent = await Agent.objects.acreate(name="Shop", url="http://shop.example/")
        with serving_a2a(waiter) as url:
            run = await _offering({**A2A, "agent_url": url, "message": "ask"}, agent=agent)
            await _post(async_client, run, "server/")
            await _post(async_client, run, confirmed="1")
            asking = await ended_action()
            assert asking.outcome == "elicitation"
            assert await _asker(async_client, asking) == "Waiter: input required"
            place = await sync_to_async(_question)(asking)
            fields = {"seq": str(place[0]), "part": str(place[1]), "q0": "two", "nested": "1",
                      "page": str(run.pk)}  # fmt: skip
            answers = f"/runs/{asking.pk}/answers/"
            shown = await async_client.post(f"{answers}preview/", fields, headers=HTMX)
            assert "SendStreamingMessage" in text_of(shown.content)
            assert '"text": "two"' in text_of(shown.content)
            empty = await async_client.post(answers, {**fields, "q0": ""}, headers=HTMX)
            assert empty.status_code == 422
            response = await async_client.post(answers, fields, headers=HTMX)
            answer = await ended_action()
        html = response.text
        assert "This question has been answered" in html
        assert f'ws-connect="/ws/runs/{run.pk}/"' in html
        assert (answer.parent_id, answer.parent_entry, answer.kind) == (asking.pk, place, "action")
        assert (answer.outcome, answer.binding) == ("answer", "a2a")
        assert [heard[0] for heard in waiter.heard] == ["ask", "two"]
        sent = re.search(r'"messageId": "([^"]+)"', text_of(shown.content))
        assert sent
        assert answer.resume["messageId"] == sent[1]

    @pytest.mark.parametrize("action", ["accept", "decline"])
    async def test_a_tool_that_wants_to_know_more_is_called_again(
        self, async_client: AsyncClient, action: str
    ) -> None:
        recipes = Recipes(asks=True)
        agent = await Agent.objects.acreate(name="Shop", url="http://shop.example/")
        with serving_mcp(recipes) as url:
            run = await _offering(ASK, agent=agent)
            await _post(async_client, run, server_url=url, confirmed="1")
            asking = await ended_action()
            assert (asking.outcome, asking.binding) == ("elicitation", "mcp")
            assert await _asker(async_client, asking) == "kitchen: input required"
            fields = await _place(asking, q0="vegan", q1="4", action=action)
            answers = f"/runs/{asking.pk}/answers/"
            shown = await async_client.post(f"{answers}preview/", fields, headers=HTMX)
            assert '"inputResponses"' in text_of(shown.content)
            await async_client.post(answers, fields, headers=HTMX)
            answer = await ended_action()
            again = await async_client.post(answers, fields, headers=HTMX)
        assert (answer.parent_id, answer.kind, answer.outcome) == (asking.pk, "action", "answer")
        assert (again.status_code, await Run.objects.filter(parent=asking).acount()) == (422, 1)
        assert "has been answered" in text_of(again.content)
        assert [heard[0] for heard in recipes.heard] == [action]

    async def test_a_tool_that_asks_in_mid_call_is_answered_into_it(
        self, async_client: AsyncClient
    ) -> None:
        recipes = Recipes(asks=True)
        agent = await Agent.objects.acreate(name="Shop", url="http://shop.example/")
        with serving_mcp(recipes, generation="initialize") as url:
            run = await _offering(ASK, agent=agent)
            await _post(async_client, run, server_url=url, confirmed="1")
            asking = await Run.objects.aget(kind=RunKind.ACTION)
            while True:
                await asyncio.sleep(0.05)
                with contextlib.suppress(AssertionError):
                    fields = await _place(asking, q0="vegan", q1="4", action="accept")
                    break
            answers = f"/runs/{asking.pk}/answers/"
            response = await async_client.post(answers, fields, headers=HTMX)
            assert "This question has been answered" in text_of(response.content)
            asking = await ended_action()
            reply_ = await ended_action(RunKind.CLIENT_RESPONSE)
        assert (asking.outcome, asking.state) == ("answer", "completed")
        assert (reply_.parent_id, reply_.state) == (asking.pk, "completed")
        assert recipes.heard == [("accept", {"diet": "vegan", "guests": 4})]

    async def test_a_question_of_an_agent_that_was_deleted(self, async_client: AsyncClient) -> None:
        with serving_a2a(Waiter()) as url:
            run = await _offering({**A2A, "agent_url": url, "message": "ask"})
            await _post(async_client, run, "server/")
            await _post(async_client, run, confirmed="1")
            asking = await ended_action()
        place = await sync_to_async(_question)(asking)
        fields = {"seq": str(place[0]), "part": str(place[1]), "q0": "two"}
        response = await async_client.post(f"/runs/{asking.pk}/answers/", fields, headers=HTMX)
        assert response.status_code == 422
        assert await Run.objects.acount() == 2


async def _asker(client: AsyncClient, run: Run) -> str:
    """The label of the elicitation on the page of a run."""
    page = read(one_line(await client.get(f"/runs/{run.pk}/")))
    (label,) = [
        element.attributes["aria-label"]
        for element in page.find("section")
        if element.attributes.get("class") == "ask"
    ]
    return str(label)


async def _place(run: Run, **fields: str) -> dict[str, str]:
    """The fields of a form that answers what a run asks."""
    seq, part = await sync_to_async(_question)(run)
    return {"seq": str(seq), "part": str(part), **fields}


def _question(run: Run) -> tuple[int, int]:
    """Where a run asks."""
    for frame, events in read_events(run):
        for part, event in enumerate(events):
            if isinstance(event, Elicitation):
                return frame.seq, part
    raise AssertionError("The run asks nothing.")


def test_the_answers_of_an_action_are_shown_with_it(client: Client) -> None:
    parent = action_runs.offering()
    action_runs.action(parent, answers={"size": "large"})
    page = read(client.get(f"/runs/{parent.pk}/"))
    [values] = page.select("dl", class_="answered-values")
    assert values.facts == {"size": "large"}
