"""A collection out to a file and in again, and its file in fixtures/, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.axe import findings
from tests.support.example_collections import COLLECTION, FOLDER, REQUEST, with_fields
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import free_port


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


def test_in_with_a_preview_and_out_again(still: Page, playground: PlaygroundServer) -> None:
    page = still
    slug = "out-and-in"
    page.goto(f"{playground.url}/collections/import/")
    assert findings(page, both_themes=True) == [], "form"
    choose(page, playground, collection(slug), "soups.json")
    expect(page.locator(".page-lead")).to_contain_text("from soups.json. Creates a new")
    expect(group(page, "added")).to_contain_text("Lentils")
    assert findings(page, both_themes=True) == [], "preview"
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page).to_have_url(f"{playground.url}/collections/{slug}/")
    expect(page.get_by_text("was imported: 4 added.")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("link", name="Export", exact=True).click()
    assert download.value.suggested_filename == f"{slug}.json"
    exported = Path(download.value.path()).read_text("utf-8")

    choose(page, playground, exported)
    expect(page.get_by_text("No changes: the collection is already up to date")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)

    choose(page, playground, collection(slug, notes="Of leeks.\nWith cream."))
    changed = group(page, "changed")
    expect(changed.locator("details")).to_have_count(2)
    changed.get_by_text("Lentils").click()
    expect(changed.locator("ins").nth(-1)).to_have_text("+With cream.")
    expect(group(page, "same")).to_contain_text("2")
    assert findings(page, both_themes=True) == [], "changes"
    page.get_by_role("button", name="Import as another collection").click()
    expect(page).to_have_url(f"{playground.url}/collections/{slug}-2/")


def test_a_file_with_mistakes_says_where(still: Page, playground: PlaygroundServer) -> None:
    choose(still, playground, collection("mistaken", colour="red"))
    problems = still.get_by_role("alert").filter(has_text="Nothing was imported")
    expect(problems).to_contain_text("Item 3, playground.savedrequest, /fields/colour")
    assert findings(still) == []
    still.get_by_label("or URL").fill(f"http://127.0.0.1:{free_port()}/a.json")
    still.get_by_role("button", name="Preview").click()
    expect(problems).to_contain_text("connection was refused")
    still.get_by_label("or URL").fill("")
    still.get_by_label("or text").fill("[{")
    still.get_by_role("button", name="Preview").click()
    expect(problems).to_contain_text("Line 1, column 3")
    expect(still.get_by_label("or text")).to_have_value("[{")


def test_the_file_in_fixtures(still: Page, playground: PlaygroundServer) -> None:
    page = still
    slug = "on-disk"
    path = playground.data / "fixtures" / f"{slug}.json"
    bring(page, playground, collection(slug, notes="Of leeks."))
    disk = page.locator(".disk")
    expect(disk).to_contain_text("Not saved to disk yet.")
    page.get_by_role("button", name="Save to fixtures/").click()
    expect(disk).to_contain_text(f"In sync with fixtures/{slug}.json.")
    assert findings(page) == [], "saved"

    path.write_text(path.read_text("utf-8").replace("Of leeks.", "With cream."), "utf-8")
    page.reload()
    expect(disk).to_contain_text("The file is newer.")
    disk.get_by_text("Load the file", exact=False).first.click()
    way = disk.locator("details[open]").first
    way.locator("details summary").first.click()
    expect(way.locator("del").first).to_have_text("−Of leeks.")
    expect(way.locator("ins").first).to_have_text("+With cream.")
    assert findings(page, both_themes=True) == [], "newer"

    bring(page, playground, collection(slug, notes="Of leeks, too."))
    expect(disk).to_contain_text("Conflict:")
    disk.locator("summary").filter(has_text="Save to fixtures/").click()
    path.write_text(path.read_text("utf-8").replace("With cream.", "With more."), "utf-8")
    page.get_by_role("button", name="Overwrite the file").click()
    expect(disk.get_by_role("alert")).to_contain_text("has changed since the page was loaded")
    disk.locator("summary").filter(has_text="Load the file").click()
    page.get_by_role("button", name="Load the file").click()
    expect(disk).to_contain_text("In sync with")


@pytest.mark.parametrize("width", [390, 1024])
def test_nothing_scrolls_sideways(
    browser: Browser, playground: PlaygroundServer, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = context.new_page()
    long = "a" * 110
    bring(page, playground, collection(f"wide-{width}"))
    choose(page, playground, collection(f"wide-{width}", notes="b" * 300, name=long))
    page.locator("details.import-group-changed summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{playground.url}/collections/wide-{width}/")
    disk = page.locator(".disk")
    expect(disk).to_contain_text("Not saved to disk yet.")
    assert disk.evaluate("section => section.scrollWidth <= section.clientWidth")
    context.close()
