"""Every ending has its own look and its own words, and what came before it stays."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.workbench import Workbench

ENDINGS = [
    ("truncated", "truncated", "middle of an event"),
    ("dirty-close", "truncated", "connection was lost"),
    ("html-error", "failed", "HTML"),
    ("unauthorized", "completed", ""),
    ("empty", "failed", "empty"),
    ("deep", "refused", "max_depth"),
    ("redirect", "failed", "redirects to"),
]


@pytest.mark.parametrize(("slug", "state", "words"), ENDINGS, ids=[row[0] for row in ENDINGS])
def test_an_ending_says_what_happened_and_what_to_do(
    workbench: Workbench, slug: str, state: str, words: str
) -> None:
    workbench.scenario(slug).send()
    expect(workbench.badge).to_have_attribute("data-state", state)
    if state != "completed":
        problem = workbench.page.locator("#run-ending .problem")
        expect(problem.locator("h3")).not_to_be_empty()
        expect(problem.locator(".problem-fix")).not_to_be_empty()
        expect(workbench.page.locator("#tab-results")).to_contain_text(words)


def test_an_agent_that_says_no_is_not_a_broken_wire(workbench: Workbench) -> None:
    workbench.open().compose("fail TOKEN_LIMIT").send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    expect(workbench.page.locator(".failure")).to_contain_text("TOKEN_LIMIT")


def test_nobody_listens(workbench: Workbench) -> None:
    workbench.add_agent("Nobody", "http://127.0.0.1:9").send()
    expect(workbench.badge).to_have_text("Connection failed")
    expect(workbench.page.locator(".problem")).to_contain_text("Nothing listens on 127.0.0.1:9")


def test_an_elicitation_and_a_promise_are_shown_as_what_they_are(workbench: Workbench) -> None:
    workbench.open().compose("something for dinner").send()
    expect(workbench.page.locator(".ask")).to_contain_text("dietary_restrictions")
    workbench.compose("weekly meal plan").send()
    expect(workbench.page.get_by_role("progressbar", name="Progress", exact=True)).to_be_visible()
