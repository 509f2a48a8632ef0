"""What the page shows while a run goes on, and what cannot make it lose or repeat anything."""

from __future__ import annotations

import re
from itertools import pairwise

from playwright.sync_api import Page, expect

from tests.browser.sockets import lost_socket
from tests.browser.workbench import Workbench

COUNT_SOCKETS = """
  window.sockets = [];
  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    constructor(...args) { super(...args); window.sockets.push(this); }
  };
"""


def is_contiguous(numbers: list[int]) -> bool:
    return bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def last_frame(workbench: Workbench) -> str:
    """How far the page is; of its cards it has a window, which may be full."""
    return workbench.page.locator("#run-cursor").get_attribute("data-last") or ""


def test_a_run_in_two_tabs_over_a_reload_until_it_is_stopped_by_key(
    page: Page, workbench: Workbench
) -> None:
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(3)).to_be_visible()
    before = workbench.seqs()
    page.reload()
    expect(workbench.badge).to_have_text("Streaming")
    after = workbench.seqs()
    assert after[: len(before)] == before
    seen = last_frame(workbench)
    expect(page.locator("#run-cursor")).not_to_have_attribute("data-last", seen)
    other = Workbench(page.context.new_page(), workbench.server)
    other.page.goto(page.url)
    expect(other.cards.nth(4)).to_be_visible()
    # Stopped in one, seen in both, and not an error.
    page.bring_to_front()
    page.keyboard.press("Escape")
    for each in (workbench, other):
        expect(each.badge).to_have_attribute("data-state", "cancelled")
        expect(each.page.locator("#run-ending")).to_contain_text("You stopped this run")
        expect(each.page.get_by_role("button", name="Stop")).to_have_count(0)
        expect(each.page.locator("run-cursor[data-final]")).to_be_attached()
    assert workbench.seqs() == other.seqs()
    assert is_contiguous(other.seqs())


def test_a_dropped_socket_comes_back_without_loss(
    page: Page, workbench: Workbench, complaints: list[str]
) -> None:
    page.add_init_script(COUNT_SOCKETS)
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(2)).to_be_visible()
    # 4000: what a client may say. The extension connects again for abnormal ends only, so
    # the drop is made where it happens in life: in the network.
    with lost_socket(complaints):
        page.context.set_offline(True)
        page.evaluate(
            "window.sockets.at(-1).dispatchEvent(new CloseEvent('close', { code: 1006 }))"
        )
        page.evaluate("window.sockets.at(-1).close()")
        stood_still = last_frame(workbench)
        page.context.set_offline(False)
        expect(workbench.page.locator("#run-cursor")).not_to_have_attribute(
            "data-last", stood_still
        )
    assert page.evaluate("window.sockets.length") > 1
    assert is_contiguous(workbench.seqs())
    page.get_by_role("button", name="Stop").click()
    expect(workbench.badge).to_have_text("Cancelled")


def test_a_flood_is_counted_windowed_and_reachable(workbench: Workbench) -> None:
    workbench.scenario("flood").send()
    expect(workbench.badge).to_have_text("Completed", timeout=60_000)
    assert workbench.figure("results") == 20_000
    more = workbench.page.locator("#tab-results [data-more]")
    expect(more).to_have_text(re.compile(r"1\d,\d{3} more"))
    loaded = workbench.cards.count()
    assert loaded < 400
    more.scroll_into_view_if_needed()
    expect(workbench.cards.nth(loaded + 10)).to_be_attached()
    assert is_contiguous(workbench.seqs())
    events = workbench.tab("Events")
    expect(events.locator("li").nth(100)).to_be_attached()
    assert events.locator("li").count() < 1000


def test_results_out_of_order_can_be_read_by_index(workbench: Workbench) -> None:
    workbench.scenario("out-of-order").send()
    expect(workbench.badge).to_have_text("Completed")
    results = workbench.page.locator("#tab-results")
    indexes = results.locator(".card-index")
    expect(indexes).to_have_text(["#3", "#0", "#4", "#1", "#2"])
    results.locator("[data-order]").select_option("index")
    expect(indexes).to_have_text(["#0", "#1", "#2", "#3", "#4"])
    panel = workbench.tab("Events")
    panel.get_by_label("Sort events by").select_option("index")
    expect(panel.locator("li").first.locator(".card-index")).to_have_text("#0")
    numbers = [int(text[1:]) for text in panel.locator(".card-index").all_text_contents()]
    assert numbers == sorted(numbers)


def test_a_response_byte_for_byte(workbench: Workbench) -> None:
    page = workbench.open().send().page
    expect(page.locator("run-cursor[data-final]")).to_be_attached()
    card = workbench.cards.first
    card.get_by_role("button", name="JSON").click()
    expect(card.locator("pre")).to_contain_text('"@type"')
    panel = workbench.tab("Events")
    panel.locator('li[data-kind="result"] button').first.click()
    expect(page.locator("#event-detail")).to_contain_text("event: result")
    panel = workbench.tab("Wire")
    expect(panel).to_contain_text("POST /demo/ask HTTP/1.1")
    expect(panel).to_contain_text("event: complete")
    panel.get_by_role("button", name="As parsed by httpx-sse").click()
    expect(panel).to_contain_text("as parsed by httpx-sse")
    # The labels of the time axis keep apart on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    labels = workbench.tab("Timeline").locator(".tick-label:visible")
    expect(labels.first).to_have_text("0 ms")
    found = labels.evaluate_all(
        "labels => labels.map(each => each.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    # However long the run took: every other label has gone, and its line has stayed.
    lines = page.locator("#tab-timeline .tick").count()
    assert (len(found), lines >= 4) == ((lines + 1) // 2, True)
    assert all(before[1] < after[0] for before, after in pairwise(found))


def test_the_reader_is_not_dragged_along(workbench: Workbench) -> None:
    workbench.page.set_viewport_size({"width": 1440, "height": 500})
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(5)).to_be_attached()
    panel = workbench.page.locator(".transcript")
    panel.evaluate("panel => { panel.scrollTop = 20 }")
    expect(workbench.page.locator(".pill")).to_contain_text("new")
    assert panel.evaluate("panel => panel.scrollTop") == 20
    workbench.page.locator(".pill").click()
    expect(workbench.page.locator(".pill")).to_have_count(0)
    workbench.page.keyboard.press("Escape")
    expect(workbench.badge).to_have_text("Cancelled")
