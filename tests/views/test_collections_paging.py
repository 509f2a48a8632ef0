"""Collections with very many folders and requests: pages and the sidebar show a part of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from playground.collections import outline
from playground.models import Collection, Folder, SavedRequest
from playground.site import sidebar
from tests.support.collections import make_collection, names, url

pytestmark = pytest.mark.database

PAGE = "/collections/many/"
BRANCH = "/sidebar/many/"


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Five folders with two requests each, of which two are shown at a time."""
    monkeypatch.setattr(outline, "FOLDERS", 2)
    monkeypatch.setattr(sidebar, "FOLDERS", 2)
    return make_collection("Many", "x", a="a1 a2", b="b1 b2", c="c1 c2", d="d1 d2", e="e1 e2")


def more(client: Client, address: str) -> tuple[list[str], str]:
    """The folders that an address shows, and where those are that follow."""
    page = client.get(address).content.decode()
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


@pytest.mark.parametrize("address", [PAGE, BRANCH])
def test_folders_come_in_pages(client: Client, many: Collection, address: str) -> None:
    assert through(client, address) == [["a", "b"], ["c", "d"], ["e"]]


def test_requests_come_with_their_folders(client: Client, many: Collection) -> None:
    assert names(client, PAGE) == ["x", "a1", "a2", "b1", "b2"]
    _, following = more(client, PAGE)
    assert names(client, following) == ["c1", "c2", "d1", "d2"]


@pytest.mark.parametrize("address", [PAGE, BRANCH])
def test_what_changes_between_two_pages_loses_no_folder(
    client: Client, many: Collection, address: str
) -> None:
    _, following = more(client, address)
    client.post(f"{PAGE}folders/a/deletion/")
    client.post(f"{PAGE}folders/", {"name": "new"})  # The open page shows it already.
    assert through(client, following) == [["c", "d"], ["e"]]


def test_of_one_place_each_comes_once(client: Client, many: Collection) -> None:
    many.folders.update(position=7)
    assert through(client, PAGE) == [["a", "b"], ["c", "d"], ["e"]]


@pytest.mark.parametrize("mark", ["x", "1", "1-2", "9999999999-1-1", "1-1-1-1", "٣-1-1"])
@pytest.mark.parametrize("base", [f"{PAGE}outline/", BRANCH])
def test_any_mark(client: Client, many: Collection, base: str, mark: str) -> None:
    assert client.get(base, {"folders": mark}).status_code == 200


def test_those_that_were_unfolded_come_unfolded(client: Client, many: Collection) -> None:
    client.cookies["playground_unfolded"] = "many/c"
    _, following = more(client, BRANCH)
    assert "c2" in client.get(following).content.decode()


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
