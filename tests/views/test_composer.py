"""The composer: requests refused with a reason, previewed or sent; schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client

from playground.engine import tasks
from playground.models import (
    Agent,
    Collection,
    Environment,
    Folder,
    Run,
    SavedRequest,
    Variable,
)
from playground.protocols import registry, schemas
from playground.protocols.exchange import Exchange, Target
from tests.support.markup import read
from tests.support.servers import free_port
from tests.support.stored_runs import past_run
from tests.views.conftest import form

PREVIEW = "/compose/preview/"

SAVED = "/saved-requests/"
DEEP = "[" * 101 + "]" * 101
ADDRESS = "Enter a URL or choose an agent"
PAIRS = "Headers must be an array of [name, value] pairs."
OBJECT = "The request must be a JSON object."
FORBIDDEN = "set by the playground"

#: The composer's fields, what is said about them where they are sent, with the place in the
#: document, and where they are saved: "=" for the same, "" for nothing.
REFUSED: list[tuple[str, dict[str, str], str, str, str]] = [
    ("invalid JSON", form('{\n  "query": x}'), "", "Line 2, column 12: expected a value.", "="),
    ("no document", form(""), "", "Line 1, column 1: expected a value.", "="),
    ("an empty document", form(" "), "", "Line 1, column 2: expected a value.", "="),
    ("a list", form("[]"), "", OBJECT, "="),
    ("null", form("null"), "", OBJECT, "="),
    ("a string", form('"{{name}}"'), "", OBJECT, "="),
    ("a name twice", form('{"a": 1, "a": 2}'), "", "Duplicate name “a” in an object.", "="),
    ("not a number", form('{"a": NaN}'), "", "Line 1, column 7: Not a valid JSON number.", "="),
    ("infinity", form('{"a": -Infinity}'), "", "Not a valid JSON number", "="),
    ("a number too large", form('{"a": 1e999}'), "", "Not a valid JSON number", "="),
    ("an endless number", form('{"a": ' + "9" * 5000 + "}"), "", "Not a valid JSON number", "="),
    ("too deep", form('{"a":' + DEEP + "}"), "",
     "Line 1, column 105: The document is nested more than 100 levels deep.", "="),
    ("much too deep", form("[" * 100_000), "", "nested more than 100 levels deep", "="),
    ("no query", form({}), "/query", "The request requires a query.", ""),
    ("a query without text", form({"query": {}}), "/query/text", "The query requires text.", ""),
    ("a blank text", form({"query": {"text": " "}}), "/query/text", "The query requires text.", ""),
    ("a text that is none", form({"query": {"text": 1}}), "/query/text", "text must be a string.",
     ""),
    ("an await without action", form({"promise_token": "t"}), "/action", "requires an action", ""),
    ("no agent", form(agent=""), "", ADDRESS, ""),
    ("a blank address", form(agent="", address=" "), "", ADDRESS, ""),
    ("an unknown agent", form(agent="nobody"), "", ADDRESS, ""),
    # What was meant for an agent goes nowhere else.
    ("an unknown agent with an address", form(agent="nobody", address="http://a.example"), "",
     ADDRESS, ""),
    ("the name of an agent", form(agent="Recipes"), "", ADDRESS, ""),
    ("a long agent", form(agent="x" * 5000), "", ADDRESS, ""),
    ("headers that are no JSON", form(headers="{"), "#headers", "The headers are not valid JSON.",
     "="),
    ("headers too deep", form(headers="[" * 100_000), "#headers", "are not valid JSON", "="),
    ("headers that are null", form(headers="null"), "#headers", PAIRS, "="),
    ("headers that are no list", form(headers='{"a": "b"}'), "#headers", PAIRS, "="),
    ("a header that is no pair", form(headers='[["a"]]'), "#headers", PAIRS, "="),
    ("a header with a number", form(headers='[["a", 1]]'), "#headers", PAIRS, "="),
    ("a header name with a space", form(headers='[["a b", "c"]]'), "#headers",
     "not a valid header name", ""),
    ("Host", form(headers='[["hOsT", "a"]]'), "#headers", FORBIDDEN, ""),
    ("Cookie", form(headers='[["Cookie", "a=b"]]'), "#headers", FORBIDDEN, ""),
    ("Content-Length", form(headers='[["Content-Length", "1"]]'), "#headers", FORBIDDEN, ""),
    ("a line break", form(headers='[["X-A", "a\\r\\nX-B: c"]]'), "#headers",
     "control character", ""),
    ("a NUL", form(headers='[["X-A", "a\\u0000b"]]'), "#headers", "control character", ""),
    ("an umlaut", form(headers='[["X-A", "ä"]]'), "#headers", "non-ASCII characters", ""),
    ("authentication that is no JSON", form(auth="x"), "#auth",
     "Line 1, column 1: expected a value.", "Invalid auth. ="),
    ("expectations that are no JSON", form(expectations="[1,"), "#expectations",
     "Line 1, column 4: expected a value.", "Invalid expectations. ="),
    ("expectations too deep", form(expectations=DEEP), "#expectations",
     "Line 1, column 101: The document is nested more than 100 levels deep.", "="),
    ("expectations that are no list", form(expectations="{}"), "#expectations",
     "Expectations must be an array, not an object.", "The expectations must be a list."),
    ("expectations that are null", form(expectations="null"), "#expectations",
     "Expectations must be an array, not null.", "The expectations must be a list."),
    ("an expectation that is none", form(expectations="[1]"), "#expectations",
     "Expectations, /0: An expectation must be an object, not a number.", "="),
    ("half an expectation", form(expectations='[{"type": "state"}]'), "#expectations",
     "Expectations, /0/equals: Add equals.", "="),
    ("an environment that is gone", form(environment="gone"), "", "“gone” was deleted", ""),
    ("a long environment that is gone", form(environment="x" * 200), "",
     f"The environment “{'x' * 80}” was deleted. Select another one.", ""),
]  # fmt: skip


def problems(html: str) -> list[tuple[str | None, str]]:
    """Return the place and the text of each problem."""
    found = read(html).select("li", data_level="error")
    return [(each.attributes["data-pointer"], each.words) for each in found]


@pytest.mark.parametrize(
    ("fields", "pointer", "message", "saved"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_what_cannot_be_sent_or_saved_is_refused_with_a_reason(
    client: Client, agent: Agent, fields: dict[str, str], pointer: str, message: str, saved: str
) -> None:
    response = client.post("/runs/", fields, headers={"HX-Request": "true"})
    assert response.status_code == 422
    assert response["HX-Retarget"] == "#compose-problems"
    assert not Run.objects.exists()
    # And it is said before it is sent, beside a document that can be read as it stands.
    preview = client.post(PREVIEW, fields)
    assert preview.status_code == 200
    for html in (response.text, preview.text):
        ((place, text),) = problems(html)
        assert place == pointer
        assert message in text
    assert ("effective-line" in preview.text) == pointer.startswith("/")
    Collection.objects.create(name="Kept")
    answer = client.post(SAVED, {**fields, "name": "Eggs", "place": "kept"})
    assert answer.status_code == (422 if saved else 200)
    assert saved.replace("=", message) in read(answer).words


#: Fields that only a saved request has, and what is wrong with them.
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"auth": "null"}, "The auth must be an object."),
        ({"auth": "[1]"}, "The auth must be an object."),
        ({"captures": "{"}, "Line 1, column 2: expected a property name in double quotes."),
        ({"captures": "[]"}, "The captures must be an object."),
        ({"captures": "null"}, "The captures must be an object."),
        ({"captures": '{"id": 1}'}, "Captures, /id: A path must be a string, not a number."),
        ({"captures": '{"a b": "$.a"}'}, "Captures, /a b: Variable names contain only letters,"),
    ],
)
def test_what_cannot_be_saved(
    client: Client, agent: Agent, fields: dict[str, str], message: str
) -> None:
    Collection.objects.create(name="Kept")
    assert problems(client.post(PREVIEW, form(**fields)).text) == []
    answer = client.post(SAVED, form(name="Eggs", place="kept", **fields))
    assert answer.status_code == 422
    assert message in read(answer).text


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("address", " http://a.example ", "http://a.example"),
        ("address", "{{base}}/ask", "{{base}}/ask"),
        ("document", ' {"a": null} ', {"a": None}),
        ("document", '{"a": "{{name}}"}', {"a": "{{name}}"}),
        *((name, text, empty) for name, empty in (
            ("headers", []), ("auth", {}), ("expectations", []), ("captures", {}))
          for text in ("", " \n\t")),
        ("headers", '[[" X-A ", " 1 "], ["", "x"]]', [["X-A", "1"]]),
        # Names in it may have no value yet: it is checked when they have.
        ("headers", '[["{{name}}", "a\\nb"], ["Host", "x"]]',
         [["{{name}}", "a\nb"], ["Host", "x"]]),
        ("auth", "{}", {}),
        ("auth", '{"type": "bearer", "secret": "key"}', {"type": "bearer", "secret": "key"}),
        ("captures", '{"id": "$.id"}', {"id": "$.id"}),
    ],
)  # fmt: skip
def test_what_a_field_stands_for(client: Client, name: str, text: str, value: Any) -> None:
    Collection.objects.create(name="Kept")
    fields = form(agent="", address="http://b.example", protocol="nlweb", binding="http")
    answer = client.post(SAVED, {**fields, name: text, "name": "Eggs", "place": "kept"})
    assert answer.status_code == 200
    assert getattr(SavedRequest.objects.get(), name) == value
    del fields["headers"]
    assert client.post(SAVED, {**fields, "name": "Ham", "place": "kept"}).status_code == 200


@pytest.mark.parametrize(
    "key", ["", "eggs", "kept/", "/eggs", "kept/gone", "gone/eggs", "kept/warm/eggs", "kept/eggs"]
)
def test_the_saved_request_that_is_open(
    client: Client, agent: Agent, started: list[Any], key: str
) -> None:
    kept = Collection.objects.create(name="Kept")
    folder = Folder.objects.create(collection=kept, name="Warm")
    eggs = SavedRequest.objects.create(collection=kept, folder=folder, name="Eggs")
    client.post("/runs/", form(saved=key))
    assert started[0][0].saved_request == (eggs if key == "kept/eggs" else None)


@pytest.mark.parametrize(("name", "is_hers"), [("ann", True), ("bob", False)])
def test_agents_environments_and_saved_requests_are_the_users(
    client: Client, settings: Any, started: list[Any], name: str, is_hers: bool
) -> None:
    settings.HOSTED = True
    users = {each: User.objects.create(username=each) for each in ("ann", "bob")}
    own = {"owner": users["ann"]}
    Agent.objects.create(name="Hers", url="http://a.example", **own)
    Environment.objects.create(name="Staging", **own)
    kept = Collection.objects.create(name="Kept", **own)
    SavedRequest.objects.create(collection=kept, name="Eggs")
    client.force_login(users[name])
    fields = form(agent="hers", environment="staging", saved="kept/eggs")
    answer = client.post("/runs/", fields)
    if is_hers:
        assert [run.saved_request.name for run, _ in started] == ["Eggs"]
    else:
        text = read(answer).text
        assert ADDRESS in text
        assert "“staging” was deleted" in text
    client.post("/runs/", form(agent="", address="http://a.example", saved="kept/eggs"))
    assert (started[-1][0].saved_request is not None) == is_hers


def test_everything_that_is_wrong_is_said_at_once_and_in_the_order_of_the_fields(
    client: Client, agent: Agent
) -> None:
    wrong = dict.fromkeys(("agent", "document", "headers", "auth", "expectations"), "x")
    found = problems(client.post(PREVIEW, form(environment="x", **wrong)).text)
    assert [place for place, _ in found] == ["", "", "#headers", "#auth", "#expectations", ""]
    assert [ADDRESS in found[0][1], "deleted" in found[-1][1]] == [True, True]


def test_missing_fields_are_no_crash(client: Client, agent: Agent) -> None:
    for url, status in (("/runs/", 422), (PREVIEW, 200)):
        response = client.post(url, {})
        assert response.status_code == status
        assert ADDRESS in response.text
    # The last of several values counts.
    response = client.post(PREVIEW, {**form(), "agent": ["nobody", "recipes"]})
    assert problems(response.text) == []


HI = {"input": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
OVER_HTTP, OVER_MCP = "http://agent.example/api/ask", "http://agent.example/api/mcp"
#: Columns of the agent, the composer's fields, what its preview has, and what not.
PREVIEWS: dict[str, tuple[dict[str, str], dict[str, str], list[str], list[str]]] = {
    "the call": (
        {}, form({"query": {"text": "é <b>"}}, headers='[["X-Trace", "t1"]]'),
        ["POST", OVER_HTTP, "X-Trace", '"text": "é &lt;b&gt;"', "new origin"],
        ["<b>", "handshake", 'data-level="warning"']),
    "of the playground itself": ({"url": "http://testserver/demo"}, form(), [], ["new origin"]),
    "a warning": (
        {}, form({"query": {"text": "a"}, "extra": 1}), ['data-level="warning"', "effective-line"],
        []),
    "half a surrogate pair": ({}, form('{"query": {"text": "\\ud83d"}}'), ["\\ud83d"], []),
    "an unknown version": ({}, form(version="9.9"), ["effective-line"], []),
    "over MCP": (
        {}, form(binding="mcp"),
        [OVER_MCP, '"method": "tools/call"', '"text": "eggs"', "The handshake is sent first"], []),
    **{f"binding {name}": ({}, form(binding=name), [OVER_HTTP], [])
       for name in ("", "carrier-pigeon", "http")},
    "MCP carries nothing but NLWeb": (
        {"protocol": "agent-api", "version": "1"}, form(HI, binding="mcp", version="1"),
        ["effective-line"], ["tools/call"]),
    "legacy NLWeb": (
        {}, form({"query": {"text": "eggs"}, "prefer": {"streaming": True}}, version="legacy"),
        ["GET", f"{OVER_HTTP}?query=eggs"], ["POST"]),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "fields", "shown", "hidden"), PREVIEWS.values(), ids=PREVIEWS)
def test_the_preview(
    client: Client,
    agent: Agent,
    columns: dict[str, str],
    fields: dict[str, str],
    shown: list[str],
    hidden: list[str],
) -> None:
    Agent.objects.update(**columns)
    html = client.post(PREVIEW, fields).text.replace("&quot;", '"')
    # Names and values are marked up.
    text = f"{html} {read(html).text}"
    assert [each for each in shown if each not in text] == []
    assert [each for each in hidden if each in html] == []


@pytest.mark.usefixtures("agent")
class TestPreview:
    @pytest.mark.parametrize(
        "auth",
        [
            {"auth": "bearer"},
            {"auth": "basic", "auth_user": "ada"},
            {"auth": "api_key"},
            {"auth": "api_key", "auth_header": "X-Shop"},
        ],
    )
    def test_shows_dots_for_secrets(
        self, client: Client, agent: Agent, auth: dict[str, str]
    ) -> None:
        Agent.objects.update(**auth)
        agent.refresh_from_db()
        agent.auth_secret = "canary-77"
        agent.save()
        headers = '[["X-Token", "canary-88"]]'
        html = client.post(PREVIEW, form(headers=headers)).text
        assert "canary" not in html
        assert "Y2FuYXJ5" not in html
        assert html.count('class="dots"') == 2

    @pytest.mark.database
    def test_flags_an_origin_that_is_new(self, client: Client) -> None:
        def flagged() -> bool:
            return "new origin" in client.post(PREVIEW, form()).text

        assert flagged()
        # The same beginning is not the same origin.
        past_run(url="http://agent.example.evil.example/ask")
        past_run(url="http://agent.example:8080/ask")
        assert flagged()
        past_run(url="http://agent.example/other")
        assert not flagged()

    def test_shows_what_is_carried_before_there_is_a_text(self, client: Client) -> None:
        document = {
            "query": {"text": ""},
            "context": {"@type": "ConversationalContext", "prev": ["pasta"]},
            "meta": {"version": "0.55", "session_context": {"turn": 2}},
        }
        text = read(client.post(PREVIEW, form(document))).text
        assert text.index("incomplete") < text.index("The query requires text.")
        assert text.index("The query requires text.") < text.index('"pasta"')
        assert '"turn": 2' in text
        sendable = client.post(PREVIEW, form({"query": {"text": "a"}})).text
        assert "incomplete" not in sendable


@pytest.mark.usefixtures("target", "ended")
@pytest.mark.django_db(transaction=True)
class TestSend:
    @pytest.fixture
    def target(self, transactional_db: None) -> Agent:
        """An agent that nobody answers for: its runs end at once."""
        url = f"http://127.0.0.1:{free_port()}"
        return Agent.objects.create(name="Recipes", url=url)

    @pytest.fixture
    async def ended(self) -> Any:
        """Wait for the runs that a test began, so that none outlives its database."""
        yield
        async for run in Run.objects.all():
            await tasks.cancel(run)

    async def test_creates_a_run_and_pushes_its_address(
        self, async_client: AsyncClient, target: Agent
    ) -> None:
        fields = form(
            {"query": {"text": "soup"}},
            version="0.54",
            headers='[["X-A", "1"], ["Authorization", "Bearer canary"], ["", "left out"]]',
        )
        response = await async_client.post("/runs/", fields, headers={"HX-Request": "true"})
        run = await Run.objects.aget()
        assert response.status_code == 200
        assert response["HX-Push-Url"] == f"/runs/{run.pk}/"
        assert f'ws-connect="/ws/runs/{run.pk}/"' in response.text
        assert (run.text, run.version, run.agent_id) == ("soup", "0.54", target.pk)
        assert run.headers == [["X-A", "1"], ["Authorization", ""]]
        assert run.request == {"query": {"text": "soup"}}

    async def test_without_scripts_it_redirects_to_the_run(self, async_client: AsyncClient) -> None:
        response = await async_client.post("/runs/", form())
        run = await Run.objects.aget()
        assert (response.status_code, response["Location"]) == (302, f"/runs/{run.pk}/")

    async def test_two_sends_are_two_runs(self, async_client: AsyncClient) -> None:
        for _ in range(2):
            await async_client.post("/runs/", form())
        assert await Run.objects.acount() == 2

    @pytest.mark.database
    async def test_a_text_with_half_a_surrogate_pair_is_sent(
        self, async_client: AsyncClient
    ) -> None:
        response = await async_client.post("/runs/", form('{"query": {"text": "a\\ud83db"}}'))
        run = await Run.objects.aget()
        assert run.text == "a?b"
        page = await async_client.get(response["Location"])
        assert page.status_code == 200
        assert "a\\ud83db" in page.text

    async def test_stopping(self, async_client: AsyncClient) -> None:
        await async_client.post("/runs/", form())
        run = await Run.objects.aget()
        url = f"/runs/{run.pk}/cancellation/"
        response = await async_client.post(url, headers={"HX-Request": "true"})
        assert (response.status_code, response.content) == (204, b"")
        plain = await async_client.post(url)
        assert (plain.status_code, plain["Location"]) == (302, f"/runs/{run.pk}/")
        await run.arefresh_from_db()
        assert run.is_final


def test_stopping_a_run_that_is_over_changes_nothing(client: Client, run: Run) -> None:
    assert client.post(f"/runs/{run.pk}/cancellation/").status_code == 302
    run.refresh_from_db()
    assert run.state == "completed"


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_schemas_are_served(client: Client, version: str) -> None:
    for name in schemas.names("nlweb", version):
        response = client.get(f"/schemas/nlweb/{version}/{name}.json")
        assert response.status_code == 200
        assert response.json() == json.loads(json.dumps(schemas.load("nlweb", version, name)))


@pytest.mark.parametrize(
    "path", ["nlweb/0.55/nothing", "nlweb/9/ask-request", "other/0.55/ask-request", "nlweb/../x"]
)
def test_unknown_schemas_are_not_found(client: Client, path: str) -> None:
    assert client.get(f"/schemas/{path}.json").status_code == 404


@pytest.mark.usefixtures("agent")
class TestBinding:
    def test_a_body_that_is_the_document_is_marked_and_its_values_are_listed(
        self, client: Client, agent: Agent
    ) -> None:
        environment = Environment.objects.create(name="Staging")
        environment.variables.create(name="city", value="Paris")
        environment.variables.create(
            name="key", kind="secret", secret="canary-4711", allowed_origins=[agent.url]
        )
        client.post("/environments/active/", {"environment": environment.slug})
        document = {"query": {"text": "eggs in {{city}}", "site": "{{key}}"}}
        page = client.post(PREVIEW, form(document)).text
        assert "data-document" in page
        values = read(page).text.partition("{{city}}")[2]
        assert values.index("Paris") < values.index("{{key}}")
        assert "canary-4711" not in page
        over_mcp = client.post(PREVIEW, form(document, binding="mcp")).text
        assert "data-document" not in over_mcp
        assert "3 headers" in read(page).text

    def test_the_control_shows_how_a_run_went(self, client: Client, agent: Agent) -> None:
        run = past_run(agent=agent, url="http://agent.example/mcp", binding="mcp")
        for url, chosen in (("/", "http"), (f"/runs/{run.pk}/", "mcp")):
            inputs = read(client.get(url)).find("input")
            radios = [e.attributes for e in inputs if e.attributes.get("name") == "binding"]
            assert [e["value"] for e in radios if "checked" in e] == [chosen]


@pytest.mark.parametrize(("headers", "built"), [("[]", 1), ('[["X-Key", "{{token}}"]]', 2)])
def test_a_preview_builds_one_exchange_of_what_is_shown_and_one_of_what_is_sent(
    client: Client, agent: Agent, monkeypatch: pytest.MonkeyPatch, headers: str, built: int
) -> None:
    environment = Environment.objects.create(name="Staging")
    Variable.objects.create(
        environment=environment, name="token", kind="secret", secret="canary-4711",
        allowed_origins=[agent.url],
    )  # fmt: skip
    found: list[Target] = []
    real = registry.exchange

    def exchange(target: Target, *args: Any, **options: Any) -> Exchange:
        found.append(target)
        return real(target, *args, **options)

    monkeypatch.setattr(registry, "exchange", exchange)
    fields = form(headers=headers, environment=environment.slug)
    response = client.post(PREVIEW, fields)
    assert not response.context["problems"]
    assert "canary-4711" not in response.text
    assert len(found) == built
    assert [("X-Key", "canary-4711") in target.headers for target in found] == [False, True][:built]
