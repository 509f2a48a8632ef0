"""Focus is set once, before a part takes input, and never moved from a field that has it.

What is slow on a slow day is held back here: the answer to a request, or the clock of the page.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.collection_page import CollectionPage, import_requests
from tests.browser.test_conversation import ask
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


@contextlib.contextmanager
def held(page: Page, address: str) -> Iterator[None]:
    """Hold back the answer to a request that is made inside, and let it come at the end.

    Returns when it has been put into the page, whatever that does afterwards by a timer included.
    """
    pattern, routes = re.compile(address), list[Route]()
    page.route(pattern, lambda route: routes.append(route))
    with page.expect_request(pattern):
        yield
    while not routes:  # The route is reported after the request.
        page.wait_for_timeout(10)
    assert len(routes) == 1
    page.evaluate(
        """() => {
          window.arrived = new Promise((done) => document.addEventListener("htmx:afterSettle",
            ({ detail }) => detail.xhr === window.asked && done()));
        }"""
    )
    routes[0].continue_()
    page.unroute(pattern)
    page.evaluate("() => window.arrived")


@pytest.fixture(autouse=True)
def asked(page: Page) -> None:
    """Keep the last request that somebody has made by hand."""
    # With the first route Chromium begins to intercept: a request at that moment is not reported.
    page.route(re.compile("(?!)"), lambda route: route.continue_())
    page.add_init_script(
        """document.addEventListener("htmx:beforeRequest", ({ detail }) => {
             if (!["effective", "history"].includes(detail.target.id)) window.asked = detail.xhr;
           });"""
    )


def go_on_typing(page: Page, field: Locator, text: str) -> None:
    """Go to a field and type; what is typed afterwards must arrive there as well."""
    field.click()
    page.keyboard.type(text)


@pytest.mark.own_context
def test_the_sheet_of_a_request_does_not_take_the_focus_back(
    page: Page, playground: PlaygroundServer
) -> None:
    """The clock of the page stands still between what is typed first and what then."""
    pile = CollectionPage(page, playground, import_requests(playground, "Typed into", "a b"))
    page.clock.install()
    pile.open()
    page.clock.pause_at("2100-01-01")
    pile.choose("a", "Edit")
    name, notes = page.get_by_label("Name", exact=True), page.get_by_label("Notes")
    expect(name).to_be_focused()
    assert name.evaluate("field => field.selectionEnd - field.selectionStart") == 1
    go_on_typing(page, notes, "fir")
    page.clock.run_for(1000)
    page.keyboard.type("st")
    expect(notes).to_have_value("first")
    expect(name).to_have_value("a")
    page.clock.resume()
    # With mistakes it keeps the field that it was sent from.
    name.fill("")
    with held(page, "/details/"):
        name.press("Enter")
    expect(page.get_by_text("This field is required.")).to_be_visible()
    expect(name).to_be_focused()


def test_the_sheet_that_asks_for_a_name(page: Page, workbench: Workbench) -> None:
    workbench.open().compose("soup")
    sheet = page.get_by_role("dialog")
    name = sheet.get_by_label("Name", exact=True)
    with held(page, r"/saved-requests/\?"):
        page.keyboard.press("ControlOrMeta+Shift+s")
        page.keyboard.type(" and")
    expect(name).to_be_visible()
    before = name.input_value()
    page.keyboard.type(" bread")
    expect(name).to_have_value(before)
    expect(workbench.text).to_have_value("soup and")
    # Where nobody types elsewhere, it is typed into at once.
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    workbench.text.focus()
    with held(page, r"/saved-requests/\?"):
        page.keyboard.press("ControlOrMeta+Shift+s")
    expect(name).to_be_focused()


def test_an_action(page: Page, workbench: Workbench) -> None:
    workbench.quick().compose("tiramisu").send().ended()
    card = page.locator("#cards > .card").first
    with held(page, "/actions/"):
        card.get_by_role("button", name="Save recipe").click()
        go_on_typing(page, workbench.text, "!")
    expect(card.locator("action-panel")).to_be_visible()
    page.keyboard.type("!")
    expect(workbench.text).to_have_value("tiramisu!!")
    # It is confirmed from the field that it was run from.
    card.get_by_role("button", name="Header").click()
    expect(card.get_by_label("Header name")).to_be_focused()
    confirm = card.get_by_role("button", name="Send POST")
    with held(page, "/actions/"):
        page.keyboard.press("Enter")
    expect(confirm).to_be_focused()
    card.get_by_role("button", name="Cancel").click()
    # It is to be confirmed late: a key in the wrong place would confirm it.
    with held(page, "/actions/"):
        card.get_by_role("button", name="Run action").click()
        go_on_typing(page, workbench.text, "!")
    expect(confirm).to_be_visible()
    page.keyboard.press("Space")
    expect(workbench.text).to_have_value("tiramisu!!! ")


def test_a_conversation(page: Page, workbench: Workbench) -> None:
    entry = ask(workbench, "something for dinner")
    answer = entry.get_by_role("button", name="Answer", exact=True)
    # Mistakes that are told late.
    with held(page, "/answers/$"):
        answer.click()
        go_on_typing(page, workbench.text, "!")
    expect(entry.locator('[aria-invalid="true"]').first).to_be_visible()
    expect(workbench.text).to_be_focused()
    # A question that is declined late.
    with held(page, "/answers/declined/"):
        entry.get_by_role("button", name="Decline").click()
        go_on_typing(page, workbench.text, "!")
    undo = entry.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()
    expect(workbench.text).to_be_focused()
    undo.click()
    # An answer that comes late.
    entry.get_by_label("vegan").check()
    entry.get_by_label("Skip unanswered questions").check()
    with held(page, "/answers/$"):
        answer.click()
        go_on_typing(page, workbench.text, "!")
    expect(page.locator(".turn--chosen > .turn-line")).to_be_visible()
    page.keyboard.type("!")
    expect(workbench.text).to_have_value("something for dinner!!!!")
    # A session that is changed late.
    workbench.ended()
    button = workbench.tab("Session").get_by_role("button", name="Don’t send")
    expect(button).to_be_visible()
    with held(page, "/session/"):
        button.click()
        go_on_typing(page, workbench.text, "!")
    expect(page.get_by_role("button", name="Use latest from agent")).to_be_visible()
    expect(workbench.text).to_be_focused()


class TestEditor:
    """The code editor comes in parts, and each may come late."""

    def test_takes_over_what_is_being_typed(self, page: Page, workbench: Workbench) -> None:
        routes: list[Route] = []
        page.route(
            re.compile(r"/build/composer/editor/editor\.[^-]*js$"),
            lambda route: routes.append(route),
        )
        workbench.open()
        page.get_by_role("tab", name="JSON").click()
        area = page.locator("textarea[name=document]")
        area.click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type('{"query": {"text": "egg')
        routes[0].continue_()
        expect(page.locator("#tab-json .cm-content")).to_be_visible()
        page.keyboard.type('s"}}')
        assert workbench.document == {"query": {"text": "eggs"}}

    def test_begins_no_search_where_somebody_has_gone_on(
        self, page: Page, workbench: Workbench
    ) -> None:
        routes: list[Route] = []
        page.route(
            re.compile(r"/build/composer/editor/chunk-editor-search-.*js$"),
            lambda route: routes.append(route),
        )
        workbench.open()
        page.get_by_role("tab", name="JSON").click()
        page.locator("#tab-json .cm-content").click()
        page.keyboard.press("ControlOrMeta+f")
        box = page.get_by_label("Search the history")
        go_on_typing(page, box, "so")
        with page.expect_response(re.compile("editor-search")):
            routes[0].continue_()
        page.keyboard.type("up")
        expect(box).to_have_value("soup")
        expect(page.locator(".cm-search")).to_have_count(0)
