"""Deleting parts of collections, and restoring them."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from playground.collections.fixture import dump
from playground.collections.trash import recently_deleted, undo_url
from playground.models import Collection, SavedRequest
from tests.support.collections import HTMX, make_collection, order, url

pytestmark = pytest.mark.database

BEFORE = "a b | Hot: c d | Cold:"


@pytest.fixture
def soups() -> Collection:
    return make_collection("Soups", "a b", hot="c d", cold="")


def undo_of(page: str) -> str:
    """The address that takes back what a note tells of."""
    found = re.search(r'action="(/collections/undo/\w+/\d+/)"', page)
    assert found, page
    return found[1]


@pytest.mark.parametrize(
    ("path", "label", "after"),
    [
        ("requests/a/", "the request “a”", "b | Hot: c d | Cold:"),
        ("requests/c/", "the request “c”", "a b | Hot: d | Cold:"),
        ("folders/hot/", "the folder “Hot”", "a b | Cold:"),
        ("folders/cold/", "the folder “Cold”", "a b | Hot: c d"),
    ],
)
def test_what_was_deleted_can_be_put_back_where_it_was(
    client: Client, soups: Collection, path: str, label: str, after: str
) -> None:
    response = client.post(f"/collections/soups/{path}deletion/", follow=True)
    page = response.text
    assert response.redirect_chain == [("/collections/soups/", 302)]
    assert f"Deleted {label}." in page
    assert order(soups) == after
    response = client.post(undo_of(page), follow=True)
    assert response.redirect_chain == [("/collections/soups/", 302)]
    assert f"Restored {label}." in response.text
    assert order(soups) == BEFORE
    assert not trashed()


def trashed() -> list[str]:
    """The addresses that restore what was deleted, latest first."""
    return [undo_url(part) for part in recently_deleted(Collection.with_trashed.all())]


def test_from_the_page_only_the_note_comes(client: Client, soups: Collection) -> None:
    response = client.post(url(soups, "a/deletion/"), headers=HTMX)
    part = response.text
    assert 'hx-swap-oob="beforeend:#notes"' in part
    assert "collections:changed" in response["HX-Trigger"]
    assert client.post(undo_of(part), headers=HTMX)["HX-Redirect"] == "/collections/soups/"
    assert order(soups) == BEFORE


def test_a_collection_comes_back_whole(client: Client, soups: Collection) -> None:
    response = client.post("/collections/soups/deletion/", follow=True)
    assert response.redirect_chain == [("/collections/", 302)]
    page = response.text
    assert not Collection.objects.exists()
    assert page.count(undo_of(page)) == 2, "in the note, and among what was deleted lately"
    response = client.post(undo_of(page), follow=True)
    assert response.redirect_chain == [("/collections/soups/", 302)]
    assert order(Collection.objects.get()) == BEFORE


def test_without_its_collection_a_request_cannot_come_back(
    client: Client, soups: Collection
) -> None:
    client.post(url(soups, "a/deletion/"))
    client.post("/collections/soups/deletion/")
    latest, first = trashed()
    response = client.post(first, follow=True)
    assert (
        "Restoring the request “a” failed: The collection “soups” no longer exists."
        in response.text
    )
    for address in (latest, first):
        client.post(address)
    assert order(Collection.objects.get()) == BEFORE


def test_twice_is_once(client: Client, soups: Collection) -> None:
    client.post(url(soups, "a/deletion/"))
    (address,) = trashed()
    assert client.post(address).status_code == 302
    assert client.post(address).status_code == 404
    assert client.get(address).status_code == 405
    assert client.post(address.replace("request", "run")).status_code == 404
    assert order(soups) == BEFORE


def test_after_a_day_it_is_forgotten(client: Client, soups: Collection) -> None:
    client.post(url(soups, "a/deletion/"))
    (address,) = trashed()
    SavedRequest.with_trashed.filter(name="a").update(
        deleted_at=timezone.now() - timedelta(hours=25)
    )
    assert "Deleted in the last 24 hours" not in client.get("/collections/").text
    assert client.post(address).status_code == 404
    client.post(url(soups, "b/deletion/"))
    page = client.get("/collections/").text
    assert "Restore the request “b”" in page
    assert "Restore the request “a”" not in page


class TestShipped:
    @pytest.fixture(autouse=True)
    def file(self, settings: Any, tmp_path: Path, soups: Collection) -> Path:
        settings.FIXTURE_DIRS = [tmp_path]
        found = tmp_path / "soups.json"
        found.write_text(dump(soups), "utf-8")
        return found

    def test_one_that_was_deleted_is_loaded_again(self, client: Client) -> None:
        assert "Load again" not in client.get("/collections/").text
        page = client.post("/collections/soups/deletion/", follow=True).text
        address = reverse("collection-shipped", args=["soups"])
        assert f'action="{address}"' in page
        response = client.post(address, follow=True)
        assert response.redirect_chain == [("/collections/soups/", 302)]
        assert "Soups was loaded." in response.text
        assert order(Collection.objects.get()) == BEFORE
        assert "Load again" not in client.get("/collections/").text
        assert client.post(address).status_code == 404

    def test_a_file_that_is_broken_by_then(self, client: Client, file: Path) -> None:
        client.post("/collections/soups/deletion/")
        file.write_text(file.read_text("utf-8")[:-9], "utf-8")
        response = client.post(reverse("collection-shipped", args=["soups"]), follow=True)
        assert "Loading soups failed: Line" in response.text
