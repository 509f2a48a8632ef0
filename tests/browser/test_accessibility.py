"""WCAG 2.2 AA, as far as axe can tell: pages that one only looks at, and the workbench in use.

What appears on the way through a feature is examined in the test of that way.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.collection_page import import_requests
from tests.browser.workbench import Workbench, is_within
from tests.support.playground_server import PlaygroundServer

PAGES = [
    *("/", "/agents/", "/agents/new/", "/demo/", "/environments/"),
    *("/reference/", "/reference/nlweb/0.55/?q=promise", "/reference/nlweb/0.55/changes/"),
    *("/rules/", "/rules/nlweb/item-type-string/", "/rules/mcp/mcp.content-parts/"),
    *("/rules/agent-api/agent-api.usage/", "/rules/json/json-utf8/"),
    *("/collections/", "/collections/search/?q=b", "/collections/seen/requests/b/details/"),
    "/collections/seen/requests/b/place/",
]


#: Rows that one template makes: of those alike, a few are enough.
ALIKE = "main tbody > tr:nth-of-type(n+6), main li:nth-of-type(n+6), main article:nth-of-type(n+6)"


@pytest.mark.parametrize("path", PAGES)
def test_pages(still: Page, playground: PlaygroundServer, path: str) -> None:
    if path.startswith("/collections/"):
        import_requests(playground, "Seen", "b", hot="c")
    still.goto(f"{playground.url}{path}")
    expect(still.locator(".htmx-request")).to_have_count(0)
    still.evaluate(f"document.querySelectorAll('{ALIKE}').forEach((each) => each.remove())")
    assert findings(still, both_themes=True) == []
    still.set_viewport_size({"width": 390, "height": 844})
    assert is_within(still, 390)


def test_every_part_of_the_composer(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground).quick()
    for name in ("memory", "mode", "user", "spice"):
        workbench.add_field(name)
    for name in ("auth", "headers", "expect", "json", "request"):
        still.locator(f"#compose-tab-{name}").click()
        assert findings(still, "#compose") == [], name
    still.keyboard.press("ControlOrMeta+k")
    expect(still.get_by_role("dialog")).to_be_visible()
    assert findings(still, "dialog[open]", both_themes=True) == [], "palette"


def test_every_view_of_a_response(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground).quick().send().ended()
    for name, part in (
        ("Timeline", ".mark"),
        ("Events", "#event-rows > *"),
        ("Wire", "#wire-blocks > *"),
        ("Results", "#cards > *"),
    ):
        expect(workbench.tab(name).locator(part).first).to_be_visible()
        assert findings(still, f"#tab-{name.lower()}") == [], name
    assert findings(still, both_themes=True) == [], "all of it"
    for text in ("weekly meal plan", "fail TOKEN_LIMIT"):
        workbench.compose(text).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        assert findings(still, "#response") == [], text


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
    assert is_within(page, 390), "it scrolls sideways"
    assert findings(page) == []
    context.close()
