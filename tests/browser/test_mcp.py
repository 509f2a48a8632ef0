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


def test_an_answer_with_progress_log_lines_and_tools(
    workbench: Workbench, recipes: Recipes, newer: str
) -> None:
    recipes.asks = False
    send(workbench, newer)
    expect(workbench.badge).to_have_text("Completed")
    expect(workbench.page.locator("#cards .card")).to_have_count(2)
    expect(workbench.page.locator("#outcome")).to_contain_text("3 tools available")
    events = workbench.tab("Events")
    expect(events).to_contain_text("Looking through the recipes")
    expect(events).to_contain_text("kitchen")
    wire = workbench.tab("Wire")
    expect(wire).to_contain_text("server/discover")
    expect(wire).to_contain_text('"method": "tools/call"')


def test_a_question_in_mid_call_is_answered_while_the_call_waits(
    workbench: Workbench, recipes: Recipes, older: str
) -> None:
    entry = ask(workbench, older)
    expect(workbench.badge).to_have_attribute("data-state", "streaming")
    expect(entry).to_contain_text("The call is waiting for your answer")
    expect(entry).to_contain_text("A whole number from 1 to 12.")
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(entry).to_contain_text("Choose one of the options.")
    entry.get_by_label("How many guests?").fill("13")
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(entry).to_contain_text("Enter a whole number from 1 to 12.")
    fill_in(entry)
    run = workbench.run
    entry.get_by_role("button", name="Answer", exact=True).click()
    expect(workbench.badge).to_have_text("Completed")
    assert workbench.run == run
    assert recipes.heard == [("accept", {"diet": "vegetarian", "guests": 4})]
    expect(entry).to_contain_text("Answered during the call.")
    expect(entry.locator(".ask-form")).to_have_count(0)
    expect(workbench.page.locator("#cards .card")).to_have_count(1)
    shown = workbench.page.url
    entry.get_by_role("link", name="Show request").click()
    expect(workbench.page).not_to_have_url(shown)
    workbench.page.wait_for_load_state()
    expect(workbench.tab("Wire")).to_contain_text('"accept"')


def test_a_question_in_mid_call_survives_a_reload_and_another_window(
    workbench: Workbench, recipes: Recipes, older: str
) -> None:
    entry = ask(workbench, older)
    entry.get_by_label("How many guests?").fill("7")
    workbench.page.reload()
    expect(entry.get_by_label("How many guests?")).to_have_value("7")
    other = workbench.page.context.new_page()
    other.goto(workbench.page.url)
    expect(other.locator(".ask")).to_contain_text("Who is coming?")
    entry.get_by_role("button", name="Decline").click()
    expect(workbench.badge).to_have_text("Completed")
    assert recipes.heard == [("decline", None)]
    expect(entry).to_contain_text("Declined during the call.")
    expect(other.locator(".ask")).to_contain_text("Declined during the call.")
    expect(other.locator(".ask-form")).not_to_be_visible()
    workbench.page.reload()
    expect(entry).to_contain_text("Declined during the call.")
    expect(entry.locator(".ask-form")).to_have_count(0)


def test_a_question_whose_call_was_stopped_can_no_longer_be_answered(
    workbench: Workbench, recipes: Recipes, older: str
) -> None:
    entry = ask(workbench, older)
    fill_in(entry)
    workbench.page.get_by_role("button", name="Stop").first.click()
    expect(workbench.badge).to_have_attribute("data-state", "cancelled")
    expect(entry).to_contain_text("can no longer be answered")
    expect(entry.locator(".ask-form")).to_have_count(0)
    assert recipes.heard == []


@pytest.mark.parametrize(
    ("button", "heard", "said"),
    [
        ("Answer", ("accept", {"diet": "vegetarian", "guests": 4}), "guests 4"),
        ("Decline", ("decline", None), "Declined"),
    ],
)
def test_a_question_instead_of_a_result_is_answered_by_the_next_turn(
    workbench: Workbench,
    recipes: Recipes,
    newer: str,
    button: str,
    heard: tuple[str, object],
    said: str,
) -> None:
    entry = ask(workbench, newer)
    expect(workbench.badge).to_have_text("Input required")
    expect(entry).to_contain_text("again, with your answer")
    entry.get_by_text("Request to be sent").click()
    if button == "Answer":
        fill_in(entry)
        expect(entry.locator(".ask-call")).to_contain_text('"inputResponses"')
        expect(entry.locator(".ask-call")).to_contain_text('"vegetarian"')
    run = workbench.run
    entry.get_by_role("button", name=button, exact=True).click()
    expect(workbench.page.locator("#response")).not_to_have_attribute("data-run", run or "")
    expect(workbench.badge).to_have_text("Completed")
    assert recipes.heard == [heard]
    expect(workbench.page.locator(".turn--chosen > .turn-line")).to_contain_text(said)


def test_questions_of_mcp_are_accessible(
    still: Page, playground: PlaygroundServer, older: str
) -> None:
    workbench = Workbench(still, playground)
    ask(workbench, older)
    assert findings(still) == []
    workbench.page.locator(".ask").get_by_role("button", name="Dismiss").click()
    expect(workbench.page.locator(".ask")).to_contain_text("Dismissed during the call.")
    expect(workbench.badge).to_have_text("Completed")
    assert findings(still) == []
