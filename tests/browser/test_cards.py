"""Cards: their layout, the menu of actions, and the event that is marked everywhere."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.keyboard import focused
from tests.browser.workbench import Workbench, boxes

#: Number of facts on each line, by their upper edges.
LINES = """list => {
  const lines = new Map();
  for (const fact of list.children) {
    const top = Math.round(fact.getBoundingClientRect().top);
    lines.set(top, (lines.get(top) ?? 0) + 1);
  }
  return [...lines.values()];
}"""
OVERFLOW = "card => card.scrollWidth > card.clientWidth"
CHEVRON = """async (list) => {
  await Promise.all(list.getAnimations({ subtree: true }).map((each) => each.finished));
  return getComputedStyle(list.querySelector("summary"), "::before").rotate;
}"""


def show_response(page: Page) -> None:
    """On a narrow screen, show the pane of the response."""
    switch = page.locator('.pane-switch [data-show-pane="outcome"]')
    if switch.is_visible():
        switch.click()


def test_facts_images_and_the_menu_of_actions(page: Page, workbench: Workbench) -> None:
    workbench.quick().compose("breakfast with eggs").send().ended()
    cards = page.locator("#cards > .card")
    for width in (390, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        show_response(page)
        for number in range(3):
            card = cards.nth(number)
            card.scroll_into_view_if_needed()
            lines = card.locator(".card-facts").evaluate(LINES)
            assert sum(lines) == 9
            assert 1 not in lines, (width, lines)
            assert not card.evaluate(OVERFLOW), width
            [image] = boxes(card.locator(".card-media"))
            assert image["width"] / image["height"] == pytest.approx(4 / 3, abs=0.01)
            actions, toggle = card.locator(".action-buttons"), card.locator(".raw-toggle")
            assert actions.locator("button:visible").count() == 2
            under, row = boxes(toggle, actions)
            assert under["y"] < row["y"] + row["height"]
    card = cards.first
    expect(card.locator(".card-facts")).to_contain_text("Prep time")
    card.get_by_role("button", name="JSON").click()
    expect(card.locator(".card-raw pre")).to_contain_text('"Recipe"')
    unfolding = card.locator(".card-list").first
    assert unfolding.evaluate(CHEVRON) == "-45deg"
    unfolding.locator("summary").click()
    assert unfolding.evaluate(CHEVRON) == "45deg"

    more = card.get_by_role("button", name="More", exact=True)
    items = card.get_by_role("menuitem")
    more.press("Enter")
    expect(items.first).to_be_focused()
    for key, item in (("ArrowUp", items.last), ("ArrowDown", items.first), ("End", items.last)):
        page.keyboard.press(key)
        expect(item).to_be_focused()
    page.keyboard.press("Escape")
    expect(items.first).to_be_hidden()
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    expect(items.first).to_be_focused()
    name = focused(page).split()[0]
    page.keyboard.press("Enter")
    panel = card.locator("action-panel")
    expect(panel).to_be_focused()
    expect(panel.get_by_role("heading")).to_contain_text(name)
    expect(items.first).to_be_hidden()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(more).to_be_focused()
    # The menu stays on the screen.
    page.set_viewport_size({"width": 390, "height": 400})
    show_response(page)
    more.click()
    expect(items.first).to_be_focused()
    [menu] = boxes(card.locator(".action-menu"))
    assert 0 <= menu["x"] <= menu["x"] + menu["width"] <= 390
    assert 0 <= menu["y"] <= menu["y"] + menu["height"] <= 400


def test_a_card_and_its_event_are_marked_in_every_tab(page: Page, workbench: Workbench) -> None:
    # The pauses of the demo agent keep the marks of its events apart.
    workbench.open().compose("breakfast with eggs").send().ended()
    cards = page.locator("#cards > .card")
    card = cards.nth(1)
    seq = card.get_attribute("data-seq")
    card.locator(".card-title").hover()
    expect(card).to_have_attribute("data-marked", "")
    for name, mark in (
        ("Timeline", f'.mark[data-seq="{seq}"]'),
        ("Events", f'#event-rows [data-seq="{seq}"]'),
        ("Wire", f'#wire-blocks [data-seq="{seq}"]'),
    ):
        panel = workbench.tab(name)
        expect(panel.locator(mark)).to_have_attribute("data-marked", "")
        expect(panel.locator("[data-marked]")).to_have_count(1)
        expect(panel.locator("[data-marked]")).to_be_in_viewport()
    # And back: from a row, by keyboard, to the card.
    row = workbench.tab("Events").locator('#event-rows [data-kind="result"]').nth(5)
    row.locator("button").focus()
    workbench.tab("Results")
    expect(cards.nth(5)).to_have_attribute("data-marked", "")
    expect(cards.nth(5)).to_be_in_viewport()
    expect(card).not_to_have_attribute("data-marked", "")
    workbench.tab("Timeline").locator(".mark").nth(3).hover()
    expect(cards.nth(2)).to_have_attribute("data-marked", "")

    # Of a body that is no stream the bytes are marked, and not its other results.
    whole = {"query": {"text": "breakfast with eggs"}, "prefer": {"streaming": False}}
    workbench.write_json(json.dumps(whole)).send().ended()
    workbench.tab("Results")
    cards.first.locator(".card-title").hover()
    expect(cards.first).to_have_attribute("data-marked", "")
    expect(cards.nth(1)).not_to_have_attribute("data-marked", "")
    block = workbench.tab("Wire").locator('.wire-block[data-kind="body"]').last
    expect(block).to_have_attribute("data-marked", "")
    expect(block.locator("pre")).not_to_be_empty()


def test_the_timeline_grows_and_keeps_what_is_drawn(page: Page, workbench: Workbench) -> None:
    address = f"{workbench.server.url}/demo/scenarios/slow/ask?n=40"
    workbench.add_agent("Slow for long", address).send()
    # Without an image the title stands below the type.
    kind, title = (workbench.cards.first.locator(name) for name in (".card-kind", ".card-title"))
    expect(title).to_be_visible()
    above, below = boxes(kind, title)
    assert abs(above["x"] - below["x"]) < 8
    assert above["y"] < below["y"]

    marks = workbench.tab("Timeline").locator(".mark")
    expect(marks.nth(1)).to_be_visible()
    page.evaluate("window.drawn = document.querySelector('#tab-timeline .mark')")
    place = "(() => [drawn.isConnected, drawn.getAttribute('x')])()"
    assert page.evaluate(place)[0]
    # It moves away from the pointer where the axis gets longer meanwhile.
    for _ in range(20):
        marks.first.hover()
        if marks.first.get_attribute("data-marked") is not None:
            break
    expect(marks.first).to_have_attribute("data-marked", "")
    count, before = marks.count(), page.evaluate(place)
    expect(marks.nth(count)).to_be_attached()
    assert page.evaluate(place)[0], "drawn anew"
    # The scale changes only when the run gets longer than the axis: 1, 2, 5 … seconds.
    assert float(page.evaluate(place)[1].rstrip("%")) <= float(before[1].rstrip("%"))
    expect(marks.first).to_have_attribute("data-marked", "")
    page.get_by_role("button", name="Stop").click()
