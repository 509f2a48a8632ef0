"""A newcomer opens the page and presses Send."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.workbench import Workbench


def test_results_stream_in(workbench: Workbench) -> None:
    workbench.open().send()
    expect(workbench.badge).to_have_text("Completed")
    assert workbench.cards.count() == workbench.figure("results") > 0
    expect(workbench.page).to_have_url(f"{workbench.server.url}/runs/{workbench.run}/")


def test_one_send_stands_out_and_one_is_offered_where_the_answer_will_be(
    workbench: Workbench,
) -> None:
    workbench.open()
    expect(workbench.page.locator("#response .empty")).to_be_visible()
    workbench.page.locator("#response .empty").get_by_role("button", name="Send").click()
    expect(workbench.badge).to_have_text("Completed")


def test_by_keyboard_alone(workbench: Workbench) -> None:
    workbench.open()
    workbench.text.focus()
    workbench.page.keyboard.press("ControlOrMeta+a")
    workbench.page.keyboard.type("soup with lentils")
    workbench.page.keyboard.press("ControlOrMeta+Enter")
    expect(workbench.badge).to_have_text("Completed")
    expect(workbench.cards.first).to_contain_text("entil")
    workbench.page.locator("#tab-results-button").focus()
    workbench.page.keyboard.press("ArrowRight")
    expect(workbench.page.locator("#tab-timeline svg")).to_be_visible()


def test_nothing_is_fetched_from_anywhere_else(page: Page, workbench: Workbench) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    workbench.open().send()
    expect(workbench.badge).to_have_text("Completed")
    for name in ("Timeline", "Events", "Wire"):
        workbench.tab(name)
    assert asked
    assert [url for url in asked if not url.startswith(workbench.server.url)] == []


def test_the_sent_run_appears_in_the_history_and_opens_again(workbench: Workbench) -> None:
    workbench.open().compose("a query to be found again").send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    run = workbench.run
    link = workbench.page.locator(f'#history a[data-run="{run}"]')
    expect(link).to_contain_text("a query to be found again")
    workbench.page.get_by_label("Search the history").fill("found again")
    expect(workbench.page.locator("#history li")).to_have_count(1)
    workbench.open()
    workbench.page.locator(f'#history a[data-run="{run}"]').click()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    assert workbench.document["query"]["text"] == "a query to be found again"
