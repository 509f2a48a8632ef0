"""The Sequence tab, and the annotated view of the Wire tab, by pointer and by keyboard."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench


def test_it_grows_in_place_and_opens_frames(workbench: Workbench, page: Page) -> None:
    workbench.scenario("slow").send()
    panel = workbench.tab("Sequence")
    results = panel.locator('.sequence-message[data-kind="result"]').first
    expect(results).to_be_visible()
    page.evaluate("window.drawn = document.querySelector('#tab-sequence .sequence-message')")
    title = results.locator("title")
    before = title.text_content() or ""
    expect(title).not_to_have_text(before)
    assert page.evaluate("drawn.isConnected"), "drawn anew"
    page.get_by_role("button", name="Stop").click()
    expect(panel.locator(".sequence-label", has_text="Cancelled")).to_be_visible()
    assert findings(page, both_themes=True) == []
    # By keyboard from the diagram, and by pointer from the list.
    call = panel.locator('.sequence-message[data-kind="call"]').first
    call.focus()
    call.press("Enter")
    detail = page.locator("#event-detail h3")
    expect(detail).to_have_text("Frame 1 request")
    workbench.tab("Sequence").get_by_text("Show as list").click()
    panel.locator("ol a", has_text="200 OK").first.click()
    expect(detail).to_have_text("Frame 3 response headers")


def test_a_message_of_another_turn_opens_that_turn(page: Page, workbench: Workbench) -> None:
    workbench.open().compose("breakfast with eggs").send()
    first = workbench.run
    expect(workbench.badge).to_have_text("Completed")
    box = page.locator("#response").get_by_role("textbox", name="Follow-up")
    box.fill("surprise me, but ask first")
    box.press("Enter")
    expect(workbench.badge).to_have_text("Input required")
    panel = workbench.tab("Sequence")
    expect(panel.locator(".sequence-turn")).to_have_count(2)
    expect(panel.locator(".sequence-turn").last).to_have_attribute("data-chosen", "")
    panel.locator('.sequence-message[data-kind="result"]').first.click()
    expect(page.locator("#response")).to_have_attribute("data-run", first or "")
    expect(page.locator("#event-detail h3")).to_have_text("Frame 5 SSE event")
    # A link that is opened in a tab of its own.
    page.goto("about:blank")
    page.goto(f"{workbench.server.url}/runs/{first}/#frame-3")
    expect(page.locator("#event-detail h3")).to_have_text("Frame 3 response headers")


def test_bytes_and_meanings_lead_to_each_other(workbench: Workbench) -> None:
    workbench.open().send()
    page = workbench.page
    expect(page.locator("run-cursor[data-final]")).to_be_attached()
    panel = workbench.tab("Wire")
    panel.get_by_role("link", name="Annotated").click()
    request = panel.get_by_role("group", name="Frame 1: request")
    text = request.locator(".meaning-name", has_text="text member")
    text.click()
    expect(text).to_have_attribute("aria-current", "true")
    expect(request.locator(".annotated-bytes [data-chosen]")).to_contain_text('"text": ')

    page.keyboard.press("ArrowUp")
    expect(request.locator(".meaning-name[aria-current=true]")).to_contain_text("query")
    expect(request.locator(".meaning-name[aria-current=true]")).to_be_focused()

    request.locator(".annotated-bytes [data-part]").first.click()
    expect(request.locator(".meaning-name[aria-current=true]")).to_contain_text("POST")
    assert findings(page, "#tab-wire", both_themes=True) == []
    panel.get_by_role("button", name="Explain frame").first.click()
    expect(page.locator(".wire-title:focus")).to_be_visible()

    # The view is remembered, and a frame is found in it from elsewhere.
    jump = panel.get_by_role("button", name="in Results").first
    seq = jump.evaluate("button => button.closest('[data-seq]').dataset.seq")
    jump.click()
    expect(page.locator(f'.cards > [data-marked][data-seq="{seq}"]')).to_be_visible()
    workbench.open(f"/runs/{workbench.run}/?wire=annotated&frame={seq}")
    expect(page.locator(f'.annotated[data-found][data-seq="{seq}"]')).to_be_visible()
