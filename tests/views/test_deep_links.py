"""Links with a request in the fragment: from anybody, and without credentials."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from playground.models import Agent

pytestmark = pytest.mark.django_db

REQUEST: dict[str, Any] = {
    "agent": "",
    "address": "https://agent.example/a",
    "protocol": "nlweb",
    "binding": "mcp",
    "version": "0.54",
    "document": {"query": {"text": "crème brûlée 🍮"}},
    "headers": [["X-A", "b"]],
}


def percent_encoded(value: Any) -> str:
    return f"request={quote(json.dumps(value))}"


def opened(client: Client, fragment: str) -> tuple[int, dict[str, Any]]:
    response = client.post("/links/request/", {"fragment": fragment})
    return response.status_code, response.json()


def fields_of(client: Client, linked: Any) -> dict[str, Any]:
    """Return the fields of a link, with document and headers as values."""
    status, content = opened(client, percent_encoded(linked))
    assert status == 200
    fields = content["fields"]
    return fields | {name: json.loads(fields[name]) for name in ("document", "headers")}


def created(client: Client, **changes: Any) -> str:
    fields = REQUEST | changes
    texts = {name: json.dumps(fields[name]) for name in ("document", "headers")}
    link: str = client.post("/links/", fields | texts).json()["link"]
    return link


def test_a_link_brings_the_request_that_it_was_created_of(client: Client) -> None:
    link = created(client)
    workbench, _, fragment = link.partition("#")
    assert workbench == "http://testserver/"
    status, content = opened(client, fragment)
    assert (status, content["note"]) == (200, "")
    assert fields_of(client, REQUEST) == REQUEST
    fields = content["fields"]
    assert json.loads(fields["document"]) == REQUEST["document"]
    assert {name: fields[name] for name in ("address", "protocol", "binding", "version")} == {
        name: REQUEST[name] for name in ("address", "protocol", "binding", "version")
    }


def test_credentials_are_neither_written_nor_read(client: Client) -> None:
    headers = [
        ["Authorization", "Bearer literal"],
        ["x-api_key", "literal"],
        ["Cookie", ""],
        ["X-Token", "{{token}}"],
        ["Mcp-Session-Id", "kept"],
    ]
    address = "https://me:literal@literal@agent.example/?q=a@b&api_key=literal&token={{token}}"
    link = created(client, address=address, headers=headers)
    text = link.partition("#request=")[2]
    assert b"literal" not in base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    fields = fields_of(client, {"address": address, "document": {}, "headers": headers})
    assert fields["headers"] == headers[3:]
    assert fields["address"] == "https://agent.example/?q=a@b&api_key=&token={{token}}"
    linked = {"address": address, "document": {}, "headers": headers}
    note = opened(client, percent_encoded(linked))[1]["note"]
    assert note == "Its credentials were removed: Authorization, x-api_key, Cookie, the URL."


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("", True),
        ("https://ours.example/elsewhere", True),
        ("https://theirs.example/ask", False),
    ],
    ids=["no URL", "same origin", "other origin"],
)
def test_an_agent_that_is_only_called_the_same_is_not_meant(
    client: Client, address: str, is_here: bool
) -> None:
    Agent.objects.create(name="Ours", slug="ours", url="https://ours.example/ask")
    fields = fields_of(client, {"agent": "ours", "address": address, "document": {}})
    assert fields["agent"] == ("ours" if is_here else "")
    assert fields_of(client, {"agent": "unknown", "document": {}})["agent"] == ""


def test_a_link_to_an_agent_names_its_url(client: Client) -> None:
    Agent.objects.create(name="Ours", slug="ours", url="https://ours.example/ask")
    link = created(client, agent="ours", address="https://ignored.example/")
    fields = opened(client, link.partition("#")[2])[1]["fields"]
    assert (fields["agent"], fields["address"]) == ("ours", "https://ours.example/ask")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "no valid JSON"),
        ("{", "no valid JSON"),
        ("%", "no valid JSON"),
        ("%7B", "no valid JSON"),
        ("bm9uZQ", "no valid JSON"),
        ("%5B%5D", "no request"),
        ("%7B%7D", "no request"),
        (quote('{"document": []}'), "no request"),
        ("a" * 200_001, "longer than 200,000 characters"),
    ],
    ids=["nothing", "cut", "percent", "cut object", "base64", "list", "empty", "array", "long"],
)
def test_a_link_without_a_request_is_refused(client: Client, text: str, error: str) -> None:
    status, content = opened(client, f"request={text}")
    assert status == 422
    assert error in content["error"]


def test_invalid_members_are_left_out(client: Client) -> None:
    odd = {
        "agent": 7,
        "address": {"toString": "x"},
        "protocol": ["nlweb"],
        "binding": "pigeon",
        "version": "v" * 2_001,
        "document": {"a": 1},
        "headers": [["a"], "b", ["c", 1], ["d", "e"], None],
    }
    assert fields_of(client, odd) == {
        "agent": "",
        "address": "",
        "protocol": "nlweb",
        "binding": "http",
        "version": "",
        "document": {"a": 1},
        "headers": [["d", "e"]],
    }


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"document": "{"}, "Line 1, column 2"),
        ({"document": "[]"}, "must be a JSON object"),
        ({"headers": "7"}, "an array of [name, value] pairs"),
    ],
    ids=["cut", "list", "headers"],
)
def test_no_link_to_a_request_that_cannot_be_read(
    client: Client, changes: dict[str, str], error: str
) -> None:
    texts = {name: json.dumps(REQUEST[name]) for name in ("document", "headers")}
    response = client.post("/links/", REQUEST | texts | changes)
    assert response.status_code == 422
    assert error in response.json()["error"]
