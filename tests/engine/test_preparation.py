"""Preparation of a request template: what is sent, what is stored, what is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from playground.engine import preparation, runs
from playground.engine.preparation import RequestTemplate, VariableScope
from playground.engine.request import PreparedRequest, SecretNotAllowedError
from playground.models import Agent, Environment, Run, Variable

pytestmark = pytest.mark.django_db

HERE = "https://agent.example"
SECRET = "canary-4711"


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(
        name="A", url=HERE, auth="bearer", auth_secret="own-secret", headers=[["X-Key", "k" * 8]]
    )


@pytest.fixture
def environment() -> Environment:
    made = Environment.objects.create(name="Staging")
    for fields in (
        {"name": "token", "kind": "secret", "secret": SECRET, "allowed_origins": [HERE]},
        {"name": "short", "kind": "secret", "secret": "abc", "allowed_origins": [HERE]},
        {"name": "lost", "kind": "secret", "allowed_origins": [HERE]},
        {"name": "city", "value": "Paris"},
        {"name": "base", "value": HERE},
        {"name": "list", "kind": "json", "value": "[1, 2]"},
    ):
        Variable.objects.create(environment=made, **fields)
    return made


def document(**fields: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs", **fields}}


def prepared(
    template: RequestTemplate, environment: Environment | None, **values: Any
) -> PreparedRequest:
    return preparation.prepare(template, VariableScope(environment, values))


def messages_of(found: PreparedRequest) -> str:
    return " ".join(problem.message for problem in found.errors)


def test_what_is_stored_beside_the_request(agent: Agent, environment: Environment) -> None:
    """Literal credentials are sent and not stored."""
    literal = ("Authorization", "Bearer literal")
    template = RequestTemplate(document(n="{{list}}"), [("X-A", "{{token}}"), literal], agent)
    found = prepared(template, environment)
    assert found.document == document(n=[1, 2])
    assert dict(found.target.headers)["Authorization"] == "Bearer literal"
    run = runs.create_run(found)
    run.refresh_from_db()
    headers = [["X-A", "{{token}}"], ["Authorization", ""]]
    assert (run.headers, run.secret_names, run.environment) == (headers, ["token"], "staging")
    assert run.request_template == {
        "document": template.request, "headers": headers, "address": "", "auth": {},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("auth", "sent"),
    [
        ({"type": "none"}, {}),
        ({"type": "bearer", "secret": "token"}, {"Authorization": f"Bearer {SECRET}"}),
        ({"type": "api_key", "header": "X-K", "secret": "token"}, {"X-K": SECRET}),
        (
            {"type": "basic", "user": "ada", "secret": "token"},
            {"Authorization": f"Basic {base64.b64encode(f'ada:{SECRET}'.encode()).decode()}"},
        ),
    ],
)
def test_a_request_of_its_own_authentication_leaves_that_of_the_agent(
    agent: Agent, environment: Environment, auth: dict[str, str], sent: dict[str, str]
) -> None:
    found = prepared(RequestTemplate(document(), agent=agent, auth=auth), environment)
    assert found.has_call
    assert not found.errors
    assert dict(found.target.headers) == sent
    shown = str(found.redacted_target.headers)
    assert SECRET not in shown
    assert found.request_template
    assert found.request_template["auth"] == auth
    for value in sent.values():
        assert value.rpartition(" ")[2] in found.redact


def test_every_name_without_a_value_is_named(agent: Agent, environment: Environment) -> None:
    template = RequestTemplate(
        document(a="{{nobody}} {{lost}}"), [("X-A", "{{other}}")], agent,
        auth={"type": "bearer", "secret": "city"},
    )  # fmt: skip
    found = prepared(template, environment)
    assert found.unresolved == (
        ("/query/a", "nobody"), ("/query/a", "lost"), ("#headers", "other"), ("#auth", "city"),
    )  # fmt: skip
    where = "in the environment “Staging”."
    assert [(each.message, each.variable) for each in found.errors] == [
        (f"{{{{nobody}}}} is not defined {where}", "nobody"),
        # It is there, and has no value.
        (f"{{{{lost}}}} has no value {where}", ""),
        (f"{{{{other}}}} is not defined {where}", "other"),
        (f"The secret “city” has no value {where}", ""),
    ]


def test_an_address_becomes_an_agent(agent: Agent, environment: Environment) -> None:
    found = prepared(RequestTemplate(document(), address="{{base}}"), environment)
    assert found.has_call
    assert found.agent == agent
    other = prepared(RequestTemplate(document(), address="{{base}}/x?k={{token}}"), environment)
    assert other.agent.pk is None
    assert other.agent.name == "agent.example/x?k={{token}}"
    assert other.target.url == f"{HERE}/x?k={SECRET}"
    assert other.agent.url == other.url == f"{HERE}/x?k={{{{token}}}}"
    assert runs.create_run(other).url == other.url


@pytest.mark.parametrize("address", ["", "ftp://a.example", "{{nobody}}/ask", "{{token}}/ask"])
def test_no_address_no_request(environment: Environment, address: str) -> None:
    found = prepared(RequestTemplate(document(), address=address), environment)
    assert not found.has_call
    assert found.errors


def test_a_short_secret_is_not_sent(environment: Environment) -> None:
    found = prepared(RequestTemplate(document(key="{{short}}"), address=HERE), environment)
    assert "The secret “short” has fewer than 4 characters" in messages_of(found)


def equals(value: Any) -> list[dict[str, Any]]:
    return [{"type": "json", "path": "$.a", "equals": value}]


class TestExpectations:
    """What is expected may hold names: of the page, of `once more` and of a collection alike."""

    def test_have_the_values_of_their_names_and_once_more_new_ones(
        self, agent: Agent, environment: Environment
    ) -> None:
        wanted = equals("in {{city}}") + equals("{{list}}") + equals("{{row}}")
        found = prepared(
            RequestTemplate(document(), (), agent, expectations=wanted), environment, row=7
        )
        assert not found.errors
        assert found.has_call
        assert found.used == ("city", "list", "row")
        run = runs.create_run(found)
        assert [each["equals"] for each in run.expectations] == ["in Paris", [1, 2], 7]
        assert run.request_template is not None
        assert run.request_template["expectations"] == wanted
        wanted = equals("{{city}}")
        found = prepared(RequestTemplate(document(), (), agent, expectations=wanted), environment)
        assert found.has_call
        run = runs.create_run(found)
        Variable.objects.filter(name="city").update(value="Oslo {{city}}")
        for _ in range(2):
            again = preparation.repeat_request(run)
            assert again.has_call
            assert not again.errors
            run = runs.create_run(again)
            assert run.expectations == equals("Oslo {{city}}")
        Variable.objects.filter(name="city").delete()
        assert "{{city}} is not defined" in messages_of(preparation.repeat_request(run))

    @pytest.mark.parametrize(
        ("wanted", "kept", "is_template"),
        [(1, 1, False), ("{{$braces}}city}}", "{{city}}", True)],
        ids=["no names", "braces"],
    )
    def test_without_names_are_kept_as_they_are(
        self, agent: Agent, wanted: Any, kept: Any, is_template: bool
    ) -> None:
        template = RequestTemplate(document(), (), agent, expectations=equals(wanted))
        found = prepared(template, None)
        assert found.has_call
        run = runs.create_run(found)
        assert (run.request_template is not None, run.expectations) == (is_template, equals(kept))
        again = preparation.repeat_request(run)
        assert again
        assert runs.create_run(again).expectations == equals(kept)

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("{{nobody}}", "{{nobody}} is not defined in the environment “Staging”"),
            ("{{token}}", "Expectations are stored, so they cannot contain secrets: “token”."),
            ("{{big}}" * 5_000, ""),
        ],
        ids=["no value", "a secret", "without end"],
    )
    def test_are_refused(
        self, agent: Agent, environment: Environment, value: str, message: str
    ) -> None:
        template = RequestTemplate(document(), (), agent, expectations=equals(value))
        found = prepared(template, environment, big="x" * 1_000)
        assert message in messages_of(found)
        assert messages_of(found)
        if "big" not in value:
            assert [problem.pointer for problem in found.errors] == ["#expectations"]
            assert found.has_call
            assert SECRET not in str(found.columns)


class TestWhatFollows:
    @pytest.fixture
    def run(self, agent: Agent, environment: Environment) -> Run:
        template = RequestTemplate(
            document(key="{{token}}", site="{{city}}"), [("X-Api-Key", "{{token}}")], agent,
            auth={"type": "basic", "user": "ada", "secret": "token"},
        )  # fmt: skip
        request = prepared(template, environment)
        assert request
        return runs.create_run(request)

    def test_it_authenticates_alike_with_the_secrets_of_the_run_only(
        self, run: Run, environment: Environment
    ) -> None:
        Variable.objects.create(
            environment=environment, name="more", kind="secret", secret="more-secret",
            allowed_origins=[HERE],
        )  # fmt: skip
        said = {**run.request, "context": {"of": "the agent: {{more}} {{city}}"}}
        request = preparation.follow_up_request(
            run, said, preparation.without_empty_credentials(run.headers)
        )
        assert request.document["query"]["key"] == SECRET
        assert request.document["context"] == said["context"]
        assert dict(request.target.headers)["X-Api-Key"] == SECRET
        assert dict(request.target.headers)["Authorization"].startswith("Basic ")
        again = runs.create_run(request)
        assert again.request == said
        assert again.secret_names == ["token"]
        assert again.request_template == {"auth": run.request_template["auth"]}  # type: ignore[index]

    def test_a_secret_that_is_gone_or_may_not_go_there_any_more_stays(self, run: Run) -> None:
        Variable.objects.filter(name="token").update(allowed_origins=["https://other.example"])
        with pytest.raises(SecretNotAllowedError, match="may be sent to https://other"):
            preparation.follow_up_request(run, run.request)
        Variable.objects.filter(name="token").delete()
        with pytest.raises(SecretNotAllowedError, match="no longer has the secret “token”"):
            preparation.follow_up_request(run, run.request)

    def test_once_more_resolves_anew(self, run: Run) -> None:
        Variable.objects.filter(name="city").update(value="Oslo")
        again = preparation.repeat_request(run)
        assert again.has_call
        assert not again.errors
        assert again.document["query"] == {
            "text": "eggs",
            "key": SECRET,
            "site": "Oslo",
        }


#: Where a name can stand: the template with a text there, and what of the request it becomes
#: (as it is stored, as it is sent).
Place = tuple[Callable[[Agent, str], RequestTemplate], Callable[[PreparedRequest], tuple[Any, Any]]]
PLACES: dict[str, Place] = {
    "a string of the document": (
        lambda agent, text: RequestTemplate(document(x=text), (), agent),
        lambda made: (made.request["query"]["x"], made.document["query"]["x"]),
    ),
    "a name in the document": (
        lambda agent, text: RequestTemplate({text: 1, **document()}, (), agent),
        lambda made: (next(iter(made.request)), next(iter(made.document))),
    ),
    "a header": (
        lambda agent, text: RequestTemplate(document(), [("X-A", text)], agent),
        lambda made: (dict(made.headers)["X-A"], dict(made.target.headers)["X-A"]),
    ),
    "an address": (
        lambda agent, text: RequestTemplate(document(), address=f"{HERE}/ask?x={text}"),
        lambda made: (made.url.partition("?x=")[2], made.target.url.partition("?x=")[2]),
    ),
    "the address of an agent": (
        lambda agent, text: RequestTemplate(
            document(), agent=addressed(agent, f"{HERE}/ask?x={text}")
        ),
        lambda made: (made.url.partition("?x=")[2], made.target.url.partition("?x=")[2]),
    ),
}
#: A text, and the same as it is stored and as it is sent.
TEXTS = {
    "no name": ("text", "text", "text"),
    "a value": ("in-{{ city }}", "in-Paris", "in-Paris"),
    "a value of this run": ("in-{{row}}", "in-7", "in-7"),
    "a value with a placeholder": ("in-{{said}}", "in-{{token}}", "in-{{token}}"),
    "a secret": ("k-{{token}}", "k-{{token}}", f"k-{SECRET}"),
    "a secret twice": ("{{token}}-{{token}}", "{{token}}-{{token}}", f"{SECRET}-{SECRET}"),
    "a secret of this run": ("k-{{lost}}", "k-{{lost}}", "k-found-4711"),
    "a name without a value": ("in-{{nobody}}", "in-{{nobody}}", "in-{{nobody}}"),
}


def addressed(agent: Agent, url: str) -> Agent:
    agent.url = url
    agent.save()
    return agent


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("text", "stored", "sent"), TEXTS.values(), ids=TEXTS)
def test_a_name_in_every_place(
    agent: Agent, environment: Environment, place: str, text: str, stored: str, sent: str
) -> None:
    compose, read = PLACES[place]
    values = {"row": 7, "said": "{{token}}", "lost": "found-4711"}
    template = compose(agent, text)
    found = preparation.prepare(template, VariableScope(environment, values))
    if "nobody" in text:
        assert found.missing == ["nobody"]
        assert "{{nobody}} is not defined in the environment “Staging”" in messages_of(found)
    else:
        assert not found.errors
    if not found.has_call:
        assert (place, "nobody" in text) == ("an address", True)
        return
    if "address" in place:  # A value cannot reach beyond its place.
        stored, sent = ("in-%7B%7Btoken%7D%7D",) * 2 if "said" in text else (stored, sent)
    assert read(found) == (stored, sent)
    run = runs.create_run(found)
    kept = json.dumps([run.request, run.headers, run.url, run.request_template, run.secret_names])
    for secret in (SECRET, "found-4711"):
        assert secret not in kept + repr(found) + repr(found) + repr(template)
        assert (secret in found.redact) is (secret in sent)
    # An agent's address is no part of what the user wrote.
    assert (run.request_template is None) is (
        "{{" not in text or place == "the address of an agent"
    )


#: How a secret goes along, and what of a template asks for it.
ALONG: dict[str, dict[str, Any]] = {
    "in the document": {"request": document(key="{{token}}")},
    "in a header": {"headers": [("X-Key", "{{token}}")]},
    "in the address": {"path": "/ask?key={{token}}"},
    "as a bearer token": {"auth": {"type": "bearer", "secret": "token"}},
    "as an API key": {"auth": {"type": "api_key", "header": "X-K", "secret": "token"}},
    "as a password": {"auth": {"type": "basic", "user": "ada", "secret": "token"}},
}


@pytest.mark.parametrize("way", ALONG)
@pytest.mark.parametrize(
    ("origin", "goes"),
    [
        (HERE, True),
        (f"{HERE}:443", True),
        ("https://AGENT.example", True),
        ("http://agent.example", False),
        (f"{HERE}:8443", False),
        ("https://agent.example.evil.example", False),
        ("https://evil.example", False),
    ],
)
def test_a_secret_goes_to_its_origins_however_it_goes_along(
    environment: Environment, way: str, origin: str, goes: bool
) -> None:
    fields = {"request": document(), **ALONG[way]}
    address = origin + fields.pop("path", "/ask")
    found = prepared(RequestTemplate(address=address, **fields), environment)
    assert found.has_call
    assert (messages_of(found) == "") is goes
    assert (
        "The secret “token” may be sent to https://agent.example" in messages_of(found)
    ) is not goes
    run = runs.create_run(found)
    assert run.secret_names == ["token"]
    assert SECRET not in json.dumps([run.request, run.headers, run.url, run.request_template])
    assert SECRET not in repr(found) + str(found.redacted_target) + messages_of(found)
    assert {SECRET, base64.b64encode(SECRET.encode()).decode()} <= set(found.redact)
    sent = found.target
    whole = json.dumps([found.document, sent.url, sent.headers])
    pair = base64.b64encode(f"ada:{SECRET}".encode()).decode()
    assert (pair if way == "as a password" else SECRET) in whole


@pytest.mark.parametrize(
    ("slug", "values", "sent", "message"),
    [
        ("staging", {}, "Paris", ""),
        ("other", {}, "Rome", ""),
        ("other", {"city": "Oslo"}, "Oslo", ""),
        ("", {"city": "Oslo"}, "Oslo", ""),
        ("", {}, "{{city}}", "{{city}} is not defined. Select an environment that defines it."),
        ("bare", {}, "{{city}}", "{{city}} is not defined in the environment “Bare”."),
    ],
)
def test_the_environment_says_what_a_name_stands_for(
    agent: Agent,
    environment: Environment,
    slug: str,
    values: dict[str, Any],
    sent: str,
    message: str,
) -> None:
    Environment.objects.create(name="Bare")
    other = Environment.objects.create(name="Other")
    Variable.objects.create(environment=other, name="city", value="Rome")
    chosen = Environment.objects.filter(slug=slug).first()
    found = prepared(RequestTemplate(document(site="{{city}}"), (), agent), chosen, **values)
    assert found.has_call
    assert found.document["query"]["site"] == sent
    assert found.environment == slug
    assert message in messages_of(found)
    assert bool(message) is bool(found.errors)


@pytest.mark.parametrize(
    ("fields", "wanted", "version", "binding", "url"),
    [
        ({}, {}, "0.55", "http", HERE),
        ({"version": "0.54"}, {}, "0.54", "http", HERE),
        ({"version": "0.54"}, {"version": "0.55"}, "0.55", "http", HERE),
        ({}, {"version": "legacy"}, "legacy", "http", HERE),
        ({"version": "legacy"}, {}, "legacy", "http", HERE),
        ({}, {"version": "9"}, "0.55", "http", HERE),
        ({}, {"version": ""}, "0.55", "http", HERE),
        ({}, {"binding": "mcp"}, "0.55", "mcp", f"{HERE}/mcp"),
        ({"binding": "mcp"}, {}, "0.55", "mcp", HERE),
        ({"binding": "mcp", "url": f"{HERE}/mcp"}, {"binding": "http"}, "0.55", "http", HERE),
        ({}, {"binding": "pigeon"}, "0.55", "http", HERE),
        ({"protocol": "agent-api", "version": "1"}, {"binding": "mcp"}, "1", "http", HERE),
        ({"protocol": "agent-api", "version": "1"}, {"version": "0.55"}, "1", "http", HERE),
    ],
)  # fmt: skip
def test_the_version_and_the_binding_are_those_that_are_asked_for(
    fields: dict[str, str], wanted: dict[str, Any], version: str, binding: str, url: str
) -> None:
    agent = Agent.objects.create(name="A", **{"url": HERE, "version": "0.55", **fields})
    found = prepared(RequestTemplate(document(), agent=agent, **wanted), None)
    assert found.has_call
    target = found.target
    assert (target.version, target.binding, target.url) == (version, binding, url)
    run = runs.create_run(found)
    assert (run.version, run.binding, run.url) == (version, binding, url)


def test_the_result_knows_built_in_names(agent: Agent) -> None:
    template = RequestTemplate(document(a="{{$uuid}} {{$braces}}", b="{{row}}"), (), agent)
    found = prepared(template, None, row=1)
    assert found.used == ("$uuid", "$braces", "row")


class TestOwnIds:
    """First requests of the Agent API: some servers key running requests by session and user."""

    HELLO: dict[str, Any] = {
        "input": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    }

    def agent(self, **fields: Any) -> Agent:
        own = {"protocol": "agent-api", "version": "1", "name": "S", "url": f"{HERE}/process"}
        return Agent.objects.create(**{**own, **fields})

    def sent(self, agent: Agent | None, **template: Any) -> dict[str, Any]:
        found = prepared(RequestTemplate(self.HELLO, (), agent, **template), None)
        assert found.has_call
        assert not found.errors
        return found.request

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({}, ["session_id"]),
            ({"own_ids": "on"}, ["session_id", "user_id"]),
            ({"own_ids": "off"}, []),
        ],
    )
    def test_by_the_setting(self, fields: dict[str, Any], expected: list[str]) -> None:
        agent = self.agent(**fields)
        both = self.sent(agent), self.sent(agent)
        names = ("session_id", "user_id")
        assert [name for name in names if name in both[0]] == expected
        ids = {each[name] for each in both for name in expected}
        assert len(ids) == 2 * len(expected)

    def test_not_in_a_request_of_nlweb(self, agent: Agent) -> None:
        agent.own_ids = "on"
        found = prepared(RequestTemplate(document(), (), agent), None)
        assert found.has_call
        assert found.request == document()
