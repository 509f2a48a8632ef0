"""An action is looked at, run, and its effect read back; by pointer and by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

QUESTION = "tiramisu"


def recipe(workbench: Workbench) -> Locator:
    """The card of a recipe that can be saved."""
    workbench.open().compose(QUESTION).send()
    expect(workbench.badge).to_have_text("Completed")
    return workbench.page.locator("#cards > .card").first


def open_desk(card: Locator, name: str) -> Locator:
    card.get_by_role("button", name=name).click()
    desk = card.locator("action-desk")
    expect(desk).to_be_visible()
    return desk


def reply(card: Locator) -> Locator:
    """The newest run under a card."""
    return card.locator(".child").last


def test_its_effect_is_read_back(page: Page, workbench: Workbench) -> None:
    card = recipe(workbench)
    title = card.locator(".card-title").inner_text()
    desk = open_desk(card, "Save recipe")
    expect(desk.locator(".method")).to_have_text("POST")
    expect(desk).to_contain_text("Same origin as the agent")
    desk.get_by_role("button", name="Run action").click()
    expect(desk).to_contain_text(re.compile("Send POST to http://127.0.0.1:.*/demo/cookbook/"))
    desk.get_by_role("button", name="Send POST").click()
    expect(desk).to_have_count(0)
    expect(reply(card)).to_contain_text('"saved": true')
    expect(reply(card)).to_contain_text("HTTP 201")
    expect(reply(card)).to_contain_text("Save recipe")
    open_desk(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    expect(reply(card)).to_contain_text("GET")
    expect(reply(card)).to_contain_text(title)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#cards > .card").first.locator(".child")).to_have_count(2)
    page.reload()
    expect(reply(card)).to_contain_text(title)
    panel = workbench.tab("Timeline")
    expect(panel.get_by_role("row", name="Action save_recipe")).to_be_visible()


def test_the_run_before_is_put_away(workbench: Workbench) -> None:
    card = recipe(workbench)
    open_desk(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    expect(card.locator(".child")).to_have_count(1)
    open_desk(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    # The one before is put away, and can be opened.
    expect(card.locator("details.child")).to_have_count(1)
    card.locator("details.child > summary").click()
    expect(card.locator("details.child pre")).to_be_visible()


def test_the_call_follows_what_is_filled_in(workbench: Workbench) -> None:
    desk = open_desk(recipe(workbench), "Add ingredients")
    call = desk.locator(".desk-call")
    desk.get_by_label("Parameters").fill('{"items": ["a sprig of thyme"]}')
    expect(call).to_contain_text("a sprig of thyme")
    desk.get_by_label("Parameters").fill("{")
    expect(call.locator(".desk-refusals")).to_contain_text("Line 1")
    expect(call.locator(".effective-line, pre")).to_have_count(0)
    expect(desk.get_by_role("button", name="Run action")).to_be_disabled()
    desk.get_by_label("Parameters").fill("")
    expect(call.locator(".effective-line")).to_have_count(1)
    expect(call.locator("pre")).to_have_count(0)
    expect(desk.get_by_role("button", name="Run action")).to_be_enabled()
    desk.get_by_role("button", name="Header", exact=True).click()
    desk.get_by_label("Name of the header").fill("Host")
    desk.get_by_label("Value of the header").fill("evil.example")
    expect(call.locator(".desk-refusals")).to_contain_text("Host is set by the playground")
    expect(desk.get_by_role("button", name="Run action")).to_be_disabled()


def test_an_edit_takes_the_confirmation_back(workbench: Workbench) -> None:
    card = recipe(workbench)
    desk = open_desk(card, "Save recipe")
    desk.get_by_role("button", name="Run action").click()
    expect(desk.get_by_role("button", name="Send POST")).to_be_focused()
    desk.get_by_role("button", name="Not now").click()
    expect(desk.get_by_role("button", name="Run action")).to_be_focused()
    desk.get_by_role("button", name="Run action").click()
    expect(desk.get_by_role("button", name="Send POST")).to_be_visible()
    desk.get_by_label("Parameters").fill("{}")
    expect(desk.get_by_role("button", name="Send POST")).to_have_count(0)
    expect(card.locator(".child")).to_have_count(0)


def test_a_held_key_does_not_confirm(page: Page, workbench: Workbench) -> None:
    desk = open_desk(recipe(workbench), "Save recipe")
    desk.get_by_role("button", name="Run action").focus()
    page.keyboard.down("Enter")
    confirm = desk.get_by_role("button", name="Send POST")
    expect(confirm).to_be_focused()
    page.keyboard.down("Enter")  # repeats, since it was not let go
    expect(confirm).to_be_focused()
    page.keyboard.up("Enter")
    expect(page.locator(".child")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".child")).to_have_count(1)


def test_by_keyboard_alone(page: Page, workbench: Workbench) -> None:
    workbench.open()
    workbench.text.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(QUESTION)
    page.keyboard.press("ControlOrMeta+Enter")
    expect(workbench.badge).to_have_text("Completed")
    card = page.locator("#cards > .card").first
    press(page, "Save recipe")
    desk = card.locator("action-desk")
    expect(desk).to_be_focused()
    page.keyboard.press("Escape")
    expect(desk).to_have_count(0)
    assert focused(page).startswith("Save recipe")
    page.keyboard.press("Enter")
    expect(desk).to_be_focused()
    press(page, "Run action")
    expect(desk.get_by_role("button", name="Send POST")).to_be_focused()
    page.keyboard.press("Enter")
    expect(reply(card)).to_contain_text('"saved": true')
    assert focused(page).startswith("Save recipe")
    press(page, "Find in cookbook")
    expect(desk).to_be_focused()
    press(page, "Run action")
    expect(reply(card)).to_contain_text('"list": "cookbook"')
    tab_to(page, "Open the run")


def test_every_state_is_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    card = recipe(workbench)
    assert findings(still) == [], "offers"
    desk = open_desk(card, "Save recipe")
    desk.get_by_role("button", name="Header", exact=True).click()
    assert findings(still) == [], "desk"
    call, params = desk.locator(".desk-call"), desk.get_by_label("Parameters")
    filled = params.input_value()
    for text, kind, name in (("{", "disabled", "not to be read"), (filled, "enabled", "mended")):
        params.fill(text)
        expect(desk.locator(f".desk-run:{kind}")).to_be_visible()
        expect(call).to_have_css("opacity", "1")  # It is dimmed while it is asked for.
        assert findings(still) == [], name
    desk.get_by_role("button", name="Run action").click()
    expect(desk.get_by_role("button", name="Send POST")).to_be_visible()
    assert findings(still, both_themes=True) == [], "confirmation"
    desk.get_by_role("button", name="Send POST").click()
    expect(reply(card)).to_contain_text('"saved": true')
    assert findings(still) == [], "reply"
    for _ in range(2):
        open_desk(card, "Find in cookbook").get_by_role("button", name="Run action").click()
        expect(desk).to_have_count(0)
    expect(card.locator("details.child")).to_have_count(1)
    assert findings(still) == [], "older replies"


def test_refusals_and_odd_replies_are_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    for slug in ("actions-endpoints", "actions-headers", "actions-shapes"):
        workbench.scenario(slug).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        still.locator(".offer").first.click()
        expect(still.locator("action-desk")).to_be_visible()
        assert findings(still) == [], slug
