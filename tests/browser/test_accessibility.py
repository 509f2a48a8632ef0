"""WCAG 2.2 AA, as far as axe can tell, in every state, and on every page in both themes."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

PAGES = [
    *("/", "/agents/", "/agents/new/", "/demo/"),
    *("/reference/", "/reference/nlweb/0.55/?q=promise", "/reference/nlweb/0.55/changes/"),
]


@pytest.mark.parametrize("path", PAGES)
def test_pages(still: Page, playground: PlaygroundServer, path: str) -> None:
    still.goto(f"{playground.url}{path}")
    still.wait_for_load_state("networkidle")
    assert findings(still, both_themes=True) == []


def test_the_workbench_in_every_state(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground).open()
    for name in ("memory", "mode", "user", "spice"):
        workbench.add_field(name)
    for name in ("auth", "headers", "expect", "json", "request"):
        still.locator(f"#compose-tab-{name}").click()
        assert findings(still) == [], name
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")
    for name, part in (
        ("Timeline", ".mark"),
        ("Events", "#event-rows > *"),
        ("Wire", "#wire-blocks > *"),
        ("Results", "#cards > *"),
    ):
        expect(workbench.tab(name).locator(part).first).to_be_visible()
        assert findings(still, both_themes=True) == [], name
    for text in ("something for dinner", "weekly meal plan", "fail TOKEN_LIMIT"):
        workbench.compose(text).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        assert findings(still) == [], text
    still.keyboard.press("ControlOrMeta+k")
    expect(still.get_by_role("dialog")).to_be_visible()
    assert findings(still, both_themes=True) == [], "palette"


@pytest.mark.parametrize("slug", ["truncated", "html-error", "deep"])
def test_bad_endings(still: Page, playground: PlaygroundServer, slug: str) -> None:
    workbench = Workbench(still, playground).scenario(slug).send()
    expect(workbench.page.locator(".problem")).to_be_visible()
    assert findings(still, both_themes=True) == []


def test_a_phone(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    workbench = Workbench(page, playground).open()
    page.get_by_role("button", name="Send").first.click()
    expect(workbench.badge).to_have_text("Completed")
    expect(workbench.cards.first).to_be_in_viewport()
    top = workbench.cards.first.evaluate("card => card.getBoundingClientRect().top")
    assert top <= 120, "controls above the first result"
    expect(page.locator(".response-header")).to_be_focused()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "the page scrolls sideways"
    assert findings(page) == []
    context.close()
