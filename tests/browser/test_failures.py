"""Failures arrive with what they mean and what to try; the ways on from them."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, expect

from playground.demo.scenarios import SCENARIOS
from tests.browser.axe import findings
from tests.browser.workbench import Workbench, boxes, is_within


def end(workbench: Workbench) -> Locator:
    return workbench.page.locator("#run-ending")


@pytest.mark.parametrize("slug", ["truncated", "html-error", "deep"])
def test_an_ending_says_what_happened_and_what_to_do(workbench: Workbench, slug: str) -> None:
    page = workbench.page
    """One that the wire brings, one that another server's page is, and one that a limit is."""
    workbench.scenario(slug).send().ended(SCENARIOS[slug].state)
    problem = end(workbench).locator(".problem")
    expect(problem.locator("h3")).not_to_be_empty()
    expect(problem.locator(".problem-fix")).not_to_be_empty()
    assert findings(page, "#response", both_themes=True) == []


def test_credentials_are_one_click_away(workbench: Workbench) -> None:
    page = workbench.page
    workbench.scenario("members").send().ended()
    expect(end(workbench)).to_contain_text("Bearer")
    assert findings(page, "#response") == []
    page.get_by_role("link", name="Add a token").click()
    field = page.locator("#id_auth")
    expect(field).to_be_in_viewport()
    field.select_option("bearer")
    page.locator("#id_auth_secret").fill("demo-token")
    page.get_by_role("button", name="Save").click()
    workbench.open(f"/?agent={page.locator('#agent-select').input_value()}").send()
    expect(workbench.badge).to_have_text("Completed")


def test_the_wait_counts_down_and_does_not_keep_anybody(workbench: Workbench) -> None:
    page = workbench.page
    workbench.scenario("rate-limited-date").send()
    clock = page.locator("wait-clock")
    expect(clock).to_contain_text("Retry after")
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
    assert findings(page, "#response") == []
    first = workbench.run
    again = end(workbench).get_by_role("button", name="Retry")
    expect(again).to_be_enabled()
    again.focus()
    page.keyboard.press("Enter")
    workbench.next_run(first)
    expect(page.locator("wait-clock")).to_be_visible()
    expect(page).to_have_url(f"{workbench.server.url}/runs/{workbench.run}/")


def test_text_and_data_stand_side_by_side(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick()
    document = {
        "query": {"text": "quick eggs"},
        "prefer": {"streaming": True, "response_format": "chatgpt_app"},
        "meta": {"version": "0.55"},
    }
    page.set_viewport_size({"width": 1440, "height": 900})
    workbench.write_json(json.dumps(document))
    expect(workbench.effective).to_contain_text("chatgpt_app")
    workbench.send().ended()
    expect(page.get_by_role("heading", name="For the model")).to_be_visible()
    expect(page.get_by_role("heading", name="For the widget")).to_be_visible()
    assert findings(page, "#response") == []
    cards = page.locator("#cards > .card")
    note, card = boxes(page.locator("#cards > .note").first, cards.first)
    assert note["x"] + note["width"] <= card["x"]
    assert abs(note["y"] - card["y"]) < 40
    page.set_viewport_size({"width": 390, "height": 844})
    note, card = boxes(page.locator("#cards > .note").last, cards.first)
    assert note["y"] + note["height"] <= card["y"]
    assert is_within(page, 390)


@pytest.mark.parametrize("slug", ["failure-details", "meta-list"])
def test_details_are_accessible(workbench: Workbench, slug: str) -> None:
    page = workbench.page
    workbench.scenario(slug).send().ended()
    for summary in page.locator("#run-ending summary").all():
        summary.click()
    assert findings(page, "#response") == []
