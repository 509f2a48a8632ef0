"""The connection doctor and the older server, as a user meets them."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.workbench import Workbench, is_within
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import free_port

FOUND = "NLWeb 0.55 over MCP 2026-07-28"


def agent(playground: PlaygroundServer, url: str) -> str:
    """Add an agent; returns the address of its doctor's page."""
    slug = client_of(playground).add_agent("Patient", url)
    return f"{playground.url}/agents/{slug}/doctor/"


def test_an_mcp_server_where_nlweb_was_expected(page: Page, playground: PlaygroundServer) -> None:
    path = agent(playground, f"{playground.url}/demo/mcp")
    page.goto(path)
    expect(page.get_by_role("heading", name="Requests")).to_be_visible()
    assert findings(page) == [], "before"
    page.get_by_role("button", name="Diagnose connection").click()
    expect(page.get_by_role("heading", name=f"Found: {FOUND}")).to_be_visible()
    ask = page.locator(".doctor-step", has=page.get_by_text("/ask", exact=True))
    expect(ask).to_have_attribute("data-status", "failed")
    expect(ask).to_contain_text("Set the binding to MCP.")
    ask.locator("summary").first.click()
    expect(ask.locator("pre").first).to_contain_text("POST /demo/mcp/ask HTTP/1.1")
    assert findings(page, both_themes=True) == [], "after"
    for width in (390, 1024):
        page.set_viewport_size({"width": width, "height": 844})
        assert is_within(page, width)

    page.reload()
    expect(page.get_by_role("heading", name=f"Found: {FOUND}")).to_be_visible()
    expect(page.locator(".doctor-changes")).to_contain_text("MCP")
    page.get_by_role("button", name="Apply detected settings").click()
    expect(page.get_by_text("Detected settings applied")).to_be_visible()
    expect(page.locator(".doctor-changes")).to_have_count(0)
    page.goto(f"{playground.url}/agents/")
    row = page.locator(".agent-row", has_text=f"detected: {FOUND}").last
    expect(row).to_contain_text("over MCP")
    assert findings(page) == [], "badge"


def test_a_run_that_failed_leads_to_it(workbench: Workbench) -> None:
    page = (
        workbench.add_agent("Down", f"http://127.0.0.1:{free_port()}").compose("eggs").send().page
    )
    page.get_by_role("link", name="Diagnose", exact=True).click()
    expect(page.get_by_role("heading", name="Connection doctor")).to_be_visible()
    page.get_by_role("button", name="Diagnose connection").click()
    expect(page.get_by_role("heading", name="Nothing listens on")).to_be_visible()
    page.get_by_role("button", name="Copy as text").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    expect(page.locator("#doctor-text")).to_contain_text("FAILED   TCP: ")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("heading", name="Nothing listens on")).to_be_visible()
