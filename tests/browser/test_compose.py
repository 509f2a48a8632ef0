"""The compose pane: form and JSON are two views of one document."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.workbench import Workbench
from tests.playground_server import PlaygroundServer


def test_what_is_typed_in_the_form_stands_in_the_json_and_in_the_effective_request(
    workbench: Workbench,
) -> None:
    workbench.open().compose("cinnamon")
    expect(workbench.effective).to_contain_text('"text": "cinnamon"')
    assert workbench.document["query"]["text"] == "cinnamon"


def test_what_is_typed_in_the_json_stands_in_the_form_and_nothing_unknown_is_lost(
    workbench: Workbench,
) -> None:
    document = '{"query": {"text": "pears", "spice": ["clove"]}, "x-own": {"deep": null}}'
    workbench.open().write_json(document)
    expect(workbench.effective).to_contain_text('"spice"')
    workbench.page.locator("#compose").get_by_role("tab", name="Query").click()
    field = workbench.text
    expect(field).to_have_value("pears")
    field.fill("quinces")
    assert workbench.document == {
        "query": {"text": "quinces", "spice": ["clove"]},
        "x-own": {"deep": None},
    }


def test_invalid_json_is_named_with_its_place_and_nothing_is_lost(workbench: Workbench) -> None:
    broken = '{"query": {"text": "pears",,}}'
    workbench.open().write_json(broken)
    expect(workbench.page.locator("#tab-json")).to_contain_text(re.compile(r"[Ll]ine 1.*column"))
    expect(workbench.page.get_by_role("button", name="Send").first).to_be_disabled()
    workbench.write_json('{"query": {"text": "pears"}}')
    expect(workbench.page.get_by_role("button", name="Send").first).to_be_enabled()


def test_a_missing_text_is_an_error_of_its_field(workbench: Workbench) -> None:
    workbench.open().compose("")
    workbench.page.get_by_role("button", name="Send").first.click()
    field = workbench.text
    expect(field).to_have_attribute("aria-invalid", "true")
    assert workbench.run is None


def test_two_sends_in_a_row_are_two_runs(workbench: Workbench) -> None:
    workbench.open().compose("twice, please").send()
    first = workbench.run
    workbench.send()
    assert workbench.run != first
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    expect(workbench.page.locator("#history").get_by_text("twice, please")).to_have_count(2)


def test_agents_are_added_edited_and_deleted(workbench: Workbench) -> None:
    page = workbench.page
    workbench.add_agent("To be edited", "http://127.0.0.1:9/agent")
    page.goto(f"{workbench.server.url}/agents/to-be-edited/")
    page.get_by_label("URL").first.fill("ftp://nowhere")
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("main")).to_contain_text("http")
    page.get_by_label("URL").first.fill("http://127.0.0.1:9/other")
    page.locator("main form button[type=submit]").first.click()
    expect(workbench.effective).to_contain_text("http://127.0.0.1:9/other/ask")


@pytest.fixture
def unbuilt(playground: PlaygroundServer, browser: Browser, complaints: list[str]) -> Page:
    """A page whose editor cannot be loaded, as when no build was made."""
    page = browser.new_page()
    page.route("**/build/editor*", lambda route: route.abort())
    return page


def test_without_the_editor_a_plain_textarea_does(
    unbuilt: Page, playground: PlaygroundServer
) -> None:
    workbench = Workbench(unbuilt, playground).open()
    unbuilt.get_by_role("tab", name="JSON").click()
    textarea = unbuilt.locator("#tab-json textarea:visible")
    textarea.fill('{"query": {"text": "plain"}, "prefer": {"streaming": true}}')
    workbench.send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")
    assert workbench.document["query"]["text"] == "plain"
    unbuilt.close()
