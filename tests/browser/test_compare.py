"""Two runs compared in a browser: chosen in the history, and from a run's page."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import press
from tests.browser.test_history import ask, rows
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def test_two_chosen_in_the_history(workbench: Workbench) -> None:
    ask(workbench, "compare tomato soup", "compare vegan dinner")
    page = workbench.page
    page.goto(f"{workbench.server.url}/history/?q=compare")
    compare = page.get_by_role("button", name="Compare", exact=True)
    page.get_by_label("Select compare tomato soup").check()
    expect(compare).to_be_disabled()
    page.get_by_label("Select compare vegan dinner").check()
    compare.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare runs")
    request = page.get_by_role("region", name="Request: 1 difference")
    expect(request).to_contain_text("/query/text")
    head, first = (request.get_by_role("row").nth(n).locator("th").first for n in range(2))
    above, below = head.bounding_box(), first.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"] + 1, "the head covers no row"
    # The older one stands on the left.
    expect(page.get_by_role("region", name="Left")).to_contain_text("compare tomato soup")
    reply = page.locator("section[aria-labelledby=response-title]")
    expect(reply).to_contain_text("only left")
    page.get_by_role("link", name="Swap").click()
    expect(page.get_by_role("region", name="Left")).to_contain_text("compare vegan dinner")


def test_from_a_run_by_keyboard_with_what_is_folded(workbench: Workbench) -> None:
    ask(workbench, "compare gazpacho", "compare gazpacho")
    page = workbench.page
    page.locator(".response-header").focus()
    press(page, "Compare…")
    choices = page.locator("#compare-with")
    first = choices.get_by_role("link").first
    expect(first).to_contain_text("compare gazpacho")
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#request-title")).to_have_text("Request: no differences")
    expect(page.locator("#response-title")).to_have_text("Response: no differences")
    # The conversation's id, and the processing time unless both took as long.
    folded = page.get_by_text(re.compile(r"expected differences? \(ids, tokens, timestamps\)")).last
    folded.click()
    expect(page.get_by_role("region", name="Differences: ids, tokens, timestamps")).to_be_visible()
    page.get_by_role("link", name="Unordered").click()
    expect(page).to_have_url(f"{page.url.split('&order')[0]}&order=1")
    expect(page.get_by_role("link", name="Unordered")).to_have_attribute("aria-current", "true")


def test_a_truncated_one_is_compared_as_far_as_it_came(workbench: Workbench) -> None:
    ask(workbench, "compare broken stew")
    whole = workbench.run
    workbench.scenario("truncated").compose("compare broken stew").send()
    expect(workbench.badge).to_have_text("Truncated")
    workbench.page.goto(f"{workbench.server.url}/compare/?left={whole}&right={workbench.run}")
    reply = workbench.page.locator("section[aria-labelledby=response-title]")
    expect(reply).to_contain_text("The run on the right did not complete (truncated)")
    expect(reply).to_contain_text("Only the received part of the incomplete response is compared")


def test_axe_finds_nothing(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground)
    ask(workbench, "compare axe soup")
    first = workbench.run
    workbench.compose("compare axe dinner").send()
    expect(workbench.badge).to_have_text("Completed")
    still.get_by_role("button", name="Compare…").click()
    expect(still.locator("#compare-with").get_by_role("link").first).to_be_visible()
    assert findings(still) == []
    still.goto(f"{playground.url}/compare/?left={first}&right={workbench.run}")
    still.get_by_text("expected difference").first.click()
    assert findings(still, both_themes=True) == []
    still.goto(f"{playground.url}/compare/?left={first}")
    assert findings(still, both_themes=True) == []


def test_a_phone_has_room_for_it(
    workbench: Workbench, browser: Browser, playground: PlaygroundServer
) -> None:
    runs = []
    for text in ("compare phone soup", "compare phone dinner"):
        ask(workbench, text)
        runs.append(workbench.run)
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{playground.url}/compare/?left={runs[0]}&right={runs[1]}")
    left, right = (page.get_by_role("region", name=n).bounding_box() for n in ("Left", "Right"))
    assert left
    assert right
    assert left["x"] == right["x"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_the_table_of_facts(workbench: Workbench) -> None:
    ask(workbench, "compare facts of soup")
    one = workbench.run
    page = workbench.page
    page.goto(f"{workbench.server.url}/compare/?left={one}&right={one}")
    facts = page.get_by_role("region", name="Target and metrics")
    expect(facts.get_by_role("row", name="HTTP status")).to_contain_text("200")
    expect(facts).not_to_contain_text("differs")
    assert rows(page).count() == 0
