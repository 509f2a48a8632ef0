"""An action is looked at, run, its effect read back: HTTP, MCP, A2A; by pointer and by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import findings
from tests.browser.held import Sent, hold
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.workbench import Workbench

QUESTION = "tiramisu"
CARD = "#cards > .card:first-child"


def recipe(workbench: Workbench) -> Locator:
    """The card of a recipe that can be saved."""
    workbench.quick().compose(QUESTION).send().ended()
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


def test_its_effect_is_read_back(workbench: Workbench) -> None:
    page = workbench.page
    card = recipe(workbench)
    more = card.get_by_role("button", name="More", exact=True)
    more.click()
    expect(card.get_by_role("menuitem").first).to_be_focused()
    assert findings(page, both_themes=True) == [], "menu"
    page.keyboard.press("Escape")
    expect(more).to_be_focused()

    # The call follows what is filled in.
    panel = open_panel(card, "Save recipe")
    call, params = panel.locator(".action-panel-call"), panel.get_by_label("Parameters")
    run, confirm = (panel.get_by_role("button", name=n) for n in ("Run action", "Send POST"))
    panel.get_by_role("button", name="Header", exact=True).click()
    assert findings(page, CARD) == [], "panel"
    filled = params.input_value()
    params.fill("{")
    expect(call.locator(".action-panel-errors")).to_contain_text("Line 1")
    expect(call.locator(".effective-line, pre")).to_have_count(0)
    expect(run).to_be_disabled()
    expect(call).to_have_css("opacity", "1")  # It is dimmed while it is asked for.
    assert findings(page, CARD) == [], "not to be read"
    params.fill(filled)
    expect(call.locator(".effective-line")).to_have_count(1)
    expect(run).to_be_enabled()

    # It is confirmed, which an edit and Cancel take back.
    run.click()
    expect(confirm).to_be_focused()
    assert findings(page, CARD, both_themes=True) == [], "confirmation"
    panel.get_by_role("button", name="Cancel").click()
    expect(run).to_be_focused()
    run.click()
    expect(confirm).to_be_visible()
    params.fill(f"{filled} ")
    expect(confirm).to_have_count(0)
    expect(card.locator(".child")).to_have_count(0)
    run.click()
    confirm.click()
    expect(panel).to_have_count(0)
    expect(reply(card)).to_contain_text('"saved": true')

    # The card stays in view, also if it was the end of the list when its panel closed.
    title = card.locator(".card-title").inner_text()
    page.evaluate("document.addEventListener('run:progress', () => { document.title = 'moved'; })")
    open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    expect(panel).to_have_count(0)
    expect(page).to_have_title("moved")
    expect(reply(card)).to_contain_text(title)
    expect(more).to_be_in_viewport()
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator(CARD).locator(".child")).to_have_count(2)

    # The one before is put away, and can be opened.
    open_panel(card, "Find in cookbook").get_by_role("button", name="Run action").click()
    expect(card.locator("details.child")).to_have_count(1)
    assert findings(page, CARD) == [], "replies"
    card.locator("details.child > summary").click()
    expect(card.locator("details.child pre")).to_be_visible()
    page.reload()
    expect(reply(card)).to_contain_text(title)
    timeline = workbench.tab("Timeline")
    expect(timeline.get_by_role("row", name="Action save_recipe")).to_be_visible()


def test_a_late_confirmation_is_not_of_what_was_edited_meanwhile(workbench: Workbench) -> None:
    page = workbench.page
    panel = open_panel(recipe(workbench), "Save recipe")
    held = hold(page, r"/actions/\d+/\d+/\d+/$")
    panel.get_by_role("button", name="Run action").click()
    held.first()
    panel.get_by_label("Parameters").fill('{"title": "Another one"}')
    held.let_go()
    expect(panel.get_by_role("button", name="Send POST")).to_have_count(0)


def test_by_keyboard_alone(page: Page, workbench: Workbench) -> None:
    workbench.quick()
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
    tab_to(page, "Run action")
    page.keyboard.down("Enter")
    confirm = panel.get_by_role("button", name="Send POST")
    expect(confirm).to_be_focused()
    page.keyboard.down("Enter")  # It repeats, since it was not let go, and confirms nothing.
    expect(confirm).to_be_focused()
    page.keyboard.up("Enter")
    expect(page.locator(".child")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(reply(card)).to_contain_text('"saved": true')
    assert focused(page).startswith("Save recipe")
    choose(page, "Find in cookbook")
    expect(panel).to_be_focused()
    press(page, "Run action")
    expect(reply(card)).to_contain_text('"list": "cookbook"')
    tab_to(page, "Open run")


@pytest.mark.parametrize("slug", ["actions-endpoints", "actions-headers", "actions-shapes"])
def test_refusals_and_odd_replies_are_accessible(workbench: Workbench, slug: str) -> None:
    page = workbench.page
    workbench.scenario(slug).send().ended()
    page.locator(".action-button").first.click()
    expect(page.locator("action-panel")).to_be_visible()
    assert findings(page, "#response") == [], slug


def run(panel: Locator, confirm: str) -> None:
    """Run the action of a panel and say yes."""
    panel.get_by_role("button", name="Run action").click()
    panel.get_by_role("button", name=confirm).click()
    expect(panel).to_have_count(0)


def test_a_preview_that_arrives_after_the_panel_was_closed(
    workbench: Workbench, complaints: list[str]
) -> None:
    card = recipe(workbench)
    panel = open_panel(card, "Save recipe")
    sent = Sent(workbench.page, "/preview/$")
    panel.get_by_label("Parameters").fill("{}")
    while not sent.answers:
        workbench.page.wait_for_timeout(10)
    panel.get_by_role("button", name="Close action").click()
    expect(panel).to_have_count(0)
    sent.arrive()
    assert complaints == []


def test_a_tool_with_a_form_of_its_schema(workbench: Workbench) -> None:
    page = workbench.page
    card = recipe(workbench)
    panel = open_panel(card, "Scale recipe")
    call = panel.locator(".action-panel-call")
    address = panel.get_by_label("URL of the server")
    expect(address).to_have_value(f"{workbench.server.url.rstrip('/')}/demo/mcp")
    assert findings(page, CARD) == [], "a server"
    panel.get_by_role("button", name="Load tool schema").click()
    expect(panel).to_contain_text("has the tool scale_recipe")
    assert findings(page, CARD, both_themes=True) == [], "a form"
    servings = panel.get_by_label("servings")
    expect(servings).to_have_value("4")
    expect(panel.get_by_role("textbox", name="Arguments")).to_have_count(0)
    servings.fill("many")
    expect(call.locator(".action-panel-errors")).to_contain_text("servings")
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    servings.fill("2")
    expect(call).to_contain_text('"servings": 2')
    expect(servings).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    for part in (panel, panel.locator(".action-panel-server"), panel.locator(".action-panel-form")):
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth")
    page.set_viewport_size({"width": 1280, "height": 720})
    # The JSON has it too, and what is changed there is in the form.
    panel.get_by_role("radio", name="JSON").check()
    arguments = panel.get_by_role("textbox", name="Arguments")
    expect(arguments).to_have_value(written := arguments.input_value())
    assert '"servings": 2' in written
    assert findings(page, CARD) == [], "its JSON"
    arguments.fill(written.replace("2", "6"))
    expect(call).to_contain_text('"servings": 6')
    panel.get_by_role("radio", name="Form").check()
    expect(servings).to_have_value("6")
    run(panel, "Call tool")
    expect(reply(card)).to_contain_text("for 6 servings")
    expect(reply(card)).to_contain_text("Completed")


def test_a_task_that_asks_is_answered_where_it_asks_by_keyboard(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick().compose("sushi restaurants").send().ended()
    card = page.locator("#cards > .card").first
    workbench.text.focus()
    choose(page, "Reserve table")
    panel = card.locator("action-panel")
    expect(panel).to_be_focused()
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    assert findings(page, CARD) == [], "an agent"
    press(page, "Fetch agent card")
    expect(panel).to_contain_text("A2A 1.0")
    expect(panel.locator(".action-panel-call")).to_contain_text("SendStreamingMessage")
    # What was read took the focus nowhere.
    assert focused(page) == "Fetch agent card"
    assert findings(page, CARD) == [], "its card"
    press(page, "Run action")
    expect(panel.get_by_role("button", name="Send message")).to_be_focused()
    page.keyboard.press("Enter")
    question = reply(card).locator(".ask")
    expect(question.get_by_role("button", name="Answer", exact=True)).to_be_visible()
    assert focused(page) == "More"
    assert findings(page, CARD, both_themes=True) == [], "its question"
    tab_to(page, "Your answer")
    page.keyboard.press("Tab")  # From the heading that folds it to the answer itself.
    page.keyboard.insert_text("19:30")
    question.get_by_text("Request to be sent").click()
    expect(question).to_contain_text('"text": "19:30"')
    press(page, "Answer")
    expect(card.locator(".child .child")).to_contain_text("Completed")
    expect(card.locator(".ask form")).to_have_count(0)
    page.reload()
    expect(card.locator(".child .child")).to_contain_text("Completed")


def test_what_was_read_and_a_preview_cross(workbench: Workbench) -> None:
    page = workbench.page
    panel = open_panel(recipe(workbench), "Scale recipe")
    address = panel.get_by_label("URL of the server")
    load = panel.get_by_role("button", name="Load tool schema")
    held: list[Route] = []
    requests = re.compile("/(server|preview)/$")
    page.route(requests, lambda route: held.append(route))
    # What was read is not replaced by a preview under way.
    with page.expect_request("**/preview/"):
        address.fill("http://127.0.0.1:9/mcp")
    with page.expect_request("**/preview/") as preview, page.expect_request("**/server/") as read:
        load.click()  # It leaves the field, which asks for a preview once more.
    expect(panel.locator(".action-panel-call.htmx-request")).to_be_visible()
    assert findings(page, CARD) == [], "while its call is shown"
    with page.expect_event("requestfailed", lambda request: request == preview.value):
        next(route for route in held if route.request == read.value).continue_()
    expect(panel).to_contain_text("Loading failed.")
    assert findings(page, CARD) == [], "nobody there"
    page.unroute(requests)
    # It is shown although a preview came before.
    held.clear()
    page.route("**/server/", lambda route: held.append(route))
    with page.expect_response("**/preview/"), page.expect_request("**/server/"):
        address.fill("http://127.0.0.1:10/mcp")
        load.click()
    expect(panel.locator(".action-panel-call")).to_contain_text("127.0.0.1:10")
    held[0].continue_()
    expect(panel).to_contain_text("Loading failed.")
    # It stays when something else is changed, and goes with the address.
    with page.expect_response("**/preview/"):
        panel.get_by_role("textbox", name="Arguments").fill('{"servings": 3}')
    expect(panel.locator(".action-panel-call")).to_contain_text('"servings": 3')
    expect(panel).to_contain_text("Loading failed.")
    address.fill("http://127.0.0.1:11/mcp")
    expect(panel).not_to_contain_text("Loading failed.")
