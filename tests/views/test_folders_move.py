"""Moving a folder to another collection, and undoing it."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from playground.collections import views
from playground.models import Collection
from tests.support.collections import HTMX, make_collection, order
from tests.support.markup import read

pytestmark = pytest.mark.database

HERE = "/collections/soups/folders/hot/place/"


@pytest.fixture
def soups() -> Collection:
    return make_collection("Soups", "a", hot="d e", cold="f")


@pytest.fixture
def others() -> Collection:
    return make_collection("Others", "d", hot="x")


def undo_of(page: str) -> str:
    found = re.search(r'action="(/collections/others/folders/[^"]*\?back=[^"]*)"', page)
    assert found, page
    return found[1]


def test_the_other_collections_are_offered(
    client: Client, soups: Collection, others: Collection
) -> None:
    for headers in ({}, HTMX):
        page = read(client.get(HERE, headers=headers).content.decode())
        assert [each.attributes["value"] for each in page.find("option")] == ["others"]


def test_there_is_no_other(client: Client, soups: Collection) -> None:
    page = client.get(HERE).content.decode()
    assert "There is no other collection." in page
    assert "Move folder" not in page


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "sheet"])
def test_a_move_can_be_undone(
    client: Client, soups: Collection, others: Collection, headers: dict[str, str]
) -> None:
    def state() -> list[object]:
        found: list[object] = [order(soups), order(others)]
        for each in (soups, others):
            found.append(sorted(each.folders.values_list("pk", "slug")))
            found.append(sorted(each.requests.values_list("pk", "slug")))
        return found

    before = state()
    client.post(HERE, {"collection": "others"}, headers=headers)
    page = client.get("/collections/others/").content.decode()
    assert "Hot was moved here." in page
    assert order(others) == "d | Hot: x | Hot: d e"
    response = client.post(undo_of(page), follow=True)
    assert response.redirect_chain == [("/collections/soups/", 302)]
    assert "Moved Hot back." in response.content.decode()
    assert state() == before


def test_undone_after_its_place_was_given_away(
    client: Client, soups: Collection, others: Collection
) -> None:
    page = client.post(HERE, {"collection": "others"}, follow=True).content.decode()
    client.post("/collections/soups/folders/cold/deletion/")
    client.post("/collections/soups/folders/", {"name": "Hot"})
    client.post(undo_of(page))
    assert order(soups) == "a | Hot: | Hot: d e"
    assert set(soups.folders.values_list("slug", flat=True)) == {"hot", "hot-2"}


def test_too_many_new_slugs_for_an_address_stay_new(
    client: Client, soups: Collection, others: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_LONGEST", 10)
    page = client.post(HERE, {"collection": "others"}, follow=True).content.decode()
    client.post(undo_of(page))
    assert order(soups) == "a | Hot: d e | Cold: f"
    assert set(soups.requests.values_list("slug", flat=True)) == {"a", "d-2", "e", "f"}


@pytest.mark.parametrize("back", ["x", "e30:1w:a", "☃"])
def test_a_way_back_that_we_did_not_make(client: Client, soups: Collection, back: str) -> None:
    assert client.post(f"{HERE}?back={back}").status_code == 404
    assert order(soups) == "a | Hot: d e | Cold: f"


def test_the_way_back_of_a_collection_that_is_gone(
    client: Client, soups: Collection, others: Collection
) -> None:
    page = client.post(HERE, {"collection": "others"}, follow=True).content.decode()
    soups.delete()
    assert client.post(undo_of(page)).status_code == 404
    assert order(others) == "d | Hot: x | Hot: d e"
