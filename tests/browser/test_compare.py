"""Two runs compared in a browser: chosen in the history, and from a run's page."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import press
from tests.browser.workbench import Workbench, boxes, is_within
from tests.support.playground_server import PlaygroundServer


def ask(workbench: Workbench, *texts: str) -> None:
    """Send a request with each text, and wait for its end."""
    workbench.quick()
    for text in texts:
        workbench.compose(text).send().ended()


def test_two_chosen_in_the_history(still: Page, playground: PlaygroundServer) -> None:
    page = still
    ask(Workbench(page, playground), "compare tomato soup", "compare vegan dinner")
    page.goto(f"{playground.url}/history/?q=compare")
    compare = page.get_by_role("button", name="Compare", exact=True)
    page.get_by_label("Select compare tomato soup").check()
    expect(compare).to_be_disabled()
    page.get_by_label("Select compare vegan dinner").check()
    compare.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare runs")
    request = page.get_by_role("region", name="Request: 1 difference")
    expect(request).to_contain_text("/query/text")
    head, first = (request.get_by_role("row").nth(n).locator("th").first for n in range(2))
    above, below = boxes(head, first)
    assert above["y"] + above["height"] <= below["y"] + 1, "the head covers no row"
    page.get_by_text("expected difference").first.click()
    assert findings(page, both_themes=True) == []
    # The older one stands on the left.
    left, right = (page.get_by_role("region", name=name) for name in ("Left", "Right"))
    expect(left).to_contain_text("compare tomato soup")
    expect(page.locator("section[aria-labelledby=response-title]")).to_contain_text("only left")
    page.get_by_role("link", name="Swap").click()
    expect(left).to_contain_text("compare vegan dinner")
    page.set_viewport_size({"width": 390, "height": 844})
    assert len({each["x"] for each in boxes(left, right)}) == 1
    assert is_within(page, 390)
    page.goto(page.url.partition("&right")[0])
    assert findings(page, both_themes=True) == []


def test_from_a_run_by_keyboard_with_what_is_folded(
    still: Page, playground: PlaygroundServer
) -> None:
    page = still
    ask(Workbench(page, playground), "compare gazpacho", "compare gazpacho")
    page.locator(".response-header").focus()
    press(page, "Compare…")
    first = page.locator("#compare-with").get_by_role("link").first
    expect(first).to_contain_text("compare gazpacho")
    assert findings(page) == []
    first.press("Enter")
    expect(page.locator("#request-title")).to_have_text("Request: no differences")
    expect(page.locator("#response-title")).to_have_text("Response: no differences")
    # The conversation's id, and the processing time unless both took as long.
    folded = page.get_by_text(re.compile(r"expected differences? \(ids, tokens, timestamps\)")).last
    folded.click()
    expect(page.get_by_role("region", name="Differences: ids, tokens, timestamps")).to_be_visible()
    page.get_by_role("link", name="Unordered").click()
    expect(page).to_have_url(f"{page.url.split('&order')[0]}&order=1")
    expect(page.get_by_role("link", name="Unordered")).to_have_attribute("aria-current", "true")
