"""Every page can be reached: by the palette from anywhere, and by a link on a related page."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.support.markup import read

pytestmark = pytest.mark.django_db

#: A page, and a page near it that leads there.
NEIGHBOURS = [
    ("collection-runs", "collections"),
    ("collection-import", "collections"),
    ("format-har", "history"),
    ("shares", "history"),
    ("history-retention", "history"),
]


def links_of(client: Client, name: str, *, palette: bool) -> set[str]:
    """Where the links of a page lead: those of the palette, or the others."""
    markup = read(client.get(reverse(name)).content.decode())
    links = [link.attributes for link in markup.find("a")]
    return {link["href"] or "" for link in links if ("data-palette" in link) is palette}


@pytest.mark.parametrize("place", ["history", "format-har"])
def test_the_palette_leads_there_from_every_page(client: Client, place: str) -> None:
    names = {name for name, _near in NEIGHBOURS}
    wanted = {
        reverse(name) for name in names | {"collections", "history", "environments", "agents"}
    }
    assert wanted <= links_of(client, place, palette=True)


@pytest.mark.parametrize(("name", "near"), NEIGHBOURS)
def test_a_page_near_it_leads_there(client: Client, name: str, near: str) -> None:
    assert reverse(name) in links_of(client, near, palette=False)
