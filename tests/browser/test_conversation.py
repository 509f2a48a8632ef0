"""Answering an agent's questions, going on from there, and what is carried along."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.held import hold
from tests.browser.workbench import Workbench


def ask(workbench: Workbench, text: str) -> Locator:
    """Send a request that the demo agent answers with questions; returns their entry."""
    workbench.quick().compose(text).send()
    expect(workbench.badge).to_have_text("Input required")
    return workbench.page.locator(".ask")


def answer(workbench: Workbench) -> None:
    """Press Answer and wait for the turn that follows."""
    before = workbench.run
    workbench.page.get_by_role("button", name="Answer", exact=True).click()
    arrived(workbench, before)


def arrived(workbench: Workbench, before: str | None) -> None:
    workbench.next_run(before)
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    expect(workbench.page).to_have_url(f"{workbench.server.url}/runs/{workbench.run}/")


def test_questions_of_every_type_by_mouse(workbench: Workbench) -> None:
    page = workbench.page
    entry = ask(workbench, "plan a dinner party")
    expect(entry).to_contain_text(workbench.server.url)
    guests = entry.get_by_label("How many guests do you expect?")
    wish = entry.get_by_label("Anything you would love to serve?")
    press_answer = entry.get_by_role("button", name="Answer", exact=True)
    expect(guests).to_have_value("6")
    expect(entry.get_by_label("dessert")).to_be_checked()
    entry.get_by_label("dessert").uncheck()
    expect(entry.get_by_label("No", exact=True)).to_be_checked()
    entry.get_by_label("Yes", exact=True).check()
    # The exact next request follows what is filled in.
    entry.get_by_text("Request to be sent").click()
    call = entry.locator(".ask-call")
    expect(call).to_contain_text("unanswered question")
    guests.fill("2")
    expect(call).to_contain_text('"guests": 2')
    entry.get_by_text("Send answers as").click()
    entry.get_by_label("Query text").check()
    expect(call).to_contain_text("How many guests do you expect? 2.")
    entry.get_by_label("Custom template").check()
    entry.get_by_label("Template", exact=True).fill('{"query": {"text": "{{oops}}"}}')
    expect(call).to_contain_text("Unknown placeholder “oops”")
    assert findings(page) == [], "questions"
    entry.get_by_label("Filters").check()
    # A number that cannot be read is never dropped.
    long = f"olives {'x' * 3000}"
    wish.fill(long)
    for typed, said in (("1e400", "This number is too large."), ("six", "Enter a number such as")):
        guests.fill(typed)
        press_answer.click()
        expect(entry).to_contain_text(said)
        expect(guests).to_have_value(typed)
    guests.fill("2")
    press_answer.click()
    missing = entry.get_by_role("checkbox", name="vegetarian")
    expect(missing).to_be_focused()
    expect(entry).to_contain_text("Choose at least one option.")
    expect(guests).to_have_value("2")
    expect(wish).to_have_value(long)
    assert findings(page, ".ask", both_themes=True) == [], "errors"
    missing.check()
    expect(entry).not_to_contain_text("Choose at least one option.")
    entry.get_by_label("40-60 minutes").check()
    answer(workbench)
    expect(workbench.badge).to_have_text("Completed")
    expect(page.locator(".response-header")).to_be_focused()
    strip = page.locator(".turn--chosen > .turn-line")
    expect(strip).to_contain_text("guests 2")
    expect(strip).to_contain_text("xxxx")
    assert strip.evaluate("strip => strip.scrollWidth <= strip.clientWidth")
    page.locator(".turn-fold > summary").first.click()
    expect(page.locator(".turn-fold")).to_contain_text("Answered")
    assert findings(page, "#response", both_themes=True) == [], "turns"


def test_by_keyboard_alone(workbench: Workbench) -> None:
    page = workbench.quick().page
    workbench.text.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a menu for friends")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(workbench.badge).to_have_text("Input required")
    first = workbench.run
    reach(page, page.get_by_label("weeknight supper"))
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("weeknight supper")).not_to_be_checked()
    expect(page.get_by_label("dinner party")).to_be_checked()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("weeknight supper")).to_be_checked()
    reach(page, page.get_by_role("button", name="Answer", exact=True))
    page.keyboard.press("Enter")
    arrived(workbench, first)
    expect(workbench.badge).to_have_text("Input required")
    expect(page.locator(".response-header")).to_be_focused()
    second = workbench.run
    reach(page, page.get_by_label("none", exact=True))
    page.keyboard.press("Space")
    reach(page, page.get_by_role("button", name="Answer", exact=True))
    page.keyboard.press("Enter")
    arrived(workbench, second)
    third = workbench.run
    reach(page, page.get_by_label("Ask a follow-up"))
    page.keyboard.type("something sweet")
    page.keyboard.press("Enter")
    arrived(workbench, third)
    expect(page.locator(".turn:not(.turn--chosen)")).to_have_count(3)


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until the focus is there."""
    wanted.wait_for()
    for _ in range(120):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the focus never came to {wanted}")


def test_a_turn_that_is_chosen_while_the_request_of_another_one_is_loaded(
    workbench: Workbench,
) -> None:
    page = workbench.page
    entry = ask(workbench, "a menu to choose from")
    asked = workbench.run
    requests = hold(page, "/runs/[^/]*/request/$")
    entry.get_by_label("dinner party").check()
    answer(workbench)
    workbench.ended()
    first = workbench.run
    requests.first()
    responses = hold(page, "/runs/[^/]*/response/$")
    page.locator(f"#turn-{asked} summary").first.click()
    page.get_by_role("link", name="Inspect").click()
    responses.first()
    requests.let_go()
    responses.first().continue_()
    expect(page.locator("#response")).to_have_attribute("data-run", asked or "")
    page.unroute_all()
    # Answering again makes a branch.
    page.goto(f"{workbench.server.url}/runs/{asked}/")
    expect(entry).to_contain_text("dinner party")
    expect(entry.get_by_role("button", name="Answer", exact=True)).to_be_hidden()
    entry.get_by_text("Answer again").click()
    expect(entry).to_contain_text("Another answer starts a branch")
    entry.get_by_label("weeknight supper").check()
    answer(workbench)
    line = page.locator(".turn--chosen > .turn-line")
    expect(line).to_contain_text("2/2")
    line.get_by_role("link", name="Previous branch").click()
    expect(page.locator("#response")).to_have_attribute("data-run", first or "")


def test_what_was_filled_in_survives_a_reload_and_later_and_never(workbench: Workbench) -> None:
    page = workbench.page
    entry = ask(workbench, "pasta")
    entry.get_by_label("pesto").check()
    entry.get_by_label("gluten-free").check()
    page.reload()
    expect(entry.get_by_label("pesto")).to_be_checked()
    expect(entry.get_by_label("gluten-free")).to_be_checked()
    entry.get_by_role("button", name="Answer later").click()
    summary = entry.locator("summary").first
    expect(entry.get_by_label("pesto")).to_be_hidden()
    expect(summary).to_contain_text("unanswered")
    expect(summary).to_be_focused()
    page.reload()
    expect(entry.get_by_label("pesto")).to_be_hidden()
    summary.click()
    entry.get_by_role("button", name="Decline").click()
    expect(entry).to_contain_text("You declined to answer. Nothing was sent")
    expect(entry.get_by_role("button", name="Undo")).to_be_focused()
    page.reload()
    entry.get_by_role("button", name="Undo").click()
    expect(entry.get_by_label("pesto")).to_be_visible()


def test_the_session_is_carried_edited_and_turned_off(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick().compose("soups with lentils").send().ended()
    expect(page.locator("#follow-up-context")).to_contain_text(
        "Includes 1 previous query and the session context"
    )
    page.get_by_role("button", name="Session", exact=True).click()
    panel = page.locator("#tab-session")
    expect(panel).to_contain_text("added /conversation_id")
    panel.get_by_role("button", name="Don’t send").click()
    expect(panel).to_contain_text("Turned off by you")
    expect(panel.locator(".session-next")).to_be_focused()
    panel.get_by_role("button", name="Use latest from agent").click()
    expect(panel).to_contain_text("The latest session context that the agent returned")
    panel.get_by_text("Edit", exact=True).click()
    assert findings(page, "#response", both_themes=True) == []
    box = panel.get_by_label("Session context as JSON")
    box.fill("[1]")
    panel.get_by_role("button", name="Use this").click()
    expect(panel).to_contain_text("The session context must be a JSON object.")
    box.fill('{"last_topic": "something else"}')
    panel.get_by_role("button", name="Use this").click()
    expect(panel).to_contain_text("Edited by you;")
    workbench.tab("Results")
    expect(page.locator("#follow-up-context")).to_contain_text("your edited session context")
    before = workbench.run
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#follow-up")).to_contain_text("Enter a follow-up.")
    expect(page.get_by_label("Ask a follow-up")).to_be_focused()
    page.get_by_label("Ask a follow-up").fill("and bread")
    page.get_by_role("button", name="Ask", exact=True).click()
    arrived(workbench, before)
    workbench.tab("Session")
    expect(panel.locator(".session-turn")).to_have_count(2)
    expect(panel).to_contain_text("changed /last_topic “something else” → “and bread”")


def test_the_next_request_in_the_composer(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick().compose("salads").send().ended()
    first = workbench.run
    # What follows an answer does not move when it is scrolled to: a click would go astray.
    follow_up = page.get_by_role("link", name="Edit full request")
    before, after = follow_up.evaluate(
        """async (link) => {
          const top = () => Math.round(link.getBoundingClientRect().top);
          const frame = () => new Promise(requestAnimationFrame);
          link.scrollIntoView();
          const before = top();
          await frame();
          await frame();
          return [before, top()];
        }"""
    )
    assert before == after
    follow_up.click()
    strip = page.locator("conversation-strip")
    expect(strip).to_contain_text("turn 1, “salads”")
    expect(workbench.text).to_be_focused()
    assert workbench.document["context"]["prev"] == ["salads"]
    expect(workbench.effective).to_contain_text("The query requires text.")
    assert findings(page, "#compose", both_themes=True) == []
    page.keyboard.type("with olives")
    expect(workbench.effective).to_contain_text("with olives")
    page.reload()
    expect(strip).to_contain_text("turn 1, “salads”")
    expect(workbench.text).to_have_value("with olives")
    workbench.send()
    arrived(workbench, first)
    expect(page.locator(".turn:not(.turn--chosen)")).to_have_count(1)
    page.goto(f"{workbench.server.url}/runs/{workbench.run}/next/")
    strip.get_by_role("button", name="New conversation").click()
    expect(strip).to_be_hidden()
    document = workbench.document
    assert "context" not in document
    assert "session_context" not in document["meta"]
    page.get_by_role("button", name="Undo").click()
    expect(strip).to_contain_text("turn 2, “with olives”")
    assert workbench.document["context"]["prev"] == ["salads", "with olives"]
    strip.get_by_role("button", name="New conversation").click()
    workbench.compose("a fresh start").send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    expect(page.locator(".turn")).to_have_count(1)
    workbench.open()
    expect(strip).to_be_hidden()
