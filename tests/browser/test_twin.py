"""A request sent two ways: over both bindings, as both versions; and the control that flips."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import press, tab_to
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


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


def test_over_both_bindings_by_keyboard(workbench: Workbench) -> None:
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


def test_as_two_versions_with_what_was_left_out(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    send_both(page, "As NLWeb 0.54")
    row = page.get_by_role("row", name="/version")
    expect(row).to_contain_text("Each response names its own version")
    page.get_by_text("Ignored differences").click()
    expect(page.locator("#difference")).to_contain_text("processing_time_ms")


def test_a_run_that_fails_cannot_be_compared(workbench: Workbench) -> None:
    workbench.open().scenario("truncated")
    page = workbench.page
    send_both(page, "To Demo agent")
    expect(page.locator("#difference")).to_contain_text("Responses cannot be compared")
    expect(page.locator("#difference")).to_contain_text(
        "The run on the left did not complete (truncated)"
    )


def test_what_cannot_be_sent_says_so_in_the_sheet(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    workbench.text.fill("")
    page.get_by_role("button", name="Send to two…").click()
    expect(page.get_by_role("dialog")).to_contain_text("The query requires text.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


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


def test_a_link_in_a_pane_leads_the_whole_page(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    send_both(page, "As NLWeb 0.54")
    base = panes(page)[0].locator("base")
    expect(base).to_have_attribute("target", "_top")


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
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")
    # An agent that is chosen brings its own binding.
    with workbench.target_menu() as menu:
        menu.locator(".segment", has_text="HTTP").click()
    expect(workbench.effective).to_contain_text("/demo/ask")
    workbench.choose_agent("demo-mcp")
    expect(page.locator("[name=binding][value=mcp]")).to_be_checked()


def test_an_agent_of_another_protocol_has_no_binding_to_choose(workbench: Workbench) -> None:
    workbench.open("/?agent=demo").choose_agent("demo-agent-api")
    with workbench.target_menu() as menu:
        expect(menu.get_by_role("group", name="Binding")).to_be_hidden()
    workbench.choose_agent("demo")
    with workbench.target_menu() as menu:
        expect(menu.get_by_role("group", name="Binding")).to_be_visible()


def test_the_form_shows_what_applies(workbench: Workbench) -> None:
    page = workbench.page
    page.goto(f"{workbench.server.url}/agents/new/")
    tool = page.get_by_label("Tool for ask")
    expect(tool).to_be_hidden()
    page.get_by_label("Binding").select_option("mcp")
    expect(tool).to_be_visible()
    page.get_by_label("Protocol").select_option("agent-api")
    expect(tool).to_be_hidden()
    expect(page.get_by_label("Binding")).to_be_hidden()
    expect(page.get_by_label("Version", exact=True)).to_have_value("1")


def test_the_tools_of_an_agent_are_read(workbench: Workbench) -> None:
    page = workbench.page
    page.goto(f"{workbench.server.url}/agents/demo-mcp/")
    page.get_by_role("button", name="Load tools").click()
    tools = page.locator("#agent-tools")
    expect(tools).to_contain_text("used for ask")
    expect(tools).to_contain_text("used for await")
    tools.get_by_text("Input schema").first.click()
    expect(tools).to_contain_text('"properties"')


def test_axe_finds_nothing(still: Page, playground: PlaygroundServer) -> None:
    page = Workbench(still, playground).open("/?agent=demo").page
    page.get_by_role("button", name="Send to two…").click()
    expect(page.get_by_role("button", name="Send both")).to_be_visible()
    assert findings(page, both_themes=True) == []
    page.keyboard.press("Escape")
    send_both(page, "As NLWeb 0.54")
    expect(page.locator("#difference table").first).to_be_visible()
    page.get_by_text("Ignored differences").click()
    for pane in panes(page):
        expect(pane.locator("#run-badge")).to_have_text("Completed")
    assert findings(page, both_themes=True) == []
    page.goto(f"{playground.url}/agents/demo-mcp/")
    page.get_by_role("button", name="Load tools").click()
    expect(page.locator("#agent-tools")).to_contain_text("used for ask")
    assert findings(page, both_themes=True) == []


def test_a_phone_has_room_for_it(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = Workbench(context.new_page(), playground).open("/?agent=demo").page
    page.locator("[data-target-chip]").click()
    for name in ("HTTP", "MCP"):
        box = page.locator(".segment", has_text=name).bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
    page.keyboard.press("Escape")
    send_both(page, "As NLWeb 0.54")
    expect(page.locator("iframe")).to_have_count(2)
    page.wait_for_function(
        """() => {
          const [left, right] = [...document.querySelectorAll("iframe")]
            .map((each) => each.getBoundingClientRect());
          return left.x === right.x && left.bottom <= right.top;
        }"""
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
