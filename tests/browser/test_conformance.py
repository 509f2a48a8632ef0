"""The Conformance tab: its count, its filters, the other version, and the way to a frame."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import findings
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def sent(workbench: Workbench, slug: str) -> Locator:
    """A run of a scenario that has ended; its report."""
    workbench.scenario(slug).send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()
    return opened(workbench)


def opened(workbench: Workbench) -> Locator:
    panel = workbench.tab("Conformance")
    expect(panel.locator(".report")).to_be_visible()
    return panel


def shown(panel: Locator, verdict: str) -> Locator:
    return panel.locator(f'.rule[data-verdict="{verdict}"]:visible')


def test_the_count_stands_on_the_tab_once_the_run_has_ended(workbench: Workbench) -> None:
    workbench.open().send()
    tab = workbench.page.get_by_role("tab", name="Conformance")
    expect(tab).to_have_accessible_name("Conformance passed")
    workbench.scenario("unnamed").send()
    expect(tab.locator(".verdict-count")).to_have_attribute("data-level", "must")
    expect(tab).to_contain_text("MUST violation")


def test_a_slow_run_is_judged_when_it_has_ended(workbench: Workbench) -> None:
    workbench.scenario("slow").send()
    panel = workbench.tab("Conformance")
    expect(panel).to_contain_text("when the run has ended")
    expect(workbench.page.locator(".verdict-count")).to_have_count(0)
    workbench.page.get_by_role("button", name="Stop").click()
    expect(panel.locator(".report")).to_be_visible()
    expect(shown(panel, "incomplete").first).to_be_visible()


def test_what_matters_is_shown_first_and_the_rest_on_request(workbench: Workbench) -> None:
    panel = sent(workbench, "unnamed")
    expect(shown(panel, "fail").first).to_be_visible()
    for verdict in ("pass", "not_applicable"):
        expect(shown(panel, verdict)).to_have_count(0)
    panel.get_by_role("checkbox", name="Passed").check()
    expect(shown(panel, "pass").first).to_be_visible()
    panel.get_by_role("checkbox", name="Failed").uncheck()
    expect(shown(panel, "fail")).to_have_count(0)
    expect(shown(panel, "not_applicable")).to_have_count(0)


def test_the_other_version_is_one_click_away(workbench: Workbench) -> None:
    panel = sent(workbench, "capitalised")
    must = panel.locator('.level[data-level="must"]')
    expect(must).to_contain_text("lowercase")
    panel.locator(".segment", has_text="0.54").click()
    expect(panel).to_contain_text("Checked against NLWeb 0.54")
    expect(panel).to_contain_text("sent as 0.55")
    expect(panel.get_by_label("Check against NLWeb 0.54")).to_be_checked()
    expect(panel.locator('.level[data-level="info"]')).to_contain_text("lowercase")


def test_a_finding_leads_to_its_frame(workbench: Workbench) -> None:
    panel = sent(workbench, "duplicate-index")
    rule = panel.locator(".rule", has_text="result-index-unique")
    frame = rule.get_by_role("button", name="in Events").first.get_attribute("data-frame")
    rule.get_by_role("button", name="in Events").first.click()
    page = workbench.page
    expect(page.locator("#event-detail h3")).to_contain_text(f"Frame {frame}")
    row = page.locator(f'#event-rows [data-seq="{frame}"] [aria-current]')
    expect(row).to_be_in_viewport()
    expect(row).to_be_focused()
    opened(workbench)
    rule.get_by_role("button", name="in Wire").first.click()
    block = page.locator(f'#wire-blocks [data-seq="{frame}"][data-found]')
    expect(block).to_be_in_viewport()
    expect(block).to_be_focused()


def test_a_finding_about_a_plain_reply_leads_to_its_bytes(workbench: Workbench) -> None:
    workbench.scenario("unnamed")
    plain = {"query": {"text": "eggs"}, "prefer": {"streaming": False}, "meta": {"version": "9"}}
    workbench.write_json(json.dumps(plain)).send()
    page = workbench.page
    expect(page.locator("run-cursor[data-final]")).to_be_attached()
    rule = shown(opened(workbench), "fail").first
    rule.get_by_role("button", name="in Events").first.click()
    expect(page.locator("#event-rows [aria-current]")).to_be_focused()
    expect(page.locator("#event-detail .bytes")).not_to_be_empty()
    opened(workbench)
    rule.get_by_role("button", name="in Wire").first.click()
    block = page.locator("#wire-blocks [data-found]")
    expect(block).to_be_focused()
    expect(block.locator("pre")).not_to_be_empty()


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


def test_a_report_can_be_taken_along(workbench: Workbench) -> None:
    panel = sent(workbench, "unnamed")
    with workbench.page.expect_download() as download:
        panel.get_by_role("link", name="JSON").click()
    report: dict[str, Any] = json.loads(download.value.path().read_text())
    assert report["run"] == workbench.run
    assert any(each["verdict"] == "fail" for each in report["findings"])


def test_rules_can_be_looked_up(workbench: Workbench) -> None:
    panel = sent(workbench, "unnamed")
    link = panel.locator(".rule:visible .rule-facts a").first
    expect(link).to_contain_text("section ")
    name = link.locator("code").inner_text()
    link.click()
    page = workbench.page
    expect(page.locator(".rule-name")).to_contain_text(name)
    expect(page.get_by_role("heading", name="Violating response")).to_be_attached()
    page.get_by_role("link", name="Rules", exact=True).click()
    expect(page.locator(f"tr#{name}")).to_be_attached()


def asked_of_the_agent_api(workbench: Workbench, text: str) -> Locator:
    """A run of the demo's Agent API that has ended; its report."""
    message = {"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}
    document = quote(json.dumps({"input": [message]}))
    workbench.open(f"/?agent=demo-agent-api&request={document}").send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()
    return opened(workbench)


def test_a_response_of_the_agent_api_is_judged_by_rules_of_its_own(workbench: Workbench) -> None:
    panel = asked_of_the_agent_api(workbench, "broken: wrong sum")
    expect(panel).to_contain_text("Checked against Agent API")
    expect(workbench.page.get_by_role("tab", name="Conformance")).to_contain_text(
        "1 MUST violation"
    )
    # There is one version, so there is nothing to choose.
    expect(panel.get_by_role("radio")).to_have_count(0)
    rule = shown(panel, "fail").filter(has_text="agent-api.delta-sum")
    frame = rule.get_by_role("button", name="in Events").get_attribute("data-frame")
    rule.get_by_role("button", name="in Events").click()
    expect(workbench.page.locator("#event-detail h3")).to_contain_text(f"Frame {frame}")
    opened(workbench)
    rule.get_by_role("link", name="agent-api.delta-sum").click()
    expect(workbench.page.locator(".found-note")).to_contain_text("must be identical")


def test_a_reply_over_mcp_is_judged_by_both(workbench: Workbench) -> None:
    workbench.open("/?agent=demo-mcp").send()
    expect(workbench.page.locator("run-cursor[data-final]")).to_be_attached()
    panel = opened(workbench)
    expect(panel).to_contain_text("Checked against NLWeb 0.55 over MCP")
    panel.get_by_role("checkbox", name="Passed").check()
    for rule in ("mcp.tool-ask-schema", "meta-present"):
        expect(shown(panel, "pass").filter(has_text=rule)).to_be_visible()
    panel.locator(".segment", has_text="0.54").click()
    expect(panel).to_contain_text("Checked against NLWeb 0.54 over MCP")
    # It breaks no rule of 0.54 either.
    expect(panel).to_contain_text("None failed")


def test_axe_finds_nothing_in_a_report_of_the_agent_api(
    still: Page, playground: PlaygroundServer
) -> None:
    panel = asked_of_the_agent_api(Workbench(still, playground), "broken: backwards")
    for label in ("Passed", "Not applicable"):
        panel.get_by_role("checkbox", name=label).check()
    assert findings(still) == []


def test_by_keyboard_alone(workbench: Workbench) -> None:
    workbench.scenario("duplicate-index").send()
    page = workbench.page
    expect(page.locator(".verdict-count")).to_be_visible()
    page.get_by_role("tab", name="Results").focus()
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Conformance")).to_be_focused()
    report = page.locator(".report")
    expect(report).to_be_visible()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.frame-link')"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("#event-detail h3")).to_contain_text("Frame")
    expect(page.locator("#event-rows .event-open[aria-current]")).to_be_focused()


@pytest.mark.parametrize("slug", ["unnamed", "truncated", "out-of-order"])
def test_axe_finds_nothing(still: Page, playground: PlaygroundServer, slug: str) -> None:
    workbench = Workbench(still, playground)
    panel = sent(workbench, slug)
    for label in ("Passed", "Not applicable"):
        panel.get_by_role("checkbox", name=label).check()
    assert findings(still, both_themes=True) == []


def test_axe_finds_nothing_in_the_rules(still: Page, playground: PlaygroundServer) -> None:
    still.goto(f"{playground.url}/rules/")
    assert findings(still, both_themes=True) == []


@pytest.mark.parametrize(
    "rule",
    [
        "nlweb/item-type-string",
        "mcp/mcp.content-parts",
        "agent-api/agent-api.usage",
        "json/json-utf8",
    ],
)
def test_axe_finds_nothing_in_a_rule(still: Page, playground: PlaygroundServer, rule: str) -> None:
    still.goto(f"{playground.url}/rules/{rule}/")
    assert findings(still, both_themes=True) == []
    still.set_viewport_size({"width": 390, "height": 844})
    assert still.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_phone_shows_it_without_scrolling_sideways(workbench: Workbench) -> None:
    page = workbench.page
    panel = sent(workbench, "unnamed")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(panel.locator(".rule:visible").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")
