"""Lessons in a browser: a learner who errs, asks for hints, and passes; look, fold and close."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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


#: Sends requests with a demo agent that hardly waits, unless a step needs its delays.
HASTEN = """
  window.isHasty = true;
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    if (!isHasty || detail.path !== "/runs/") return;
    const headers = JSON.parse(detail.parameters.headers || "[]");
    detail.parameters.headers = JSON.stringify([...headers, ["Demo-Pace", "0.02"]]);
  });
"""
#: Writes a document into the composer as its JSON view would.
WRITE = """(text) => {
  const field = document.querySelector('textarea[name="document"]');
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
NOTHING = {"query": {"text": "xyzzy"}}


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


class Walk:
    """A learner who takes a lesson. `wait_for` notices at once what `expect` polls for."""

    def __init__(self, workbench: Workbench, slug: str) -> None:
        workbench.page.add_init_script(HASTEN)
        self.workbench, self.page = workbench, workbench.page
        self.pane = start(workbench, slug)
        self.response = self.page.locator("#response")

    def open(self, name: str) -> None:
        """Open a request from the pane."""
        link = self.pane.get_by_role("link", name=name)
        saved = link.get_attribute("data-saved") or ""
        link.click()
        self.composing(saved)

    def composing(self, saved: str) -> None:
        """Wait until the composer has a saved request, "" for a new one."""
        field = self.page.locator(f'#composer [name="saved"][value="{saved}"]')
        field.wait_for(state="attached")

    def send(self, document: Any = None, *, is_hasty: bool = True) -> None:
        """Send what is composed, or another document, and wait until its run has ended."""
        if document is not None:
            self.page.evaluate(WRITE, json.dumps(document))
        self.page.evaluate("isHasty => { window.isHasty = isHasty }", is_hasty)
        with self.next_run():
            self.page.locator('#composer button[type="submit"]').click()

    @contextmanager
    def next_run(self, *, ends: bool = True) -> Iterator[None]:
        before = self.workbench.run
        yield
        self.page.locator(f'#response[data-run]:not([data-run="{before}"])').wait_for()
        if ends:
            self.page.locator("run-cursor[data-final]").wait_for(state="attached")

    def err(self, step: LessonStep) -> None:
        """Do what is wrong: the request as it is, or where that is right, another one."""
        assert step.check is not None
        assert step.solution is not None
        if step.check.needs_answer:
            self.answer(step, "wrong")
        elif step.slug in BY_HAND or step.solution.request == step.request:
            self.page.get_by_role("link", name="New request").click()
            self.composing("")
            if self.page.locator('#composer [name="agent"]').input_value() != "demo":
                self.workbench.choose_agent("demo")
            self.send(NOTHING)
        else:
            self.open("Open the request")
            self.send()
        missing = re.split("[`*]", step.check.missing)[0].strip()
        self.pane.locator('[data-verdict="fail"]', has_text=missing).wait_for()

    def ask_for_help(self, step: LessonStep) -> None:
        """Ask for all hints, and for the solution."""
        for number in range(1, len(step.hints) + 1):
            self.pane.locator("[data-hint]").click()
            self.pane.get_by_text(f"Hint {number}", exact=True).wait_for()
            expect(self.pane.locator(".lesson-hints > li").last).to_be_focused()
        self.pane.locator("[data-solution]").click()
        expect(self.pane.get_by_role("region", name="Solution")).to_be_focused()
        if step.check and step.check.needs_answer:
            assert self.pane.get_by_label(step.question).input_value() == "wrong"

    def solve(self, step: LessonStep) -> None:
        """Do what the solution says."""
        assert step.check is not None
        assert step.solution is not None
        if step.check.needs_answer:
            self.answer(step, step.solution.answer)
        elif step.solution.request:
            self.open("Open the solution")
            if not step.check.passes_unsent:
                self.send()
        else:
            self.open("Open the request")
            BY_HAND[step.slug](self)
        self.pane.locator('[data-verdict="pass"]').wait_for()

    def answer(self, step: LessonStep, text: str) -> None:
        self.pane.get_by_label(step.question).fill(text)
        self.pane.get_by_role("button", name="Check", exact=True).click()

    def follow_up(self) -> None:
        box = self.page.get_by_label("Ask a follow-up")
        box.fill("without nuts")
        with self.next_run():
            box.press("Enter")

    def press(self, name: str) -> None:
        self.response.get_by_role("button", name=name, exact=True).first.click()


def follow_up(walk: Walk) -> None:
    walk.send()
    walk.follow_up()


def stop(walk: Walk) -> None:
    walk.page.evaluate("window.isHasty = false")
    with walk.next_run(ends=False):
        walk.page.locator('#composer button[type="submit"]').click()
    walk.press("Stop")


def answer_form(walk: Walk) -> None:
    walk.send()
    walk.response.get_by_label("Skip unanswered questions").check()
    with walk.next_run():
        walk.press("Answer")


def await_by_hand(walk: Walk) -> None:
    walk.send(is_hasty=False)
    token = walk.response.locator(".promise dd code").get_attribute("title")
    walk.send({"promise_token": token, "action": "checkin"})


def cancel_task(walk: Walk) -> None:
    walk.send(is_hasty=False)
    walk.press("Cancel the task")


def leave_out(walk: Walk) -> None:
    walk.send()
    walk.workbench.tab("Session").get_by_role("button", name="Don’t send").click()
    walk.page.locator("#tab-session", has_text="Turned off by you").wait_for()
    walk.workbench.tab("Results")
    walk.follow_up()


def run_action(walk: Walk) -> None:
    walk.send()
    card = walk.page.locator("#cards > .card").first
    card.locator("button[hx-get*='/actions/']").first.click()
    card.locator("action-panel").get_by_role("button", name="Run action").click()
    confirm = card.locator("action-panel").get_by_role("button", name="Send POST")
    confirm.click()


def return_output(walk: Walk) -> None:
    walk.send()
    walk.response.locator("[name$='-output']").first.fill("eggs")
    with walk.next_run():
        walk.response.locator("form:has([name$='-output']) button[type=submit]").first.click()


#: Solutions that are done by hand, by step.
BY_HAND: dict[str, Callable[[Walk], None]] = {
    "follow-up": follow_up,
    "send-back": follow_up,
    "stop": stop,
    "answer-form": answer_form,
    "by-hand": await_by_hand,
    "cancel": cancel_task,
    "leave-out": leave_out,
    "run": run_action,
    "output": return_output,
}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_learner_takes_each_lesson(workbench: Workbench, slug: str) -> None:
    """Every step wrong first, then hint by hint, then right."""
    walk, found = Walk(workbench, slug), lesson_of(slug)
    for step in found.steps:
        walk.pane.get_by_role("heading", name=step.title).wait_for()
        walk.err(step)
        walk.ask_for_help(step)
        walk.solve(step)
        if found.after(step):
            walk.pane.get_by_role("button", name="Next step").click()
    expect(walk.pane).to_contain_text("You have finished this lesson.")
    expect(walk.pane.locator("[data-next]")).to_be_visible()


def test_requests_of_a_lesson_share_a_tab_until_one_is_edited(workbench: Workbench) -> None:
    walk = Walk(workbench, SLUGS[1])
    tabs = workbench.page.locator("request-tabs [role=tab]")
    titles = [step.title for step in lesson_of(SLUGS[1]).steps]

    def show(number: int) -> None:
        walk.pane.get_by_role("button", name=f"Step {number}").click()
        walk.pane.get_by_role("heading", name=titles[number - 1]).wait_for()

    before = tabs.count()
    for number in (1, 2, 3):
        show(number)
        walk.open("Open the request")
        walk.send()
    expect(tabs).to_have_count(before)
    walk.send(NOTHING)
    show(2)
    walk.open("Open the request")
    expect(tabs).to_have_count(before + 1)


def test_the_pane_stays_and_shows_where_to_look(workbench: Workbench) -> None:
    page = workbench.page
    pane = start(workbench, SLUGS[0])
    assert findings(page, both_themes=True) == []
    expect(pane.locator("code[data-explain$='#/query/text']")).to_have_text("text")
    pane.get_by_role("button", name="The text of the query").click()
    marked = page.locator("[data-look-mark]")
    expect(marked).to_have_attribute("data-pointer", "/query/text")
    expect(workbench.text).to_be_focused()
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


def test_a_step_shows_an_event_and_opens_its_request_again(workbench: Workbench) -> None:
    walk = Walk(workbench, SLUGS[0])
    pane, page = walk.pane, workbench.page
    walk.open("Open the request")
    walk.send()
    verdict = pane.locator("[data-verdict=pass]")
    expect(verdict).to_contain_text("The outcome is answer")
    pane.get_by_role("button", name="Step 3").click()
    pane.get_by_role("button", name="An event with a result").click()
    expect(page.locator("#event-detail")).to_contain_text('"@type"')
    pane.get_by_role("button", name="Step 2").click()
    walk.open("Open the request")
    walk.send(NOTHING)
    failed = pane.get_by_role("status").filter(has_text="Not passed yet:")
    expect(failed).to_contain_text("query.text: ")
    pane.get_by_role("link", name="Open the request").click()
    page.get_by_role("button", name="Open it without them").click()
    expect(workbench.effective).to_contain_text("soup")
    verdict.wait_for(state="hidden")
    walk.send({"query": {"text": "eggs"}, "prefer": {"streaming": True}})
    expect(verdict).to_contain_text('query.text: "eggs"')


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
