"""Every page can be reached: by the palette from anywhere, and by a link on a related page."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from playground.models import Agent, Share
from playground.site.sidebar import COOKIE
from tests.support.collections import make_collection
from tests.support.markup import read
from tests.support.stored_runs import past_run

#: A page, and a page near it that leads there.
NEIGHBOURS = [
    ("collection-runs", "collections"),
    ("collection-import", "collections"),
    ("shares", "history"),
    ("history-retention", "history"),
]


def links_of(client: Client, name: str, *, palette: bool) -> set[str]:
    """Where the links of a page lead: those of the palette, or the others."""
    markup = read(client.get(reverse(name)))
    links = [link.attributes for link in markup.find("a")]
    return {link["href"] or "" for link in links if ("data-palette" in link) is palette}


@pytest.mark.parametrize("place", ["history", "workbench"])
def test_the_palette_leads_there_from_every_page(client: Client, place: str) -> None:
    names = {name for name, _near in NEIGHBOURS}
    wanted = {
        reverse(name) for name in names | {"collections", "history", "environments", "agents"}
    }
    assert wanted <= links_of(client, place, palette=True)


@pytest.mark.parametrize(("name", "near"), NEIGHBOURS)
def test_a_page_near_it_leads_there(client: Client, name: str, near: str) -> None:
    assert reverse(name) in links_of(client, near, palette=False)


PAGES = [
    "workbench", "history", "history-retention", "collections", "collection-new",
    "collection-import", "collection-search", "collection-runs", "agents", "agent-new",
    "environments", "shares", "compare", "rules", "demo",
]  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_the_sidebar(client: Client, agent: Agent, name: str) -> None:
    """It links to agents and collections, and leaves its history for later."""
    make_collection("Soups", "a")
    past_run(text="a run of the past")
    client.cookies[COOKIE] = "soups"
    html = client.get(reverse(name)).text
    page = read(html[html.index('<aside id="sidebar"') : html.index("</aside>") + len("</aside>")])
    links = {link.attributes["href"] for link in page.find("a")}
    assert {f"/?agent={agent.slug}", "/collections/soups/requests/a/", "/?new=1"} <= links
    assert "a run of the past" not in page.text


def test_the_sidebar_costs_two_queries(
    client: Client, django_assert_num_queries: Any, agent: Agent
) -> None:
    """One for the agents, one for the collections with their counts, however many there are."""
    for number in range(5):
        make_collection(f"C{number}", "a b", hot="c")
    with django_assert_num_queries(2):
        client.get(reverse("rules"))


def test_a_shared_page_and_a_pane_have_none(client: Client, agent: Agent) -> None:
    run = past_run(text="soup")
    token = Share.objects.create(run=run).token
    for address in (reverse("share", args=[token]), reverse("run-frame", args=[run.pk])):
        assert 'id="sidebar"' not in client.get(address).text
