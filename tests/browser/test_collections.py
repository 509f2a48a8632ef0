"""Collections in the browser: made, put in order, moved, deleted and put back, found."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.collection_page import CollectionPage, import_requests
from tests.browser.keyboard import focused, tab_to
from tests.browser.workbench import Workbench, boxes, is_within
from tests.support.playground_server import PlaygroundServer


def open_collection(
    page: Page, server: PlaygroundServer, name: str, loose: str = "", **folders: str
) -> CollectionPage:
    return CollectionPage(page, server, import_requests(server, name, loose, **folders)).open()


def test_one_is_made_filled_and_edited_in_place(page: Page, playground: PlaygroundServer) -> None:
    page.goto(f"{playground.url}/collections/")
    page.get_by_role("link", name="New collection").first.click()
    dialog = page.get_by_role("dialog")
    create = dialog.get_by_role("button", name="Create collection")
    create.click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    assert findings(page, "dialog[open]", both_themes=True) == [], "sheet"
    dialog.get_by_role("textbox", name="Name").fill("Made by hand")
    dialog.get_by_label("Description").fill("All that is *warm*.")
    create.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Made by hand")
    expect(page.locator(".prose em")).to_have_text("warm")
    expect(page.get_by_text("No requests yet")).to_be_visible()
    page.wait_for_load_state()
    page.get_by_role("link", name="New folder").click()
    dialog.get_by_role("textbox", name="Name").fill("Hot")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Hot")).to_be_visible()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("No requests yet")).to_have_count(0)

    pile = open_collection(page, playground, "Renamed later", "a b", hot="c")
    name, save = (
        page.get_by_role("textbox", name="Name"),
        page.get_by_role("button", name="Save", exact=True),
    )
    pile.choose("a", "Edit")
    name.fill("first")
    notes = "## A *title*\n\n- one\n- [two](https://example.com)"
    page.get_by_role("textbox", name="Notes").fill(notes)
    save.click()
    row = pile.row("a")
    expect(row.get_by_role("link", name="first", exact=True)).to_be_visible()
    row.locator("summary").click()
    expect(row.locator(".prose li")).to_have_text(["one", "two"])
    assert findings(page, both_themes=True) == [], "notes"
    for opened, given in (("hot", "Warm"), ("Renamed later", "Renamed")):
        pile.choose(opened, "Edit")
        name.fill(given)
        save.click()
        expect(page.get_by_role("heading", name=given)).to_be_visible()


def test_the_order_is_changed_by_keys(page: Page, playground: PlaygroundServer) -> None:
    pile = open_collection(page, playground, "Keys", "a b c", hot="d e", cold="")
    pile.handle("a").focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(pile.announced).to_have_text("a: 2 of 3.")
    assert focused(page) == "Move a"
    page.keyboard.press("Alt+ArrowDown")
    page.keyboard.press("Alt+ArrowDown")
    expect(pile.announced).to_have_text("a: 1 of 3 in hot.")
    pile.wait_until_stored()
    pile.handle("e").focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(pile.announced).to_have_text("e: 1 of 1 in cold.")
    page.keyboard.press("Alt+ArrowDown")
    expect(pile.announced).to_have_text("e is last already.")
    pile.wait_until_stored()
    pile.handle("cold").focus()
    page.keyboard.press("Alt+ArrowUp")
    pile.expect_order("b c | cold: e | hot: a d")

    # Or one is picked up, carried, and put down or back.
    tab_to(page, "Move c")
    page.keyboard.press("Space")
    expect(pile.handle("c")).to_have_attribute("aria-pressed", "true")
    expect(pile.announced).to_have_text("c picked up. c: 2 of 2.")
    assert findings(page, "main") == [], "held"
    page.keyboard.press("ArrowUp")
    expect(pile.announced).to_have_text("c: 1 of 2.")
    page.keyboard.press("Escape")
    expect(pile.announced).to_have_text("c was not moved.")
    assert focused(page) == "Move c"
    pile.expect_order("b c | cold: e | hot: a d")
    tab_to(page, "Move c")
    for key in ("Space", "ArrowUp", "Space"):
        page.keyboard.press(key)
    expect(pile.handle("c")).not_to_have_attribute("aria-pressed", "true")
    pile.expect_order("c b | cold: e | hot: a d")


def drag(page: Page, handle: Locator, target: Locator, share: float) -> None:
    """Drag to a height of the target: 0 is its upper edge, 1 its lower one."""
    start, end = boxes(handle, target)
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 20)
    page.mouse.move(start["x"] + 8, end["y"] + end["height"] * share, steps=12)


def test_rows_are_dragged(page: Page, playground: PlaygroundServer) -> None:
    pile = open_collection(page, playground, "Dragged", "a b c", hot="d e", cold="")
    for handle, target, share in (
        (pile.handle("a"), pile.row("c"), 0.9),
        (pile.handle("e"), pile.row("b"), 0.1),
        (pile.handle("b"), page.locator("#folder-cold"), 0.8),
    ):
        drag(page, handle, target, share)
        page.mouse.up()
        pile.wait_until_stored()
    pile.expect_order("e c a | hot: d | cold: b")
    drag(page, pile.handle("e"), pile.row("a"), 0.9)
    page.keyboard.press("Escape")
    page.mouse.up()
    pile.expect_order("e c a | hot: d | cold: b")


def test_what_is_deleted_is_put_back(page: Page, playground: PlaygroundServer) -> None:
    pile = open_collection(page, playground, "Loses", "a b", hot="c d")
    # The menu goes by keys.
    opener = page.get_by_role("link", name="Actions for a", exact=True)
    opener.press("Enter")
    expect(page.get_by_role("menuitem", name="Open")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Delete")).to_be_focused()
    assert findings(page) == [], "menu"
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    expect(page.get_by_role("menu")).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(pile.row("a")).to_have_count(0)
    expect(page.get_by_role("link", name="Actions for b", exact=True)).to_be_focused()
    note = pile.expect_note("Deleted the request “a”.")
    assert findings(page, both_themes=True) == [], "deleted"
    pile.choose("hot", "Delete")
    pile.expect_note("Deleted the folder “hot”.").get_by_role("button", name="Undo").click()
    pile.expect_note("Restored the folder “hot”.")
    pile.expect_order("b | hot: c d")
    expect(note).to_have_count(0)
    page.goto(f"{playground.url}/collections/")
    page.get_by_role("button", name="Restore the request “a”").first.click()
    pile.expect_order("a b | hot: c d")
    # Things are made twice.
    pile.choose("a", "Duplicate")
    expect(pile.row("a-2")).to_be_visible()
    pile.choose("hot", "Duplicate")
    expect(page.get_by_role("heading", name="hot 2")).to_be_visible()
    pile.choose("b", "Move up")
    pile.expect_order("a b a-2 | hot: c d | hot 2: c-2 d-2")
    pile.choose("Loses", "Delete")
    pile.expect_note("Deleted the collection “Loses”.").get_by_role("button", name="Undo").click()
    pile.expect_order("a b a-2 | hot: c d | hot 2: c-2 d-2")


def test_a_folder_goes_to_another_collection_by_keys(
    page: Page, playground: PlaygroundServer
) -> None:
    import_requests(playground, "Takes folders", "x")
    pile = open_collection(page, playground, "Gives folders", "a", hot="b c", cold="d")
    page.get_by_role("link", name="Actions for hot").press("Enter")
    page.get_by_role("menuitem", name="Move to…").press("Enter")
    choice = page.get_by_label("Move to the end of")
    expect(choice).to_be_focused()
    assert findings(page, "dialog[open]") == []
    choice.select_option(label="Takes folders")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Move folder")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Takes folders")
    expect(page.locator("#folder-hot [data-item=request]")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Gives folders")
    pile.expect_order("a | hot: b c | cold: d")


# --- beside the workbench ------------------------------------------------------------------------


def test_the_sidebar_keeps_what_is_unfolded(workbench: Workbench) -> None:
    slug = import_requests(workbench.server, "Beside", "a b", hot="c")
    page = workbench.open().page
    tree = page.locator("sidebar-tree")
    first, last = (tree.get_by_role("link", name=name, exact=True) for name in ("a", "c"))
    expect(first).to_have_count(0)
    tree.locator("summary").filter(has_text="Beside").click()
    expect(first).to_be_visible()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    assert focused(page).startswith("hot")
    page.keyboard.press("ArrowRight")
    expect(last).to_be_visible()
    page.reload()
    last.click()
    expect(page).to_have_url(re.compile(f"/collections/{slug}/requests/c/"))
    expect(workbench.text).to_have_value("soup c")
    expect(last).to_have_attribute("aria-current", "true")
    assert findings(page, both_themes=True) == []
    # It fetches itself anew when something has changed.
    page.evaluate(
        "slug => htmx.ajax('POST', `/collections/${slug}/requests/a/duplication/`,"
        " {source: document.body, swap: 'none'})",
        slug,
    )
    expect(tree.get_by_role("link", name="a 2", exact=True)).to_be_visible()
    last.focus()
    page.keyboard.press("ArrowLeft")
    assert focused(page).startswith("hot")
    page.keyboard.press("ArrowLeft")
    expect(last).to_be_hidden()


def test_one_key_searches_all_collections(workbench: Workbench) -> None:
    slug = import_requests(workbench.server, "Searched", "zebra quagga", hot="okapi")
    page = workbench.open().page
    workbench.text.press("End")
    page.keyboard.type("/")
    expect(workbench.text).to_have_value(re.compile("/$"))
    page.locator("#outcome").focus()
    page.keyboard.press("/")
    box = page.get_by_role("combobox", name="Search")
    expect(box).to_be_focused()
    assert findings(page, "dialog[open]") == [], "nothing typed"
    page.keyboard.type("soup nothing-of-that-kind")
    expect(page.get_by_text("No results", exact=True)).to_be_visible()
    assert findings(page, "dialog[open]") == [], "not found"
    box.fill("soup okap")
    option = page.locator("command-palette").get_by_role("option")
    expect(option).to_have_count(1)
    expect(option.locator("mark").first).to_have_text("okap")
    expect(option).to_contain_text("Searched")
    assert findings(page, "dialog[open]", both_themes=True) == [], "found"
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/collections/{slug}/requests/okapi/"))
    expect(workbench.text).to_have_value("soup okapi")
    # The palette of commands finds saved requests, too.
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("theme")
    expect(page.get_by_role("option", name="Theme: Dark")).to_be_visible()
    box.fill("quagga")
    expect(page.get_by_role("option", name="quagga")).to_be_visible()
    page.keyboard.press("Enter")
    expect(workbench.text).to_have_value("soup quagga")


def test_a_phone(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    pile = open_collection(
        page, playground, "In the hand", f"{'long' * 20} b", **{"folder" * 12: "c"}
    )
    for address in (pile.url, f"{playground.url}/collections/"):
        page.goto(address)
        assert is_within(page, 390)
        assert findings(page) == []
    context.close()
