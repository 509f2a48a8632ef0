"""The compose pane: form and JSON are two views of one document."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Browser, Page, Route, WebSocketRoute, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.collection_page import import_requests
from tests.browser.test_tabs import tabs
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


def test_what_is_typed_in_the_form_stands_in_the_json_and_in_the_effective_request(
    workbench: Workbench,
) -> None:
    workbench.open().compose("cinnamon")
    expect(workbench.text).to_have_accessible_name("text required")
    expect(workbench.effective).to_contain_text('"text": "cinnamon"')
    assert workbench.document["query"]["text"] == "cinnamon"


def test_what_is_typed_in_the_json_stands_in_the_form_and_nothing_unknown_is_lost(
    workbench: Workbench,
) -> None:
    document = '{"query": {"text": "pears", "spice": ["clove"]}, "x-own": {"deep": null}}'
    workbench.open().write_json(document)
    expect(workbench.effective).to_contain_text('"spice"')
    workbench.page.locator("#compose-tab-request").click()
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


def test_invalid_json_typed_over_what_is_selected_needs_no_inline_style(
    workbench: Workbench, complaints: list[str]
) -> None:
    page = workbench.open().compose("pears").page
    page.get_by_role("tab", name="JSON").click()
    editor = page.locator("#tab-json .cm-content")
    editor.click()
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


def add_by_form(workbench: Workbench, name: str, url: str) -> None:
    """Add an agent by its form, and come back with it chosen."""
    page = workbench.page
    page.goto(f"{workbench.server.url}/agents/new/")
    form = page.get_by_role("main")
    form.get_by_label("Name", exact=False).first.fill(name)
    form.get_by_label("URL", exact=False).first.fill(url)
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("#target-input")).to_have_value(name)
    expect(workbench.effective).to_contain_text(url)
    client_of(workbench.server).remove_later(page.locator("#agent-select").input_value())


def test_agents_are_added_edited_and_deleted(workbench: Workbench) -> None:
    page = workbench.page
    add_by_form(workbench, "To be edited", "http://127.0.0.1:9/agent")
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


def test_a_request_that_is_refused_says_why_until_it_changes_and_can_be_sent_then(
    workbench: Workbench,
) -> None:
    workbench.open().write_json('{"query": {"text": 5}}')
    problems = workbench.page.locator("#compose-problems")
    for _ in range(2):
        workbench.page.get_by_role("button", name="Send").first.click()
        expect(problems).to_contain_text("Not sent")
    workbench.write_json('{"query": {"text": "five"}}')
    expect(problems).to_be_empty()
    workbench.send()
    expect(workbench.badge).to_have_text("Completed")


def test_a_late_refusal_says_nothing_of_what_has_changed_since(workbench: Workbench) -> None:
    page = workbench.open().write_json('{"query": {"text": 5}}').page
    held: list[Route] = []

    def hold(route: Route) -> None:
        # The sidebar reads the same URL.
        if route.request.method == "POST":
            held.append(route)
        else:
            route.fallback()

    page.route("**/runs/", hold)
    page.get_by_role("button", name="Send").first.click()
    while not held:
        page.wait_for_timeout(10)
    workbench.write_json('{"query": {"text": "five"}}')
    expect(workbench.effective).to_contain_text("five")
    with page.expect_response(lambda response: response.request == held[0].request) as refused:
        held[0].continue_()
    assert refused.value.status == 422
    refused.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(page.locator("#compose-problems")).to_be_empty()


def test_a_note_covers_nothing_and_goes(workbench: Workbench) -> None:
    add_by_form(workbench, "Noted", f"{workbench.server.url}/demo")
    note = workbench.page.get_by_role("status").locator("toast-note")
    expect(note).to_contain_text("Noted")
    expect(workbench.page.get_by_role("button", name="Send").first).to_be_in_viewport(ratio=1)
    note.get_by_role("button", name="Dismiss").click()
    expect(note).to_have_count(0)


def test_a_draft_outlives_a_reload_and_a_look_at_a_run(workbench: Workbench) -> None:
    page = workbench.open().compose("to be sent").send().page
    page.wait_for_url("**/runs/*/")
    run = page.url
    page.goto(workbench.server.url)
    workbench.compose("a draft")
    page.get_by_role("tab", name="Headers").click()
    page.get_by_role("button", name="Header", exact=True).click()
    page.get_by_label("Header name").fill("X-Draft")
    page.reload()
    expect(workbench.effective).to_contain_text("X-Draft")
    assert workbench.document["query"]["text"] == "a draft"
    page.goto(run)
    expect(workbench.effective).to_contain_text("to be sent")
    page.goto(f"{workbench.server.url}/?text=of+a+link")
    expect(workbench.effective).to_contain_text("of a link")
    page.goto(workbench.server.url)
    expect(workbench.effective).to_contain_text("a draft")


def test_a_reload_keeps_the_target_of_a_draft_and_another_link_wins(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo").compose("to whom").page
    agent = page.locator("#agent-select")
    workbench.choose_agent("demo-agent-api")
    expect(workbench.effective).to_contain_text("/demo/agent-api")
    page.reload()
    expect(workbench.effective).to_contain_text("/demo/agent-api")
    expect(agent).to_have_value("demo-agent-api")
    expect(workbench.effective).to_contain_text("to whom")
    workbench.open("/?agent=demo")
    expect(agent).to_have_value("demo")
    with workbench.target_menu() as menu:
        menu.get_by_text("MCP").click()
    expect(workbench.effective).to_contain_text("/demo/mcp")
    page.reload()
    expect(workbench.effective).to_contain_text("/demo/mcp")
    workbench.open("/?agent=demo-agent-api")
    expect(agent).to_have_value("demo-agent-api")
    page.reload()
    expect(workbench.effective).to_contain_text("/demo/agent-api")


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


def test_what_cannot_be_written_down_leaves_no_old_warning(workbench: Workbench) -> None:
    page = workbench.open("/?agent=demo-agent-api").page
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


def test_a_dead_connection_is_said_and_its_end_too(workbench: Workbench) -> None:
    page = workbench.page
    sockets: list[WebSocketRoute] = []

    def hold(socket: WebSocketRoute) -> None:
        # The second one answers only when it is let.
        if not sockets:
            socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/runs/"), hold)
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(1)).to_be_visible()
    page.evaluate("htmx.config.wsReconnectDelay = () => 2000")
    sockets[0].close(code=1011)
    expect(page.locator("#run-lost")).to_contain_text("reconnecting")
    expect(page.locator("#run-lost")).to_be_empty()
    with page.expect_response(re.compile("/cancellation/$")):
        page.keyboard.press("Escape")


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
    assert findings(page) == []
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
    boxes = [each.bounding_box() for each in (name, remove)]
    assert all(boxes), "both are seen"
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 8, "the button keeps its line"
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
    assert findings(page) == []
    page.reload()
    expect(editor).to_contain_text("clove")
    page.set_viewport_size({"width": 1000, "height": 800})
    expect(page.get_by_role("tab", name="JSON")).to_be_visible()
    expect(editor).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(editor).to_be_visible()
    beside.click()
    expect(editor).to_be_hidden()
    expect(workbench.text).to_be_visible()


def paste(workbench: Workbench, command: str) -> None:
    """Paste a command as the target."""
    page = workbench.page
    script = """([field, text]) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
    }"""
    page.evaluate(script, [page.locator("#target-input").element_handle(), command])
    expect(page.locator("#address-note")).to_contain_text("Imported from cURL")


CURL = """curl https://pasted.example/ask -H 'X-Pasted: 1' --json '{"query": {"text": "pasted"}}'"""


def test_a_pasted_command_is_a_request_of_its_own(workbench: Workbench) -> None:
    slug = import_requests(workbench.server, "Pasted over", "original")
    page = workbench.open(f"/collections/{slug}/requests/original/").page
    own = json.dumps([{"type": "state", "equals": "completed"}])
    page.evaluate("text => { document.forms.composer.elements.expectations.value = text }", own)
    workbench.compose("with expectations")
    paste(workbench, CURL)
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


def test_a_pasted_command_takes_a_tab_that_holds_nothing(workbench: Workbench) -> None:
    workbench.open()
    paste(workbench, CURL)
    expect(tabs(workbench)).to_have_count(1)
    expect(tabs(workbench)).to_have_accessible_name("pasted (not saved)")
    expect(workbench.page.locator("#address")).to_have_value("https://pasted.example/ask")
    paste(workbench, CURL.replace("pasted", "second"))
    expect(tabs(workbench)).to_have_count(2)
    tabs(workbench).nth(0).click()
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


@pytest.mark.parametrize("width", [1440, 1024, 390])
@pytest.mark.parametrize("agent", ["demo", "demo-agent-api"])
def test_no_part_of_a_request_or_a_response_is_out_of_view(
    workbench: Workbench, width: int, agent: str
) -> None:
    page = workbench.page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{workbench.server.url}/?agent={agent}&text=lentils")
    expect(workbench.effective).to_contain_text("POST")
    parts = page.locator("#composer .tab:visible")
    page.evaluate("""document.forms.composer.elements.expectations.value =
        '[{"type": "state", "equals": "completed"}]'""")
    for part in parts.all():
        expect(part).to_be_in_viewport(ratio=0.99)
    workbench.send()
    expect(page.locator("#response .tab")).to_have_count(8)
    # What is counted when the run has ended takes room, too; the Agent API's text grows slowly.
    expect(page.locator("#checks-count")).not_to_be_empty(timeout=30_000)
    tabs = page.locator("#response .tab")
    heights = "tabs => new Set(tabs.map((tab) => tab.getBoundingClientRect().y)).size"
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
    assert findings(page) == []
    workbench.send()
    expect(page.locator(".response-question")).to_have_text("cancel")
    # What was composed before is kept, and so is what is entered here.
    operation.locator("label", has_text="ask").click()
    expect(workbench.text).to_have_value("pears")
    assert workbench.document == query
    operation.locator("label", has_text="await").click()
    expect(token).to_have_value("no-such-promise")


def test_an_operation_is_chosen_with_the_keyboard(workbench: Workbench) -> None:
    page = workbench.open().page
    page.get_by_role("radio", name="ask").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="await")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="promise_token")).to_be_focused()
    lefts = [
        page.locator(f'json-field[data-pointer="{pointer}"] .field-editor').bounding_box()
        for pointer in ("/promise_token", "/action", "/meta/version")
    ]
    assert len({box["x"] for box in lefts if box}) == 1
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("radio", name="ask")).to_be_focused()
    expect(workbench.text).to_be_visible()


def test_the_form_shows_the_operation_of_the_json(workbench: Workbench) -> None:
    page = workbench.open().page
    workbench.write_json('{"promise_token": "t1", "action": "checkin"}')
    page.locator("#compose-tab-request").click()
    expect(page.get_by_role("textbox", name="promise_token")).to_have_value("t1")
    expect(page.get_by_role("radio", name="await")).to_be_checked()
    workbench.choose_agent("demo-agent-api")
    expect(page.get_by_role("radiogroup", name="Operation")).to_be_hidden()
    expect(page.get_by_role("textbox", name="promise_token")).to_be_hidden()
