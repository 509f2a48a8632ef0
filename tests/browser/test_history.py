"""The history in a browser: found, sent again, deleted; and how long it is kept."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

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


def test_found_as_one_types_and_by_its_address(workbench: Workbench) -> None:
    ask(workbench, "lentil stew zanzibar", "bean stew zanzibar")
    page = workbench.page
    page.get_by_role("link", name="Full history").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    search(page, "zanzibar lentil")
    expect(rows(page)).to_have_count(1)
    expect(rows(page).first).to_contain_text("Completed")
    # Leaving the search box does not load the list again under the checkbox.
    rows(page).first.get_by_role("checkbox").check()
    expect(page.locator("chosen-runs")).to_contain_text("1 selected. Select another to compare.")
    page.get_by_label("Outcome").select_option("failure")
    expect(page.locator("#runs")).to_contain_text("No matching runs")
    expect(page).to_have_url(f"{workbench.server.url}/history/?q=zanzibar+lentil&outcome=failure")
    page.reload()
    expect(page.get_by_label("Outcome")).to_have_value("failure")
    page.get_by_role("link", name="Show all runs").click()
    expect(rows(page).first).to_be_visible()


def test_sent_again_and_opened(workbench: Workbench) -> None:
    ask(workbench, "again couscous")
    page = workbench.page
    page.goto(f"{workbench.server.url}/history/?q=again+couscous")
    before = rows(page).first.get_attribute("data-run")
    rows(page).first.get_by_role("button", name="Send again").click()
    expect(workbench.badge).to_have_text("Completed")
    assert workbench.run != before
    page.goto(f"{workbench.server.url}/history/?q=again+couscous")
    expect(rows(page)).to_have_count(2)
    rows(page).last.get_by_role("link", name="again couscous").click()
    expect(page.locator("#response")).to_have_attribute("data-run", str(before))


def test_deleted_by_keyboard_after_a_question(workbench: Workbench) -> None:
    ask(workbench, "delete farro one", "delete farro two", "delete farro three")
    page = workbench.page
    page.goto(f"{workbench.server.url}/history/?q=delete+farro")
    bar = page.locator("chosen-runs")
    expect(bar).to_be_hidden()
    for number in (0, 1):
        box = rows(page).nth(number).get_by_role("checkbox")
        box.focus()
        page.keyboard.press("Space")
    expect(bar).to_contain_text("2 selected")
    page.get_by_role("button", name="Delete…").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Delete 2 runs?")).to_be_visible()
    page.get_by_role("button", name="Delete 2 runs").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{workbench.server.url}/history/?q=delete+farro")
    expect(rows(page)).to_have_count(1)
    page.wait_for_load_state()
    # One alone is asked for in a sheet, from which one can still go back.
    rows(page).first.get_by_role("link", name="Delete…").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("Delete this run?")
    expect(sheet.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(sheet).to_be_hidden()
    rows(page).first.get_by_role("link", name="Delete…").click()
    sheet.get_by_role("button", name="Delete run").click()
    expect(page.locator("#runs")).to_contain_text("No matching runs")


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> PlaygroundServer:
    """A playground whose runs nobody else needs."""
    return PlaygroundServer(tmp_path_factory.mktemp("retention"))


def test_what_would_go_is_shown_before_it_goes(page: Page, own: PlaygroundServer) -> None:
    with own:
        ask(Workbench(page, own), "tomato soup", "onion soup")
        page.goto(f"{own.url}/history/retention/")
        expect(page.locator("#to-delete")).to_contain_text("No limits")
        page.get_by_label("Runs", exact=True).fill("2")
        expect(page.locator("#to-delete")).to_contain_text("No runs to delete now")
        page.get_by_label("Runs", exact=True).fill("none")
        expect(page.locator("#to-delete")).to_contain_text("Enter a whole number")
        page.get_by_label("Runs", exact=True).fill("1")
        page.get_by_role("button", name="Save and delete 1 run now").click()
        expect(page.locator("#notes")).to_contain_text("1 run was deleted")
        expect(page.get_by_label("Runs", exact=True)).to_have_value("1")
        page.goto(f"{own.url}/history/")
        expect(rows(page)).to_have_count(1)


def test_axe_finds_nothing(still: Page, playground: PlaygroundServer) -> None:
    ask(Workbench(still, playground), "axe tomato soup")
    still.goto(f"{playground.url}/history/")
    rows(still).first.get_by_role("checkbox").check()
    expect(still.locator("chosen-runs")).to_be_visible()
    assert findings(still, both_themes=True) == []
    rows(still).first.get_by_role("link", name="Delete…").click()
    expect(still.get_by_role("dialog")).to_be_visible()
    assert findings(still, both_themes=True) == []
    for path in ("/history/?q=nothing-is-like-that", "/history/retention/"):
        still.goto(f"{playground.url}{path}")
        assert findings(still, both_themes=True) == []


def test_a_phone_has_room_for_it(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    ask(Workbench(context.new_page(), playground), "phone tomato soup")
    page.goto(f"{playground.url}/history/?q=phone+tomato")
    for control in rows(page).first.locator("button, a.icon-button, label").all():
        box = control.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
