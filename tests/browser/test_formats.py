"""A request as code on the clipboard, and a run as a HAR file whose request is imported."""

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


def test_a_run_goes_out_as_har_and_its_request_comes_in(
    still: Page, playground: PlaygroundServer, tmp_path: Path
) -> None:
    page, workbench = still, Workbench(still, playground)
    workbench.quick().compose("formats: recorded soup").send().ended()
    wire = workbench.tab("Wire")
    wire.get_by_role("button", name="Copy as…").click()
    sheet = page.get_by_role("dialog", name="Copy the request as code")
    expect(sheet).to_contain_text("formats: recorded soup")
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        wire.get_by_role("link", name="Download as HAR").click()
    file = tmp_path / "run.har"
    download.value.save_as(file)
    page.goto(f"{workbench.server.url}/collections/import/")
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Import Requests to")).to_be_visible()
    assert findings(page, both_themes=True) == []
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("link", name="formats: recorded soup").first.click()
    expect(workbench.text).to_have_value("formats: recorded soup")
