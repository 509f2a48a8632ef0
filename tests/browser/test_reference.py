"""The reference in a browser: links into documents that refer to others, and the filter."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.playground_server import PlaygroundServer


def test_a_location_leads_to_its_attribute_and_words_filter(
    page: Page, playground: PlaygroundServer
) -> None:
    url = f"{playground.url}/reference/nlweb/0.55/"
    page.goto(f"{url}#answer/results/3/actions/1/method")
    expect(page.locator('[id="action/method"]')).to_be_in_viewport()
    expect(page).to_have_url(f"{url}#action/method")
    current = page.locator('.reference-contents [aria-current="location"]')
    expect(current).to_have_text("action")
    words = page.get_by_role("searchbox", name="Name, value or description")
    words.fill("promise token")
    expect(page).to_have_url(f"{url}?q=promise+token")
    expect(page.locator('[id="ask-request/query"]')).to_have_count(0)
    expect(words).to_be_focused()
