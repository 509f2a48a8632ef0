"""The Conformance tab: its count, its filters, the other version, and the way to a frame."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench, is_within


def opened(workbench: Workbench) -> Locator:
    panel = workbench.tab("Conformance")
    expect(panel.locator(".report")).to_be_visible()
    return panel


def shown(panel: Locator, verdict: str) -> Locator:
    return panel.locator(f'.rule[data-verdict="{verdict}"]:visible')


def test_from_the_count_to_a_frame_and_to_a_rule(workbench: Workbench) -> None:
    page = workbench.page
    workbench.scenario("duplicate-index").send()
    tab = page.get_by_role("tab", name="Conformance")
    expect(tab.locator(".verdict-count")).to_have_attribute("data-level", "must")
    expect(tab).to_contain_text("MUST violation")
    # By keyboard to the report, and on to a frame.
    page.get_by_role("tab", name="Results").focus()
    page.keyboard.press("End")
    expect(tab).to_be_focused()
    expect(page.locator(".report")).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.frame-link')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#event-detail h3")).to_contain_text("Frame")
    expect(page.locator("#event-rows .event-open[aria-current]")).to_be_focused()
    # What matters is shown first, and the rest on request.
    panel = opened(workbench)
    expect(shown(panel, "fail").first).to_be_visible()
    for verdict in ("pass", "not_applicable"):
        expect(shown(panel, verdict)).to_have_count(0)
    assert findings(page, "#tab-conformance", both_themes=True) == []
    for name, verdict in (("Passed", "pass"), ("Not applicable", "not_applicable")):
        panel.get_by_role("checkbox", name=name).check()
        expect(shown(panel, verdict).first).to_be_visible()
    assert findings(page, "#tab-conformance") == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert is_within(page, 390)
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
    page.set_viewport_size({"width": 1280, "height": 720})
    panel.get_by_role("checkbox", name="Failed").uncheck()
    expect(shown(panel, "fail")).to_have_count(0)
    panel.get_by_role("checkbox", name="Failed").check()
    # By pointer, both ways.
    rule = panel.locator(".rule", has_text="result-index-unique")
    link = rule.get_by_role("button", name="in Events").first
    frame = link.get_attribute("data-frame")
    link.click()
    expect(page.locator("#event-detail h3")).to_contain_text(f"Frame {frame}")
    row = page.locator(f'#event-rows [data-seq="{frame}"] [aria-current]')
    expect(row).to_be_in_viewport()
    expect(row).to_be_focused()
    opened(workbench)
    rule.get_by_role("button", name="in Wire").first.click()
    block = page.locator(f'#wire-blocks [data-seq="{frame}"][data-found]')
    expect(block).to_be_in_viewport()
    expect(block).to_be_focused()
    opened(workbench)
    with page.expect_download() as download:
        panel.get_by_role("link", name="JSON", exact=True).click()
    report: dict[str, Any] = json.loads(download.value.path().read_text())
    assert report["run"] == workbench.run
    # The other version is one click away, and a rule can be looked up.
    panel.locator(".segment", has_text="0.54").click()
    expect(panel).to_contain_text("Checked against NLWeb 0.54")
    expect(panel.get_by_label("Check against NLWeb 0.54")).to_be_checked()
    link = panel.locator(".rule:visible .rule-facts a").first
    name = link.locator("code").inner_text()
    link.click()
    expect(page.locator(".rule-name")).to_contain_text(name)


def test_a_slow_run_is_judged_when_it_has_ended(workbench: Workbench) -> None:
    workbench.scenario("slow").send()
    panel = workbench.tab("Conformance")
    expect(panel).to_contain_text("when the run has ended")
    expect(workbench.page.locator(".verdict-count")).to_have_count(0)
    workbench.page.get_by_role("button", name="Stop").click()
    expect(panel.locator(".report")).to_be_visible()
    expect(shown(panel, "incomplete").first).to_be_visible()
    assert findings(workbench.page, "#response") == []


def test_a_frame_far_down_a_flood_is_fetched_alone(workbench: Workbench) -> None:
    workbench.scenario("flood").send()
    page = workbench.page
    expect(page.locator("run-cursor[data-final]")).to_be_attached(timeout=60_000)
    panel = workbench.tab("Conformance")
    last = int(page.locator("run-cursor").get_attribute("data-last") or 0)
    # A rule that every flood keeps has no finding, so one is made to lead far down.
    panel.evaluate(
        """(panel, seq) => {
          for (const where of ["events", "wire"]) {
            const link = document.createElement("button");
            link.className = "frame-link";
            link.dataset.frame = seq;
            link.dataset.in = where;
            link.textContent = `far ${where}`;
            panel.append(link);
          }
        }""",
        last - 5,
    )
    panel.get_by_role("button", name="far wire").click()
    block = page.locator(f'#wire-jump [data-seq="{last - 5}"][data-found]')
    expect(block).to_be_in_viewport()
    expect(block).to_be_focused()
    assert page.locator("#wire-blocks > *").count() < last / 2
    workbench.tab("Conformance").get_by_role("button", name="far events").click()
    heading = page.locator("#event-detail h3")
    expect(heading).to_contain_text(f"Frame {last - 5}")
    expect(heading).to_be_focused()
    assert page.locator("#event-rows > *").count() < last / 2
