"""Failures say what they mean and what to try; formats and provenance show what they are."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

CAME = [
    ("failure-details", "NLWeb failure", "INVALID_QUERY"),
    ("foreign-error", "JSON error message", "Internal Server Error"),
    ("html-error", "HTML page", "HTML"),
    ("empty-error", "Empty", "is empty"),
]


def end(workbench: Workbench) -> Locator:
    return workbench.page.locator("#run-ending")


@pytest.mark.parametrize(("slug", "came", "words"), CAME, ids=[row[0] for row in CAME])
def test_what_came_with_an_error_is_told_apart(
    workbench: Workbench, slug: str, came: str, words: str
) -> None:
    workbench.scenario(slug).send()
    end(workbench).locator("summary").click()
    expect(end(workbench)).to_contain_text(came)
    expect(workbench.page.locator("#tab-results")).to_contain_text(words)
    expect(end(workbench).get_by_role("button", name="Retry")).to_have_count(1)


def test_a_failure_is_explained_and_its_details_are_a_table(workbench: Workbench) -> None:
    workbench.scenario("failure-details").send()
    failure = workbench.page.locator(".failure")
    expect(failure).to_contain_text("Meaning")
    expect(failure.get_by_role("row", name="expected_format")).to_contain_text("ISO 8601")
    expect(failure).to_contain_text("HTTP 400")
    expect(workbench.badge).to_have_text("Agent error")


def test_credentials_are_one_click_away(workbench: Workbench) -> None:
    workbench.scenario("members").send()
    expect(end(workbench)).to_contain_text("Bearer")
    page = workbench.page
    page.get_by_role("link", name="Add a token").click()
    field = page.locator("#id_auth")
    expect(field).to_be_in_viewport()
    field.select_option("bearer")
    page.locator("#id_auth_secret").fill("demo-token")
    page.get_by_role("button", name="Save").click()
    workbench.open(f"/?agent={page.locator('#agent-select').input_value()}").send()
    expect(workbench.badge).to_have_text("Completed")


def test_the_wait_counts_down_and_does_not_keep_anybody(workbench: Workbench) -> None:
    workbench.scenario("rate-limited-date").send()
    clock = workbench.page.locator("wait-clock")
    expect(clock).to_contain_text("Retry after")
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
    first = workbench.run
    again = end(workbench).get_by_role("button", name="Retry")
    expect(again).to_be_enabled()
    again.click()
    expect(workbench.page.locator("#response")).not_to_have_attribute("data-run", first or "")
    expect(workbench.page.locator("wait-clock")).to_be_visible()
    assert workbench.run
    assert workbench.page.url.endswith(f"/runs/{workbench.run}/")


def test_send_again_by_keyboard(workbench: Workbench) -> None:
    workbench.scenario("server-error").send()
    first = workbench.run
    again = end(workbench).get_by_role("button", name="Retry")
    again.focus()
    workbench.page.keyboard.press("Enter")
    expect(workbench.page.locator("#response")).not_to_have_attribute("data-run", first or "")
    expect(end(workbench)).to_contain_text("HTTP 5")


def chatgpt(workbench: Workbench, *, streaming: bool) -> None:
    """Ask the demo agent for the format of ChatGPT apps."""
    document = {
        "query": {"text": "quick eggs"},
        "prefer": {"streaming": streaming, "response_format": "chatgpt_app"},
        "meta": {"version": "0.55"},
    }
    workbench.open().write_json(json.dumps(document))
    expect(workbench.effective).to_contain_text("chatgpt_app")
    workbench.send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()


@pytest.mark.parametrize("streaming", [True, False], ids=["stream", "whole"])
def test_text_and_data_stand_side_by_side(workbench: Workbench, *, streaming: bool) -> None:
    page = workbench.page
    page.set_viewport_size({"width": 1440, "height": 900})
    chatgpt(workbench, streaming=streaming)
    expect(page.get_by_role("heading", name="For the model")).to_be_visible()
    expect(page.get_by_role("heading", name="For the widget")).to_be_visible()
    expect(page.locator(".format")).to_contain_text("openai/outputTemplate")
    expect(page.locator(".format a, #tab-results iframe")).to_have_count(0)
    note = page.locator("#cards > .note").first.bounding_box()
    card = page.locator("#cards > .card").first.bounding_box()
    assert note
    assert card
    assert note["x"] + note["width"] <= card["x"]
    assert abs(note["y"] - card["y"]) < 40
    page.set_viewport_size({"width": 390, "height": 844})
    note = page.locator("#cards > .note").last.bounding_box()
    card = page.locator("#cards > .card").first.bounding_box()
    assert note
    assert card
    assert note["y"] + note["height"] <= card["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("slug", ["summary-first", "summary-middle", "summary-last"])
def test_a_summary_stands_above_the_results(workbench: Workbench, slug: str) -> None:
    workbench.scenario(slug).send()
    expect(workbench.page.locator("#summaries .card--summary")).to_have_count(1)
    expect(workbench.page.locator("#cards .card--summary")).to_have_count(0)
    expect(workbench.cards).to_have_count(4)


BAD = [
    ("results-object", "article.card", "Recipe"),
    ("results-strings", "article.card", "text"),
    ("meta-list", ".unknown", "_meta"),
    ("results-null", "#run-ending", "has no results"),
]


@pytest.mark.parametrize(("slug", "where", "words"), BAD, ids=[row[0] for row in BAD])
def test_bad_input_is_shown_as_what_it_is(
    workbench: Workbench, slug: str, where: str, words: str
) -> None:
    workbench.scenario(slug).send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()
    expect(workbench.page.locator(f"#tab-results {where}").first).to_contain_text(words)


def test_provenance_leads_to_the_source(workbench: Workbench) -> None:
    workbench.open().send()
    link = workbench.page.locator(".card .grounding a").first
    expect(link).to_be_visible()
    assert (link.get_attribute("href") or "").startswith("https://")
    assert "noopener" in (link.get_attribute("rel") or "")


def test_items_within_items_open_in_place(workbench: Workbench) -> None:
    workbench.scenario("actions-nested").send()
    summary = workbench.page.locator("#cards details.nested > summary").first
    summary.click()
    expect(workbench.page.locator("#cards .mini").first).to_be_visible()


@pytest.mark.parametrize(
    "slug", ["rate-limited-date", "members", "failure-details", "foreign-error", "meta-list"]
)
def test_axe_finds_nothing(still: Page, playground: PlaygroundServer, slug: str) -> None:
    workbench = Workbench(still, playground).scenario(slug).send()
    expect(still.locator("run-cursor[data-final]")).to_be_attached()
    expect(workbench.page.locator(".verdict-count")).to_be_visible()
    assert findings(still, both_themes=True) == []


def test_axe_finds_nothing_in_both_halves(still: Page, playground: PlaygroundServer) -> None:
    chatgpt(Workbench(still, playground), streaming=True)
    assert findings(still, both_themes=True) == []
