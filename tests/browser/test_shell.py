"""The frame of every page: sidebar, panes, palette, themes, keys and sizes of text."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.collection_page import import_requests
from tests.browser.workbench import Workbench, boxes
from tests.support.playground_server import PlaygroundServer

#: Texts below 12 px, and the size of the body.
SMALL_TEXTS = """() => {
  const small = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const size = parseFloat(getComputedStyle(element).fontSize);
    // 0 px hides what a mark already says; screen readers read it.
    if (walker.currentNode.data.trim() && size > 0 && size < 12 && element.checkVisibility())
      small.add(`${element.className}: ${walker.currentNode.data.trim().slice(0, 30)}`);
  }
  return [getComputedStyle(document.body).fontSize, [...small]];
}"""
#: Texts for screen readers in a part that scrolls, which are positioned relative to what is
#: outside of it: they would make the page taller than the window.
LEAVING = """() => {
  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY);
  return [...document.querySelectorAll("body .visually-hidden")].filter((hidden) => {
    let part = hidden.parentElement;
    while (part && !scrolls(part)) part = part.parentElement;
    return part && hidden.offsetParent && !part.contains(hidden.offsetParent);
  }).map((hidden) => hidden.textContent);
}"""
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def sidebar(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Sidebar")


def option(page: Page, name: str) -> Locator:
    return page.locator("command-palette").get_by_role("option", name=re.compile(re.escape(name)))


def search_palette(page: Page, words: str) -> None:
    page.get_by_role("combobox", name="Search").fill(words)


@pytest.fixture
def narrow(browser: Browser) -> Iterator[Page]:
    """A page of a screen at 200 %: 720 CSS pixels wide."""
    context: BrowserContext = browser.new_context(viewport={"width": 720, "height": 450})
    yield context.new_page()
    context.close()


def test_the_sidebar_on_every_page(workbench: Workbench) -> None:
    import_requests(workbench.server, "From elsewhere", "tapir")
    page = workbench.open().compose("a run for the sidebar").send().page
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    page.goto(f"{workbench.server.url}/rules/")
    history = sidebar(page).get_by_role("button", name="History")
    run = sidebar(page).get_by_role("link").filter(has_text="a run for the sidebar").first
    expect(run).to_be_visible()
    # A folded part stays folded, and is not loaded before it is shown.
    history.click()
    expect(run).to_be_hidden()
    page.goto(f"{workbench.server.url}/agents/")
    expect(history).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#history ol")).to_have_count(0)
    assert findings(page, both_themes=True) == []
    history.click()
    expect(run).to_be_visible()
    # Its links work from here.
    sidebar(page).locator("summary").filter(has_text="From elsewhere").click()
    sidebar(page).get_by_role("link", name="tapir", exact=True).click()
    expect(workbench.text).to_have_value("soup tapir")
    page.goto(f"{workbench.server.url}/shares/")
    sidebar(page).get_by_role("link", name=re.compile("Demo over MCP")).click()
    expect(page.locator("#composer")).to_be_visible()
    expect(page.locator("#agent-select")).to_have_value("demo-mcp")
    page.goto(f"{workbench.server.url}/rules/")
    sidebar(page).get_by_role("link", name="New request").click()
    expect(workbench.text).to_have_value("")
    page.goto(f"{workbench.server.url}/rules/")
    page.keyboard.press("ControlOrMeta+\\")
    expect(sidebar(page)).to_be_hidden()
    page.reload()
    expect(sidebar(page)).to_be_hidden()
    page.keyboard.press("ControlOrMeta+\\")
    expect(sidebar(page)).to_be_visible()


def test_the_palette_lists_what_can_be_done_now(workbench: Workbench) -> None:
    page = workbench.open().page
    page.keyboard.press("ControlOrMeta+k")
    for name in (
        "Share this run", "Export this run", "Compare with", "Stop the run", "Show Timeline",
        "Presentation view", "Theme: System", "Agent Demo agent",
    ):  # fmt: skip
        expect(option(page, name)).to_have_count(0)
    for name in ("Diagnose the agent", "Send to two targets", "Copy as cURL", "Conformance rules",
                 "Theme: Dark", "Agent Demo over MCP", "Field query.text"):  # fmt: skip
        expect(option(page, name).first).to_be_attached()
    # The fields of another protocol have no place in this form.
    expect(option(page, "Field session_id")).to_have_count(0)
    search_palette(page, "nothing-of-that-kind")
    expect(page.get_by_text("No results", exact=True)).to_be_visible()
    search_palette(page, "theme dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme", exact=True).click()
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="System").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")
    workbench.compose("soup").send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    page.keyboard.press("ControlOrMeta+k")
    for name in ("Share this run", "Export this run as HAR", "Compare with another run"):
        expect(option(page, name)).to_have_count(1)
    search_palette(page, "show timeline")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ControlOrMeta+k")
    search_palette(page, "agent demo over mcp")
    page.keyboard.press("Enter")
    expect(page.locator("#agent-select")).to_have_value("demo-mcp")
    page.keyboard.press("Escape")
    page.locator("#outcome").focus()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_contain_text("Show or hide the composer")
    assert "⌘" not in keys.inner_text()
    expect(keys).to_contain_text("Ctrl")


def test_panes_fold_one_by_one(narrow: Page, playground: PlaygroundServer) -> None:
    page, workbench = narrow, Workbench(narrow, playground).open()
    workbench.send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    compose, outcome = page.locator("#compose"), page.locator("#outcome")
    left, right = boxes(compose, outcome)
    assert left["x"] + left["width"] <= right["x"]
    assert right["x"] + right["width"] <= 720
    # The composer goes, by its key and by its button.
    workbench.text.focus()
    page.keyboard.press("ControlOrMeta+Shift+\\")
    expect(compose).to_be_hidden()
    toggle = page.get_by_role("button", name="Composer")
    expect(toggle).to_be_focused()
    expect(toggle).to_have_attribute("aria-expanded", "false")
    page.reload()
    expect(outcome).to_be_visible()
    expect(compose).to_be_hidden()
    toggle.click()
    expect(compose).to_be_visible()
    # The sidebar is a drawer, which Escape closes.
    expect(sidebar(page)).to_be_hidden()
    opener = page.get_by_role("button", name="Show or hide the sidebar")
    opener.click()
    expect(sidebar(page).get_by_role("link", name="New request")).to_be_focused()
    assert findings(page) == []
    page.keyboard.press("Escape")
    expect(sidebar(page)).to_be_hidden()
    expect(opener).to_be_focused()
    opener.click()
    sidebar(page).get_by_role("link", name=re.compile("Demo over MCP")).click()
    expect(sidebar(page)).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".pane-switch").get_by_role("button", name="Response").click()
    expect(outcome).to_be_visible()
    expect(compose).to_be_hidden()
    page.locator(".pane-switch").get_by_role("button", name="Sidebar").click()
    expect(sidebar(page)).to_be_visible()


def test_sizes(page: Page, playground: PlaygroundServer) -> None:
    """No text is below 12 px, and from 320 px on no page scrolls sideways."""
    workbench = Workbench(page, playground).open().compose("soup").send().ended()
    first = workbench.run
    follow_up = page.get_by_label("Ask a follow-up")
    follow_up.fill("without beef")
    follow_up.press("Enter")
    # The response of the first turn is completed, too, until that of the second takes its place.
    workbench.next_run(first).ended()
    expect(sidebar(page).locator(".history-turn").first).to_be_visible()
    assert page.evaluate(LEAVING) == []
    # The metrics open within the window.
    for width in (1440, 1024, 820):
        page.set_viewport_size({"width": width, "height": 900})
        page.get_by_role("button", name="Details").first.click()
        box = page.get_by_role("group", name="Metrics of this run").bounding_box()
        page.keyboard.press("Escape")
        assert box
        assert box["width"] > 250
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.set_viewport_size({"width": 1440, "height": 800})
    run = page.url
    paths = ("/", "/history/", "/collections/", "/collections/tour/", "/agents/", "/rules/",
             "/environments/", "/demo/", "/collections/import/")  # fmt: skip
    for url in (run, *(f"{playground.url}{path}" for path in paths)):
        page.goto(url)
        expect(page.locator("#history li").first).to_be_visible()
        assert page.evaluate(SMALL_TEXTS) == ["14px", []], url
        for width in (320, 960, 1440):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(SIDEWAYS) <= 0, (url, width)


def test_suggestions_follow_the_agent_and_own_links_raise_no_warning(
    workbench: Workbench,
) -> None:
    page = workbench.open("/?agent=demo").page
    suggestions = page.locator("#response agent-tour:not([hidden])")
    expect(suggestions).to_contain_text("Elicitation")
    sidebar(page).locator('[data-choose-agent="demo-agent-api"]').click()
    expect(suggestions).to_have_count(1)
    expect(suggestions).to_contain_text("Function call")
    suggestions.get_by_role("link", name="Approval").click()
    expect(workbench.effective).to_contain_text("order the ingredients")
    expect(page.locator("[data-linked]")).to_be_hidden()
    page.goto(f"{workbench.server.url}/demo/")
    page.get_by_role("link", name="Try: Slow").first.click()
    expect(workbench.effective).to_contain_text("/demo/scenarios/")
    expect(page.locator("[data-linked]")).to_be_hidden()


def test_notes_beside_the_request(workbench: Workbench) -> None:
    import_requests(workbench.server, "Annotated", "tapir zebra")
    page = workbench.open("/collections/annotated/requests/tapir/").page
    notes = page.locator("#saved-notes")
    notes.get_by_role("button", name="Add notes").click()
    field = notes.get_by_label("Notes (Markdown)")
    expect(field).to_be_focused()
    field.fill("Wants *leaves*.")
    notes.get_by_role("button", name="Save notes").click()
    expect(notes.locator("em")).to_have_text("leaves")
    assert findings(page) == []
    sidebar(page).locator("summary").filter(has_text="Annotated").click()
    sidebar(page).get_by_role("link", name="zebra", exact=True).click()
    expect(notes.get_by_role("button", name="Add notes")).to_be_visible()
    # An edit is kept when another request is opened.
    notes.get_by_role("button", name="Add notes").click()
    field.fill("Wants grass.")
    sidebar(page).get_by_role("link", name="tapir", exact=True).click()
    expect(notes.locator("em")).to_have_text("leaves")
    sidebar(page).get_by_role("link", name="zebra", exact=True).click()
    expect(notes).to_contain_text("Wants grass.")
    page.get_by_role("button", name="Open a new tab").click()
    expect(notes).to_be_hidden()


def test_a_shipped_request_is_saved_as_a_copy(workbench: Workbench) -> None:
    page = workbench.page
    page.goto(f"{workbench.server.url}/collections/tour/")
    page.get_by_role("link", name="Soup over MCP", exact=True).click()
    expect(workbench.effective).to_contain_text("POST")
    workbench.compose("changed by hand")
    page.keyboard.press("ControlOrMeta+s")
    sheet = page.get_by_role("dialog", name="Save the request")
    expect(sheet).to_contain_text("shipped with the playground")
    assert findings(page) == []
    sheet.get_by_role("button", name="Save a copy…").click()
    where = sheet.get_by_label("Collection", exact=True)
    expect(where.locator("optgroup option").first).to_be_attached()
    where.select_option("")
    expect(sheet.get_by_label("Name of the new collection")).to_have_value("My requests")
    sheet.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile(r"/collections/my-requests(-\d+)?/requests/"))


def test_a_lost_connection_is_reported_once(workbench: Workbench, complaints: list[str]) -> None:
    """While a run says so, requests that the page makes by itself raise no note besides."""
    page = workbench.open().scenario("slow").page
    # A socket that brings nothing: its opening, and each message, would end the loss.
    page.route_web_socket(re.compile("/ws/runs/"), lambda socket: None)
    page.evaluate(
        "document.addEventListener('htmx:wsOpen', () => { document.body.dataset.opened = ''; })"
    )
    workbench.send()
    expect(page.locator("body[data-opened]")).to_be_attached()
    page.context.set_offline(True)
    page.evaluate("document.getElementById('run-socket')?.dispatchEvent("
                  "new CustomEvent('htmx:wsClose', {bubbles: true}))")  # fmt: skip
    expect(page.locator("#run-lost")).to_contain_text("lost")
    with page.expect_event("requestfailed"):
        page.get_by_label("Search the history").fill("x")
    expect(page.locator('toast-note[data-level="error"]')).to_have_count(0)
    page.locator("#response, #compose").get_by_role("button", name="Send").first.click()
    expect(page.locator('toast-note[data-level="error"]')).to_have_count(1)
    page.context.set_offline(False)
    complaints[:] = [each for each in complaints if "sendError" not in each]


def test_a_server_that_stops_says_so(workbench: Workbench, complaints: list[str]) -> None:
    """The request stays in the composer, to be sent again."""
    page = workbench.open().scenario("slow").page
    stopping = render_to_string("stopping.html")
    page.route(
        "**/runs/",
        lambda route: (
            route.fulfill(status=503, body=stopping)
            if route.request.method == "POST"
            else route.fallback()
        ),
    )
    page.locator("#compose").get_by_role("button", name="Send").first.click()
    note = page.locator('toast-note[data-level="error"]')
    expect(note).to_contain_text("The playground is stopping")
    expect(note).to_contain_text("Nothing was sent. Send again in a moment.")
    assert any("503" in each for each in complaints)
    complaints.clear()
