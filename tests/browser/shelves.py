"""Collections in the shared playground, and their page as its user names things."""

from __future__ import annotations

import json
import time

from playwright.sync_api import Locator, Page, expect

from tests.playground_server import PlaygroundServer

_PLANT = """
import json, sys
from playground.models import Collection, Folder, SavedRequest
name, loose, folders = json.load(sys.stdin)
Collection.objects.filter(name=name).delete()
made = Collection.objects.create(name=name, position=10**6)
def fill(folder, names):
    for index, each in enumerate(names.split()):
        SavedRequest.objects.create(collection=made, folder=folder, name=each, agent="demo",
            position=1024 * (index + 1), document={"query": {"text": f"soup {each}"}})
fill(None, loose)
for index, (each, names) in enumerate(folders.items()):
    fill(Folder.objects.create(collection=made, name=each, position=1024 * (index + 1)), names)
print(made.slug)
"""


def plant(server: PlaygroundServer, name: str, loose: str = "", **folders: str) -> str:
    """Make a collection anew, with requests of these names; returns its slug."""
    told = json.dumps([name, loose, folders])
    done = server.manage("shell", "--no-imports", "-c", _PLANT, input=told)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class ShelfPage:
    """The page of a collection."""

    def __init__(self, page: Page, server: PlaygroundServer, slug: str) -> None:
        self.page = page
        self.url = f"{server.url}/collections/{slug}/"

    def open(self) -> ShelfPage:
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
        self.page.get_by_role("link", name=f"Actions on {name}", exact=True).click()
        self.page.get_by_role("menuitem", name=action, exact=True).click()

    def order(self) -> str:
        """The requests as they are shown: "a b | hot: c"."""
        shown: list[list[str]] = self.page.locator("[data-group]").evaluate_all(
            "groups => groups.map(group => [group.dataset.name ?? '',"
            " ...[...group.querySelectorAll('[data-item=request]')].map(row => row.dataset.slug)])"
        )
        parts = [f"{name}: {' '.join(rows)}" if name else " ".join(rows) for name, *rows in shown]
        return " | ".join(part.strip() for part in parts)

    def expect_order(self, wanted: str) -> None:
        """It is shown so, and also when the page is loaded anew."""
        # What the page has moved by itself, the server is being told.
        expect(self.page.locator(".htmx-request")).to_have_count(0)
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
