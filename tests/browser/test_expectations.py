"""Expectations: written by keyboard, sent, and seen as met or not, here and in another window."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.keyboard import focused, tab_to
from tests.browser.workbench import Workbench

UNMET = {"type": "json", "path": "$.results[0].name", "equals": "No such dish"}


def editor(workbench: Workbench) -> Locator:
    """The Expect panel, once it has come."""
    workbench.page.locator("#compose").get_by_role("tab", name="Expect").click()
    panel = workbench.page.locator("#tab-expect")
    expect(panel.get_by_role("button", name="Expectation", exact=True)).to_be_enabled()
    return panel


def rows(panel: Locator) -> Locator:
    return panel.locator("[data-expectations] .expect-row")


def written(page: Page, name: str = "expectations") -> Any:
    return json.loads(page.locator(f"#composer [name={name}]").input_value() or "null")


def write_json(panel: Locator, value: Any) -> None:
    fold = panel.locator("details", has_text="As JSON")
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()
    area = panel.locator("[data-json=expectations]")
    area.fill(value if isinstance(value, str) else json.dumps(value))


def test_written_by_keyboard_sent_and_judged(workbench: Workbench) -> None:
    page = workbench.quick().compose("soup").page
    tab = page.locator("#compose").get_by_role("tab", name="Expect")
    page.locator("#compose").get_by_role("tab", name="Headers").focus()
    page.keyboard.press("ArrowRight")
    expect(tab).to_be_focused()
    expect(page.get_by_role("button", name="Expectation", exact=True)).to_be_enabled()
    tab_to(page, "Expectation")
    page.keyboard.press("Enter")
    assert focused(page) == "is"
    tab_to(page, "Expectation")
    page.keyboard.press("Enter")
    assert focused(page) == "at the path"
    tab_to(page, "Operator")
    page.keyboard.type("equals")
    tab_to(page, "the value")
    page.keyboard.type("No such dish")
    assert written(page) == [{"type": "outcome", "equals": "answer"}, UNMET]
    page.keyboard.press("ControlOrMeta+Enter")
    tally = page.locator(".checks-tally")
    expect(tally).to_have_text("1 of 2 passed")
    expect(tally).to_have_attribute("data-verdict", "fail")
    expect(page.get_by_role("tab", name="Checks")).to_have_accessible_name("Checks 1/2")
    tally.press("Enter")
    checks = page.locator("#tab-checks .rule")
    expect(checks.nth(0)).to_contain_text("Passed")
    expect(checks.nth(1)).to_contain_text("Failed")
    expect(checks.nth(1)).to_contain_text("Actual:")
    panel = page.locator("#tab-expect")
    expect(rows(panel).nth(0)).to_have_attribute("data-verdict", "pass")
    expect(rows(panel).nth(1)).to_have_attribute("data-verdict", "fail")
    assert findings(page, "#tab-checks", both_themes=True) == []
    # The verdict outlives a reload and is seen in another window.
    other = page.context.new_page()
    for each in (other, page):
        each.goto(page.url)
        expect(each.locator(".checks-tally")).to_have_text("1 of 2 passed")
    assert written(page) == [{"type": "outcome", "equals": "answer"}, UNMET]


def test_a_slow_run_is_checked_when_it_has_ended(workbench: Workbench) -> None:
    panel = editor(workbench.scenario("slow"))
    write_json(panel, [{"type": "state", "equals": "cancelled"}])
    workbench.send()
    page = workbench.page
    expect(page.locator("#tab-checks")).to_be_attached()
    expect(page.locator(".checks-tally")).to_have_count(0)
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".checks-tally")).to_have_text("1 of 1 passed")


def test_rows_and_json_say_the_same(workbench: Workbench) -> None:
    page = workbench.open().compose("soup").page
    panel = editor(workbench)
    assert findings(page, "#compose") == [], "empty"
    write_json(panel, [UNMET, {"type": "results", "min": 2}, {"type": "order", "events": ["text"]}])
    expect(rows(panel)).to_have_count(3)
    expect(rows(panel).nth(0).get_by_label("the value").first).to_be_visible()
    expect(rows(panel).nth(1).get_by_label("at least")).to_have_value("2")
    rows(panel).nth(1).get_by_label("exactly").fill("3")
    assert written(page)[1] == {"type": "results", "min": 2, "exact": 3}
    expect(panel.locator("[data-json=expectations]")).to_have_value(
        page.locator("#composer [name=expectations]").input_value()
    )
    rows(panel).nth(1).get_by_role("button", name="Move up").press("Enter")
    assert [each["type"] for each in written(page)] == ["results", "json", "order"]
    expect(rows(panel).nth(0).get_by_role("button", name="Move down")).to_be_focused()
    rows(panel).nth(0).get_by_role("button", name="Remove").press("Enter")
    assert [each["type"] for each in written(page)] == ["json", "order"]
    rows(panel).nth(1).get_by_label("Expectation type").select_option("failure")
    assert written(page)[1]["type"] == "failure"
    # Long numbers keep their digits.
    large = {"type": "json", "path": "$.id", "equals": 2**53 + 1}
    write_json(panel, [large, {"type": "results", "min": 2}])
    value = rows(panel).nth(0).get_by_label("the value").first
    expect(value).to_have_value("9007199254740993")
    rows(panel).nth(1).get_by_label("exactly").fill("3")
    assert written(page)[0] == large
    value.fill("123456789012345678901234567890")
    assert written(page)[0] == {**large, "equals": 123456789012345678901234567890}
    rows(panel).nth(0).get_by_role("button", name="Move down").press("Enter")
    assert written(page)[1]["equals"] == 123456789012345678901234567890
    # What is wrong is told where it is.
    write_json(panel, [{"type": "json", "path": "$.results[", "exists": True}])
    expect(rows(panel).nth(0)).to_have_attribute("data-verdict", "wrong")
    expect(rows(panel).nth(0)).to_contain_text("Invalid JSONPath at character")
    expect(rows(panel).nth(0).get_by_label("at the path")).to_have_attribute("aria-invalid", "true")
    panel.get_by_role("button", name="Capture", exact=True).click()
    assert findings(page, "#compose", both_themes=True) == [], "written"
    write_json(panel, "[{")
    expect(panel.locator("[data-json-problem=expectations]")).not_to_be_empty()
    expect(rows(panel)).to_have_count(0)
    write_json(panel, "[]")
    expect(panel.locator("[data-json-problem=expectations]")).to_be_empty()


def test_what_the_run_that_is_shown_offers(workbench: Workbench) -> None:
    page = workbench.quick().compose("soup").send().ended().page
    # Without expectations nothing of it is shown.
    expect(page.get_by_role("tab", name="Checks")).to_have_count(0)
    expect(page.locator(".checks-tally")).to_have_count(0)
    panel = editor(workbench)
    panel.get_by_role("button", name="no MUST violations").click()
    panel.get_by_role("button", name="results", exact=False).first.click()
    expect(rows(panel)).to_have_count(2)
    for at in range(2):
        expect(rows(panel).nth(at)).to_have_attribute("data-verdict", "pass")
    expect(panel.get_by_role("button", name="no MUST violations")).to_have_count(0)
    panel.get_by_role("button", name="Capture", exact=True).click()
    panel.get_by_label("Variable").fill("link")
    assert written(page, "captures") == {"link": "$.results[0].url"}
    expect(panel.locator("[data-captures]")).to_contain_text('= "https://')
    panel.get_by_label("JSONPath of the value").fill("$.nowhere")
    expect(panel.locator("[data-captures]")).to_contain_text("No match for $.nowhere")
    panel.get_by_text("JSONPath input").click()
    expect(panel.locator(".expect-document")).to_contain_text('"results": [')
