"""Actions over MCP and A2A: said where, read, run, asked and answered; by pointer and by keys."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import findings
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.test_actions import open_desk, recipe, reply
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def restaurant(workbench: Workbench) -> Locator:
    """The card of a restaurant, which takes reservations over A2A."""
    workbench.open().compose("sushi restaurants").send()
    expect(workbench.badge).to_have_text("Completed")
    return workbench.page.locator("#cards > .card").first


def run(desk: Locator, confirm: str) -> None:
    """Run the action of a desk and say yes."""
    desk.get_by_role("button", name="Run action").click()
    desk.get_by_role("button", name=confirm).click()
    expect(desk).to_have_count(0)


def test_a_tool_with_a_form_of_its_schema(workbench: Workbench) -> None:
    card = recipe(workbench)
    desk = open_desk(card, "Scale recipe")
    call = desk.locator(".desk-call")
    expect(desk.get_by_label("Address of the server")).to_have_value(
        f"{workbench.server.url.rstrip('/')}/demo/mcp"
    )
    desk.get_by_role("button", name="Read the tool’s schema").click()
    expect(desk).to_contain_text("has the tool scale_recipe")
    servings = desk.get_by_label("servings")
    expect(servings).to_have_value("4")
    expect(desk.get_by_role("textbox", name="Arguments")).to_have_count(0)
    servings.fill("many")
    expect(call.locator(".desk-refusals")).to_contain_text("servings")
    expect(desk.get_by_role("button", name="Run action")).to_be_disabled()
    servings.fill("2")
    expect(call).to_contain_text('"servings": 2')
    expect(servings).to_be_focused()
    # The JSON has it too, and what is changed there is in the form.
    desk.get_by_role("radio", name="As JSON").check()
    arguments = desk.get_by_role("textbox", name="Arguments")
    expect(arguments).to_have_value(r := arguments.input_value())
    assert '"servings": 2' in r
    arguments.fill(r.replace("2", "6"))
    expect(call).to_contain_text('"servings": 6')
    desk.get_by_role("radio", name="As a form").check()
    expect(servings).to_have_value("6")
    run(desk, "Call the tool")
    expect(reply(card)).to_contain_text("for 6 servings")
    expect(reply(card)).to_contain_text("Completed")


def test_a_server_is_known_from_the_first_time_on(workbench: Workbench) -> None:
    card = recipe(workbench)
    desk = open_desk(card, "Scale recipe")
    address = desk.get_by_label("Address of the server")
    known = address.input_value()
    address.fill("")
    expect(desk).to_contain_text("Say where the server is first")
    expect(desk.get_by_role("button", name="Run action")).to_be_disabled()
    address.fill(f"{known}/older")
    run(desk, "Call the tool")
    expect(reply(card)).to_contain_text("for 4 servings")
    desk = open_desk(card, "Scale recipe")
    expect(desk.get_by_label("Address of the server")).to_have_value(f"{known}/older")
    desk.get_by_label("Address of the server").fill(known)
    run(desk, "Call the tool")
    expect(card.locator(".child")).to_have_count(2)


def test_a_task_that_asks_is_answered_where_it_asks(page: Page, workbench: Workbench) -> None:
    card = restaurant(workbench)
    desk = open_desk(card, "Reserve table")
    expect(desk.get_by_role("button", name="Run action")).to_be_disabled()
    desk.get_by_role("button", name="Read the agent’s card").click()
    expect(desk).to_contain_text("A2A 1.0")
    expect(desk.locator(".desk-call")).to_contain_text("SendStreamingMessage")
    run(desk, "Send the message")
    question = reply(card).locator(".ask")
    answer = question.get_by_label("Your answer", exact=False).last
    answer.fill("8 pm")
    question.get_by_text("Exact next request").click()
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
    press(page, "Reserve table")
    desk = card.locator("action-desk")
    expect(desk).to_be_focused()
    press(page, "Read the agent’s card")
    expect(desk).to_contain_text("A2A 1.0")
    # What was read took the focus nowhere.
    assert focused(page) == "Read the agent’s card"
    press(page, "Run action")
    expect(desk.get_by_role("button", name="Send the message")).to_be_focused()
    page.keyboard.press("Enter")
    question = reply(card).locator(".ask")
    expect(question.get_by_role("button", name="Answer", exact=True)).to_be_visible()
    assert focused(page).startswith("Reserve table")
    tab_to(page, "Your answer")
    page.keyboard.press("Tab")  # From the heading that folds it to the answer itself.
    page.keyboard.insert_text("19:30")
    press(page, "Answer")
    expect(card.locator(".child .child")).to_contain_text("Completed")


def test_what_was_read_is_not_replaced_by_a_preview_under_way(workbench: Workbench) -> None:
    page = workbench.page
    desk = open_desk(recipe(workbench), "Scale recipe")
    held: list[Route] = []
    page.route(re.compile("/(server|preview)/$"), lambda route: held.append(route))
    with page.expect_request("**/preview/"):
        desk.get_by_label("Address of the server").fill("http://127.0.0.1:9/mcp")
    with page.expect_request("**/preview/") as preview, page.expect_request("**/server/") as read:
        # It leaves the field, which asks for a preview once more.
        desk.get_by_role("button", name="Read the tool’s schema").click()
    with page.expect_event("requestfailed", lambda request: request == preview.value):
        next(route for route in held if route.request == read.value).continue_()
    expect(desk).to_contain_text("Not read.")


def test_what_was_read_is_shown_although_a_preview_came_before(workbench: Workbench) -> None:
    page = workbench.page
    desk = open_desk(recipe(workbench), "Scale recipe")
    held: list[Route] = []
    page.route("**/server/", lambda route: held.append(route))
    with page.expect_response("**/preview/"), page.expect_request("**/server/"):
        desk.get_by_label("Address of the server").fill("http://127.0.0.1:9/mcp")
        desk.get_by_role("button", name="Read the tool’s schema").click()
    expect(desk.locator(".desk-call")).to_contain_text("127.0.0.1:9")
    held[0].continue_()
    expect(desk).to_contain_text("Not read.")
    # It stays when something else is changed, and goes with the address.
    with page.expect_response("**/preview/"):
        desk.get_by_role("textbox", name="Arguments").fill('{"servings": 3}')
    expect(desk.locator(".desk-call")).to_contain_text('"servings": 3')
    expect(desk).to_contain_text("Not read.")
    desk.get_by_label("Address of the server").fill("http://127.0.0.1:10/mcp")
    expect(desk).not_to_contain_text("Not read.")


def test_every_state_is_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    card = recipe(workbench)
    desk = open_desk(card, "Scale recipe")
    assert findings(still) == [], "a server"
    desk.get_by_role("button", name="Read the tool’s schema").click()
    expect(desk).to_contain_text("has the tool")
    assert findings(still, both_themes=True) == [], "a form"
    # The call is dimmed while it is asked for, which begins a moment after the change.
    with still.expect_response(re.compile("/preview/$")):
        desk.get_by_role("radio", name="As JSON").check()
    expect(desk.get_by_role("textbox", name="Arguments")).to_be_visible()
    expect(desk.locator(".desk-call")).to_have_css("opacity", "1")
    assert findings(still) == [], "its JSON"
    desk.get_by_label("Address of the server").fill("http://127.0.0.1:9/mcp")
    desk.get_by_role("button", name="Read the tool’s schema").click()
    expect(desk).to_contain_text("Not read.")
    expect(desk.locator(".desk-call")).to_have_css("opacity", "1")
    assert findings(still) == [], "nobody there"
    card = restaurant(workbench)
    desk = open_desk(card, "Reserve table")
    assert findings(still) == [], "an agent"
    desk.get_by_role("button", name="Read the agent’s card").click()
    expect(desk).to_contain_text("A2A 1.0")
    assert findings(still) == [], "its card"
    run(desk, "Send the message")
    expect(reply(card).locator(".ask form")).to_be_visible()
    assert findings(still, both_themes=True) == [], "its question"


def test_a_phone_has_room_for_it(page: Page, workbench: Workbench) -> None:
    card = recipe(workbench)
    desk = open_desk(card, "Scale recipe")
    desk.get_by_role("button", name="Read the tool’s schema").click()
    expect(desk).to_contain_text("has the tool")
    page.set_viewport_size({"width": 390, "height": 844})
    width = "e => [e.scrollWidth, e.clientWidth]"
    for part in (desk, desk.locator(".desk-peer"), desk.locator(".desk-form")):
        needed, there = part.evaluate(width)
        assert needed <= there
