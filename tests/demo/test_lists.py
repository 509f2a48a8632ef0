"""Actions of results (section 5), and the cart and the cookbook that they change."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient

from playground.demo import lists
from playground.demo.actions import DemoUrls, actions_of
from playground.demo.corpus import Corpus
from tests.demo.conftest import Ask, check

pytestmark = pytest.mark.django_db(transaction=True)
LINKS = DemoUrls("http://s/", "http://s/cookbook/", "http://s/cart/", "http://s/a2a")


async def call(method: str, path: str, body: Any = None) -> HttpResponse:
    """Call an endpoint as an action does."""
    client = AsyncClient()
    path = path.removeprefix("http://testserver")
    if method == "POST":
        return await client.post(path, body, content_type="application/json")  # type: ignore[no-any-return]
    return await getattr(client, method.lower())(path, body)  # type: ignore[no-any-return]


async def fill(name: str, *entries: dict[str, Any]) -> list[dict[str, Any]]:
    return [(await call("POST", f"/demo/{name}/", entry)).json() for entry in entries]


@pytest.mark.parametrize(("name", "index"), [("cookbook", 0), ("cart", 1)])
async def test_actions_change_a_list(ask: Ask, name: str, index: int) -> None:
    reply = await ask("tiramisu")
    action = reply.document["results"][0]["actions"][index]
    saved = await call("POST", action["endpoint"], action["params"])
    assert saved.status_code == 201
    assert saved.headers["Location"] == saved.json()["url"]
    after = (await call("GET", f"/demo/{name}/")).json()
    assert (after["list"], after["count"]) == (name, 1)
    assert after["items"][0]["content"] == action["params"]
    assert after["items"][0]["id"] == saved.json()["id"]


async def test_a_get_action_has_its_params_in_the_query(ask: Ask) -> None:
    reply = await ask("tiramisu")
    save, _, find, *_ = reply.document["results"][0]["actions"]
    await fill("cookbook", {"name": "Something else"}, save["params"])
    found = (await call("GET", find["endpoint"], find["params"])).json()
    assert [item["content"]["name"] for item in found["items"]] == ["Tiramisu"]


async def test_a_delete_action_takes_what_it_names(ask: Ask) -> None:
    reply = await ask("a good chef's knife")
    add, remove, _ = reply.document["results"][0]["actions"]
    await fill("cart", {"items": ["Salt"]}, add["params"])
    query = "&".join(f"{name}={value}" for name, value in remove["params"].items())
    assert (await call("DELETE", f"{remove['endpoint']}?{query}")).json()["removed"] == 1
    left = (await call("GET", "/demo/cart/")).json()
    assert [item["content"] for item in left["items"]] == [{"items": ["Salt"]}]


async def test_one_entry(ask: Ask) -> None:
    first, second = await fill("cart", {"items": ["Salt"]}, {"items": ["Pepper"]})
    assert (await call("GET", first["url"])).json()["content"] == {"items": ["Salt"]}
    assert (await call("DELETE", first["url"])).json() == {"list": "cart", "removed": 1}
    for method in ("GET", "DELETE"):
        assert (await call(method, first["url"])).status_code == 404
    assert (await call("GET", second["url"])).status_code == 200
    # The other list has entries of its own.
    elsewhere = second["url"].replace("cart", "cookbook")
    assert (await call("DELETE", elsewhere)).status_code == 404


async def test_a_list_is_emptied() -> None:
    await fill("cart", {"items": ["Salt"]}, {"items": ["Pepper"]})
    await fill("cookbook", {"name": "Soup"})
    assert (await call("DELETE", "/demo/cart/")).json()["removed"] == 2
    assert (await call("GET", "/demo/cart/")).json()["count"] == 0
    assert (await call("GET", "/demo/cookbook/")).json()["count"] == 1


async def test_lists_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "ENTRIES", 3)
    await fill("cookbook", {"n": -1})
    await fill("cart", *({"n": number} for number in range(5)))
    shown = (await call("GET", "/demo/cart/")).json()
    assert [item["content"]["n"] for item in shown["items"]] == [2, 3, 4]
    assert (await call("GET", "/demo/cookbook/")).json()["count"] == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400), (b"[]", 400), (b'"' + b"x" * 20_000 + b'"', 413),
        ('{"a": "' + "é" * 9_000 + '"}', 413),
    ],
)  # fmt: skip
async def test_what_cannot_be_saved(body: bytes | str, status: int) -> None:
    reply = await call("POST", "/demo/cart/", body)
    assert reply.status_code == status
    assert reply.json()["error"]


async def test_odd_characters_are_kept() -> None:
    (saved,) = await fill("cart", {"name": "\x00 \ud800 é"})
    assert (await call("GET", saved["url"])).json()["content"] == {"name": "\x00 \ud800 é"}


class TestShownByTheAgent:
    @pytest.mark.parametrize("version", ["0.54", "0.55"])
    async def test_entries_are_items_with_actions(self, ask: Ask, version: str) -> None:
        await fill("cart", {"name": "Tea"}, {"items": ["Salt", "Pepper"]}, {"x": 1})
        reply = await ask("what is in my cart?", version=version)
        check(version, "answer", reply.document)
        (shown,) = reply.document["results"]
        inner = [element["item"] for element in shown["itemListElement"]]
        assert [item["name"] for item in inner] == ["Tea", "Salt, Pepper", "Unnamed entry"]
        for action in [*shown["actions"], *(a for item in inner for a in item["actions"])]:
            check(version, "action", action)
        (remove,) = inner[1]["actions"]
        await call(remove["method"], remove["endpoint"])
        reply = await ask("my cart", version=version)
        assert reply.document["results"][0]["numberOfItems"] == 2

    async def test_an_empty_one(self, ask: Ask) -> None:
        reply = await ask("show my cookbook", mode="list, summarize")
        summary, shown = reply.document["results"]
        assert "cookbook" in summary["text"]
        assert shown["description"].startswith("0 entries")

    async def test_for_an_app(self, ask: Ask) -> None:
        reply = await ask("my cart", response_format="chatgpt_app")
        assert reply.document["structuredData"][0]["numberOfItems"] == 0
        assert "cart" in reply.document["content"][0]["text"]

    async def test_as_a_stream(self, ask: Ask) -> None:
        reply = await ask("my cart", streaming=True)
        assert [name for name, _ in reply.events] == ["start", "result", "complete"]


def test_every_entry_offers_something(whole_corpus: Corpus) -> None:
    for entry in whole_corpus.entries:
        actions = actions_of(entry, LINKS)
        for action in actions:
            check("0.55", "action", action)
            check("0.54", "action", action)
        assert len({action["name"] for action in actions}) == len(actions) > 0


def test_every_protocol_and_method_is_there(whole_corpus: Corpus) -> None:
    actions = [action for entry in whole_corpus.entries for action in actions_of(entry, LINKS)]
    assert {action["protocol"] for action in actions} == {"HTTP", "MCP", "A2A"}
    assert {a["method"] for a in actions if "method" in a} == {"GET", "POST", "DELETE"}
    assert any("headers" in action for action in actions)
