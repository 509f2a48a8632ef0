"""Out and in again as a user meets them: a collection, its file in fixtures/, curl and HAR."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import clipboard_text
from tests.browser.workbench import Workbench
from tests.support.example_collections import COLLECTION, FOLDER, REQUEST, with_fields
from tests.support.playground_server import PlaygroundServer


def collection(slug: str, **request: Any) -> str:
    """The text of a file: a collection of this slug with a folder and two requests."""
    key = {"collection": [slug]}
    leek = {**key, "folder": [slug, "hot"], "agent": "demo", **request}
    return json.dumps(
        [
            with_fields(COLLECTION, slug=slug, name=slug.title()),
            with_fields(FOLDER, **key),
            with_fields(REQUEST, **leek),
            with_fields(REQUEST, **{**leek, "slug": "lentils", "name": "Lentils"}),
        ]
    )


def choose(page: Page, playground: PlaygroundServer, text: str, name: str = "a.json") -> None:
    """Upload a file, and look at what it would change."""
    page.goto(f"{playground.url}/collections/import/")
    page.get_by_label("File").set_input_files(
        {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Preview").click()


def bring(page: Page, playground: PlaygroundServer, text: str) -> None:
    """Import a file."""
    choose(page, playground, text)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("was imported")).to_be_visible()


def group(page: Page, status: str) -> Locator:
    return page.locator(f'.import-changes .import-group[data-status="{status}"]')


def scrolls_sideways(page: Page) -> bool:
    """Whether a page does, on a phone or on a small screen."""
    wide: list[int] = []
    for width in (390, 1024):
        page.set_viewport_size({"width": width, "height": 844})
        wide.append(page.evaluate("document.documentElement.scrollWidth") - width)
    return max(wide) > 0


def test_out_and_in_again(page: Page, playground: PlaygroundServer) -> None:
    slug = "out-and-in"
    page.goto(f"{playground.url}/collections/import/")
    assert findings(page, both_themes=True) == [], "form"
    choose(page, playground, collection(slug, colour="red"))
    expect(page.get_by_role("alert", name="Nothing was imported")).to_contain_text("/colour")
    assert findings(page) == [], "mistakes"
    choose(page, playground, collection(slug), "soups.json")
    expect(page.locator(".page-lead")).to_contain_text("from soups.json. Creates a new")
    expect(group(page, "added")).to_contain_text("Lentils")
    assert findings(page, both_themes=True) == [], "preview"
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page).to_have_url(f"{playground.url}/collections/{slug}/")

    with page.expect_download() as download:
        page.get_by_role("link", name="Export", exact=True).click()
    assert download.value.suggested_filename == f"{slug}.json"
    choose(page, playground, Path(download.value.path()).read_text("utf-8"))
    expect(page.get_by_text("No changes: the collection is already up to date")).to_be_visible()

    long = {"notes": f"Of leeks.\n{'b' * 300}", "name": "a" * 110}
    choose(page, playground, collection(slug, **long))
    changed = group(page, "changed")
    changed.get_by_text("Lentils").click()
    expect(changed.locator("ins").nth(-1)).to_contain_text("bbb")
    assert findings(page, both_themes=True) == [], "changes"
    assert not scrolls_sideways(page)


def test_the_file_in_fixtures(page: Page, playground: PlaygroundServer) -> None:
    """What the section does is tested without a browser."""
    slug = "on-disk"
    path = playground.data / "fixtures" / f"{slug}.json"
    bring(page, playground, collection(slug, notes="Of leeks."))
    disk = page.locator(".disk")
    page.get_by_role("button", name="Save to fixtures/").click()
    expect(disk).to_contain_text(f"In sync with fixtures/{slug}.json.")
    assert findings(page) == [], "saved"
    path.write_text(path.read_text("utf-8").replace("Of leeks.", "With cream."), "utf-8")
    page.reload()
    expect(disk).to_contain_text("The file is newer.")
    disk.get_by_text("Load the file", exact=False).first.click()
    way = disk.locator("details[open]").first
    way.locator("details summary").first.click()
    expect(way.locator("ins").first).to_have_text("+With cream.")
    assert findings(page, both_themes=True) == [], "newer"
    assert not scrolls_sideways(page)
    assert disk.evaluate("section => section.scrollWidth <= section.clientWidth")


def test_a_request_is_copied_as_curl(workbench: Workbench) -> None:
    page = workbench.page
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
    workbench: Workbench, tmp_path: Path
) -> None:
    page = workbench.page
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
