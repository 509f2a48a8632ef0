"""The figures that only a browser has: time to the last card, long tasks, weight of the page."""

from __future__ import annotations

import json
from dataclasses import dataclass

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import launch_options

WATCH_LONG_TASKS = """
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.longTasks.push(entry.duration);
  }).observe({ type: "longtask", buffered: true });
"""
WEIGHT = """() => {
  const all = performance.getEntriesByType("resource");
  const page = performance.getEntriesByType("navigation")[0];
  return [all.reduce((sum, r) => sum + r.transferSize, page.transferSize), all.length + 1];
}"""


@dataclass
class PageFigures:
    """What a browser measured."""

    bare_ms: float
    playground_ms: float
    longest_task_ms: float
    weight: int
    requests: int
    #: The same once the JSON editor, which is loaded when it is first shown, is there.
    weight_with_editor: int


def measure(playground: str, source: str, results: int) -> PageFigures:
    """Show `results` results in a bare page and in the playground, in one browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type]
        bare_ms = min(_bare(browser, source, results) for _ in range(3))
        weight, requests, with_editor = _weight(browser, playground)
        runs = [_playground(browser, playground, results) for _ in range(3)]
        browser.close()
    fastest = min(runs)
    return PageFigures(
        bare_ms, fastest[0], max(run[1] for run in runs), weight, requests, with_editor
    )


def _bare(browser: Browser, source: str, results: int) -> float:
    page = browser.new_page()
    page.goto(f"{source}/bare")
    milliseconds: float = page.evaluate(f"run({results})")
    page.close()
    return milliseconds


def _weight(browser: Browser, playground: str) -> tuple[int, int, int]:
    page = browser.new_page()
    page.goto(playground, wait_until="networkidle")
    weight, requests = page.evaluate(WEIGHT)
    page.get_by_role("tab", name="JSON").click()
    page.locator("#tab-json .cm-content").wait_for()
    with_editor, _ = page.evaluate(WEIGHT)
    page.close()
    return weight, requests, with_editor


def _playground(browser: Browser, playground: str, results: int) -> tuple[float, float]:
    page = browser.new_page()
    page.add_init_script(WATCH_LONG_TASKS)
    page.goto(f"{playground}/?agent=source", wait_until="networkidle")
    document = {"query": {"text": "eggs", "n": results}, "prefer": {"streaming": True}}
    _compose(page, json.dumps(document))
    page.evaluate("window.longTasks.length = 0")
    milliseconds: float = page.evaluate(
        """async (results) => {
          const began = performance.now();
          document.getElementById("composer").requestSubmit();
          for (;;) {
            await new Promise(requestAnimationFrame);
            const cursor = document.getElementById("run-cursor")?.dataset;
            if (cursor && "final" in cursor && Number(cursor.results) === results) break;
            if (performance.now() - began > 60_000) throw new Error("the run does not end");
          }
          // The last card counts as shown when it is on the page, not when it was announced.
          const run = document.querySelector("[data-run]").dataset.run;
          const url = `/runs/${run}/results/?offset=${results - 60}`;
          await htmx.ajax("GET", url, { target: "#cards", swap: "beforeend" });
          const last = document.querySelector("#cards > :last-child").textContent;
          if (!last.includes(`Recipe number ${results - 1}`)) throw new Error(last);
          return performance.now() - began;
        }""",
        results,
    )
    longest = max(page.evaluate("window.longTasks"), default=0)
    page.close()
    return milliseconds, longest


def _compose(page: Page, document: str) -> None:
    """Put a document into the composer, as its JSON view would."""
    page.evaluate(
        """(text) => {
          const field = document.querySelector('textarea[name="document"]');
          field.value = text;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        document,
    )
    page.wait_for_timeout(500)
