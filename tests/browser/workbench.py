"""A page object: the workbench as its user names things."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.browser.client import client_of
from tests.support.playground_server import PlaygroundServer

BOXES = "elements => elements.map((each) => each.getBoundingClientRect().toJSON())"


def boxes(*locators: Locator) -> list[FloatRect]:
    """Where elements are on the screen, at one moment: what arrives above them moves them all."""
    elements = [each.element_handle() for each in locators]
    found: list[FloatRect] = locators[0].page.evaluate(BOXES, elements)
    assert all(each["width"] for each in found), f"one of {locators} is not shown"
    return found


def is_within(page: Page, width: int) -> bool:
    """Whether a page of this width does not scroll sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth") <= width)


class Workbench:
    """One open workbench."""

    def __init__(self, page: Page, server: PlaygroundServer) -> None:
        self.page = page
        self.server = server

    def open(self, path: str = "/") -> Workbench:
        """Open a page of the playground and wait until its elements have started."""
        self.page.goto(f"{self.server.url}{path}")
        expect(self.effective).to_contain_text("POST")
        return self

    def add_agent(self, name: str, url: str, **fields: str) -> Workbench:
        """Add an agent for this test, and open the workbench with it chosen."""
        slug = client_of(self.server).add_agent(name, url, **fields)
        self.page.goto(f"{self.server.url}/?agent={slug}")
        expect(self.page.locator("#target-input")).to_have_value(name)
        expect(self.effective).to_contain_text(url.partition("?")[0])
        return self

    def quick(self, **fields: str) -> Workbench:
        """Open the workbench with the demo agent that makes no pauses, for tests of its answers."""
        return self.add_agent("Quick kitchen", f"{self.server.url}/demo?pace=0", **fields)

    def scenario(self, slug: str) -> Workbench:
        """Choose one of the demo's misbehaving agents."""
        return self.add_agent(f"Scenario {slug}", f"{self.server.url}/demo/scenarios/{slug}")

    def choose_agent(self, slug: str) -> Workbench:
        """Choose an agent in the combobox."""
        self.page.locator("#target-input").click()
        self.page.locator(f'#target-list [data-agent="{slug}"]').click()
        return self

    @contextmanager
    def target_menu(self) -> Iterator[Locator]:
        """Open the menu of protocol, version and binding, and close it."""
        chip = self.page.locator("[data-target-chip]")
        chip.click()
        yield self.page.locator("#target-menu")
        chip.press("Escape")

    def compose(self, text: str, **filters: Any) -> Workbench:
        """Fill in the query; filters go in through the JSON view."""
        self.text.fill(text)
        if filters:
            document = self.document | {"query": {"text": text, **filters}}
            self.write_json(json.dumps(document))
        return self

    def write_json(self, text: str) -> Workbench:
        """Replace the document in the JSON view, once its editor is there."""
        self.page.get_by_role("tab", name="JSON").click()
        self.page.locator("#tab-json .cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(text)
        return self

    def add_field(self, name: str) -> Locator:
        """Add a field by its name, as it is offered; returns the field, which has the focus."""
        self.page.get_by_role("button", name="Add field").click()
        box = self.page.get_by_role("combobox", name="Field name")
        box.fill(name)
        box.press("Enter")
        return self.page.locator("json-field:focus-within")

    def send(self) -> Workbench:
        """Press Send and wait for a run."""
        before = self.run
        self.page.get_by_role("button", name="Send").first.click()
        self.next_run(before)
        expect(self.badge).to_be_visible()
        return self

    def next_run(self, before: str | None) -> Workbench:
        """Wait until another run than `before` is shown."""
        # To wait for an element takes fewer looks than to expect an attribute of one.
        self.page.locator(f'#response[data-run]:not([data-run="{before}"])').wait_for()
        return self

    def ended(self, state: str = "completed") -> Workbench:
        """Wait until nothing more of the run comes: what is offered after it is replaced before."""
        self.page.locator("#run-cursor[data-final]").wait_for(state="attached", timeout=30_000)
        expect(self.badge).to_have_attribute("data-state", state)
        return self

    def tab(self, name: str) -> Locator:
        """Show one of the response's tabs; returns its panel."""
        self.page.locator("#response").get_by_role("tab", name=name).click()
        return self.page.locator(f"#tab-{name.lower()}")

    @property
    def text(self) -> Locator:
        """The field of query.text."""
        return self.page.locator('json-field[data-pointer="/query/text"] textarea')

    @property
    def document(self) -> dict[str, Any]:
        """The document that would be sent."""
        value = self.page.locator("textarea[name=document]").input_value()
        return json.loads(value)

    @property
    def run(self) -> str | None:
        """The id of the run that is shown."""
        return self.page.locator("#response").get_attribute("data-run")

    @property
    def badge(self) -> Locator:
        """State or outcome, in a word."""
        return self.page.locator("#run-badge")

    @property
    def cards(self) -> Locator:
        """The entries of the thread."""
        return self.page.locator("#cards > *")

    @property
    def effective(self) -> Locator:
        """The effective request."""
        return self.page.locator("#effective")

    def figure(self, name: str) -> int:
        """A figure of the bar."""
        text = self.page.locator(f'[data-stat="{name}"]').text_content() or ""
        return int(text.replace(",", ""))

    def seqs(self) -> list[int]:
        """The frame numbers of the cards, in the order of the page."""
        script = "cards => cards.map(card => Number(card.dataset.seq))"
        return self.cards.evaluate_all(script)
