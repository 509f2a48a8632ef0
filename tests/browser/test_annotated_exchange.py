"""The annotated view of the Wire tab: bytes and meanings, by pointer and by keyboard."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench


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
