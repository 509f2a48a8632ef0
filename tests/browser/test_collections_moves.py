"""A folder goes to another collection by its menu, and comes back."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.collection_page import CollectionPage, import_requests
from tests.support.playground_server import PlaygroundServer


def test_a_folder_goes_to_another_collection_by_keys(
    still: Page, playground: PlaygroundServer
) -> None:
    import_requests(playground, "Takes folders", "x")
    given = import_requests(playground, "Gives folders", "a", hot="b c", cold="d")
    pile = CollectionPage(still, playground, given).open()
    still.get_by_role("link", name="Actions for hot").press("Enter")
    still.get_by_role("menuitem", name="Move to…").press("Enter")
    choice = still.get_by_label("Move to the end of")
    expect(choice).to_be_focused()
    assert findings(still) == []
    choice.select_option(label="Takes folders")
    still.keyboard.press("Tab")
    still.keyboard.press("Tab")
    expect(still.get_by_role("button", name="Move folder")).to_be_focused()
    still.keyboard.press("Enter")
    expect(still.get_by_role("heading", level=1)).to_have_text("Takes folders")
    expect(still.locator("#folder-hot [data-item=request]")).to_have_count(2)
    still.get_by_role("button", name="Undo").click()
    expect(still.get_by_role("heading", level=1)).to_have_text("Gives folders")
    pile.expect_order("a | hot: b c | cold: d")
