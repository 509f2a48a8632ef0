"""Collections: the list, one with its requests, a page at a time, and its place and copies."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from playground.collections import outline
from playground.models import Agent, Collection, Folder, SavedRequest
from playground.site import sidebar
from tests.support.collections import HTMX, make_collection, names, order, saved, url
from tests.support.markup import one_line, read

pytestmark = pytest.mark.database

#: The page of a collection with many folders, and its branch of the sidebar.
MANY = "/collections/many/"
BRANCH = "/sidebar/many/"


def texts(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return read(one_line(response)).words


def test_without_any_the_list_says_what_they_are_for(client: Client) -> None:
    page = texts(client, "/collections/")
    assert "No collections yet A collection stores requests" in page


def test_the_list_counts_what_is_in_them(client: Client) -> None:
    make_collection("Soups", "a b", hot="c")
    collection = make_collection("Empty")
    Collection.objects.filter(pk=collection.pk).update(description="Not *much* yet.")
    page = texts(client, "/collections/")
    assert "Soups 3 requests" in page
    assert "Empty 0 requests" in page
    assert "Not much yet." in page


def test_making_one_opens_it(client: Client) -> None:
    make_collection("First")
    response = client.post("/collections/", {"name": "Second", "description": "a\r\nb\rc"})
    assert (response.status_code, response["Location"]) == (302, "/collections/second/")
    assert "collections:changed" in response["HX-Trigger"]
    made = Collection.objects.get(slug="second")
    assert (made.description, made.owner) == ("a\nb\nc", None)
    assert [each.name for each in Collection.objects.all()] == ["First", "Second"]


def test_a_name_that_another_one_has_gets_another_address(client: Client) -> None:
    make_collection("Soups")
    client.post("/collections/", {"name": "Soups"})
    client.post("/collections/", {"name": "Import"})
    assert set(Collection.objects.values_list("slug", flat=True)) == {
        "soups", "soups-2", "import-2",
    }  # fmt: skip


def test_its_requests_in_order_with_what_is_known_of_them(client: Client) -> None:
    Agent.objects.create(name="My kitchen", url="http://a.example")
    collection = make_collection("Recipes", "b", folder="")
    saved(
        collection,
        "a",
        position=1,
        agent="my-kitchen",
        binding="mcp",
        notes="Look at the *summary*.",
        expectations=[{"type": "state", "equals": "completed"}],
        reply={"frames": []},
    )
    saved(collection, "c", folder=Folder.objects.get(), agent="nobody", address="{{base}}/ask")
    assert names(client, url(collection)) == ["a", "b", "c"]
    page = texts(client, url(collection))
    assert (
        "a My kitchen NLWeb 0.55 · MCP 1 expectation recorded response Look at the summary." in page
    )
    assert "b no agent NLWeb 0.55" in page
    assert "Folder" in page
    assert "c {{base}}/ask NLWeb 0.55" in page


def test_folders_are_shown_in_their_order(client: Client) -> None:
    collection = make_collection("Recipes", "a", hot="b", cold="c")
    client.post("/collections/recipes/folders/cold/place/", {"step": "-1"})
    assert names(client, url(collection)) == ["a", "c", "b"]
    tree = client.get("/sidebar/recipes/").text
    assert tree.index("recipes/cold") < tree.index("recipes/hot")


def test_an_empty_one_says_how_to_fill_it(client: Client) -> None:
    assert "No requests yet" in texts(client, url(make_collection()))
    folders = make_collection("Others", hot="")
    assert "This folder is empty" in texts(client, url(folders))


def test_a_long_one_comes_in_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "PAGE", 2)
    monkeypatch.setattr(outline, "FIRST", 3)
    collection = make_collection("Long", "a b c", hot="d e", cold="f")
    page = one_line(client.get(url(collection)))
    assert names(client, url(collection)) == ["a", "b", "d"]
    assert [part in page for part in ("Show more of 1", "Show more of 2")] == [True, False]
    base = f"/collections/{collection.slug}/outline/"
    assert names(client, f"{base}?folder=&from=2") == ["c"]
    assert names(client, f"{base}?folder=hot&from=1") == ["e"]
    assert names(client, f"{base}?folder=cold&from=0") == ["f"]
    assert names(client, f"{base}?folder=cold&from=x") == ["f"]
    assert names(client, f"{base}?folder=cold&from=99999999") == []


def test_names_are_text_and_descriptions_are_sanitised(client: Client) -> None:
    evil = '<img src=x onerror=alert(1)>"'
    collection = make_collection(evil, loose="", hot="")
    Collection.objects.update(description=f"{evil} [x](javascript:alert(1))")
    Folder.objects.update(name=evil, description=evil)
    saved(collection, evil, notes=evil, agent=evil, address=evil)
    for address in ("/collections/", url(collection), "/sidebar/", f"/sidebar/{collection.slug}/"):
        page = read(client.get(address))
        assert not page.find("img"), address
        assert not [each for each in page.elements if "onerror" in each.attributes], address


def test_moving_among_the_others(client: Client) -> None:
    for name in ("One", "Two", "Three"):
        client.post("/collections/", {"name": name})
    for fields, wanted in [
        ({"step": "-1"}, "One Three Two"),
        ({"before": "one"}, "Three One Two"),
        ({"after": "two"}, "One Two Three"),
        ({"step": "x"}, "One Two Three"),
    ]:
        response = client.post("/collections/three/place/", fields)
        assert response["Location"] == "/collections/three/"
        assert " ".join(each.name for each in Collection.objects.all()) == wanted
    assert client.post("/collections/three/place/", {}, headers=HTMX).status_code == 204


def test_a_duplicate_holds_the_same_and_changes_alone(client: Client) -> None:
    collection = make_collection("Soups", "a b", hot="c")
    make_collection("Others")
    response = client.post("/collections/soups/duplication/")
    twin = Collection.objects.get(slug="soups-2")
    assert response["Location"] == "/collections/soups-2/"
    assert (twin.name, order(twin)) == ("Soups 2", "a b | Hot: c")
    assert [each.name for each in Collection.objects.all()] == ["Soups", "Soups 2", "Others"]
    twin.requests.update(name="changed")
    assert order(collection) == "a b | Hot: c"
    client.post("/collections/soups-2/duplication/")
    assert Collection.objects.filter(name="Soups 3").exists()


@pytest.mark.parametrize(
    "path",
    ["deletion/", "duplication/", "place/", "folders/hot/deletion/", "requests/a/deletion/"],
)
def test_nothing_is_changed_by_looking(client: Client, path: str) -> None:
    collection = make_collection("Soups", "a", hot="c")
    client.get(f"{url(collection)}{path}")
    assert order(collection) == "a | Hot: c"
    assert Collection.objects.count() == 1


def test_what_is_not_there_is_not_found(client: Client) -> None:
    make_collection("Soups", "a", hot="c")
    for path in (
        "gone/", "gone/details/", "soups/folders/gone/details/", "soups/requests/gone/details/",
        "soups/requests/gone/notes/", "gone/outline/",
    ):  # fmt: skip
        assert client.get(f"/collections/{path}").status_code == 404, path


def test_the_queries_of_a_page_do_not_grow_with_it(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    collection = make_collection("Soups", " ".join(f"a{n}" for n in range(40)), hot="c")
    with django_assert_max_num_queries(14):
        client.get(url(collection))


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Five folders with two requests each, of which two are shown at a time."""
    monkeypatch.setattr(outline, "FOLDERS", 2)
    monkeypatch.setattr(sidebar, "FOLDERS", 2)
    return make_collection("Many", "x", a="a1 a2", b="b1 b2", c="c1 c2", d="d1 d2", e="e1 e2")


def more(client: Client, address: str) -> tuple[list[str], str]:
    """The folders that an address shows, and where those are that follow."""
    page = one_line(client.get(address))
    found = re.search(r'hx-get="([^"]*\?folders=[^"]*)"', page)
    folders = re.findall(r'id="folder-([a-z]+)" data-item|data-key="many/([a-z]+)"', page)
    return ["".join(each) for each in folders], found[1] if found else ""


def through(client: Client, address: str) -> list[list[str]]:
    """The folders of all pages from an address on."""
    found = []
    while address:
        folders, address = more(client, address)
        found.append(folders)
    return found


@pytest.mark.parametrize("address", [MANY, BRANCH])
def test_folders_come_in_pages(client: Client, many: Collection, address: str) -> None:
    assert through(client, address) == [["a", "b"], ["c", "d"], ["e"]]


def test_requests_come_with_their_folders(client: Client, many: Collection) -> None:
    assert names(client, MANY) == ["x", "a1", "a2", "b1", "b2"]
    _, following = more(client, MANY)
    assert names(client, following) == ["c1", "c2", "d1", "d2"]


@pytest.mark.parametrize("address", [MANY, BRANCH])
def test_what_changes_between_two_pages_loses_no_folder(
    client: Client, many: Collection, address: str
) -> None:
    _, following = more(client, address)
    client.post(f"{MANY}folders/a/deletion/")
    client.post(f"{MANY}folders/", {"name": "new"})  # The open page shows it already.
    assert through(client, following) == [["c", "d"], ["e"]]


def test_of_one_place_each_comes_once(client: Client, many: Collection) -> None:
    many.folders.update(position=7)
    assert through(client, MANY) == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("mark", ["x", "1", "1-2", "9999999999-1-1", "1-1-1-1", "٣-1-1"])
@pytest.mark.parametrize("base", [f"{MANY}outline/", BRANCH])
def test_any_mark(client: Client, many: Collection, base: str, mark: str) -> None:
    assert client.get(base, {"folders": mark}).status_code == 200


def test_those_that_were_unfolded_come_unfolded(client: Client, many: Collection) -> None:
    client.cookies["playground_unfolded"] = "many/c"
    _, following = more(client, BRANCH)
    assert "c2" in client.get(following).text


def test_a_thousand_folders_cost_what_a_few_do(
    client: Client, django_assert_max_num_queries: Any
) -> None:
    collection = make_collection("Many")
    Folder.objects.bulk_create(
        Folder(collection=collection, name=f"F {n}", slug=f"f-{n}", position=n) for n in range(1000)
    )
    SavedRequest.objects.bulk_create(
        SavedRequest(collection=collection, folder=folder, name="r", slug=f"r-{folder.pk}")
        for folder in collection.folders.all()
    )
    client.cookies["playground_unfolded"] = "many"
    for address, most in ((url(collection), 160_000), (BRANCH, 60_000), ("/", 120_000)):
        with django_assert_max_num_queries(80):
            page = client.get(address).content
        assert len(page) < most, address
