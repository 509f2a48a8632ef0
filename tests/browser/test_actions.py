"""An action is looked at, run, and its effect read back; by pointer and by keyboard."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect

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


def open_panel(card: Locator, name: str) -> Locator:
    button = card.get_by_role("button", name=name)
    if not button.is_visible():
        card.get_by_role("button", name="More", exact=True).click()
        button = card.get_by_role("menuitem", name=name)
    button.click()
    panel = card.locator("action-panel")
    expect(panel).to_be_visible()
    return panel


def choose(page: Page, name: str) -> None:
    """Choose an action from the next menu of actions by keyboard."""
    press(page, "More")
    expect(page.get_by_role("menuitem").and_(page.locator(":focus"))).to_be_visible()
    while not focused(page).startswith(name):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def reply(card: Locator) -> Locator:
    """The newest run under a card."""
    return card.locator(".child").last


def test_its_effect_is_read_back(page: Page, workbench: Workbench) -> None:
    card = recipe(workbench)
    title = card.locator(".card-title").inner_text()
    panel = open_panel(card, "Save recipe")
    expect(panel.locator(".method")).to_have_text("POST")
    expect(panel).to_contain_text("Same origin as the agent")
    panel.get_by_role("button", name="Run action").click()
    expect(panel).to_contain_text(re.compile("Send POST to http://127.0.0.1:.*/demo/cookbook/"))
    panel.get_by_role("button", name="Send POST").click()
    expect(panel).to_have_count(0)
    expect(reply(card)).to_contain_text('"saved": true')
    expect(reply(card)).to_contain_text("HTTP 201")
    expect(reply(card)).to_contain_text("Save recipe")
    open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
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
    open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    expect(card.locator(".child")).to_have_count(1)
    open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    # The one before is put away, and can be opened.
    expect(card.locator("details.child")).to_have_count(1)
    card.locator("details.child > summary").click()
    expect(card.locator("details.child pre")).to_be_visible()


def test_the_call_follows_what_is_filled_in(workbench: Workbench) -> None:
    panel = open_panel(recipe(workbench), "Add ingredients")
    call = panel.locator(".action-panel-call")
    panel.get_by_label("Parameters").fill('{"items": ["a sprig of thyme"]}')
    expect(call).to_contain_text("a sprig of thyme")
    panel.get_by_label("Parameters").fill("{")
    expect(call.locator(".action-panel-errors")).to_contain_text("Line 1")
    expect(call.locator(".effective-line, pre")).to_have_count(0)
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    panel.get_by_label("Parameters").fill("")
    expect(call.locator(".effective-line")).to_have_count(1)
    expect(call.locator("pre")).to_have_count(0)
    expect(panel.get_by_role("button", name="Run action")).to_be_enabled()
    panel.get_by_role("button", name="Header", exact=True).click()
    panel.get_by_label("Header name").fill("Host")
    panel.get_by_label("Header value").fill("evil.example")
    expect(call.locator(".action-panel-errors")).to_contain_text("Host is set by the playground")
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()


def test_a_late_confirmation_is_not_of_what_was_edited_meanwhile(workbench: Workbench) -> None:
    page = workbench.page
    panel = open_panel(recipe(workbench), "Save recipe")
    held: list[Route] = []
    page.route(re.compile(r"/actions/\d+/\d+/\d+/$"), lambda route: held.append(route))
    panel.get_by_role("button", name="Run action").click()
    while not held:
        page.wait_for_timeout(10)
    panel.get_by_label("Parameters").fill('{"title": "Another one"}')
    with page.expect_response(lambda response: response.request == held[0].request) as late:
        held[0].continue_()
    late.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(panel.get_by_role("button", name="Send POST")).to_have_count(0)


def test_an_edit_takes_the_confirmation_back(workbench: Workbench) -> None:
    card = recipe(workbench)
    panel = open_panel(card, "Save recipe")
    panel.get_by_role("button", name="Run action").click()
    expect(panel.get_by_role("button", name="Send POST")).to_be_focused()
    panel.get_by_role("button", name="Cancel").click()
    expect(panel.get_by_role("button", name="Run action")).to_be_focused()
    panel.get_by_role("button", name="Run action").click()
    expect(panel.get_by_role("button", name="Send POST")).to_be_visible()
    panel.get_by_label("Parameters").fill("{}")
    expect(panel.get_by_role("button", name="Send POST")).to_have_count(0)
    expect(card.locator(".child")).to_have_count(0)


def test_a_held_key_does_not_confirm(page: Page, workbench: Workbench) -> None:
    panel = open_panel(recipe(workbench), "Save recipe")
    panel.get_by_role("button", name="Run action").focus()
    page.keyboard.down("Enter")
    confirm = panel.get_by_role("button", name="Send POST")
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
    panel = card.locator("action-panel")
    expect(panel).to_be_focused()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert focused(page).startswith("Save recipe")
    page.keyboard.press("Enter")
    expect(panel).to_be_focused()
    press(page, "Run action")
    expect(panel.get_by_role("button", name="Send POST")).to_be_focused()
    page.keyboard.press("Enter")
    expect(reply(card)).to_contain_text('"saved": true')
    assert focused(page).startswith("Save recipe")
    choose(page, "Find in cookbook")
    expect(panel).to_be_focused()
    press(page, "Run action")
    expect(reply(card)).to_contain_text('"list": "cookbook"')
    tab_to(page, "Open run")


def test_the_card_stays_in_view_while_its_action_runs(page: Page, workbench: Workbench) -> None:
    """Also if that was the end of the list when its panel closed."""
    card = recipe(workbench)
    panel = open_panel(card, "Save recipe")
    panel.get_by_role("button", name="Run action").click()
    panel.get_by_role("button", name="Send POST").click()
    expect(reply(card)).to_contain_text('"saved": true')
    run = open_panel(card, "Find in cookbook").get_by_role("button", name="Run action")
    page.evaluate("document.addEventListener('run:progress', () => { document.title = 'moved'; })")
    run.click()
    expect(panel).to_have_count(0)
    expect(page).to_have_title("moved")
    expect(reply(card)).to_contain_text('"list": "cookbook"')
    expect(card.get_by_role("button", name="More", exact=True)).to_be_in_viewport()


def test_every_state_is_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    card = recipe(workbench)
    card.get_by_role("button", name="More", exact=True).click()
    expect(card.get_by_role("menuitem").first).to_be_focused()
    assert findings(still, both_themes=True) == [], "menu"
    still.keyboard.press("Escape")
    expect(card.get_by_role("button", name="More", exact=True)).to_be_focused()
    assert findings(still) == [], "buttons"
    panel = open_panel(card, "Save recipe")
    panel.get_by_role("button", name="Header", exact=True).click()
    assert findings(still) == [], "panel"
    call, params = panel.locator(".action-panel-call"), panel.get_by_label("Parameters")
    filled = params.input_value()
    for text, kind, name in (("{", "disabled", "not to be read"), (filled, "enabled", "mended")):
        params.fill(text)
        expect(panel.locator(f".action-panel-run:{kind}")).to_be_visible()
        expect(call).to_have_css("opacity", "1")  # It is dimmed while it is asked for.
        assert findings(still) == [], name
    panel.get_by_role("button", name="Run action").click()
    expect(panel.get_by_role("button", name="Send POST")).to_be_visible()
    assert findings(still, both_themes=True) == [], "confirmation"
    panel.get_by_role("button", name="Send POST").click()
    expect(reply(card)).to_contain_text('"saved": true')
    assert findings(still) == [], "reply"
    for _ in range(2):
        open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
        expect(panel).to_have_count(0)
    expect(card.locator("details.child")).to_have_count(1)
    assert findings(still) == [], "older replies"


def test_refusals_and_odd_replies_are_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    for slug in ("actions-endpoints", "actions-headers", "actions-shapes"):
        workbench.scenario(slug).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        still.locator(".action-button").first.click()
        expect(still.locator("action-panel")).to_be_visible()
        assert findings(still) == [], slug
