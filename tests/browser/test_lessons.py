"""Lessons in a browser: a learner who errs, asks for hints, and passes; look, fold and close.

Every step of every lesson is taken without a browser by `tests/test_shipped_lessons.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from playground.collections.fixture_parser import parse_fixture
from playground.lesson_format.lesson import Lesson, LessonStep
from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.workbench import Workbench
from tests.support.playground_server import ROOT

FIRST, FIELDS = "lesson-01-the-first-question", "lesson-02-fields-and-filters"

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


class Walk:
    """A learner who begins a lesson anew. `wait_for` notices at once what `expect` polls for."""

    def __init__(self, workbench: Workbench, slug: str) -> None:
        self.workbench, self.page = workbench, workbench.page
        self.page.add_init_script(HASTEN)
        self.pane = self.page.locator("#lesson")
        self.response = self.page.locator("#response")
        self.verdict = self.pane.locator("#lesson-check [data-verdict]")
        text = (ROOT / "fixtures" / f"{slug}.json").read_text("utf-8")
        collection = parse_fixture(text).collection
        assert collection is not None
        self.lesson = Lesson.of(collection["lesson"])
        client_of(workbench.server).post(f"/lessons/{slug}/progress/", do="restart")
        client_of(workbench.server).post(f"/lessons/{slug}/progress/", do="close")
        self.page.goto(f"{workbench.server.url}/lessons/{slug}/")
        self.page.get_by_role("button", name="Continue").click()
        expect(self.pane).to_be_visible()
        expect(workbench.effective).to_contain_text("POST")

    def show(self, number: int) -> LessonStep:
        """Go to a step, by its number."""
        step = self.lesson.steps[number - 1]
        self.pane.get_by_role("button", name=f"Step {number}").click()
        self.pane.get_by_role("heading", name=step.title).wait_for()
        return step

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

    def send(self, document: Any = None, *, is_hasty: bool = True, ends: bool = True) -> None:
        """Send what is composed, or another document, and wait until its run has ended."""
        if document is not None:
            self.page.evaluate(WRITE, json.dumps(document))
        self.page.evaluate("isHasty => { window.isHasty = isHasty }", is_hasty)
        with self.next_run(ends=ends):
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
        elif step.solution.request == step.request:
            self.page.get_by_role("link", name="New request").click()
            self.composing("")
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
        # What was entered and found stays.
        expect(self.verdict).to_have_attribute("data-verdict", "fail")
        if step.check and step.check.needs_answer:
            assert self.pane.get_by_label(step.question).input_value() == "wrong"

    def solve(self, step: LessonStep) -> None:
        """Do what the solution says."""
        assert step.check is not None
        assert step.solution is not None
        if step.check.needs_answer:
            self.answer(step, step.solution.answer)
        else:
            self.open("Open the solution")
            if not step.check.passes_unsent:
                self.send()
        self.pane.locator('[data-verdict="pass"]').wait_for()

    def answer(self, step: LessonStep, text: str) -> None:
        self.pane.get_by_label(step.question).fill(text)
        self.pane.get_by_role("button", name="Check", exact=True).click()

    def press(self, name: str) -> None:
        self.response.get_by_role("button", name=name, exact=True).first.click()


@pytest.fixture
def begin(workbench: Workbench) -> Iterator[Callable[[str], Walk]]:
    """Begin a lesson, until the end of the test: the playground is that of others, too."""
    begun: list[str] = []

    def begin(slug: str) -> Walk:
        begun.append(slug)
        return Walk(workbench, slug)

    yield begin
    for slug in begun:
        client_of(workbench.server).post(f"/lessons/{slug}/progress/", do="close")


def test_a_learner_takes_a_lesson(begin: Callable[[str], Walk]) -> None:
    """Every step wrong first, then hint by hint, then right."""
    walk = begin(FIRST)
    for step in walk.lesson.steps:
        walk.pane.get_by_role("heading", name=step.title).wait_for()
        walk.err(step)
        walk.ask_for_help(step)
        walk.solve(step)
        if walk.lesson.after(step):
            walk.pane.get_by_role("button", name="Next step").click()
            expect(walk.page.locator("#lesson-body")).to_be_focused()
    expect(walk.pane).to_contain_text("You have finished this lesson.")
    expect(walk.pane.locator("[data-next]")).to_be_visible()


def stop(walk: Walk) -> None:
    walk.send(is_hasty=False, ends=False)
    walk.press("Stop")


def answer_form(walk: Walk) -> None:
    walk.send()
    walk.response.get_by_label("Skip unanswered questions").check()
    with walk.next_run():
        walk.press("Answer")


def cancel_task(walk: Walk) -> None:
    walk.send(is_hasty=False)
    walk.press("Cancel the task")


def compose(walk: Walk) -> None:
    context = {"@type": "UserDiet", "@context": "https://example.com/diet"}
    walk.workbench.write_json(json.dumps({"query": {"text": "lunch"}, "context": context}))


def run_action(walk: Walk) -> None:
    walk.send()
    card = walk.page.locator("#cards > .card").first
    card.locator("button[hx-get*='/actions/']").first.click()
    card.locator("action-panel").get_by_role("button", name="Run action").click()
    card.locator("action-panel").get_by_role("button", name="Send POST").click()


@pytest.mark.parametrize(
    ("slug", "number", "act"),
    [
        pytest.param("lesson-03-context", 6, compose, id="unsent"),
        pytest.param("lesson-05-streaming", 7, stop, id="stop"),
        pytest.param("lesson-06-elicitation", 4, answer_form, id="answer-form"),
        pytest.param("lesson-07-promises", 5, cancel_task, id="cancel"),
        pytest.param("lesson-09-actions", 3, run_action, id="run"),
    ],
)
def test_what_is_done_by_hand_passes_a_step(
    begin: Callable[[str], Walk], slug: str, number: int, act: Callable[[Walk], None]
) -> None:
    walk = begin(slug)
    walk.show(number)
    walk.open("Open the request")
    act(walk)
    walk.pane.locator('[data-verdict="pass"]').wait_for()


class Verdicts:
    """Checks of a lesson, which arrive when the test says so."""

    def __init__(self, walk: Walk) -> None:
        self._page = walk.page
        self._held: list[Route] = []
        self._page.route("**/check/", lambda route: self._held.append(route))

    def arrive(self) -> None:
        """Let those arrive that were asked for, and wait until the page has dealt with them."""
        while self._held:
            with self._page.expect_event("console", lambda message: message.text == "judged"):
                self._held.pop(0).continue_()


#: Says when the page has dealt with a verdict.
SAY_JUDGED = """() => {
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    if (url.endsWith("/check/")) this.addEventListener("loadend", () => console.log("judged"));
    return open.call(this, method, url, ...rest);
  };
}"""


def test_a_verdict_takes_neither_a_click_nor_the_focus(begin: Callable[[str], Walk]) -> None:
    walk = begin(FIRST)
    pane, page = walk.pane, walk.page
    page.evaluate(SAY_JUDGED)
    solution = pane.locator("[data-solution]")
    pane.locator("[data-hint]").click()
    hint = pane.locator(".lesson-hints > li").first.element_handle()
    pane.locator("[data-hint]").click()
    solution.wait_for()
    verdicts = Verdicts(walk)
    # The verdict, which takes more room than what stood there, arrives between press and release.
    with page.expect_request("**/check/"):
        walk.send(NOTHING)
    solution.hover()
    page.mouse.down()
    verdicts.arrive()
    page.mouse.up()
    expect(pane.get_by_role("region", name="Solution")).to_be_focused()
    expect(walk.verdict).to_have_attribute("data-verdict", "fail")
    # The step is passed while the focus is on a link of the pane.
    with page.expect_request("**/check/"):
        walk.send({"query": {"text": "soup"}})
    link = pane.get_by_role("link", name="Open the request")
    link.focus()
    page.locator("#lesson-body").evaluate("body => { body.scrollTop = 7 }")
    verdicts.arrive()
    expect(walk.verdict).to_have_attribute("data-verdict", "pass")
    expect(link).to_be_focused()
    assert hint.evaluate("hint => hint.isConnected")
    # One that arrives late, when another step is shown, is not about that one.
    with page.expect_request("**/check/"):
        pane.get_by_role("button", name="Next step").click()
        walk.send(NOTHING)
    walk.show(3)
    verdicts.arrive()
    expect(walk.verdict).to_have_count(0)


def test_requests_of_a_lesson_share_a_tab_until_one_is_edited(
    begin: Callable[[str], Walk],
) -> None:
    walk = begin(FIELDS)
    tabs = walk.page.locator("request-tabs [role=tab]")
    before = tabs.count()
    for number in (1, 2, 3):
        walk.show(number)
        walk.open("Open the request")
        walk.send()
    expect(tabs).to_have_count(before)
    walk.send(NOTHING)
    failed = walk.pane.get_by_role("status").filter(has_text="Not passed yet:")
    expect(failed).to_contain_text("query.")
    walk.pane.get_by_role("link", name="Open the request").click()
    walk.page.get_by_role("button", name="Open it without them").click()
    # The edited request is shown until the other is there.
    expect(walk.page.get_by_text("Closed.")).to_be_visible()
    walk.send(NOTHING)
    walk.show(2)
    walk.open("Open the request")
    expect(tabs).to_have_count(before + 1)


def test_the_pane_stays_and_shows_where_to_look(begin: Callable[[str], Walk]) -> None:
    walk = begin(FIRST)
    pane, page, workbench = walk.pane, walk.page, walk.workbench
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
    walk.open("Open the request")
    walk.send()
    expect(walk.verdict).to_contain_text("The outcome is answer")
    walk.show(3)
    pane.get_by_role("button", name="An event with a result").click()
    expect(page.locator("#event-detail")).to_contain_text('"@type"')
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


def test_pages_of_lessons(workbench: Workbench) -> None:
    page = workbench.page
    for path in ("", f"{FIELDS}/edit/", f"{FIELDS}/edit/site/"):
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{workbench.server.url}/lessons/{path}")
        assert findings(page, both_themes=True) == []
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
