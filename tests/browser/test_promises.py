"""A promise is followed to its answer, cancelled, left alone; by pointer and by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

PLAN = "make a weekly meal plan with a shopping list"
IN_PROGRESS = re.compile("polling|checking")
#: The demo's plan takes ten seconds, and somebody has to ask after it once more.
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


def test_from_the_promise_to_the_answer(page: Page, workbench: Workbench) -> None:
    workbench.open().compose(PLAN).send()
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
    page.reload()
    expect(page.get_by_role("region", name="Answer").locator(".card").first).to_be_visible()
    panel = workbench.tab("Timeline")
    expect(panel.get_by_role("row", name=re.compile("^Poll Complete")).first).to_be_visible()
    expect(panel.locator("rect.span").first).to_be_visible()


def test_checking_by_hand_and_leaving_it_alone(page: Page, workbench: Workbench) -> None:
    found = promised(workbench)
    button(page, "Stop polling").click()
    expect(found).to_have_attribute("data-status", "paused")
    expect(found).to_contain_text("Polling paused")
    rows = found.locator(".polls tbody tr")
    found.locator("summary").click()
    before = rows.count()
    button(page, "Check now").click()
    expect(rows).to_have_count(before + 1)
    expect(found.locator(".promise-polls")).to_have_attribute("open", "")
    found.get_by_label("Stop after").select_option("5 min")
    button(page, "Resume polling").click()
    expect(found).to_have_attribute("data-status", IN_PROGRESS)
    expect(found.get_by_label("Stop after")).to_have_value("300")
    button(page, "Cancel the task").click()
    expect(found).to_have_attribute("data-status", "cancelled")


def test_messages_take_neither_the_focus_nor_what_was_opened(
    page: Page, workbench: Workbench
) -> None:
    found = promised(workbench)
    found.locator("summary").click()
    button(page, "Stop polling").focus()
    other = page.context.new_page()
    other.goto(page.url)
    for count in (1, 2):
        button(other, "Check now").click()
        expect(found.locator(".polls tbody tr")).to_have_count(count)
    expect(button(page, "Stop polling")).to_be_focused()
    expect(found.locator(".promise-polls")).to_have_attribute("open", "")
    button(page, "Cancel the task").click()
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


def test_what_is_odd_about_a_promise_is_said(workbench: Workbench) -> None:
    for slug, words in (
        ("promise-no-token", "it cannot be polled"),
        ("promise-progress-7", "not between 0 and 1"),
        ("promise-half", "“half”, which is not a number"),
    ):
        workbench.scenario(slug).send()
        expect(status_of(workbench.page)).to_contain_text(words)


def test_a_promise_without_a_token_finds_its_place(page: Page, workbench: Workbench) -> None:
    errors: list[str] = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    workbench.scenario("promise-no-token").send()
    expect(page.locator("run-cursor[data-settled]")).to_be_attached()
    expect(status_of(page)).to_have_attribute("data-status", "paused")
    expect(status_of(page)).not_to_contain_text(re.compile("left|any moment"))
    assert errors == []


def test_an_agent_that_does_not_let_go(page: Page, workbench: Workbench) -> None:
    workbench.scenario("promise-stubborn").send()
    button(page, "Cancel the task").click()
    expect(status_of(page)).to_have_attribute("data-status", "paused")
    expect(status_of(page)).to_contain_text("did not confirm the cancellation")


def test_every_state_is_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    found = promised(workbench)
    found.locator("summary").click()
    button(still, "Check now").click()
    expect(found.locator(".polls tbody tr")).to_have_count(1)
    assert findings(still, both_themes=True) == [], "polling"
    button(still, "Stop polling").click()
    expect(found).to_have_attribute("data-status", "paused")
    assert findings(still) == [], "paused"
    button(still, "Cancel the task").click()
    expect(found).to_have_attribute("data-status", "cancelled")
    assert findings(still) == [], "cancelled"
    workbench.scenario("promise-fails").send()
    expect(found).to_have_attribute("data-status", "failed", timeout=KEPT)
    assert findings(still, both_themes=True) == [], "failed"
    workbench.scenario("promise-200").send()
    expect(found).to_have_attribute("data-status", "fulfilled", timeout=KEPT)
    found.locator("summary").click()
    assert findings(still) == [], "answered"
    workbench.tab("Timeline")
    expect(still.locator("rect.span").first).to_be_visible()
    assert findings(still, both_themes=True) == [], "timeline"
