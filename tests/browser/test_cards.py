"""Cards: their layout, the menu of actions, and the event that is marked everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.keyboard import focused
from tests.browser.workbench import Workbench

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


def ask(workbench: Workbench, text: str, **sections: Any) -> Locator:
    """The cards of an answer."""
    workbench.open()
    if sections:
        workbench.write_json(json.dumps({"query": {"text": text}, **sections}))
    else:
        workbench.compose(text)
    workbench.send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()
    return workbench.page.locator("#cards > .card")


def test_facts_and_images_at_every_width(page: Page, workbench: Workbench) -> None:
    cards = ask(workbench, "breakfast with eggs")
    expect(cards.nth(2)).to_be_attached()
    show_response = page.locator('.pane-switch [data-show-pane="outcome"]')
    for width in (390, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        if show_response.is_visible():
            show_response.click()
        for number in range(3):
            card = cards.nth(number)
            card.scroll_into_view_if_needed()
            lines = card.locator(".card-facts").evaluate(LINES)
            assert sum(lines) == 9
            assert 1 not in lines, (width, lines)
            assert not card.evaluate(OVERFLOW), width
            image = card.locator(".card-media").bounding_box()
            assert image
            assert image["width"] / image["height"] == pytest.approx(4 / 3, abs=0.01)
            actions, toggle = card.locator(".action-buttons"), card.locator(".raw-toggle")
            assert actions.locator("button:visible").count() == 2
            beside, json_toggle = actions.bounding_box(), toggle.bounding_box()
            assert beside
            assert json_toggle
            assert json_toggle["y"] < beside["y"] + beside["height"]
    expect(cards.first.locator(".card-facts")).to_contain_text("Prep time")
    expect(cards.first.locator(".card-facts")).to_contain_text("Estimated cost")
    cards.first.get_by_role("button", name="JSON").click()
    expect(cards.first.locator(".card-raw pre")).to_contain_text('"Recipe"')


def test_the_chevron_of_a_list_turns(workbench: Workbench) -> None:
    found = ask(workbench, "soup").first.locator(".card-list").first
    chevron = "(list) => getComputedStyle(list.querySelector('summary'), '::before').rotate"
    assert found.evaluate(chevron) == "-45deg"
    found.locator("summary").click()
    expect(found).to_have_attribute("open", "")
    found.evaluate(
        "(list) => Promise.all(list.getAnimations({ subtree: true }).map((a) => a.finished))"
    )
    assert found.evaluate(chevron) == "45deg"


def test_without_an_image_the_title_is_below_the_type(workbench: Workbench) -> None:
    workbench.scenario("slow").send()
    card = workbench.cards.first
    kind, title = card.locator(".card-kind"), card.locator(".card-title")
    expect(title).to_be_visible()
    boxes = kind.bounding_box(), title.bounding_box()
    assert boxes[0]
    assert boxes[1]
    assert abs(boxes[0]["x"] - boxes[1]["x"]) < 8
    assert boxes[0]["y"] < boxes[1]["y"]


def test_the_menu_of_actions_by_keyboard(page: Page, workbench: Workbench) -> None:
    card = ask(workbench, "breakfast with eggs").first
    more = card.get_by_role("button", name="More", exact=True)
    items = card.get_by_role("menuitem")
    more.focus()
    page.keyboard.press("Enter")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    page.keyboard.press("End")
    expect(items.last).to_be_focused()
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
    show_response = page.locator('.pane-switch [data-show-pane="outcome"]')
    if show_response.is_visible():
        show_response.click()
    more.click()
    expect(items.first).to_be_focused()
    box = card.locator(".action-menu").bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 400


def test_a_card_and_its_event_are_marked_in_every_tab(page: Page, workbench: Workbench) -> None:
    cards = ask(workbench, "breakfast with eggs")
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


def test_of_a_body_that_is_no_stream_the_bytes_are_marked(workbench: Workbench) -> None:
    cards = ask(workbench, "breakfast with eggs", prefer={"streaming": False})
    cards.first.locator(".card-title").hover()
    expect(cards.first).to_have_attribute("data-marked", "")
    # Its other results are in the same frame.
    expect(cards.nth(1)).not_to_have_attribute("data-marked", "")
    block = workbench.tab("Wire").locator('.wire-block[data-kind="body"]').last
    expect(block).to_have_attribute("data-marked", "")
    expect(block.locator("pre")).not_to_be_empty()


def test_the_timeline_grows_and_keeps_what_is_drawn(page: Page, workbench: Workbench) -> None:
    address = f"{workbench.server.url}/demo/scenarios/slow/ask?n=40"
    workbench.add_agent("Slow for long", address).send()
    marks = workbench.tab("Timeline").locator(".mark")
    expect(marks.nth(1)).to_be_visible()
    page.evaluate("window.drawn = document.querySelector('#tab-timeline .mark')")
    place = "(() => [drawn.isConnected, drawn.getAttribute('x')])()"
    assert page.evaluate(place)[0]
    # It moves away from the pointer where the axis gets longer meanwhile.
    for _ in range(20):
        marks.first.hover()
        page.wait_for_timeout(200)
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
