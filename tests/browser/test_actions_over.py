"""Actions over MCP and A2A: said where, read, run, asked and answered; by pointer and by keys."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import findings
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.test_actions import choose, open_panel, recipe, reply
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def restaurant(workbench: Workbench) -> Locator:
    """The card of a restaurant, which takes reservations over A2A."""
    workbench.open().compose("sushi restaurants").send()
    expect(workbench.badge).to_have_text("Completed")
    return workbench.page.locator("#cards > .card").first


def run(panel: Locator, confirm: str) -> None:
    """Run the action of a panel and say yes."""
    panel.get_by_role("button", name="Run action").click()
    panel.get_by_role("button", name=confirm).click()
    expect(panel).to_have_count(0)


def test_a_tool_with_a_form_of_its_schema(workbench: Workbench) -> None:
    card = recipe(workbench)
    panel = open_panel(card, "Scale recipe")
    call = panel.locator(".action-panel-call")
    expect(panel.get_by_label("URL of the server")).to_have_value(
        f"{workbench.server.url.rstrip('/')}/demo/mcp"
    )
    panel.get_by_role("button", name="Load tool schema").click()
    expect(panel).to_contain_text("has the tool scale_recipe")
    servings = panel.get_by_label("servings")
    expect(servings).to_have_value("4")
    expect(panel.get_by_role("textbox", name="Arguments")).to_have_count(0)
    servings.fill("many")
    expect(call.locator(".action-panel-errors")).to_contain_text("servings")
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    servings.fill("2")
    expect(call).to_contain_text('"servings": 2')
    expect(servings).to_be_focused()
    # The JSON has it too, and what is changed there is in the form.
    panel.get_by_role("radio", name="JSON").check()
    arguments = panel.get_by_role("textbox", name="Arguments")
    expect(arguments).to_have_value(r := arguments.input_value())
    assert '"servings": 2' in r
    arguments.fill(r.replace("2", "6"))
    expect(call).to_contain_text('"servings": 6')
    panel.get_by_role("radio", name="Form").check()
    expect(servings).to_have_value("6")
    run(panel, "Call tool")
    expect(reply(card)).to_contain_text("for 6 servings")
    expect(reply(card)).to_contain_text("Completed")


def test_a_server_is_known_from_the_first_time_on(workbench: Workbench) -> None:
    card = recipe(workbench)
    panel = open_panel(card, "Scale recipe")
    address = panel.get_by_label("URL of the server")
    known = address.input_value()
    address.fill("")
    expect(panel).to_contain_text("Enter the server URL first")
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    address.fill(f"{known}/older")
    run(panel, "Call tool")
    expect(reply(card)).to_contain_text("for 4 servings")
    panel = open_panel(card, "Scale recipe")
    expect(panel.get_by_label("URL of the server")).to_have_value(f"{known}/older")
    panel.get_by_label("URL of the server").fill(known)
    run(panel, "Call tool")
    expect(card.locator(".child")).to_have_count(2)


def test_a_task_that_asks_is_answered_where_it_asks(page: Page, workbench: Workbench) -> None:
    card = restaurant(workbench)
    panel = open_panel(card, "Reserve table")
    expect(panel.get_by_role("button", name="Run action")).to_be_disabled()
    panel.get_by_role("button", name="Fetch agent card").click()
    expect(panel).to_contain_text("A2A 1.0")
    expect(panel.locator(".action-panel-call")).to_contain_text("SendStreamingMessage")
    run(panel, "Send message")
    question = reply(card).locator(".ask")
    answer = question.get_by_label("Your answer", exact=False).last
    answer.fill("8 pm")
    question.get_by_text("Request to be sent").click()
    expect(question).to_contain_text('"text": "8 pm"')
    question.get_by_role("button", name="Answer", exact=True).click()
    expect(card.locator(".child .child")).to_contain_text("Completed")
    expect(card.locator(".ask form")).to_have_count(0)
    page.reload()
    expect(page.locator("#cards > .card").first.locator(".child .child")).to_contain_text(
        "Completed"
    )


def test_by_keyboard_alone(page: Page, workbench: Workbench) -> None:
    card = restaurant(workbench)
    workbench.text.focus()
    choose(page, "Reserve table")
    panel = card.locator("action-panel")
    expect(panel).to_be_focused()
    press(page, "Fetch agent card")
    expect(panel).to_contain_text("A2A 1.0")
    # What was read took the focus nowhere.
    assert focused(page) == "Fetch agent card"
    press(page, "Run action")
    expect(panel.get_by_role("button", name="Send message")).to_be_focused()
    page.keyboard.press("Enter")
    question = reply(card).locator(".ask")
    expect(question.get_by_role("button", name="Answer", exact=True)).to_be_visible()
    assert focused(page) == "More"
    tab_to(page, "Your answer")
    page.keyboard.press("Tab")  # From the heading that folds it to the answer itself.
    page.keyboard.insert_text("19:30")
    press(page, "Answer")
    expect(card.locator(".child .child")).to_contain_text("Completed")


def test_what_was_read_is_not_replaced_by_a_preview_under_way(workbench: Workbench) -> None:
    page = workbench.page
    panel = open_panel(recipe(workbench), "Scale recipe")
    held: list[Route] = []
    page.route(re.compile("/(server|preview)/$"), lambda route: held.append(route))
    with page.expect_request("**/preview/"):
        panel.get_by_label("URL of the server").fill("http://127.0.0.1:9/mcp")
    with page.expect_request("**/preview/") as preview, page.expect_request("**/server/") as read:
        # It leaves the field, which asks for a preview once more.
        panel.get_by_role("button", name="Load tool schema").click()
    with page.expect_event("requestfailed", lambda request: request == preview.value):
        next(route for route in held if route.request == read.value).continue_()
    expect(panel).to_contain_text("Loading failed.")


def test_what_was_read_is_shown_although_a_preview_came_before(workbench: Workbench) -> None:
    page = workbench.page
    panel = open_panel(recipe(workbench), "Scale recipe")
    held: list[Route] = []
    page.route("**/server/", lambda route: held.append(route))
    with page.expect_response("**/preview/"), page.expect_request("**/server/"):
        panel.get_by_label("URL of the server").fill("http://127.0.0.1:9/mcp")
        panel.get_by_role("button", name="Load tool schema").click()
    expect(panel.locator(".action-panel-call")).to_contain_text("127.0.0.1:9")
    held[0].continue_()
    expect(panel).to_contain_text("Loading failed.")
    # It stays when something else is changed, and goes with the address.
    with page.expect_response("**/preview/"):
        panel.get_by_role("textbox", name="Arguments").fill('{"servings": 3}')
    expect(panel.locator(".action-panel-call")).to_contain_text('"servings": 3')
    expect(panel).to_contain_text("Loading failed.")
    panel.get_by_label("URL of the server").fill("http://127.0.0.1:10/mcp")
    expect(panel).not_to_contain_text("Loading failed.")


def test_every_state_is_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    card = recipe(workbench)
    panel = open_panel(card, "Scale recipe")
    assert findings(still) == [], "a server"
    panel.get_by_role("button", name="Load tool schema").click()
    expect(panel).to_contain_text("has the tool")
    assert findings(still, both_themes=True) == [], "a form"
    panel.get_by_role("radio", name="JSON").check()
    expect(panel.get_by_role("textbox", name="Arguments")).to_be_visible()
    assert findings(still) == [], "its JSON"
    panel.get_by_label("URL of the server").fill("http://127.0.0.1:9/mcp")
    panel.get_by_role("button", name="Load tool schema").click()
    expect(panel).to_contain_text("Loading failed.")
    assert findings(still) == [], "nobody there"
    preview: list[Route] = []
    still.route("**/preview/", lambda route: preview.append(route))
    panel.get_by_label("URL of the server").fill("http://127.0.0.1:10/mcp")
    expect(panel.locator(".action-panel-call.htmx-request")).to_be_visible()
    assert findings(still) == [], "while its call is shown"
    still.unroute("**/preview/")
    card = restaurant(workbench)
    panel = open_panel(card, "Reserve table")
    assert findings(still) == [], "an agent"
    panel.get_by_role("button", name="Fetch agent card").click()
    expect(panel).to_contain_text("A2A 1.0")
    assert findings(still) == [], "its card"
    run(panel, "Send message")
    expect(reply(card).locator(".ask form")).to_be_visible()
    assert findings(still, both_themes=True) == [], "its question"


def test_a_phone_has_room_for_it(page: Page, workbench: Workbench) -> None:
    card = recipe(workbench)
    panel = open_panel(card, "Scale recipe")
    panel.get_by_role("button", name="Load tool schema").click()
    expect(panel).to_contain_text("has the tool")
    page.set_viewport_size({"width": 390, "height": 844})
    width = "e => [e.scrollWidth, e.clientWidth]"
    for part in (panel, panel.locator(".action-panel-server"), panel.locator(".action-panel-form")):
        needed, there = part.evaluate(width)
        assert needed <= there
