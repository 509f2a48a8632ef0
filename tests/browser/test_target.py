"""The bar over the composer: agent or URL, detection, Send; and the error card of a wrong agent."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.workbench import Workbench


def combobox(workbench: Workbench) -> Locator:
    return workbench.page.get_by_role("combobox", name="Agent or URL")


def card(workbench: Workbench) -> Locator:
    return workbench.page.locator("#run-ending .error-card")


def send_to(workbench: Workbench, url: str) -> Workbench:
    """Type a URL as the target, and send by key."""
    field, before = combobox(workbench), workbench.run or "none"
    field.fill(url)
    field.press("ControlOrMeta+Enter")
    expect(workbench.page.locator("#response")).not_to_have_attribute("data-run", before)
    return workbench


def test_the_combobox_by_keyboard(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    field, options = combobox(workbench), page.locator("#target-list [role=option]")
    field.focus()
    expect(field).to_have_value("Demo agent")
    expect(field).to_have_attribute("aria-expanded", "false")
    field.press("ArrowDown")
    expect(field).to_have_attribute("aria-expanded", "true")
    assert options.count() >= 3
    assert findings(page) == []
    field.press("ArrowUp")
    active = field.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_have_attribute("data-active", "")
    field.press("Escape")
    expect(field).to_have_attribute("aria-expanded", "false")
    expect(field).to_have_value("Demo agent")
    field.fill("demo mcp")
    expect(options).to_have_count(1)
    field.press("Enter")
    expect(field).to_have_value("Demo over MCP")
    expect(workbench.effective).to_contain_text("/demo/mcp")
    expect(page.locator("[data-target-chip]")).to_have_text("NLWeb 0.55 · MCP")
    assert workbench.run is None
    field.fill("nothing like it")
    field.press("Enter")
    expect(page.locator("#address-note")).to_contain_text("No agent matches")
    # Nothing is sent to the agent of before, by mouse or by key.
    page.get_by_role("button", name="Send").first.click()
    expect(field).to_be_focused()
    field.press("ControlOrMeta+Enter")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert workbench.run is None
    field.press("Escape")
    expect(field).to_have_value("Demo over MCP")
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_a_url_is_completed_and_loses_its_credentials(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").page
    field, address = combobox(workbench), page.locator("#address")
    for typed, url in (
        ("localhost:9000", "http://localhost:9000"),
        ("127.0.0.1:9/x", "http://127.0.0.1:9/x"),
        ("agent.example/ask", "https://agent.example/ask"),
    ):
        field.fill(typed)
        field.press("Enter")
        expect(field).to_have_value(url)
        expect(address).to_have_value(url)
    expect(page.locator("#agent-select")).to_have_value("")
    # The agents that match it are listed where they do not cover Send.
    field.fill("127.0.0.1:")
    expect(page.locator("#target-list [role=option]").first).to_be_visible()
    page.get_by_role("button", name="Send").first.click(trial=True)
    field.fill("https://user:canary-pw@agent.example/x")
    field.press("Tab")
    expect(field).to_have_value("https://agent.example/x")
    expect(page.locator("#address-note")).to_contain_text("password were removed")
    assert "canary-pw" not in page.evaluate("JSON.stringify(sessionStorage)")
    page.locator("[data-target-open]").click()
    page.locator("#target-list [data-agent=demo]").click()
    expect(page.locator("#agent-select")).to_have_value("demo")


def test_detection_sets_the_protocol_and_no_agent_is_saved(workbench: Workbench) -> None:
    page = workbench.page
    workbench.open("/?agent=demo")
    combobox(workbench).fill(
        f"{workbench.server.url}/demo/scenarios/unnamed".removeprefix("http://")
    )
    page.get_by_role("button", name="Detect").click()
    note = page.locator("#address-note")
    expect(note).to_contain_text("Detected: NLWeb")
    expect(page.get_by_role("button", name="Detect")).to_be_hidden()
    assert findings(page, both_themes=True) == []
    workbench.send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    page.goto(f"{workbench.server.url}/agents/")
    expect(page.get_by_role("main").get_by_text("scenarios/unnamed")).to_have_count(0)
    page.go_back()
    page.locator("[data-target-chip]").click()
    page.get_by_role("link", name="Save as agent").click()
    expect(page.locator("#id_url")).to_have_value(f"{workbench.server.url}/demo/scenarios/unnamed")


def test_another_url_does_not_keep_the_binding_of_an_agent(workbench: Workbench) -> None:
    chip = workbench.open("/?agent=demo-mcp").page.locator("[data-target-chip]")
    expect(chip).to_have_text("NLWeb 0.55 · MCP")
    combobox(workbench).fill("localhost:9/ask")
    expect(chip).to_have_text("NLWeb 0.55 · HTTP")
    page = workbench.page
    page.get_by_role("button", name="Detect").click()
    expect(page.locator("#address-note")).to_contain_text("Nothing listens on localhost:9")
    # One that was set for this URL stays while the URL is edited.
    with workbench.target_menu() as menu:
        menu.get_by_text("MCP").click()
    combobox(workbench).fill("localhost:9/mcp")
    expect(chip).to_have_text("NLWeb 0.55 · MCP")


def test_mcp_taken_for_nlweb_is_one_click_away(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").compose("soup with lentils").page
    # Not the URL of the demo agent over MCP, which is known.
    send_to(workbench, f"{workbench.server.url}/demo/mcp?pace=0")
    expect(card(workbench)).to_contain_text("This is an MCP server")
    first = workbench.run
    card(workbench).get_by_role("button", name="Switch to MCP and resend").click()
    expect(page.locator("#response")).not_to_have_attribute("data-run", first or "")
    expect(workbench.badge).to_have_text("Completed")
    expect(page.locator("[data-target-chip]")).to_have_text("NLWeb 0.55 · MCP")
    page.locator("#follow-up-text").fill("without meat")
    page.locator("#follow-up-text").press("Enter")
    expect(page.locator("#response")).to_have_attribute("data-title", "without meat")
    expect(workbench.badge).to_have_text("Completed")
    # Of a saved agent it is the settings that are switched, and the page says so.
    workbench.add_agent("Taken for HTTP", f"{workbench.server.url}/demo/mcp")
    workbench.compose("soup").send()
    card(workbench).get_by_role("button", name="Switch to MCP and resend").click()
    expect(workbench.badge).to_have_text("Completed")
    expect(page.locator("toast-note")).to_contain_text("Taken for HTTP has the settings")


def test_a_url_that_requires_a_token_becomes_an_agent(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").compose("soup").page
    send_to(workbench, f"{workbench.server.url}/demo/scenarios/members")
    expect(card(workbench)).to_contain_text("Authentication required (HTTP 401): Bearer")
    assert findings(page) == []
    card(workbench).get_by_role("link", name="Add a token").click()
    expect(page.locator("#id_auth")).to_have_value("bearer")
    page.locator("#id_auth_secret").fill("demo-token")
    page.get_by_role("button", name="Add agent").click()
    expect(card(workbench)).to_be_visible()
    page.wait_for_load_state()
    client_of(workbench.server).remove_later(page.locator("#agent-select").input_value())
    card(workbench).get_by_role("button", name="Retry").click()
    expect(workbench.badge).to_have_text("Completed")
