"""Explanations of names: the popover on elements, in JSON and in the editor; the reference."""

from __future__ import annotations

import contextlib

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from tests.browser.axe import findings
from tests.browser.keyboard import focused
from tests.browser.workbench import Workbench, boxes
from tests.support.playground_server import PlaygroundServer


@pytest.fixture
def popover(page: Page) -> Locator:
    return page.locator(".explanation-popover:popover-open")


def name_in(popover: Locator) -> Locator:
    return popover.locator(".explanation-name")


def label_of(workbench: Workbench, pointer: str) -> Locator:
    return workbench.page.locator(f'json-field[data-pointer="{pointer}"] > label')


def test_the_pointer_opens_it_beside_what_is_used(workbench: Workbench, popover: Locator) -> None:
    page = workbench.open().page
    label = label_of(workbench, "/query/text")
    label.hover()
    expect(name_in(popover)).to_have_text("query.text")
    expect(popover).to_have_role("tooltip")
    expect(label).to_have_attribute("aria-describedby", "explanation-text")
    page.mouse.move(5, 5)
    expect(popover).to_have_count(0)
    label.hover()
    expect(popover).to_be_visible()
    page.keyboard.press("Escape")
    expect(popover).to_have_count(0)
    assert workbench.document["query"]["text"]
    # It covers neither the field that is typed in nor Send.
    workbench.text.focus()
    for pointer in ("/query/text", "/prefer/streaming"):
        page.mouse.move(5, 5)
        expect(popover).to_have_count(0)
        label_of(workbench, pointer).hover()
        expect(name_in(popover)).to_have_text(pointer[1:].replace("/", "."))
        for other in (workbench.text, page.locator('#composer button[type="submit"]')):
            assert not overlap(popover, other), pointer
    page.keyboard.press("Escape")
    # Without the playground it says so.
    version = label_of(workbench, "/meta/version")
    page.context.set_offline(True)
    version.hover()
    expect(popover).to_contain_text("Not loaded")
    page.context.set_offline(False)
    page.mouse.move(5, 5)
    expect(popover).to_have_count(0)
    version.hover()
    expect(name_in(popover)).to_have_text("meta.version")
    # Names follow the version of the composer, and names of filters are said to be such.
    page.mouse.move(5, 5)
    with workbench.target_menu() as menu:
        menu.get_by_label("Version").select_option("0.54")
    label_of(workbench, "/prefer/streaming").hover()
    expect(popover).to_contain_text("NLWeb 0.54")
    page.mouse.move(5, 5)
    expect(popover).to_have_count(0)
    workbench.add_field("diet")
    page.keyboard.press("F1")
    expect(name_in(popover)).to_have_text("query.diet")
    expect(popover).to_contain_text("does not define “diet”")


ARRIVES = """(place) => {
  const label = document.querySelector('json-field[data-pointer="/query/text"] > label');
  label.addEventListener("pointerover", () => (window.hasArrived = true), { once: true });
  label.style.cssText = `position: fixed; left: ${place - 20}px; top: ${place - 8}px; z-index: 99`;
}"""


@pytest.mark.own_context
def test_what_keeps_it_away(workbench: Workbench, popover: Locator) -> None:
    workbench.page.clock.install()
    page = workbench.open().page
    # A name that arrives under a resting pointer is not explained.
    page.mouse.move(300, 300)
    page.evaluate(ARRIVES, 300)
    # Looks in each frame: Chromium sees what has come under the pointer in the frame after next.
    page.wait_for_function("() => window.hasArrived")
    page.clock.run_for(2000)
    page.evaluate("() => import(document.body.dataset.explanations)")
    page.clock.run_for(2000)
    expect(popover).to_have_count(0)
    page.mouse.move(302, 302)
    page.mouse.move(310, 302)
    page.clock.run_for(500)
    expect(popover).to_be_visible()
    # It stays as long as the pointer is in it.
    popover.hover()
    page.clock.run_for(2000)
    expect(popover).to_be_visible()
    # Typing, pressing and scrolling keep it away.
    page.mouse.move(5, 5)
    label = label_of(workbench, "/query/text")
    label.evaluate("label => { label.style.cssText = ''; }")
    label.hover()
    expect(popover).to_be_visible()  # It is loaded from now on.
    label.evaluate("label => label.parentElement.dispatchEvent(new Event('scroll'))")
    expect(popover).to_have_count(0)
    ways = {
        "typing": lambda: page.keyboard.type("x"),
        "pressing": lambda: page.mouse.down(),
        "scrolling": lambda: label.evaluate(
            "label => label.parentElement.dispatchEvent(new Event('scroll'))"
        ),
    }
    for way, do in ways.items():
        page.mouse.up()
        workbench.text.focus()
        page.mouse.move(5, 5)
        label.hover()
        do()
        page.clock.run_for(2000)
        expect(popover, way).to_have_count(0)


def overlap(one: Locator, other: Locator) -> bool:
    first, second = boxes(one, other)
    return all(
        first[side] < second[side] + second[size] and second[side] < first[side] + first[size]
        for side, size in (("x", "width"), ("y", "height"))
    )


def test_a_key_opens_and_pins_it_for_the_field_with_the_focus(
    workbench: Workbench, popover: Locator
) -> None:
    page = workbench.open().page
    workbench.text.focus()
    expect(popover).to_have_count(0)
    page.keyboard.press("F1")
    expect(popover).to_have_role("dialog")
    expect(popover).to_have_accessible_name("Explanation of query.text")
    assert findings(page, ".explanation-popover") == []
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(name_in(popover)).to_have_text("prefer.streaming")
    assert focused(page) == "Next name"
    expect(page.locator("#announce")).to_contain_text("prefer.streaming: ")
    page.keyboard.press("Escape")
    expect(popover).to_have_count(0)
    expect(workbench.text).to_be_focused()
    page.keyboard.press("F1")
    expect(popover).to_have_role("dialog")
    for _ in range(3):
        page.keyboard.press("Tab")
    assert focused(page).startswith("Close")
    page.keyboard.press("Tab")
    expect(popover).to_have_count(0)
    assert page.evaluate(
        "document.activeElement.closest('json-field, request-tabs, tab-set') !== null"
    )


def test_names_in_a_response_and_in_its_json(workbench: Workbench, popover: Locator) -> None:
    page = workbench.quick().send().ended().page
    page.locator(".card-kind [data-explain]").first.hover()
    expect(name_in(popover)).to_have_text("@type")
    page.locator("raw-json button").first.click()
    json = page.locator("raw-json pre").first
    expect(json).to_be_visible()
    json.focus()
    page.keyboard.press("F1")
    expect(name_in(popover)).to_have_text("index")
    popover.get_by_role("button", name="Next name").click()
    popover.get_by_role("button", name="Next name").click()
    expect(name_in(popover)).to_have_text("item.@type")
    popover.get_by_role("button", name="Close").click()
    expect(json).to_be_focused()
    json.hover(position={"x": 30, "y": 30})  # The first name in it.
    expect(name_in(popover)).to_have_text("index")


def test_the_editor_explains_completes_and_checks(workbench: Workbench, popover: Locator) -> None:
    page = workbench.open().page
    workbench.write_json('{"query": {"text": "eggs", "site": 5}}')
    editor = page.locator("#tab-json .cm-content")
    expect(page.locator("#tab-json .cm-lint-marker-warning")).to_be_visible()
    tooltip = page.locator(".cm-tooltip-lint")
    # In the words of the server: when they arrive, what is pointed at is drawn again.
    for _ in range(10):
        page.locator("#tab-json .cm-lintRange-warning").hover()
        with contextlib.suppress(PlaywrightTimeoutError):
            tooltip.get_by_text("site must be a string.").wait_for(timeout=2_000)
            break
        page.mouse.move(5, 5)
    expect(tooltip).to_have_text("site must be a string.")
    page.mouse.move(5, 5)
    expect(tooltip).to_have_count(0)
    editor.get_by_text('"text"').hover()
    expect(name_in(popover)).to_have_text("query.text")
    page.keyboard.press("F1")
    expect(popover).to_have_role("dialog")
    page.keyboard.press("F1")
    expect(popover).to_have_count(0)
    workbench.write_json('{"query": {"text": "eggs"}, ')
    page.keyboard.type('"')
    options = page.locator(".cm-tooltip-autocomplete li")
    expect(options).to_contain_text(["context", "prefer", "meta"])
    expect(page.locator(".cm-completionInfo")).to_be_visible()
    page.wait_for_timeout(100)  # Enter counts only once the list has been there for a moment.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(editor).to_contain_text('"prefer": ')


def test_a_finger_explains_names_without_pressing_what_has_them(
    browser: Browser, workbench: Workbench
) -> None:
    context = browser.new_context(has_touch=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    touched = Workbench(page, workbench.server).open()
    touched.send()
    expect(touched.badge).to_have_text("Completed")
    popover = page.locator(".explanation-popover:popover-open")
    page.locator("#run-badge").tap()
    expect(popover).to_be_visible()
    page.locator(".response-question").tap()
    expect(popover).to_have_count(0)
    context.close()


def test_a_location_of_the_reference_leads_to_its_attribute_and_words_filter(
    page: Page, playground: PlaygroundServer
) -> None:
    url = f"{playground.url}/reference/nlweb/0.55/"
    page.goto(f"{url}#answer/results/3/actions/1/method")
    expect(page.locator('[id="action/method"]')).to_be_in_viewport()
    expect(page).to_have_url(f"{url}#action/method")
    current = page.locator('.reference-contents [aria-current="location"]')
    expect(current).to_have_text("action")
    words = page.get_by_role("searchbox", name="Name, value or description")
    words.fill("promise token")
    expect(page).to_have_url(f"{url}?q=promise+token")
    expect(page.locator('[id="ask-request/query"]')).to_have_count(0)
    expect(words).to_be_focused()
