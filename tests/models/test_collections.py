"""Targets and order of saved requests."""

from __future__ import annotations

import pytest

from playground.models import Agent, Collection, Folder, SavedRequest
from playground.models.collections import requests_in_order, resolve_target

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.mark.parametrize(
    ("slug", "address", "goes_to_agent", "goes_to"),
    [
        ("mine", "http://old.example/ask", True, ""),
        ("mine", "", True, ""),
        ("gone", "http://old.example/ask", False, "http://old.example/ask"),
        ("", "{{base}}/ask", False, "{{base}}/ask"),
        ("mine", "/other/ask", False, "https://a.example:8443/other/ask"),
        ("gone", "/other/ask", False, ""),
        ("", "/other/ask", False, ""),
        ("", "", False, ""),
    ],
)
def test_where_it_goes(slug: str, address: str, goes_to_agent: bool, goes_to: str) -> None:
    agent = Agent.objects.create(name="Mine", url="https://a.example:8443/api/?x=1")
    saved = SavedRequest(agent=slug, address=address)
    found, there = resolve_target(saved, Agent.objects.all())
    assert found == (agent if goes_to_agent else None)
    assert there == goes_to


def test_requests_without_a_folder_come_first() -> None:
    collection = Collection.objects.create(name="All")
    late = Folder.objects.create(collection=collection, name="Late", position=2048)
    early = Folder.objects.create(collection=collection, name="Early", position=1024)
    for name, folder, position in (
        ("fourth", late, 1), ("third", early, 2), ("second", early, 1), ("first", None, 9),
    ):  # fmt: skip
        SavedRequest.objects.create(
            collection=collection, folder=folder, name=name, position=position
        )
    names = [saved.name for saved in requests_in_order(collection)]
    assert names == ["first", "second", "third", "fourth"]


def test_a_slug_stays_and_is_free_of_others() -> None:
    collection = Collection.objects.create(name="Import")
    assert collection.slug == "import-2"
    twice = [SavedRequest.objects.create(collection=collection, name="Soup") for _ in range(3)]
    assert [saved.slug for saved in twice] == ["soup", "soup-2", "soup-3"]
    twice[0].name = "Stew"
    twice[0].save()
    assert twice[0].slug == "soup"
