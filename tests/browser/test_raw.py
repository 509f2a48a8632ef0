"""Sending what is wrong on purpose: the button beside a refusal, and the form of a raw request."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench


def test_what_is_refused_can_be_sent_anyway_by_keyboard(workbench: Workbench) -> None:
    page = workbench.open().compose("").page
    anyway = page.get_by_role("button", name="Send anyway")
    page.get_by_role("button", name="Send").first.press("Enter")
    for text in ("", "no JSON"):
        if text:
            workbench.write_json(text)
        before = workbench.run or ""
        expect(anyway).to_have_count(1)
        anyway.press("Enter")
        expect(page.locator("#response")).not_to_have_attribute("data-run", before)
        expect(workbench.badge).to_have_text("Agent error")
    workbench.write_json('{"query": {"text": "soup"}}')
    expect(anyway).to_have_count(0)


def test_the_form_of_a_raw_request_is_a_view_of_the_document(
    workbench: Workbench, tmp_path: Path
) -> None:
    page = workbench.open().compose("soup").page
    page.locator("summary", has_text="Raw request").press("Enter")
    page.get_by_role("combobox", name="method", exact=True).fill("PATCH")
    page.get_by_role("textbox", name="path", exact=True).fill("/who?page=2")
    page.get_by_role("textbox", name="body", exact=True).fill("hi")
    assert workbench.document["raw"] == {"method": "PATCH", "path": "/who?page=2", "body": "hi"}
    expect(workbench.effective).to_contain_text("PATCH")
    expect(workbench.effective).to_contain_text("/demo/who?page=2")
    (tmp_path / "bytes").write_bytes(b"\xff\x00")
    page.get_by_label("body from a file").set_input_files(tmp_path / "bytes")
    expect(page.get_by_role("textbox", name="encoding", exact=True)).to_have_value("base64")
    assert workbench.document["raw"]["body"] == "/wA="
    assert findings(page) == []
    workbench.send()
    expect(page.locator("#response")).to_contain_text("PATCH /who?page=2")
    # The section is open where a raw request is opened.
    page.reload()
    method = page.get_by_role("combobox", name="method", exact=True)
    expect(method).to_have_value("PATCH")
    expect(method).to_be_visible()
