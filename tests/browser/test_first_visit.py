"""A newcomer opens the page, presses Send, and finds the run again."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.workbench import Workbench


def test_results_stream_in_and_are_found_again(workbench: Workbench) -> None:
    page = workbench.page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    workbench.open().compose("a query to be found again")
    empty = page.locator("#response .empty")
    expect(empty).to_be_visible()
    empty.get_by_role("button", name="Send").click()
    expect(workbench.badge).to_have_text("Completed")
    assert workbench.cards.count() == workbench.figure("results") > 0
    run = workbench.run
    expect(page).to_have_url(f"{workbench.server.url}/runs/{run}/")
    page.locator("#tab-results-button").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-timeline svg")).to_be_visible()
    link = page.locator(f'#history a[data-run="{run}"]')
    expect(link).to_contain_text("a query to be found again")
    page.get_by_label("Search the history").fill("found again")
    expect(page.locator("#history li")).to_have_count(1)
    # A second one is a run of its own.
    workbench.send().ended()
    assert workbench.run != run
    expect(page.locator("#history li")).to_have_count(2)
    workbench.open()
    link.click()
    expect(page.locator("#response")).to_have_attribute("data-run", run or "")
    assert workbench.document["query"]["text"] == "a query to be found again"
    assert [url for url in asked if not url.startswith(workbench.server.url)] == []
