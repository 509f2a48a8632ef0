"""WCAG 2.2 AA, as far as axe can tell, on every page and state in both themes; and a phone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.workbench import Workbench
from tests.playground_server import PlaygroundServer

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"runOnly": {"type": "tag", "values": TAGS}}
PAGES = ["/", "/agents/", "/agents/new/", "/demo/"]


def findings(page: Page) -> list[str]:
    results = Axe().run(page, options=OPTIONS)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in results.response["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("path", PAGES)
def test_pages(themed: Page, playground: PlaygroundServer, path: str) -> None:
    themed.goto(f"{playground.url}{path}")
    themed.wait_for_load_state("networkidle")
    assert findings(themed) == []


def test_the_workbench_in_every_state(themed: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(themed, playground).open()
    for name in ("Context", "Prefer", "Meta", "Auth", "Headers", "Expect", "JSON", "Query"):
        themed.locator("#compose").get_by_role("tab", name=name).click()
        assert findings(themed) == [], name
    workbench.send()
    expect(workbench.badge).to_have_text("Complete")
    for name in ("Timeline", "Events", "Wire", "Results"):
        panel = workbench.tab(name)
        expect(panel).not_to_be_empty()
        themed.wait_for_load_state("networkidle")
        assert findings(themed) == [], name
    for text in ("something for dinner", "weekly meal plan", "fail TOKEN_LIMIT"):
        workbench.compose(text).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        assert findings(themed) == [], text
    themed.keyboard.press("ControlOrMeta+k")
    expect(themed.get_by_role("dialog")).to_be_visible()
    assert findings(themed) == [], "palette"


@pytest.mark.parametrize("slug", ["truncated", "html-error", "huge"])
def test_bad_endings(themed: Page, playground: PlaygroundServer, slug: str) -> None:
    workbench = Workbench(themed, playground).scenario(slug).send()
    expect(workbench.page.locator(".problem")).to_be_visible()
    assert findings(themed) == []


def test_a_phone(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    workbench = Workbench(page, playground).open()
    page.get_by_role("button", name="Send").first.click()
    expect(workbench.badge).to_have_text("Complete")
    expect(workbench.cards.first).to_be_in_viewport()
    expect(page.locator(".runbar")).to_be_focused()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390, "the page scrolls sideways"
    assert findings(page) == []
    context.close()
