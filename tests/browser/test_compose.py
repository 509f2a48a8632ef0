"""The compose pane: form and JSON are two views of one document."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.collection_page import import_requests
from tests.browser.held import hold
from tests.browser.keyboard import paste
from tests.browser.test_tabs import tabs
from tests.browser.workbench import Workbench, boxes
from tests.support.playground_server import PlaygroundServer


def test_form_and_json_are_one_document(workbench: Workbench, complaints: list[str]) -> None:
    page = workbench.open().compose("cinnamon").page
    send = page.get_by_role("button", name="Send").first
    expect(workbench.text).to_have_accessible_name("text required")
    expect(workbench.effective).to_contain_text('"text": "cinnamon"')
    assert workbench.document["query"]["text"] == "cinnamon"
    # What is typed in the JSON stands in the form, and nothing unknown is lost.
    workbench.write_json(
        '{"query": {"text": "pears", "spice": ["clove"]}, "x-own": {"deep": null}}'
    )
    expect(workbench.effective).to_contain_text('"spice"')
    page.locator("#compose-tab-request").click()
    expect(workbench.text).to_have_value("pears")
    workbench.text.fill("quinces")
    assert workbench.document == {
        "query": {"text": "quinces", "spice": ["clove"]},
        "x-own": {"deep": None},
    }
    workbench.write_json('{"query": {"text": "pears",,}}')
    expect(page.locator("#tab-json")).to_contain_text(re.compile(r"[Ll]ine 1.*column"))
    expect(send).to_be_disabled()
    # What is typed over what is selected is marked, and needs no inline style.
    editor = page.locator("#tab-json .cm-content")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("x")
    expect(editor).to_have_text("x")
    expect(page.locator("#tab-json .cm-lint-marker")).to_be_visible()
    # What closes brackets is loaded when the editor gets the focus.
    page.wait_for_function(
        "performance.getEntriesByType('resource').some("
        "({ name, responseEnd }) => name.includes('editor-typing') && responseEnd)"
    )
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("{")
    expect(editor).to_have_text("{x}")
    assert complaints == []
    workbench.write_json('{"query": {"text": "pears"}}')
    expect(send).to_be_enabled()
    page.locator("#compose-tab-request").click()
    workbench.compose("")
    send.click()
    expect(workbench.text).to_have_attribute("aria-invalid", "true")
    assert workbench.run is None


def test_form_and_json_side_by_side_are_one_document(workbench: Workbench) -> None:
    page = workbench.open().page
    beside = page.get_by_role("button", name="JSON beside the form")
    beside.click()
    expect(page.get_by_role("tab", name="JSON")).to_be_hidden()
    editor = page.get_by_role("region", name="JSON").locator(".cm-content")
    expect(editor).to_be_visible()
    workbench.compose("both of them")
    expect(editor).to_contain_text("both of them")
    workbench.add_field("spice")
    page.keyboard.type("clove")
    expect(editor).to_contain_text('"spice": "clove"')
    page.get_by_role("button", name="Effective request").click()
    expect(page.locator("#effective .http-headers").first).to_be_visible()
    expect(page.locator("#effective-json")).to_be_hidden()
    with workbench.target_menu() as menu:
        menu.get_by_text("MCP").click()
    expect(page.locator("#effective-json")).to_be_visible()
    assert findings(page, "#compose") == []
    page.reload()
    expect(editor).to_contain_text("clove")
    expect(workbench.effective).to_contain_text("/demo/mcp")
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.get_by_role("tab", name="JSON")).to_be_visible()
    expect(editor).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(editor).to_be_visible()
    beside.click()
    expect(editor).to_be_hidden()
    expect(workbench.text).to_be_visible()


@pytest.fixture
def unbuilt(playground: PlaygroundServer, browser: Browser, complaints: list[str]) -> Page:
    """A page whose editor cannot be loaded, as when no build was made."""
    page = browser.new_page()
    page.route("**/build/composer/editor/*", lambda route: route.abort())
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


def test_an_agent_is_added_and_the_note_covers_nothing(workbench: Workbench) -> None:
    page, url = workbench.page, f"{workbench.server.url}/demo"
    page.goto(f"{workbench.server.url}/agents/new/")
    form = page.get_by_role("main")
    form.get_by_label("Name", exact=False).first.fill("Noted")
    form.get_by_label("URL", exact=False).first.fill(url)
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("#target-input")).to_have_value("Noted")
    expect(workbench.effective).to_contain_text(url)
    client_of(workbench.server).remove_later(page.locator("#agent-select").input_value())
    note = page.get_by_role("status").locator("toast-note")
    expect(note).to_contain_text("Noted")
    expect(page.get_by_role("button", name="Send").first).to_be_in_viewport(ratio=1)
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)


def test_a_refusal_says_why_until_the_request_changes(workbench: Workbench) -> None:
    page = workbench.open().write_json('{"query": {"text": 5}}').page
    problems = page.locator("#compose-problems")
    for _ in range(2):
        page.get_by_role("button", name="Send").first.click()
        expect(problems).to_contain_text("Not sent")
    workbench.write_json('{"query": {"text": 6}}')
    expect(problems).to_be_empty()
    # A late one says nothing of what has changed since.
    held = hold(page, "/runs/$", "POST")  # The sidebar reads the same URL.
    page.get_by_role("button", name="Send").first.click()
    held.first()
    workbench.write_json('{"query": {"text": "five"}}')
    expect(workbench.effective).to_contain_text("five")
    assert held.let_go().status == 422
    expect(problems).to_be_empty()
    page.unroute_all()
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")


def test_what_is_no_list_of_messages_is_refused_aloud(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo-agent-api").page
    workbench.write_json('{"input": "hi", "temperature": 99, "tools": [1, null], "x": 1e999}')
    page.keyboard.press("ControlOrMeta+Enter")
    problems = page.locator("#compose-problems")
    expect(problems).to_contain_text("Not a valid JSON number")
    workbench.write_json('{"input": "hi", "temperature": 99, "top_p": "x", "tools": [1, null]}')
    expect(problems).to_be_empty()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(problems).to_contain_text("Not sent")
    expect(problems).to_contain_text("/input")
    expect(problems.locator(".problem-item").first).to_be_in_viewport()
    expect(page.locator("#tab-json")).to_be_visible()
    workbench.write_json('{"input": []}')
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("[data-send-note]")).to_contain_text("Enter a message")
    assert workbench.run is None
    # What cannot be written down leaves no old warning.
    workbench.open("/?agent=demo-agent-api&text=lentils")
    workbench.add_field("tools")
    field = page.locator('json-field[data-pointer^="/tools/0/function/"] textarea')
    field.first.fill("get_pantry")
    field.first.fill("")
    tab = page.locator("#compose-tab-request")
    tab.focus()
    warning = page.get_by_text("The function requires a name.").locator("visible=true")
    expect(warning).to_have_count(1)
    expect(tab).to_have_attribute("data-problems", "1")
    field.first.fill("get_pantry")
    field.last.fill("{rubbish")
    composer = page.locator("request-composer")
    expect(composer).to_have_attribute("data-stale", "")
    expect(warning).to_have_count(0)
    expect(tab).not_to_have_attribute("data-problems", "1")
    field.last.fill("{}")
    expect(composer).not_to_have_attribute("data-stale", "")
    expect(workbench.effective).to_contain_text("get_pantry")


def test_a_new_request_leaves_the_other_open_and_does_not_scold(workbench: Workbench) -> None:
    page = workbench.open().compose("kept for later").page
    page.get_by_role("link", name="New request").click()
    expect(workbench.text).to_have_value("")
    problem = workbench.effective.locator(".problem-item")
    expect(problem).to_have_count(1)
    expect(problem).to_have_attribute("data-calm", "")
    expect(problem).to_be_hidden()
    expect(workbench.effective).to_contain_text("incomplete")
    # Untouched, it is not red, wherever one looks and whatever comes back.
    page.get_by_role("tab", name="Headers").click()
    page.reload()
    expect(problem).to_have_attribute("data-calm", "")
    page.locator("#compose-tab-request").click()
    expect(page.locator("#compose [aria-invalid=true], #compose [data-problems]")).to_have_count(0)
    workbench.compose("x").compose("")
    page.locator("#compose-tab-request").focus()
    expect(workbench.text).to_have_attribute("aria-invalid", "true")
    expect(problem).to_be_hidden()
    page.get_by_role("tab", name="kept for later").click()
    expect(workbench.text).to_have_value("kept for later")


def test_what_is_set_is_shown_and_the_rest_is_added_by_name(workbench: Workbench) -> None:
    """Unset, null and an empty string are three things, each to be seen."""
    page = workbench.open().page
    # The palette has the fields of this protocol, and no others.
    page.keyboard.press("ControlOrMeta+k")
    fields = page.locator("command-palette li", has=page.get_by_text("Field", exact=True))
    expect(fields.filter(has_text="query.site")).to_have_count(1)
    expect(fields.filter(has_text="temperature")).to_have_count(0)
    page.keyboard.press("Escape")
    shown = page.locator("#tab-request json-field:visible .field-label")
    expect(shown).to_have_text(["text required", "streaming", "version"])
    button = page.get_by_role("button", name="Add field")
    button.focus()
    page.keyboard.press("Enter")
    name = page.get_by_role("combobox", name="Field name")
    expect(name).to_be_focused()
    assert findings(page, "#compose") == []
    # By what it means, too; and nothing of another protocol.
    page.keyboard.type("collection")
    options = page.get_by_role("listbox", name="Fields").get_by_role("option")
    expect(options.first).to_contain_text("site")
    name.fill("temperature")
    expect(options).to_contain_text(["temperature (filter)", "temperature (context attribute)"])
    expect(options.filter(has_text=re.compile("^temperaturenumber"))).to_have_count(0)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    site = workbench.add_field("site")
    expect(site.locator(".field-type")).to_have_value("unset")
    assert "site" not in workbench.document["query"]
    page.keyboard.type("x")
    assert workbench.document["query"]["site"] == "x"
    page.keyboard.press("Backspace")
    assert workbench.document["query"]["site"] == ""
    site = page.locator('json-field[data-pointer="/query/site"]')
    expect(site.get_by_placeholder("empty string")).to_be_visible()
    site.locator(".field-type").select_option("null")
    assert workbench.document["query"]["site"] is None
    expect(site.locator("output")).to_have_text("null")
    user = workbench.add_field("user")
    expect(user.locator(".field-label")).to_have_text("user")
    user.locator(".field-type").select_option("json")
    page.keyboard.type('{"name": "Ada"}')
    assert workbench.document["meta"]["user"] == {"name": "Ada"}
    page.get_by_role("button", name="Remove user").click()
    assert "user" not in workbench.document["meta"]
    # The focus goes on to what can be removed next, and last to what adds.
    expect(page.get_by_role("button", name="Remove version")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove streaming")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expect(shown).to_have_text(["text required"])
    assert list(workbench.document) == ["query"]


def test_a_filter_is_written_down_once_it_has_a_name_and_a_value(workbench: Workbench) -> None:
    page = workbench.open().page
    before = workbench.document
    page.get_by_role("button", name="Add field").click()
    page.get_by_role("option", name="Other filter").click()
    name = page.get_by_label("Name of the filter")
    expect(name).to_be_focused()
    page.keyboard.type("cuisine")
    kind = page.get_by_label("Type of the filter")
    kind.select_option("number")
    assert workbench.document == before
    page.keyboard.type("5")
    assert workbench.document["query"]["cuisine"] == 5
    name.fill("site")
    expect(page.locator(".row-error")).to_have_text("“site” already exists")
    expect(page.get_by_role("button", name="Send").first).to_be_disabled()
    remove = page.get_by_role("button", name="Remove filter")
    field, button = boxes(name, remove)
    assert abs(field["y"] - button["y"]) < 8, "the button keeps its line"
    name.fill("price_range")
    assert workbench.document["query"]["price_range"] == 5
    kind.select_option("text")
    page.get_by_label("Value of the filter").fill("")
    assert workbench.document["query"]["price_range"] == ""
    kind.select_option("number")
    assert workbench.document["query"]["price_range"] == ""
    expect(page.get_by_role("button", name="Send").first).to_be_disabled()
    remove.click()
    assert workbench.document == before
    expect(page.get_by_role("button", name="Send").first).to_be_enabled()


def paste_command(workbench: Workbench, command: str) -> None:
    """Paste a command as the target."""
    paste(workbench.page.locator("#target-input"), command)
    expect(workbench.page.locator("#address-note")).to_contain_text("Imported from cURL")


CURL = """curl https://pasted.example/ask -H 'X-Pasted: 1' --json '{"query": {"text": "pasted"}}'"""


def test_a_pasted_command_is_a_request_of_its_own(workbench: Workbench) -> None:
    slug = import_requests(workbench.server, "Pasted over", "original")
    page = workbench.open(f"/collections/{slug}/requests/original/").page
    own = json.dumps([{"type": "state", "equals": "completed"}])
    page.evaluate("text => { document.forms.composer.elements.expectations.value = text }", own)
    workbench.compose("with expectations")
    paste_command(workbench, CURL)
    expect(tabs(workbench)).to_have_count(2)
    expect(tabs(workbench).nth(1)).to_have_accessible_name("pasted (not saved)")
    expect(tabs(workbench).nth(1)).to_have_attribute("aria-selected", "true")
    expect(workbench.effective).to_contain_text("X-Pasted")
    expect(workbench.text).to_have_value("pasted")
    expect(page.locator('#composer [name="saved"]')).to_have_value("")
    expect(page.locator('#composer [name="expectations"]')).to_have_value("")
    expect(page.locator("#compose-tab-expect")).not_to_have_attribute("data-filled", "")
    # Nothing of what was there is lost, and it still goes where it went.
    tabs(workbench).nth(0).click()
    expect(workbench.text).to_have_value("with expectations")
    expect(page.locator('#composer [name="expectations"]')).to_have_value(own)
    expect(page.locator("#agent-select")).to_have_value("demo")
    expect(page.locator('#composer [name="saved"]')).to_have_value(f"{slug}/original")
    # One that is pasted into a tab that holds nothing takes it.
    page.get_by_role("link", name="New request").click()
    expect(tabs(workbench)).to_have_count(3)
    paste_command(workbench, CURL.replace("pasted", "second"))
    expect(tabs(workbench)).to_have_count(3)
    second = page.get_by_role("tab", name="second (not saved)")
    expect(second).to_have_attribute("aria-selected", "true")
    expect(page.locator("#address")).to_have_value("https://second.example/ask")
    page.get_by_role("tab", name="pasted (not saved)").click()
    expect(workbench.text).to_have_value("pasted")


def test_headers_are_told_by_their_tab(workbench: Workbench) -> None:
    page = workbench.open().page
    tab = page.locator("#compose-tab-headers")
    expect(tab).not_to_have_attribute("data-filled", "")
    tab.click()
    page.get_by_role("button", name="Header", exact=True).click()
    expect(tab).not_to_have_attribute("data-filled", "")
    page.get_by_label("Header name").fill("X-Told")
    expect(tab).to_have_attribute("data-filled", "")
    page.get_by_label("Header value").fill("{{nobody.knows.it}}")
    expect(tab).to_have_attribute("data-problems", "1")
    page.get_by_role("button", name="Send").first.click()
    expect(page.locator("#compose-problems")).to_contain_text("nobody.knows.it")
    expect(tab).to_have_attribute("data-problems", "1")
    page.reload()
    expect(tab).to_have_attribute("data-filled", "")
    page.get_by_role("button", name="Remove header").click()
    expect(tab).not_to_have_attribute("data-filled", "")


@pytest.mark.parametrize("protocol", ["nlweb", "agent-api"])
def test_no_part_of_a_request_or_a_response_is_out_of_view(
    workbench: Workbench, protocol: str
) -> None:
    page = workbench.page
    path, version = ("/demo", "0.55") if protocol == "nlweb" else ("/demo/agent-api", "1")
    url = f"{workbench.server.url}{path}?pace=0"
    slug = client_of(workbench.server).add_agent("Quick", url, protocol=protocol, version=version)
    page.goto(f"{workbench.server.url}/?agent={slug}&text=lentils")
    expect(workbench.effective).to_contain_text("lentils")
    page.evaluate("""document.forms.composer.elements.expectations.value =
        '[{"type": "state", "equals": "completed"}]'""")
    workbench.send()
    tabs = page.locator("#response .tab")
    expect(tabs).to_have_count(8)
    # What is counted when the run has ended takes room, too.
    expect(page.locator("#checks-count")).not_to_be_empty(timeout=30_000)
    show_request, show_response = (
        page.locator(f'.pane-switch [data-show-pane="{pane}"]') for pane in ("compose", "outcome")
    )
    heights = "tabs => new Set(tabs.map((tab) => tab.getBoundingClientRect().y)).size"
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 844})
        if show_request.is_visible():
            show_request.click()
        for part in page.locator("#composer .tab:visible").all():
            expect(part).to_be_in_viewport(ratio=0.99)
        if show_response.is_visible():
            show_response.click()
        assert tabs.evaluate_all(heights) == 1, "one row"
        for part in tabs.all():
            if width < 1440:  # The row scrolls.
                part.scroll_into_view_if_needed()
            expect(part).to_be_in_viewport(ratio=0.99)


def test_an_await_request_is_composed_in_the_form_and_sent(workbench: Workbench) -> None:
    page = workbench.open().compose("pears").page
    query = workbench.document
    operation = page.get_by_role("radiogroup", name="Operation")
    assert operation.get_by_role("radio", name="ask").is_checked()
    operation.locator("label", has_text="await").click()
    token = page.get_by_role("textbox", name="promise_token")
    expect(token).to_be_focused()
    expect(workbench.text).to_be_hidden()
    assert workbench.document == {
        "promise_token": "", "action": "checkin", "meta": query["meta"],
    }  # fmt: skip
    page.get_by_role("button", name="Send").first.click()
    expect(page.locator('json-field[data-pointer="/promise_token"]')).to_contain_text(
        "Enter a promise token: promise_token is required."
    )
    token.fill("no-such-promise")
    page.get_by_role("combobox", name="action required").fill("cancel")
    expect(workbench.effective).to_contain_text("/demo/await")
    assert findings(page, "#compose") == []
    workbench.send()
    expect(page.locator(".response-question")).to_have_text("cancel")
    # What was composed before is kept, and so is what is entered here.
    operation.locator("label", has_text="ask").click()
    expect(workbench.text).to_have_value("pears")
    assert workbench.document == query
    operation.locator("label", has_text="await").click()
    expect(token).to_have_value("no-such-promise")
    # The form shows the operation of the JSON, where the protocol has operations.
    workbench.write_json('{"promise_token": "t1", "action": "checkin"}')
    page.locator("#compose-tab-request").click()
    expect(token).to_have_value("t1")
    expect(page.get_by_role("radio", name="await")).to_be_checked()
    workbench.choose_agent("demo-agent-api")
    expect(operation).to_be_hidden()
    expect(token).to_be_hidden()


def test_an_operation_is_chosen_with_the_keyboard(workbench: Workbench) -> None:
    page = workbench.open().page
    page.get_by_role("radio", name="ask").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="await")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="promise_token")).to_be_focused()
    editors = (
        page.locator(f'json-field[data-pointer="{pointer}"] .field-editor')
        for pointer in ("/promise_token", "/action", "/meta/version")
    )
    assert len({each["x"] for each in boxes(*editors)}) == 1
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="ask")).to_be_focused()
    expect(workbench.text).to_be_visible()


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
