"""Several requests are open at once: each keeps what is its own."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.collection_page import import_requests
from tests.browser.keyboard import tab_to
from tests.browser.workbench import Workbench

UNSAVED = re.compile(r"not saved|unsaved changes")


def tabs(workbench: Workbench) -> Locator:
    return workbench.page.get_by_role("tablist", name="Open requests").get_by_role("tab")


def add(workbench: Workbench) -> None:
    """Open a new tab, and wait until it is there."""
    count = tabs(workbench).count()
    workbench.page.get_by_role("button", name="Open a new tab").click()
    expect(tabs(workbench)).to_have_count(count + 1)


def two(workbench: Workbench) -> None:
    """Two tabs: "first tab" with a header, and "second tab" for another agent."""
    page = workbench.open().compose("first tab").page
    page.get_by_role("tab", name="Headers").click()
    page.get_by_role("button", name="Header", exact=True).click()
    page.get_by_label("Header name").fill("X-First")
    page.locator("#compose-tab-request").click()
    add(workbench)
    workbench.compose("second tab")
    workbench.choose_agent("demo-mcp")


def test_two_tabs_keep_what_is_theirs_over_a_reload(workbench: Workbench) -> None:
    two(workbench)
    page = workbench.page
    for _ in range(2):
        expect(tabs(workbench)).to_have_count(2)
        expect(tabs(workbench).nth(0)).to_have_accessible_name(re.compile("first tab"))
        expect(tabs(workbench).nth(1)).to_have_attribute("aria-selected", "true")
        expect(workbench.text).to_have_value("second tab")
        expect(page.locator("#agent-select")).to_have_value("demo-mcp")
        expect(workbench.effective).not_to_contain_text("X-First")
        tabs(workbench).nth(0).click()
        expect(workbench.text).to_have_value("first tab")
        expect(page.locator("#agent-select")).to_have_value("demo")
        expect(workbench.effective).to_contain_text("X-First")
        tabs(workbench).nth(1).click()
        expect(workbench.text).to_have_value("second tab")
        page.reload()
        expect(workbench.effective).to_contain_text("second tab")


def test_sending_saves_nothing_and_what_is_taken_back_is_no_change(workbench: Workbench) -> None:
    page = workbench.open().page
    before = workbench.text.input_value()
    expect(tabs(workbench).first).not_to_have_accessible_name(UNSAVED)
    workbench.compose("sent and not saved")
    expect(tabs(workbench).first).to_have_accessible_name(UNSAVED)
    expect(tabs(workbench).first.locator(".open-mark")).to_be_visible()
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")
    expect(tabs(workbench).first).to_have_accessible_name(UNSAVED)
    page.reload()
    expect(workbench.effective).to_contain_text("sent and not saved")
    expect(tabs(workbench).first).to_have_accessible_name(UNSAVED)
    workbench.compose(before)
    expect(tabs(workbench).first).not_to_have_accessible_name(UNSAVED)


def test_a_run_goes_on_while_another_request_is_written(workbench: Workbench) -> None:
    page = workbench.scenario("endless").compose("a long one").send().page
    expect(workbench.cards.nth(1)).to_be_visible()
    run = workbench.run
    add(workbench)
    expect(page.locator("#response .empty")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/$"))
    workbench.compose("meanwhile")
    tabs(workbench).nth(0).click()
    expect(page.locator("#response")).to_have_attribute("data-run", run or "")
    expect(page).to_have_url(re.compile(f"/runs/{run}/"))
    # By its cursor: the page has a window of its cards, which may be full by now.
    cursor = page.locator("#run-cursor")
    before = cursor.get_attribute("data-last") or ""
    expect(cursor).not_to_have_attribute("data-last", before)
    page.get_by_role("button", name="Stop").click()
    expect(workbench.badge).to_have_attribute("data-state", "cancelled")
    tabs(workbench).nth(1).click()
    expect(workbench.text).to_have_value("meanwhile")


def test_back_and_forward_go_through_what_was_shown(workbench: Workbench) -> None:
    page = workbench.open().compose("the one before").send().page
    expect(workbench.badge).to_have_text("Completed")
    run = workbench.run
    add(workbench)
    workbench.compose("the one after")
    # The run is shown at once, and then the page is loaded again.
    with page.expect_event("load"):
        page.go_back()
    expect(page.locator("#response")).to_have_attribute("data-run", run or "")
    expect(workbench.text).to_have_value("the one before")
    page.go_forward()
    expect(workbench.text).to_have_value("the one after")


def test_by_keyboard_alone(workbench: Workbench) -> None:
    two(workbench)
    page = workbench.page
    tabs(workbench).nth(1).focus()
    page.keyboard.press("ArrowLeft")
    expect(workbench.text).to_have_value("first tab")
    expect(tabs(workbench).nth(0)).to_be_focused()
    # A closed tab that was not saved comes back.
    page.keyboard.press("Delete")
    expect(tabs(workbench)).to_have_count(1)
    expect(tabs(workbench).first).to_be_focused()
    expect(workbench.text).to_have_value("second tab")
    page.get_by_role("button", name="Undo").click()
    expect(workbench.text).to_have_value("first tab")
    expect(workbench.effective).to_contain_text("X-First")
    expect(tabs(workbench).nth(0)).to_have_attribute("aria-selected", "true")
    expect(tabs(workbench).nth(0)).to_be_focused()
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("close the request")
    page.keyboard.press("Enter")
    expect(workbench.text).to_have_value("second tab")
    # The focus comes back from the note.
    note = page.locator("toast-note").filter(has_text="was not saved").last
    workbench.text.focus()
    tab_to(page, "Dismiss")
    page.keyboard.press("Enter")
    expect(note).to_have_count(0)
    assert page.evaluate("document.activeElement.localName") != "body"


def looked_at(workbench: Workbench, name: str) -> Locator:
    """The tab of a request that is only looked at."""
    found = tabs(workbench).filter(has_text=f"{name} (preview)")
    expect(found).to_have_attribute("title", re.compile("Preview: replaced by the next request"))
    expect(found.locator(".open-name")).to_have_css("font-style", "italic")
    return found


def open_collection(workbench: Workbench, name: str) -> Locator:
    """Open a collection in the sidebar; returns the links to its requests."""
    slug = import_requests(workbench.server, name, "one two three four five")
    page = workbench.open().compose("own work").page
    page.locator("#sidebar summary").filter(has_text=name).click()
    return page.locator(f'#sidebar [data-saved^="{slug}/"]')


def test_what_is_only_looked_at_says_so_and_gives_way(workbench: Workbench) -> None:
    links = open_collection(workbench, "Looked at")
    links.filter(has_text="one").click()
    looked_at(workbench, "one")
    expect(workbench.page.locator("#announce")).to_contain_text("one: preview")
    # Also where another tab has been shown meanwhile.
    tabs(workbench).filter(has_text="own work").click()
    links.filter(has_text="two").click()
    looked_at(workbench, "two")
    expect(tabs(workbench)).to_have_count(2)
    workbench.page.reload()
    looked_at(workbench, "two")
    # One that is not shown is kept by a double click, too.
    tabs(workbench).filter(has_text="own work").click()
    tabs(workbench).filter(has_text="two").dblclick()
    expect(tabs(workbench).filter(has_text="two")).to_have_accessible_name("two")
    expect(tabs(workbench).filter(has_text="two")).to_have_attribute("aria-selected", "true")


def test_a_preview_is_kept_by_what_one_does_with_it(workbench: Workbench) -> None:
    links = open_collection(workbench, "Kept open")
    page = workbench.page

    def keep(name: str) -> Locator:
        links.filter(has_text=name).click()
        return looked_at(workbench, name)

    def kept(name: str) -> Locator:
        found = tabs(workbench).filter(has_text=name)
        expect(found).to_have_accessible_name(name)
        return found

    keep("one").dblclick()
    kept("one")
    expect(page.locator("#announce")).to_contain_text("one pinned")
    keep("two").press("Enter")
    expect(kept("two")).to_be_focused()
    keep("three")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("pin preview")
    page.keyboard.press("Enter")
    kept("three")
    keep("four")
    workbench.send()
    kept("four")
    keep("five")
    workbench.compose("edited")
    expect(tabs(workbench)).to_have_count(6)
    expect(tabs(workbench).filter(has_text="five")).to_have_accessible_name(
        "five (unsaved changes)"
    )


def test_the_menu_shows_and_closes_all_of_them(workbench: Workbench) -> None:
    two(workbench)
    page = workbench.page
    # It is never shown empty: the event "toggle" comes in a later task.
    rows = "menu => { menu.showPopover(); return menu.querySelectorAll('li').length; }"
    assert page.locator("#open-menu").evaluate(rows) == 2
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(tabs(workbench)).to_have_count(0)  # There is no room for them.
    page.get_by_role("button", name="All open requests: 2").click()
    menu = page.locator("#open-menu")
    menu.get_by_role("button", name=re.compile("^first tab")).click()
    expect(workbench.text).to_have_value("first tab")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="All open requests: 2").click()
    menu.get_by_role("button", name="Close second tab").click()
    expect(menu.get_by_role("listitem")).to_have_count(1)


def test_a_tab_that_changes_while_it_is_pressed_is_opened(workbench: Workbench) -> None:
    two(workbench)
    page = workbench.page
    tabs(workbench).nth(0).hover()
    page.mouse.down()
    workbench.text.evaluate(
        """(field) => {
          field.value = "changed at the last moment";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    page.wait_for_timeout(500)  # The tabs are drawn again 200 ms after a change.
    page.mouse.up()
    expect(workbench.text).to_have_value("first tab")
    expect(tabs(workbench).nth(1)).to_contain_text("changed at the last moment")


def test_two_windows_have_nothing_to_do_with_each_other(
    workbench: Workbench, context: BrowserContext
) -> None:
    workbench.open().compose("of this window")
    expect(tabs(workbench).first).to_have_accessible_name(re.compile("of this window"))
    other = Workbench(context.new_page(), workbench.server).open().compose("of the other")
    expect(tabs(other)).to_have_count(1)
    other.page.reload()
    expect(other.effective).to_contain_text("of the other")
    workbench.page.reload()
    expect(workbench.effective).to_contain_text("of this window")
    expect(tabs(workbench)).to_have_count(1)


def test_the_editor_undoes_nothing_of_another_request_and_is_searched(workbench: Workbench) -> None:
    two(workbench)
    page = workbench.page
    page.get_by_role("tab", name="JSON").click()
    editor = page.locator("#tab-json .cm-content")
    expect(editor).to_contain_text("second tab")
    tabs(workbench).nth(0).click()
    expect(editor).to_contain_text("first tab")
    editor.click()
    page.keyboard.press("ControlOrMeta+z")
    expect(editor).to_contain_text("first tab")
    assert workbench.document["query"]["text"] == "first tab"
    # It can be searched.
    page.keyboard.press("ControlOrMeta+f")
    expect(page.locator("#tab-json .cm-search")).to_be_visible()
    page.keyboard.type("first tab")
    expect(page.locator("#tab-json .cm-searchMatch")).to_be_visible()


def test_a_value_that_cannot_be_written_down_stands_in_nobody_elses_way(
    workbench: Workbench,
) -> None:
    page = workbench.open().compose("cannot be written").page
    workbench.add_field("session_context")
    page.keyboard.type("{rubbish")
    field = page.locator('json-field[data-pointer="/meta/session_context"]')
    send = page.get_by_role("button", name="Send", exact=False).first
    expect(send).to_be_disabled()
    add(workbench)
    workbench.compose("can be sent")
    expect(send).to_be_enabled()
    expect(field).to_be_hidden()
