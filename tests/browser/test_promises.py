"""A promise is followed to its answer, cancelled, left alone; by pointer and by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.held import Sent
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.workbench import Workbench

PLAN = "make a weekly meal plan with a shopping list"
IN_PROGRESS = re.compile("polling|checking")
#: What a promise takes that is kept, or broken, while a test waits for it.
KEPT = 30_000


def status_of(page: Page) -> Locator:
    return page.locator(".promise-status")


def promised(workbench: Workbench) -> Locator:
    """A promise that is followed, and not kept while a test lasts."""
    slow = f"{workbench.server.url}/demo/ask?pace=100"
    workbench.add_agent("Slow", slow).compose(PLAN).send()
    found = status_of(workbench.page)
    expect(found).to_have_attribute("data-status", IN_PROGRESS)
    return found


def button(page: Page, name: str) -> Locator:
    return page.locator(".promise-status").get_by_role("button", name=name)


def test_from_the_promise_to_the_answer(workbench: Workbench) -> None:
    page = workbench.page
    # The demo's plan takes ten seconds at its normal pace.
    workbench.add_agent("Fast", f"{workbench.server.url}/demo/ask?pace=0.4").compose(PLAN).send()
    expect(status_of(page)).to_be_visible()
    page.reload()
    expect(status_of(page)).to_be_visible()
    other = page.context.new_page()
    other.goto(page.url)
    for each in (page, other):
        expect(status_of(each)).to_have_attribute("data-status", "fulfilled", timeout=KEPT)
        answer = each.get_by_role("region", name="Answer")
        expect(answer.locator(".card").first).to_be_visible()
        # The promise itself is one line now.
        expect(each.locator(".promise-own")).to_be_hidden()
        expect(button(each, "Check now")).to_have_count(0)
    status_of(page).locator("summary").click()
    assert findings(page) == [], "answered"
    panel = workbench.tab("Timeline")
    expect(panel.get_by_role("row", name=re.compile("^Poll Complete")).first).to_be_visible()
    expect(panel.locator("rect.span").first).to_be_visible()
    assert findings(page, both_themes=True) == [], "timeline"


def test_messages_take_neither_the_focus_nor_what_was_opened(workbench: Workbench) -> None:
    page = workbench.page
    found = promised(workbench)
    rows = found.locator(".polls tbody tr")
    found.locator("summary").click()
    button(page, "Stop polling").focus()
    other = page.context.new_page()
    other.goto(page.url)
    for count in (1, 2):
        button(other, "Check now").click()
        expect(rows).to_have_count(count)
        # Pressed again while a check is sent, it asks for nothing more.
        expect(found).to_have_attribute("data-status", "polling")
    expect(button(page, "Stop polling")).to_be_focused()
    expect(found.locator(".promise-polls")).to_have_attribute("open", "")
    assert findings(page, both_themes=True) == [], "polling"
    button(page, "Stop polling").click()
    expect(found).to_have_attribute("data-status", "paused")
    assert findings(page) == [], "paused"
    button(page, "Check now").click()
    expect(rows).to_have_count(3)
    found.get_by_label("Stop after").select_option("5 min")
    button(page, "Resume polling").click()
    expect(found).to_have_attribute("data-status", IN_PROGRESS)
    expect(found.get_by_label("Stop after")).to_have_value("300")
    button(page, "Cancel the task").click()
    expect(found).to_have_attribute("data-status", "cancelled")
    assert findings(page) == [], "cancelled"


def test_an_answer_to_a_button_that_a_message_has_removed(
    workbench: Workbench, complaints: list[str]
) -> None:
    page = workbench.page
    found = promised(workbench)
    # The page hears that the task was cancelled before the answer to its own request arrives.
    sent = Sent(page, "/promise/cancellation/$")
    button(page, "Cancel the task").click()
    expect(found).to_have_attribute("data-status", "cancelled")
    expect(button(page, "Cancel the task")).to_have_count(0)
    sent.arrive()
    assert complaints == []
    expect(found).to_have_attribute("data-status", "cancelled")


def test_by_keyboard_alone(page: Page, workbench: Workbench) -> None:
    found = promised(workbench)
    press(page, "Stop polling")
    expect(found).to_have_attribute("data-status", "paused")
    assert focused(page) == "Resume polling"
    tab_to(page, "Stop after")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(found).to_have_attribute("data-status", IN_PROGRESS)
    for _ in range(2):
        page.keyboard.press("Shift+Tab")
    assert focused(page) == "Check now"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert focused(page) == "Cancel the task"
    page.keyboard.press("Enter")
    expect(found).to_have_attribute("data-status", "cancelled")
    # The button is gone, and one is still where one was.
    expect(found).to_be_focused()


def test_promises_that_are_not_kept(workbench: Workbench) -> None:
    page = workbench.page
    status = status_of(page)
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    workbench.scenario("promise-no-token").send()
    expect(page.locator("run-cursor[data-settled]")).to_be_attached()
    expect(status).to_have_attribute("data-status", "paused")
    expect(status).not_to_contain_text(re.compile("left|any moment"))
    assert errors == []
    workbench.scenario("promise-fails").send()
    expect(status).to_have_attribute("data-status", "failed", timeout=KEPT)
    assert findings(page, both_themes=True) == []
