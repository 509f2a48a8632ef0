"""NLWeb over MCP in the page: progress while it works, and its own questions, answered there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.mcp_servers import Recipes, serving
from tests.support.playground_server import PlaygroundServer


@pytest.fixture
def recipes() -> Recipes:
    """What the server's tools do; it asks before it answers."""
    return Recipes(asks=True)


@pytest.fixture
def older(recipes: Recipes) -> Iterator[str]:
    """A server that asks in mid-call."""
    with serving(recipes, generation="initialize") as url:
        yield url


@pytest.fixture
def newer(recipes: Recipes) -> Iterator[str]:
    """A server whose result is that it wants to know more."""
    with serving(recipes) as url:
        yield url


def send(workbench: Workbench, url: str) -> None:
    """Send a request over MCP, to an agent that is added for it."""
    workbench.add_agent("Recipes over MCP", url, binding="mcp").compose("eggs").send()


def ask(workbench: Workbench, url: str) -> Locator:
    """Send a request; returns the entry of the question that comes back."""
    send(workbench, url)
    entry = workbench.page.locator(".ask")
    expect(entry).to_contain_text("Who is coming?")
    return entry


def fill_in(entry: Locator) -> None:
    entry.get_by_label("vegetarian").check()
    entry.get_by_label("How many guests?").fill("4")


def test_a_question_in_mid_call_is_answered_while_the_call_waits(
    still: Page, playground: PlaygroundServer, recipes: Recipes, older: str
) -> None:
    workbench = Workbench(still, playground)
    entry = ask(workbench, older)
    expect(workbench.badge).to_have_attribute("data-state", "streaming")
    assert findings(still) == []
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(entry).to_contain_text("Choose one of the options.")
    entry.get_by_label("How many guests?").fill("13")
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(entry).to_contain_text("Enter a whole number from 1 to 12.")
    # What was filled in survives a reload; another window shows the question, too.
    fill_in(entry)
    still.reload()
    expect(entry.get_by_label("How many guests?")).to_have_value("4")
    other = still.context.new_page()
    other.goto(still.url)
    expect(other.locator(".ask")).to_contain_text("Who is coming?")
    run = workbench.run
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(workbench.badge).to_have_text("Completed")
    assert workbench.run == run
    assert recipes.heard == [("accept", {"diet": "vegetarian", "guests": 4})]
    expect(workbench.page.locator("#cards .card")).to_have_count(1)
    for shown in (entry, other.locator(".ask")):
        expect(shown).to_contain_text("Answered during the call.")
        expect(shown.locator(".ask-form")).not_to_be_visible()
    assert findings(still) == []


def test_a_question_instead_of_a_result_is_answered_by_the_next_turn(
    workbench: Workbench, recipes: Recipes, newer: str
) -> None:
    entry = ask(workbench, newer)
    expect(workbench.badge).to_have_text("Input required")
    entry.get_by_text("Request to be sent").click()
    fill_in(entry)
    expect(entry.locator(".ask-call")).to_contain_text('"inputResponses"')
    expect(entry.locator(".ask-call")).to_contain_text('"vegetarian"')
    run = workbench.run
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(workbench.page.locator("#response")).not_to_have_attribute("data-run", run or "")
    expect(workbench.badge).to_have_text("Completed")
    assert recipes.heard == [("accept", {"diet": "vegetarian", "guests": 4})]
    expect(workbench.page.locator(".turn--chosen > .turn-line")).to_contain_text("guests 4")
