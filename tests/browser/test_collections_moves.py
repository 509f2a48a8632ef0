"""A folder goes to another collection by its menu, and comes back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.shelves import ShelfPage, plant
from tests.browser.test_accessibility import findings
from tests.playground_server import PlaygroundServer


def test_a_folder_goes_to_another_collection_by_keys(
    themed: Page, playground: PlaygroundServer
) -> None:
    plant(playground, "Takes folders", "x")
    given = plant(playground, "Gives folders", "a", hot="b c", cold="d")
    pile = ShelfPage(themed, playground, given).open()
    themed.get_by_role("link", name="Actions on hot").press("Enter")
    themed.get_by_role("menuitem", name="Move to…").press("Enter")
    choice = themed.get_by_label("To the end of the collection")
    expect(choice).to_be_focused()
    assert findings(themed) == []
    choice.select_option(label="Takes folders")
    themed.keyboard.press("Tab")
    themed.keyboard.press("Tab")
    expect(themed.get_by_role("button", name="Move the folder")).to_be_focused()
    themed.keyboard.press("Enter")
    expect(themed.get_by_role("heading", level=1)).to_have_text("Takes folders")
    expect(themed.locator("#folder-hot [data-item=request]")).to_have_count(2)
    themed.get_by_role("button", name="Undo").click()
    expect(themed.get_by_role("heading", level=1)).to_have_text("Gives folders")
    pile.expect_order("a | hot: b c | cold: d")
