"""Requests are saved into collections, from the keyboard, and nobody's work is overwritten."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import tab_to
from tests.browser.test_tabs import tabs
from tests.browser.workbench import Workbench


def sheet(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Save the request")


def save_as(workbench: Workbench, name: str, collection: str) -> None:
    """Save what is composed under a name, into a new collection."""
    page = workbench.page
    page.keyboard.press("ControlOrMeta+Shift+s")
    sheet(page).get_by_label("Name", exact=True).fill(name)
    sheet(page).get_by_label("Collection", exact=True).select_option("")
    sheet(page).get_by_label("Name of the new collection").fill(collection)
    sheet(page).get_by_role("button", name="Save", exact=True).click()
    expect(sheet(page)).to_be_hidden()
    expect(tabs(workbench).and_(page.locator("[aria-selected=true]"))).to_have_accessible_name(name)


def test_by_keyboard_alone(workbench: Workbench) -> None:
    page = workbench.open().compose("soup of the day").page
    page.keyboard.press("ControlOrMeta+s")
    expect(sheet(page).get_by_label("Name", exact=True)).to_be_focused()
    expect(sheet(page).get_by_label("Name", exact=True)).to_have_value("soup of the day")
    assert findings(page) == []
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Daily soup")
    sheet(page).get_by_label("Collection", exact=True).select_option("")
    tab_to(page, "Name of the new collection")
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(sheet(page)).to_be_hidden()
    tab = tabs(workbench).first
    expect(tab).to_have_accessible_name("Daily soup")
    link = page.locator('#sidebar [data-saved="by-keyboard/daily-soup"]')
    page.locator("#sidebar summary").filter(has_text="By keyboard").click()
    expect(link).to_be_visible()
    workbench.compose("soup of tomorrow")
    expect(tab).to_have_accessible_name("Daily soup (unsaved changes)")
    page.keyboard.press("ControlOrMeta+s")
    expect(page.locator("toast-note").last).to_contain_text("Saved.")
    expect(tab).to_have_accessible_name("Daily soup")
    page.reload()
    expect(workbench.effective).to_contain_text("soup of tomorrow")
    expect(tab).to_have_accessible_name("Daily soup")
    expect(page).to_have_url(re.compile("/collections/by-keyboard/requests/daily-soup/$"))


def test_a_saved_request_opens_in_a_tab_of_its_own_and_only_once(workbench: Workbench) -> None:
    page = workbench.open().compose("to be opened again").page
    save_as(workbench, "Opened again", "Opening")
    page.get_by_role("button", name="Open a new tab").click()
    workbench.compose("something else")
    expect(tabs(workbench)).to_have_count(2)
    page.evaluate("document.body.dataset.same = 'yes'")
    page.locator("#sidebar summary").filter(has_text="Opening").click()
    link = page.locator('#sidebar [data-saved="opening/opened-again"]')
    link.click()
    expect(workbench.text).to_have_value("to be opened again")
    expect(tabs(workbench)).to_have_count(2)
    tabs(workbench).first.click(button="middle")
    expect(tabs(workbench)).to_have_count(1)
    link.click()
    expect(workbench.text).to_have_value("to be opened again")
    expect(tabs(workbench).nth(1)).to_have_accessible_name("Opened again (preview)")
    expect(link).to_have_attribute("aria-current", "true")
    assert page.evaluate("document.body.dataset.same") == "yes"


def test_what_was_saved_elsewhere_is_not_overwritten_unasked(
    workbench: Workbench, context: BrowserContext
) -> None:
    page = workbench.open().compose("as it was").page
    save_as(workbench, "Contested", "Conflicts")
    address = "/collections/conflicts/requests/contested/"
    other = (
        Workbench(context.new_page(), workbench.server).open(address).compose("of the other window")
    )
    other.page.keyboard.press("ControlOrMeta+s")
    expect(other.page.locator("toast-note").last).to_contain_text("Saved.")
    workbench.compose("of this window")
    page.keyboard.press("ControlOrMeta+s")
    expect(sheet(page)).to_contain_text("was saved in another window")
    # Enter out of habit is not to undo somebody's work.
    expect(sheet(page).get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(tabs(workbench).first).to_have_accessible_name("Contested (unsaved changes)")
    page.keyboard.press("ControlOrMeta+s")
    sheet(page).get_by_role("button", name="Overwrite").click()
    expect(sheet(page)).to_be_hidden()
    expect(tabs(workbench).first).to_have_accessible_name("Contested")
    # The other window is the one that comes late now, and keeps both.
    other.compose("of the other window again")
    other.page.keyboard.press("ControlOrMeta+s")
    sheet(other.page).get_by_role("button", name="Save as…").click()
    expect(sheet(other.page).get_by_label("Name", exact=True)).to_have_value("Contested (copy)")
    sheet(other.page).get_by_role("button", name="Save", exact=True).click()
    expect(tabs(other).first).to_have_accessible_name("Contested (copy)")


def test_a_reply_is_kept_and_credentials_are_not(
    workbench: Workbench, context: BrowserContext
) -> None:
    page = workbench.open().compose("lentils").page
    page.get_by_role("tab", name="Headers").click()
    page.get_by_role("button", name="Header", exact=True).click()
    page.get_by_label("Header name").fill("Authorization")
    page.get_by_label("Header value").fill("Bearer typed")
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")
    results = workbench.figure("results")
    page.keyboard.press("ControlOrMeta+s")
    sheet(page).get_by_label("Include this response").check()
    sheet(page).get_by_label("Name", exact=True).fill("With its reply")
    sheet(page).get_by_label("Collection", exact=True).select_option("")
    sheet(page).get_by_label("Name of the new collection").fill("Recorded")
    sheet(page).get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("toast-note").last).to_contain_text("without the credentials")
    expect(page.get_by_label("Header value")).to_have_value("Bearer typed")
    expect(tabs(workbench).first).to_have_accessible_name("With its reply")
    fresh = Workbench(context.new_page(), workbench.server)
    fresh.open("/collections/recorded/requests/with-its-reply/")
    expect(fresh.badge).to_have_text("Completed")
    assert fresh.figure("results") == results


def test_a_link_to_save_asks_at_once(workbench: Workbench) -> None:
    page = workbench.open().compose("a run to be saved").send().page
    expect(workbench.badge).to_have_text("Completed")
    run = page.url
    page.goto(f"{workbench.server.url}/agents/")
    page.goto(f"{run}#save")
    expect(sheet(page).get_by_label("Name", exact=True)).to_have_value("a run to be saved")
    page.keyboard.press("Escape")
    page.reload()
    expect(workbench.effective).to_contain_text("a run to be saved")
    expect(sheet(page)).to_be_hidden()
