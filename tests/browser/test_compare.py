"""Two runs compared, and a request sent two ways: over both bindings, as both versions."""

from __future__ import annotations

import re

from playwright.sync_api import FrameLocator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import press, tab_to
from tests.browser.workbench import Workbench, boxes, is_within
from tests.support.playground_server import PlaygroundServer


def ask(workbench: Workbench, *texts: str) -> None:
    """Send a request with each text, and wait for its end."""
    workbench.quick()
    for text in texts:
        workbench.compose(text).send().ended()


def test_two_chosen_in_the_history(workbench: Workbench) -> None:
    page = workbench.page
    ask(workbench, "compare tomato soup", "compare vegan dinner")
    page.goto(f"{workbench.server.url}/history/?q=compare")
    compare = page.get_by_role("button", name="Compare", exact=True)
    page.get_by_label("Select compare tomato soup").check()
    expect(compare).to_be_disabled()
    page.get_by_label("Select compare vegan dinner").check()
    compare.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare runs")
    request = page.get_by_role("region", name="Request: 1 difference")
    expect(request).to_contain_text("/query/text")
    head, first = (request.get_by_role("row").nth(n).locator("th").first for n in range(2))
    above, below = boxes(head, first)
    assert above["y"] + above["height"] <= below["y"] + 1, "the head covers no row"
    page.get_by_text("expected difference").first.click()
    assert findings(page, both_themes=True) == []
    # The older one stands on the left.
    left, right = (page.get_by_role("region", name=name) for name in ("Left", "Right"))
    expect(left).to_contain_text("compare tomato soup")
    expect(page.locator("section[aria-labelledby=response-title]")).to_contain_text("only left")
    page.get_by_role("link", name="Swap").click()
    expect(left).to_contain_text("compare vegan dinner")
    page.set_viewport_size({"width": 390, "height": 844})
    assert len({each["x"] for each in boxes(left, right)}) == 1
    assert is_within(page, 390)
    page.goto(page.url.partition("&right")[0])
    assert findings(page, both_themes=True) == []


def test_from_a_run_by_keyboard_with_what_is_folded(workbench: Workbench) -> None:
    page = workbench.page
    ask(workbench, "compare gazpacho", "compare gazpacho")
    page.locator(".response-header").focus()
    press(page, "Compare…")
    first = page.locator("#compare-with").get_by_role("link").first
    expect(first).to_contain_text("compare gazpacho")
    assert findings(page) == []
    first.press("Enter")
    expect(page.locator("#request-title")).to_have_text("Request: no differences")
    expect(page.locator("#response-title")).to_have_text("Response: no differences")
    # The conversation's id, and the processing time unless both took as long.
    folded = page.get_by_text(
        re.compile(r"expected differences?\s+\(ids, tokens, timestamps\)")
    ).last
    folded.click()
    expect(page.get_by_role("region", name="Differences: ids, tokens, timestamps")).to_be_visible()
    page.get_by_role("link", name="Unordered").click()
    expect(page).to_have_url(f"{page.url.split('&order')[0]}&order=1")
    expect(page.get_by_role("link", name="Unordered")).to_have_attribute("aria-current", "true")


def panes(page: Page) -> list[FrameLocator]:
    """The two responses on the page of a twin."""
    return [
        page.frame_locator(f'iframe[title^="Response on the {side}"]') for side in ("left", "right")
    ]


def send_both(page: Page, choice: str) -> None:
    """Ask for a twin and wait for its page."""
    page.get_by_role("button", name="Send to two…").click()
    page.get_by_label(choice).check()
    page.get_by_role("button", name="Send both").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(" and ")


def test_two_ways_over_both_bindings_by_keyboard(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    workbench.text.focus()
    press(page, "Send to two…")
    expect(page.locator('input[value="binding:mcp"]')).to_be_checked()
    tab_to(page, "Over MCP")
    page.keyboard.press("Space")
    press(page, "Send both")
    expect(page.get_by_role("heading", level=1)).to_have_text("HTTP and MCP")
    expect(page.locator("#difference")).to_contain_text("No differences")
    for pane in panes(page):
        expect(pane.locator("#run-badge")).to_have_text("Completed")
        expect(pane.locator("#cards .card").first).to_be_visible()
    press(page, "Skip to the response on the right")
    press(page, "Open in workbench: right")
    expect(page.locator("[name=binding][value=mcp]")).to_be_checked()


def test_two_ways_as_two_versions(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    page.get_by_role("button", name="Send to two…").click()
    expect(page.get_by_role("button", name="Send both")).to_be_visible()
    assert findings(page, both_themes=True) == [], "sheet"
    page.keyboard.press("Escape")
    send_both(page, "As NLWeb 0.54")
    expect(page.get_by_role("row", name="/version")).to_be_visible()
    page.get_by_text("Ignored differences").click()
    expect(page.locator("#difference")).to_contain_text("processing_time_ms")
    for pane in panes(page):
        expect(pane.locator("#run-badge")).to_have_text("Completed")
    # A link in a pane leads the whole page.
    expect(panes(page)[0].locator("base")).to_have_attribute("target", "_top")
    assert findings(page, both_themes=True) == [], "twin"
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        """() => {
          const [left, right] = [...document.querySelectorAll("iframe")]
            .map((each) => each.getBoundingClientRect());
          return left.x === right.x && left.bottom <= right.top;
        }"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_sheet_opens_without_what_it_said_before(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    for opener, shown in (
        ("Send to two…", page.locator("#twin-choices").get_by_role("radio").first),
        ("Copy as…", page.locator("#code-snippets").get_by_text("curl").first),
    ):
        page.get_by_role("button", name=opener).click()
        expect(shown).to_be_visible()
        page.keyboard.press("Escape")
        # An answer that does not come: what is chosen in, or copied from, the one before is lost.
        page.route(re.compile(r"/(twins|compose)/(choices|code)/"), lambda route: None)
        page.get_by_role("button", name=opener).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        expect(shown).to_have_count(0)
        page.keyboard.press("Escape")
        page.unroute_all(behavior="ignoreErrors")
    # What cannot be sent is said in the sheet.
    workbench.text.fill("")
    page.get_by_role("button", name="Send to two…").click()
    expect(page.get_by_role("dialog")).to_contain_text("The query requires text.")


def test_the_binding_is_flipped_and_kept(workbench: Workbench) -> None:
    page = workbench.open().page
    press(page, "NLWeb 0.55 · HTTP")
    tab_to(page, "HTTP")
    page.keyboard.press("ArrowRight")
    expect(workbench.effective).to_contain_text("/demo/mcp")
    expect(workbench.effective).to_contain_text("tools/call")
    expect(workbench.effective).to_contain_text("eggs")
    page.reload()
    expect(page.locator("[name=binding][value=mcp]")).to_be_checked()
    # An agent that is chosen brings its own binding.
    with workbench.target_menu() as menu:
        menu.locator(".segment", has_text="HTTP").click()
    expect(workbench.effective).to_contain_text("/demo/ask")
    workbench.choose_agent("demo-mcp")
    expect(page.locator("[name=binding][value=mcp]")).to_be_checked()
    workbench.choose_agent("demo-agent-api")
    with workbench.target_menu() as menu:
        expect(menu.get_by_role("group", name="Binding")).to_be_hidden()
    workbench.choose_agent("demo")
    page.set_viewport_size({"width": 390, "height": 844})
    with workbench.target_menu() as menu:
        for name in ("HTTP", "MCP"):
            box = menu.locator(".segment", has_text=name).bounding_box()
            assert box
            assert min(box["width"], box["height"]) >= 24


def test_the_form_of_an_agent_shows_what_applies(page: Page, playground: PlaygroundServer) -> None:
    page.goto(f"{playground.url}/agents/new/")
    tool = page.get_by_label("Tool for ask")
    expect(tool).to_be_hidden()
    page.get_by_label("Binding").select_option("mcp")
    expect(tool).to_be_visible()
    page.get_by_label("Protocol").select_option("agent-api")
    expect(tool).to_be_hidden()
    expect(page.get_by_label("Binding")).to_be_hidden()
    expect(page.get_by_label("Version", exact=True)).to_have_value("1")
    page.goto(f"{playground.url}/agents/demo-mcp/")
    page.get_by_role("button", name="Load tools").click()
    tools = page.locator("#agent-tools")
    expect(tools).to_contain_text("used for ask")
    tools.get_by_text("Input schema").first.click()
    expect(tools).to_contain_text('"properties"')
    assert findings(page, both_themes=True) == []
