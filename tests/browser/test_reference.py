"""The reference in a browser: links into documents that refer to others, and the filter."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.playground_server import PlaygroundServer


def test_a_location_in_a_response_leads_to_its_attribute(
    page: Page, playground: PlaygroundServer
) -> None:
    url = f"{playground.url}/reference/nlweb/0.55/"
    page.goto(f"{url}#answer/results/3/actions/1/method")
    attribute = page.locator('[id="action/method"]')
    expect(attribute).to_be_in_viewport()
    expect(page).to_have_url(f"{url}#action/method")
    current = page.locator('.reference-contents [aria-current="location"]')
    expect(current).to_have_text("action")


def test_the_filter_shows_what_contains_its_words(page: Page, playground: PlaygroundServer) -> None:
    url = f"{playground.url}/reference/nlweb/0.55/"
    page.goto(url)
    page.get_by_role("searchbox", name="Name, value or description").fill("promise token")
    expect(page).to_have_url(f"{url}?q=promise+token")
    expect(page.locator('[id="promise/promise/token"]')).to_be_visible()
    expect(page.locator('[id="ask-request/query"]')).to_have_count(0)
    expect(page.get_by_role("searchbox", name="Name, value or description")).to_be_focused()
