"""Collections in the shared playground, and their page as its user names things."""

from __future__ import annotations

import time
from typing import Any

from django.utils.text import slugify
from playwright.sync_api import Locator, Page, expect

from tests.browser.client import client_of
from tests.support.playground_server import PlaygroundServer


def import_requests(server: PlaygroundServer, name: str, loose: str = "", **folders: str) -> str:
    """Import a collection with requests of these names; returns its slug."""
    slug = slugify(name)
    items: list[dict[str, Any]] = [_item("collection", name=name, slug=slug)]
    for number, folder in enumerate(folders, 1):
        items.append(
            _item("folder", collection=[slug], name=folder, slug=slugify(folder), position=number)
        )
    for folder, names in (("", loose), *folders.items()):
        place = {"folder": [slug, slugify(folder)]} if folder else {}
        for number, each in enumerate(names.split(), 1):
            request = {
                "name": each, "slug": slugify(each), "position": 1024 * number, "agent": "demo",
                "protocol": "nlweb", "binding": "http", "version": "0.55",
                "document": {"query": {"text": f"soup {each}"}},
            }  # fmt: skip
            items.append(_item("savedrequest", collection=[slug], **place, **request))
    client_of(server).import_collection(items)
    return slug


def _item(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": f"playground.{model}", "fields": fields}


class CollectionPage:
    """The page of a collection."""

    def __init__(self, page: Page, server: PlaygroundServer, slug: str) -> None:
        self.page = page
        self.url = f"{server.url}/collections/{slug}/"

    def open(self) -> CollectionPage:
        """Open it, and wait until its elements have started."""
        self.page.goto(self.url)
        self.page.evaluate("customElements.whenDefined('sort-list').then(() => true)")
        return self

    def row(self, name: str) -> Locator:
        """A request, by its slug."""
        return self.page.locator(f'[data-item="request"][data-slug="{name}"]')

    def handle(self, name: str) -> Locator:
        """What a request, or a folder, is moved by."""
        return self.page.get_by_role("button", name=f"Move {name}", exact=True)

    def choose(self, name: str, action: str) -> None:
        """Choose an action in the menu of something."""
        self.page.get_by_role("link", name=f"Actions for {name}", exact=True).click()
        self.page.get_by_role("menuitem", name=action, exact=True).click()

    def order(self) -> str:
        """The requests as they are shown: "a b | hot: c"."""
        shown: list[list[str]] = self.page.locator("[data-group]").evaluate_all(
            "groups => groups.map(group => [group.dataset.name ?? '',"
            " ...[...group.querySelectorAll('[data-item=request]')].map(row => row.dataset.slug)])"
        )
        parts = [f"{name}: {' '.join(rows)}" if name else " ".join(rows) for name, *rows in shown]
        return " | ".join(part.strip() for part in parts)

    def wait_until_stored(self) -> None:
        """Wait until the server knows what the page has moved by itself."""
        expect(self.page.locator(".htmx-request")).to_have_count(0)

    def expect_order(self, wanted: str) -> None:
        """It is shown so, and also when the page is loaded anew."""
        self.wait_until_stored()
        self._wait_for(wanted)
        self.open()
        self._wait_for(wanted)

    def _wait_for(self, wanted: str) -> None:
        """What was fetched anew may take its place in a moment."""
        until = time.monotonic() + 10
        while (shown := self.order()) != wanted and time.monotonic() < until:
            self.page.wait_for_timeout(50)
        assert shown == wanted

    @property
    def announced(self) -> Locator:
        """What was said to those who do not see the page."""
        return self.page.locator("#announce")

    def expect_note(self, text: str) -> Locator:
        """A note says this; returns it."""
        note = self.page.locator("toast-note").filter(has_text=text)
        expect(note).to_be_visible()
        return note
