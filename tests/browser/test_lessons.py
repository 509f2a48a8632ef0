"""Lessons in a browser: a learner who errs, asks for hints, and passes; look, fold and close."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from playground.collections.fixture_parser import parse_fixture
from playground.collections.shipped import LESSON_FILES
from playground.lessons import Lesson, LessonStep
from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.workbench import Workbench
from tests.support.playground_server import ROOT, PlaygroundServer

SLUGS = [name.removesuffix(".json") for name in LESSON_FILES]


def lesson_of(slug: str) -> Lesson:
    collection = parse_fixture((ROOT / "fixtures" / f"{slug}.json").read_text("utf-8")).collection
    assert collection is not None
    return Lesson.of(collection["lesson"])


@pytest.fixture(autouse=True)
def closed(playground: PlaygroundServer) -> Iterator[None]:
    """Close the lesson after the test: the playground is that of other tests, too."""
    yield
    for slug in SLUGS:
        client_of(playground).post(f"/lessons/{slug}/progress/", do="close")


def start(workbench: Workbench, slug: str) -> Locator:
    """Begin a lesson anew, from its page."""
    client_of(workbench.server).post(f"/lessons/{slug}/progress/", do="restart")
    client_of(workbench.server).post(f"/lessons/{slug}/progress/", do="close")
    workbench.page.goto(f"{workbench.server.url}/lessons/{slug}/")
    workbench.page.get_by_role("button", name="Continue").click()
    pane = workbench.page.locator("#lesson")
    expect(pane).to_be_visible()
    expect(workbench.effective).to_contain_text("POST")
    return pane


def send(workbench: Workbench, pane: Locator, opens: str) -> None:
    """Open a request from the pane, and send it."""
    link = pane.get_by_role("link", name=opens)
    saved = link.get_attribute("data-saved") or ""
    link.click()
    expect(workbench.page.locator('#composer [name="saved"]')).to_have_value(saved)
    before = workbench.run
    workbench.page.locator('#composer button[type="submit"]').click()
    response = workbench.page.locator("#response")
    expect(response).not_to_have_attribute("data-run", before or "none")
    expect(workbench.badge).to_have_attribute("data-state", "completed")


def take(workbench: Workbench, pane: Locator, step: LessonStep) -> None:
    """Take a step: wrong where its request is not its solution, then hint by hint, then right."""
    expect(pane.get_by_role("heading", name=step.title)).to_be_visible()
    assert step.check is not None
    assert step.solution is not None
    if step.check.needs_answer:
        pane.get_by_label(step.question).fill("wrong")
        pane.get_by_role("button", name="Check", exact=True).click()
        expect(pane.locator('[data-verdict="fail"]')).to_be_visible()
    elif step.solution.request != step.request:
        send(workbench, pane, "Open the request")
        expect(pane.locator('[data-verdict="fail"]')).to_contain_text(
            step.check.missing.split("`")[0].strip()
        )
    for number in range(1, len(step.hints) + 1):
        pane.locator("[data-hint]").click()
        expect(pane.get_by_text(f"Hint {number}", exact=True)).to_be_visible()
    pane.locator("[data-solution]").click()
    expect(pane.get_by_role("region", name="Solution")).to_be_visible()
    if step.check.needs_answer:
        pane.get_by_label(step.question).fill(step.solution.answer)
        pane.get_by_role("button", name="Check", exact=True).click()
    else:
        send(workbench, pane, "Open the solution")
    expect(pane.locator('[data-verdict="pass"]')).to_be_visible()


@pytest.mark.parametrize(("number", "steps"), [(0, 6), (1, 2), (3, 2)])
def test_a_learner_takes_a_lesson(workbench: Workbench, number: int, steps: int) -> None:
    slug = SLUGS[number]
    found = lesson_of(slug)
    pane = start(workbench, slug)
    for step in found.steps[:steps]:
        take(workbench, pane, step)
        if found.after(step):
            pane.get_by_role("button", name="Next step").click()
    if steps == len(found.steps):
        expect(pane).to_contain_text("You have finished this lesson.")
        expect(pane.get_by_role("link", name="Next lesson")).to_be_visible()


def test_the_pane_stays_and_shows_where_to_look(workbench: Workbench) -> None:
    page = workbench.page
    pane = start(workbench, SLUGS[0])
    assert findings(page, both_themes=True) == []
    pane.get_by_role("button", name="The text of the query").click()
    marked = page.locator("[data-look-mark]")
    expect(marked).to_have_attribute("data-pointer", "/query/text")
    pane.get_by_role("button", name="The results").click()
    expect(pane.locator("[data-look-note]")).to_contain_text("appears after a request was sent")
    page.reload()
    expect(pane).to_contain_text("Send a question")
    pane.get_by_role("button", name="The first question").click()
    expect(page.locator("#lesson-body")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    pane.get_by_role("button", name="The first question").click()
    expect(page.locator("#lesson-body")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert findings(page) == []
    pane.get_by_role("button", name="Close the lesson").click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    assert findings(page, both_themes=True) == []


def test_a_composed_request_passes_unsent(workbench: Workbench) -> None:
    slug = SLUGS[2]
    pane = start(workbench, slug)
    pane.get_by_role("button", name="Step 6").click()
    expect(pane.get_by_role("heading", name="A context of your own")).to_be_visible()
    workbench.write_json(
        json.dumps(
            {
                "query": {"text": "lunch"},
                "context": {"@type": "UserDiet", "@context": "https://example.com/diet"},
            }
        )
    )
    expect(pane.locator('[data-verdict="pass"]')).to_be_visible()


@pytest.mark.parametrize("path", ["", f"{SLUGS[1]}/edit/", f"{SLUGS[1]}/edit/site/"])
def test_pages_of_lessons(workbench: Workbench, path: str) -> None:
    workbench.page.goto(f"{workbench.server.url}/lessons/{path}")
    assert findings(workbench.page, both_themes=True) == []
    workbench.page.set_viewport_size({"width": 390, "height": 844})
    assert workbench.page.evaluate("document.documentElement.scrollWidth") <= 390
