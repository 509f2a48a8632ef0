"""The transcript: turns, branches, drafts, and a follow-up that waits for the turn before it."""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench

FOLLOW_UP = "Ask a follow-up"


def ask(workbench: Workbench, text: str) -> str:
    """Send a follow-up and wait for its end; returns the id of its run."""
    before = workbench.run
    workbench.page.get_by_label(FOLLOW_UP).fill(text)
    workbench.page.get_by_label(FOLLOW_UP).press("Enter")
    return ended(workbench, before)


def ended(workbench: Workbench, before: str | None) -> str:
    return workbench.next_run(before).ended().run or ""


def rows(page: Page) -> Locator:
    return page.locator(".turn-question")


def test_a_conversation_can_be_seen(workbench: Workbench) -> None:
    page = workbench.open().page
    workbench.compose("breakfast with eggs")
    workbench.send()
    first = ended(workbench, None)
    header = page.locator(".response-header")
    expect(header).to_contain_text("breakfast with eggs")
    expect(header).to_contain_text("Demo agent, NLWeb 0.55 over HTTP")
    expect(header.locator(".stats-main dd")).to_have_count(3)
    header.get_by_role("button", name="Details").click()
    expect(page.locator("#run-figures")).to_contain_text(f"{workbench.server.url}/demo")
    page.keyboard.press("Escape")

    # The caret stays in the field, and the composer shows what was sent.
    second = ask(workbench, "without nuts")
    expect(page.get_by_label(FOLLOW_UP)).to_be_focused()
    expect(page.get_by_label(FOLLOW_UP)).to_have_value("")
    expect(workbench.text).to_have_value("without nuts")
    expect(page.locator("conversation-strip")).to_contain_text("turn 1, “breakfast with eggs”")
    expect(page.get_by_role("button", name="Send as follow-up")).to_be_visible()
    ask(workbench, "under 20 minutes")
    expect(rows(page)).to_have_text(["breakfast with eggs", "without nuts", "under 20 minutes"])

    # A row opens in place; its entries are fetched then.
    row = page.locator(f"#turn-{first}")
    expect(row.locator(".turn-cards")).to_have_count(0)
    row.locator("summary").first.click()
    expect(row.locator(".turn-cards article").first).to_be_visible()
    assert findings(page, both_themes=True) == []

    # Inspect shows that turn: its response, its request, and the tab that is open.
    top = row.locator(".turn-line").bounding_box()
    row.get_by_role("link", name="Inspect").click()
    expect(page.locator("#response")).to_have_attribute("data-run", first)
    expect(page).to_have_url(f"{workbench.server.url}/runs/{first}/")
    chosen = page.locator(".turn--chosen .turn-line").bounding_box()
    assert top
    assert chosen
    assert abs(top["y"] - chosen["y"]) < 20
    expect(workbench.text).to_have_value("breakfast with eggs")
    expect(page.get_by_role("button", name="Send as new")).to_be_visible()
    expect(rows(page)).to_have_text(["breakfast with eggs", "without nuts", "under 20 minutes"])
    workbench.tab("Timeline")
    page.locator("[data-turn-picker]").select_option(f"/runs/{second}/")
    expect(page.locator("#response")).to_have_attribute("data-run", second)
    expect(page.locator("#tab-timeline")).to_be_visible()
    expect(workbench.text).to_have_value("without nuts")
    page.go_back()
    expect(page.locator("#response")).to_have_attribute("data-run", first)
    expect(workbench.text).to_have_value("breakfast with eggs")


def test_edits_are_kept_and_a_stale_response_is_marked(workbench: Workbench) -> None:
    page = workbench.open().page
    workbench.compose("soups with lentils").send()
    first = ended(workbench, None)
    stale = page.locator("[data-stale-note]")
    expect(stale).to_be_hidden()
    workbench.text.fill("soups with lentils and something else")
    expect(stale).to_have_text("Request edited after sending")
    ask(workbench, "without garlic")
    expect(stale).to_be_hidden()
    strip = page.locator("conversation-strip")
    expect(strip).to_contain_text("soups with lentils and something else")
    page.reload()
    strip.get_by_role("button", name="Restore draft").click()
    expect(workbench.text).to_have_value("soups with lentils and something else")
    expect(strip.get_by_role("button", name="Restore draft")).to_be_hidden()
    expect(stale).to_have_text("Request edited after sending")
    # Choosing a turn puts the draft aside again.
    page.locator(f"#turn-{first} summary").first.click()
    page.get_by_role("link", name="Inspect").click()
    expect(workbench.text).to_have_value("soups with lentils")
    expect(strip.get_by_role("button", name="Restore draft")).to_be_visible()
    page.get_by_role("link", name="Demo over MCP").click()
    expect(stale).to_have_text("Different agent selected")


#: On a busy machine, the response to a request can come before a timer without a delay.
_LATE_TIMERS = """() => {
  const set = window.setTimeout;
  window.setTimeout = (call, delay, ...rest) => set(call, delay ?? 1000, ...rest);
}"""


def test_branches_and_what_is_asked_meanwhile(workbench: Workbench) -> None:
    page = workbench.page
    slow = f"{workbench.server.url}/demo/scenarios/slow/ask?n=10&every=0.8"
    workbench.add_agent("Slow", slow)
    workbench.compose("one").send()
    first = workbench.run
    expect(workbench.cards.first).to_be_visible()
    expect(page.get_by_placeholder("Ask Slow a follow-up")).to_be_visible()
    # Asked in mid-stream, it is sent at the end.
    page.get_by_label(FOLLOW_UP).fill("two")
    page.get_by_label(FOLLOW_UP).press("Enter")
    expect(page.locator("#follow-up")).to_contain_text("Will be sent when turn 1 has ended: “two”")
    # Another one waits its turn, and can be taken back.
    page.get_by_label(FOLLOW_UP).fill("and one more")
    page.get_by_label(FOLLOW_UP).press("Enter")
    expect(page.locator("[data-queued]")).to_have_text("“two”, “and one more”")
    page.locator("[data-unqueue]").click()
    expect(page.get_by_label(FOLLOW_UP)).to_have_value("and one more")
    page.evaluate(_LATE_TIMERS)
    expect(rows(page)).to_have_text(["one", "two"], timeout=20_000)
    expect(page.get_by_label(FOLLOW_UP)).to_have_value("and one more")
    # Asked as a branch, it is sent at once; the turn beside it goes on.
    expect(workbench.cards.first).to_be_visible()
    second = workbench.run
    page.get_by_label(FOLLOW_UP).fill("three")
    page.get_by_label(FOLLOW_UP).press("Enter")
    page.get_by_role("button", name="Send now as a branch").click()
    expect(rows(page)).to_have_text(["one", "three"])
    # Timers are late, also that of the page's URL: nobody is as quick as this test would be.
    page.wait_for_url(f"**/runs/{workbench.run}/")
    chosen = page.locator(".turn--chosen")
    expect(chosen).to_contain_text("2/2")
    chosen.get_by_role("link", name="Previous branch").click()
    expect(page.locator("#response")).to_have_attribute("data-run", second or "")
    expect(rows(page)).to_have_text(["one", "two"])
    # The end of a turn that is not looked at is shown in its row.
    page.locator(f"#turn-{first} summary").first.click()
    page.get_by_role("link", name="Inspect").click()
    expect(page.locator(".turn:not(.turn--chosen) .state")).to_have_text("Completed")


def test_a_follow_up_that_could_not_be_sent_waits_on(
    workbench: Workbench, complaints: list[str]
) -> None:
    page = workbench.page
    workbench.add_agent("Slow", f"{workbench.server.url}/demo/scenarios/slow/ask?n=2&every=1.5")
    page.route("**/next/", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/next/")):
        workbench.compose("one").send()
        page.get_by_label(FOLLOW_UP).fill("two")
        page.get_by_label(FOLLOW_UP).press("Enter")
        page.get_by_label(FOLLOW_UP).fill("typing")
    expect(page.locator("[data-queued]")).to_have_text("“two”")
    expect(page.get_by_label(FOLLOW_UP)).to_have_value("typing")
    complaints[:] = [each for each in complaints if "sendError" not in each]


def test_a_failure_is_pinned(workbench: Workbench) -> None:
    page = workbench.page
    workbench.scenario("error-then-on").send()
    expect(page.locator("#run-cursor[data-final]")).to_be_attached()
    page.set_viewport_size({"width": 1440, "height": 420})
    pinned = page.get_by_role("button", name=re.compile("1 failure"))
    pinned.click()
    expect(page.locator("#cards .failure")).to_be_in_viewport()
    expect(page.locator("#cards .failure")).to_be_focused()


def test_the_presentation_view(workbench: Workbench) -> None:
    page = workbench.open().page
    workbench.compose("breakfast with eggs").send()
    ended(workbench, None)
    page.locator(".transcript").focus()
    page.keyboard.press("p")
    for part in (page.locator("#composer"), page.locator(".topbar"), page.locator("#sidebar")):
        expect(part).to_be_hidden()
    titles = page.locator("#cards .card-title")
    # A card outside of the window gets its style when it is seen.
    for shown in (page.locator(".turn--chosen .turn-question"), titles.first, titles.last):
        shown.scroll_into_view_if_needed()
        expect(shown).to_have_css("font-size", "25px")
    assert findings(page, both_themes=True) == []
    page.get_by_label(FOLLOW_UP).press("Escape")
    expect(page.locator(".transcript")).to_be_focused()
    # The pace of the demo agent is sent with the follow-up, as a header.
    page.get_by_label("Demo agent’s pace").select_option("Fast")
    ask(workbench, "without nuts")
    expect(rows(page)).to_have_text(["breakfast with eggs", "without nuts"])
    page.get_by_label("Demo agent’s pace").select_option("Normal")
    page.get_by_role("button", name="Leave presentation view").click()
    # Without a mouse the field is one key away.
    page.keyboard.press("f")
    expect(page.get_by_label(FOLLOW_UP)).to_be_focused()
    expect(page.get_by_label("Demo agent’s pace")).to_be_hidden()
    expect(workbench.tab("Wire")).to_contain_text("Demo-Pace: 0.3")
    expect(page.locator("#composer")).to_be_visible()


def test_the_same_conversation_in_two_tabs(workbench: Workbench) -> None:
    page = workbench.open().page
    workbench.compose("breakfast with eggs").send()
    first = ended(workbench, None)
    other = Workbench(page.context.new_page(), workbench.server)
    # It has a small window, in which a turn begins below what can be seen.
    other.page.set_viewport_size({"width": 720, "height": 450})
    other.open(f"/runs/{first}/")
    page.bring_to_front()
    ask(workbench, "without nuts")
    other.page.bring_to_front()
    # This tab knows nothing of that turn: its follow-up is another branch, and both are there.
    ask(other, "under 20 minutes")
    expect(rows(other.page)).to_have_text(["breakfast with eggs", "under 20 minutes"])
    expect(rows(page)).to_have_text(["breakfast with eggs", "without nuts"])
    chosen = other.page.locator(".turn--chosen")
    expect(chosen).to_contain_text("2/2")
    expect(chosen.locator(".turn-line")).to_be_in_viewport()
    chosen.get_by_role("link", name="Previous branch").click()
    expect(rows(other.page)).to_have_text(["breakfast with eggs", "without nuts"])


def test_times_are_in_the_time_zone_of_the_reader(workbench: Workbench, browser: Browser) -> None:
    workbench.open("/?agent=demo").compose("soup").send().ended()
    zone = "Asia/Kathmandu"
    with browser.new_context(timezone_id=zone, reduced_motion="reduce") as private:
        page = private.new_page()
        page.goto(f"{workbench.server.url}/runs/{workbench.run}/")
        figure = page.locator("#run-figures time")
        sent = datetime.fromisoformat(figure.get_attribute("datetime") or "")
        there = sent.astimezone(ZoneInfo(zone))
        text = f"{there.day} {there:%B %Y, %H:%M:%S}"
        expect(figure).to_have_text(text)
        # Where the age of a run is shown, the moment is the hint.
        page.goto(f"{workbench.server.url}/history/")
        age = page.locator(f'time[title][datetime="{sent.isoformat()}"]')
        age.hover()
        expect(age).to_have_attribute("title", text)
