"""The history in a browser: runs are found again, chosen and deleted; how long they are kept."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def ask(workbench: Workbench, *texts: str) -> None:
    """Send a request with each text, and wait for its end."""
    for text in texts:
        workbench.open("/?agent=demo").compose(text).send()
        expect(workbench.badge).to_have_text("Completed")


def rows(page: Page) -> Locator:
    return page.locator("#runs tbody tr[data-run]")


def search(page: Page, words: str) -> None:
    page.wait_for_load_state()
    page.get_by_role("main").get_by_role("searchbox").first.fill(words)
    expect(page).to_have_url(
        f"{page.url.split('/history')[0]}/history/?q={words.replace(' ', '+')}"
    )


def test_found_as_one_types_and_deleted_by_keyboard(workbench: Workbench) -> None:
    page = workbench.page
    ask(workbench, "lentil stew zanzibar", "bean stew zanzibar", "soup zanzibar")
    page.get_by_role("link", name="Full history").click()
    search(page, "zanzibar lentil")
    expect(rows(page)).to_have_count(1)
    # Leaving the search box does not load the list again under the checkbox.
    bar = page.locator("chosen-runs")
    expect(bar).to_be_hidden()
    rows(page).first.get_by_role("checkbox").check()
    expect(bar).to_contain_text("1 selected. Select another to compare.")
    assert findings(page, both_themes=True) == [], "list"
    page.get_by_label("Outcome").select_option("failure")
    expect(page.locator("#runs")).to_contain_text("No matching runs")
    expect(page).to_have_url(f"{workbench.server.url}/history/?q=zanzibar+lentil&outcome=failure")
    page.reload()
    expect(page.get_by_label("Outcome")).to_have_value("failure")
    assert findings(page) == [], "nothing"

    page.goto(f"{workbench.server.url}/history/?q=zanzibar")
    expect(rows(page)).to_have_count(3)
    for number in (0, 1):
        rows(page).nth(number).get_by_role("checkbox").press("Space")
    expect(bar).to_contain_text("2 selected")
    page.get_by_role("button", name="Delete…").press("Enter")
    expect(page.get_by_role("heading", name="Delete 2 runs?")).to_be_visible()
    page.get_by_role("button", name="Delete 2 runs").press("Enter")
    expect(page).to_have_url(f"{workbench.server.url}/history/?q=zanzibar")
    expect(rows(page)).to_have_count(1)
    page.wait_for_load_state()
    # One alone is asked for in a sheet, from which one can still go back.
    rows(page).first.get_by_role("link", name="Delete…").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("Delete this run?")
    expect(sheet.get_by_role("button", name="Cancel")).to_be_focused()
    assert findings(page, both_themes=True) == [], "sheet"
    page.keyboard.press("Enter")
    expect(sheet).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    for control in rows(page).first.locator("button, a.icon-button, label").all():
        box = control.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    rows(page).first.get_by_role("link", name="Delete…").click()
    sheet.get_by_role("button", name="Delete run").click()
    expect(page.locator("#runs")).to_contain_text("No matching runs")


def test_what_would_go_is_shown_as_one_types(page: Page, playground: PlaygroundServer) -> None:
    page.goto(f"{playground.url}/history/retention/")
    would = page.locator("#to-delete")
    expect(would).to_contain_text("No limits")
    page.get_by_label("Runs", exact=True).fill("90000")
    expect(would).to_contain_text("No runs to delete now")
    page.get_by_label("Runs", exact=True).fill("none")
    expect(would).to_contain_text("Enter a whole number")
    assert findings(page, both_themes=True) == []


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
