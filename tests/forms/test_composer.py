"""The composer's form: every field, for Send and for Save."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.http import QueryDict

from playground.forms.composer import ComposerForm, SaveForm, SendForm
from playground.models import Agent, Collection, Environment, Folder, SavedRequest

pytestmark = pytest.mark.django_db

DEEP = "[" * 101 + "]" * 101
STATE = {"type": "state", "equals": "completed"}


@pytest.fixture(autouse=True)
def agent() -> Agent:
    found: Agent = Agent.objects.create(name="Recipes", url="http://agent.example/api")
    return found


def fields(**changed: str | None) -> dict[str, str]:
    """What the composer sends; a field that is None is left out."""
    sent = {
        "agent": "recipes",
        "address": "",
        "protocol": "nlweb",
        "version": "0.55",
        "binding": "http",
        "document": '{"query": {"text": "eggs"}}',
        "headers": "[]",
        "auth": "",
        "expectations": "",
        "captures": "",
        "environment": "",
        "saved": "",
        **changed,
    }
    return {name: text for name, text in sent.items() if text is not None}


def both(**changed: str | None) -> list[ComposerForm]:
    sent = fields(**changed)
    return [form(sent, AnonymousUser()) for form in (SendForm, SaveForm)]


def errors(form: ComposerForm) -> dict[str, str]:
    return {name: str(found[0]) for name, found in form.errors.items()}


#: Field, text (None for a field that is missing), what it stands for.
VALUES: list[tuple[str, str | None, Any]] = [
    ("protocol", None, ""),
    ("protocol", "agent-api", "agent-api"),
    ("protocol", "gopher", "gopher"),
    ("version", None, ""),
    ("version", "0.54", "0.54"),
    ("version", " 0.54", " 0.54"),
    ("binding", None, ""),
    ("binding", "mcp", "mcp"),
    ("address", None, ""),
    ("address", " http://a.example ", "http://a.example"),
    ("address", "{{base}}/ask", "{{base}}/ask"),
    ("address", "x" * 3000, "x" * 3000),
    ("document", "{}", {}),
    ("document", ' {"a": null} ', {"a": None}),
    ("document", '{"a": "{{name}}"}', {"a": "{{name}}"}),
    ("document", '{"a": "\\ud800"}', {"a": "\ud800"}),
    ("headers", None, []),
    ("headers", "", []),
    ("headers", " \n", []),
    ("headers", '[[" X-A ", " 1 "], ["", "x"]]', [("X-A", "1")]),
    ("headers", '[["Authorization", "Bearer {{key}}"]]', [("Authorization", "Bearer {{key}}")]),
    ("headers", '[["Authorization", "literal"]]', [("Authorization", "literal")]),
    # Names in it may have no value yet: it is checked when they have.
    ("headers", '[["{{name}}", "a\\nb"], ["Host", "x"]]', [("{{name}}", "a\nb"), ("Host", "x")]),
    ("auth", None, {}),
    ("auth", " ", {}),
    ("auth", "{}", {}),
    ("auth", '{"type": "bearer", "secret": "key"}', {"type": "bearer", "secret": "key"}),
    ("auth", '{"type": "bearer", "secret": null}', {"type": "bearer", "secret": None}),
    ("expectations", None, []),
    ("expectations", "\t", []),
    ("expectations", "[]", []),
    ("expectations", json.dumps([STATE]), [STATE]),
]

#: Field, text, what is said where it is sent, and where it is saved.
MISTAKES: list[tuple[str, str | None, str, str]] = [
    ("document", None, "Line 1, column 1: expected a value.", "="),
    ("document", "", "Line 1, column 1: expected a value.", "="),
    ("document", " ", "Line 1, column 2: expected a value.", "="),
    ("document", '{\n  "query": x}', "Line 2, column 12: expected a value.", "="),
    ("document", "[]", "The request must be a JSON object.", "="),
    ("document", "null", "The request must be a JSON object.", "="),
    ("document", '"{{name}}"', "The request must be a JSON object.", "="),
    ("document", '{"a": 1, "a": 2}', "Duplicate name “a” in an object.", "="),
    ("document", '{"a": NaN}',
     "Line 1, column 7: Not a valid JSON number.", "="),
    ("document", '{"a": 1e999}',
     "Line 1, column 7: Not a valid JSON number.", "="),
    ("document", '{"a":' + DEEP + "}",
     "Line 1, column 105: The document is nested more than 100 levels deep.", "="),
    ("headers", "{", "The headers are not valid JSON.", "="),
    ("headers", "[" * 100_000, "The headers are not valid JSON.", "="),
    ("headers", "null", "Headers must be an array of [name, value] pairs.", "="),
    ("headers", '{"a": "b"}', "Headers must be an array of [name, value] pairs.", "="),
    ("headers", '[["a"]]', "Headers must be an array of [name, value] pairs.", "="),
    ("headers", '[["a", 1]]', "Headers must be an array of [name, value] pairs.", "="),
    ("auth", "x", "Line 1, column 1: expected a value.", "Invalid auth. ="),
    ("auth", "null", "", "The auth must be an object."),
    ("auth", "[1]", "", "The auth must be an object."),
    ("expectations", "[1,", "Line 1, column 4: expected a value.",
     "Invalid expectations. ="),
    ("expectations", DEEP, "Line 1, column 101: The document is nested more than 100 levels deep.",
     "Invalid expectations. ="),
    ("expectations", "{}", "Expectations must be an array, not an object.",
     "The expectations must be a list."),
    ("expectations", "null", "Expectations must be an array, not null.",
     "The expectations must be a list."),
    ("expectations", "[1]", "Expectations, /0: An expectation must be an object, not a number.",
     "="),
    ("expectations", '[{"type": "state"}]', "Expectations, /0/equals: Add equals.", "="),
    ("captures", "{", "", "Invalid captures. "
     "Line 1, column 2: expected a property name in double quotes."),
    ("captures", "[]", "", "The captures must be an object."),
    ("captures", "null", "", "The captures must be an object."),
    ("captures", '{"id": 1}', "", "Captures, /id: A path must be a string, not a number."),
    ("captures", '{"a b": "$.a"}', "",
     "Captures, /a b: Variable names contain only letters, digits, “_”, “-” and “.”, "
     "up to 80 characters."),
]  # fmt: skip


def labels(rows: list[Any]) -> list[str]:
    return [f"{row[0]} {'missing' if row[1] is None else row[1][:30]}" for row in rows]


@pytest.mark.parametrize(("name", "text", "value"), VALUES, ids=labels(VALUES))
def test_what_a_field_stands_for(name: str, text: str | None, value: Any) -> None:
    for form in both(**{name: text}):
        assert errors(form) == {}
        assert form.cleaned_data[name] == value


@pytest.mark.parametrize(("name", "text", "sent", "saved"), MISTAKES, ids=labels(MISTAKES))
def test_what_is_wrong_with_a_field(name: str, text: str | None, sent: str, saved: str) -> None:
    send, save = both(**{name: text})
    assert errors(send) == ({name: sent} if sent else {})
    assert not save.is_valid()
    assert isinstance(save, SaveForm)
    assert save.first_error == saved.replace("=", sent)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, {}),
        (" ", {}),
        ('{"id": "$.id"}', {"id": "$.id"}),
    ],
)
def test_captures_are_saved_and_not_sent(text: str | None, value: Any) -> None:
    send, save = both(captures=text)
    assert errors(send) == errors(save) == {}
    assert save.cleaned_data["captures"] == value
    assert "captures" not in send.cleaned_data


@pytest.mark.parametrize(
    ("named", "address", "found", "is_refused"),
    [
        ("recipes", "", True, False),
        ("recipes", "http://a.example", True, False),
        ("", "http://a.example", False, False),
        (None, "{{base}}", False, False),
        ("", "", False, True),
        (None, None, False, True),
        ("", " ", False, True),
        ("nobody", "", False, True),
        # What was meant for an agent goes nowhere else.
        ("nobody", "http://a.example", False, True),
        ("Recipes", "", False, True),
        (" recipes", "", False, True),
        ("x" * 5000, "", False, True),
    ],
)
def test_where_it_goes(
    agent: Agent, named: str | None, address: str | None, found: bool, is_refused: bool
) -> None:
    send, save = both(agent=named, address=address)
    assert save.is_valid()
    assert save.cleaned_data["agent"] == (agent if found else None)
    assert save.cleaned_data["address"] == (address or "").strip()
    refused = {"agent": "Enter a URL or choose an agent."} if is_refused else {}
    assert errors(send) == refused
    assert send.cleaned_data.get("agent") == (agent if found else None)


class TestWhoseThingsAreMeant:
    @pytest.fixture
    def users(self, settings: Any) -> dict[str, Any]:
        """With an agent, an environment and a saved request of Ann's."""
        settings.HOSTED = True
        ann, bob = (User.objects.create(username=name) for name in ("ann", "bob"))
        Agent.objects.create(name="Hers", url="http://a.example", owner=ann)
        Environment.objects.create(name="Staging", owner=ann)
        kept = Collection.objects.create(name="Kept", owner=ann)
        SavedRequest.objects.create(collection=kept, name="Eggs")
        return {"ann": ann, "bob": bob, "": AnonymousUser()}

    @pytest.mark.parametrize(("name", "is_hers"), [("ann", True), ("bob", False), ("", False)])
    def test_the_users(self, users: Any, name: str, is_hers: bool) -> None:
        sent = fields(agent="hers", environment="staging", saved="kept/eggs")
        form = SendForm(sent, users[name])
        said = errors(form)
        assert ("agent" not in said) == is_hers
        assert ("environment" not in said) == is_hers
        found = form.cleaned_data["saved"]
        assert (found.name if found else None) == ("Eggs" if is_hers else None)
        assert (SaveForm(sent, users[name]).agents.count() == 1) == is_hers


@pytest.mark.parametrize(
    ("slug", "is_found", "said"),
    [
        (None, False, ""),
        ("", False, ""),
        ("staging", True, ""),
        ("gone", False, "The environment “gone” was deleted. Select another one."),
        ("x" * 200, False, f"The environment “{'x' * 80}” was deleted. Select another one."),
    ],
)
def test_the_environment(slug: str | None, is_found: bool, said: str) -> None:
    staging = Environment.objects.create(name="Staging")
    send, save = both(environment=slug)
    assert errors(send).get("environment", "") == said
    assert send.cleaned_data.get("environment") == (staging if is_found else None)
    assert save.is_valid()


@pytest.mark.parametrize(
    ("key", "is_found"),
    [
        (None, False), ("", False), ("eggs", False), ("kept/", False), ("/eggs", False),
        ("kept/gone", False), ("gone/eggs", False), ("kept/warm/eggs", False), ("kept/eggs", True),
    ],
)  # fmt: skip
def test_the_saved_request_that_is_open(key: str | None, is_found: bool) -> None:
    kept = Collection.objects.create(name="Kept")
    folder = Folder.objects.create(collection=kept, name="Warm")
    eggs = SavedRequest.objects.create(collection=kept, folder=folder, name="Eggs")
    send, _ = both(saved=key)
    assert send.is_valid()
    assert send.cleaned_data["saved"] == (eggs if is_found else None)


def test_everything_that_is_wrong_is_said_at_once_and_in_the_order_of_the_fields() -> None:
    wrong = dict.fromkeys(("agent", "document", "headers", "auth", "expectations"), "x")
    send, save = both(environment="x", **wrong)
    assert list(errors(send)) == [*wrong, "environment"]
    # What is saved says the first.
    assert isinstance(save, SaveForm)
    assert save.first_error == errors(send)["document"]


def test_nothing_at_all() -> None:
    send, save = (form(QueryDict(), AnonymousUser()) for form in (SendForm, SaveForm))
    assert list(errors(send)) == ["agent", "document"]
    assert list(errors(save)) == ["document"]


def test_the_last_of_several_values_counts() -> None:
    sent = QueryDict("agent=nobody&agent=recipes&document={&document={}")
    assert SendForm(sent, AnonymousUser()).is_valid()
