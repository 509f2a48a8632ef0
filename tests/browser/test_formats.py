"""A request as code on the clipboard, and a recording out of one run and into another."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import clipboard_text
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def test_a_request_is_copied_as_curl(still: Page, playground: PlaygroundServer) -> None:
    page, workbench = still, Workbench(still, playground)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    workbench.open().compose("formats: it's soup")
    expect(workbench.effective).to_contain_text("formats: it's soup")
    page.locator("#compose").get_by_role("button", name="Copy as…").click()
    sheet = page.get_by_role("dialog", name="Copy the request as code")
    sheet.get_by_role("tabpanel", name="cURL").get_by_role("button", name="Copy").click()
    expect(sheet.get_by_role("button", name="Copied")).to_be_visible()
    copied = clipboard_text(page)
    assert copied.startswith(f"curl -N --url {workbench.server.url}/demo/ask")
    assert r"formats: it'\''s soup" in copied
    assert findings(page, "dialog[open]", both_themes=True) == []
    sheet.get_by_role("tab", name="cURL").press("ArrowRight")
    expect(sheet.get_by_role("tabpanel", name="Python httpx")).to_contain_text("import httpx")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()


def test_a_recording_goes_out_and_comes_in(
    still: Page, playground: PlaygroundServer, tmp_path: Path
) -> None:
    page, workbench = still, Workbench(still, playground)
    workbench.quick().compose("formats: recorded soup").send().ended()
    sent = workbench.run
    wire = workbench.tab("Wire")
    wire.get_by_role("button", name="Copy as…").click()
    sheet = page.get_by_role("dialog", name="Copy the request as code")
    expect(sheet).to_contain_text("formats: recorded soup")
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        wire.get_by_role("link", name="Download as HAR").click()
    file = tmp_path / "run.har"
    download.value.save_as(file)
    page.goto(f"{workbench.server.url}/formats/har/")
    page.get_by_label("HAR file").set_input_files(file)
    page.get_by_role("button", name="Show requests").click()
    expect(page.get_by_role("button", name="Open POST")).to_be_visible()
    assert findings(page, both_themes=True) == []
    page.get_by_role("button", name="Open POST").click()
    expect(page.locator(".response-header")).to_contain_text("recorded")
    expect(workbench.badge).to_contain_text("Completed")
    assert workbench.run != sent
    expect(page.locator("#tab-results .card").first).to_be_visible()
