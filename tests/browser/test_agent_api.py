"""The Agent API in the pages: composing, a text that grows, calls and approvals by hand."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.scripted_agent import scripted_agent
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

DEMO = "/?agent=demo-agent-api"
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}

PANTRY = {"type": "function", "function": {"name": "get_pantry"}}
CALENDAR = {"type": "function", "function": {"name": "get_calendar"}}


def asking(text: str, agent: str = "demo-agent-api", **rest: Any) -> str:
    """The address of a request to the demo agent."""
    message = {"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}
    return f"/?agent={agent}&request={quote(json.dumps({'input': [message], **rest}))}"


def thinking(workbench: Workbench) -> str:
    """Add the demo agent with reasoning, which the specification does not list; return its slug."""
    url = f"{workbench.server.url}/demo/agent-api?extensions=1"
    protocol = {"protocol": "agent-api", "version": "1"}
    return client_of(workbench.server).add_agent("ThinkingAgent", url, **protocol)


def said(workbench: Workbench, number: int = 0) -> Any:
    """The text of a message in the composer."""
    pointer = f"/input/{number}/content/0/text"
    return workbench.page.locator(f'json-field[data-pointer="{pointer}"] textarea')


def completed(workbench: Workbench) -> None:
    """Wait for the end: the demo agent takes its time, word by word."""
    expect(workbench.badge).to_have_text("Completed", timeout=40_000)


def texts(document: dict[str, Any]) -> list[str]:
    return [part["text"] for message in document["input"] for part in message["content"]]


@pytest.fixture
def scripted(workbench: Workbench) -> Any:
    """A scripted agent, known to the playground."""
    with scripted_agent() as found:
        protocol = {"protocol": "agent-api", "version": "1"}
        found.slug = client_of(workbench.server).add_agent("ScriptedAgent", found.url, **protocol)
        yield found


class TestComposing:
    def test_another_protocol_brings_its_own_request_with_the_same_words(
        self, workbench: Workbench
    ) -> None:
        workbench.open("/?agent=demo").compose("soup with lentils")
        page = workbench.page
        workbench.choose_agent("demo-agent-api")
        expect(page.get_by_role("button", name="Message", exact=True)).to_be_visible()
        expect(workbench.text).to_be_hidden()
        expect(said(workbench)).to_have_value("soup with lentils")
        expect(workbench.effective).to_contain_text("/demo/agent-api")
        said(workbench).fill("soup with beans")
        workbench.choose_agent("demo")
        expect(workbench.text).to_have_value("soup with lentils")
        workbench.choose_agent("demo-agent-api")
        expect(said(workbench)).to_have_value("soup with beans")
        assert texts(workbench.document) == ["soup with beans"]

    def test_messages_parameters_and_a_function_by_mouse(self, workbench: Workbench) -> None:
        page = workbench.open(DEMO).page
        said(workbench).fill("what is the weather")
        page.get_by_role("button", name="Message", exact=True).click()
        said(workbench, 1).fill("Be short.")
        page.get_by_role("combobox", name="Role").nth(1).select_option("system")
        page.get_by_role("button", name="Move up message 2").click()
        page.get_by_role("button", name="+ Image").nth(1).click()
        page.keyboard.type("https://example.com/soup.jpg")
        page.get_by_role("button", name="+ Data").nth(1).click()
        page.get_by_role("button", name="Remove part 3").click()
        workbench.add_field("temperature")
        page.keyboard.type("0.5")
        workbench.add_field("n").locator(".field-type").select_option("null")
        workbench.add_field("effort")
        page.keyboard.type("low")
        assert workbench.document["effort"] == "low"
        workbench.add_field("tools")
        expect(page.get_by_role("group", name="Function 1")).to_be_visible()
        page.keyboard.type("get_weather")
        parameters = '{"type": "object", "properties": {"city": {"type": "string"}}}'
        page.locator('json-field[data-pointer$="/parameters"] textarea').fill(parameters)
        document = workbench.document
        assert [message["role"] for message in document["input"]] == ["system", "user"]
        assert document["input"][1]["content"] == [
            {"type": "text", "text": "what is the weather"},
            {"type": "image", "image_url": "https://example.com/soup.jpg"},
        ]
        assert (document["temperature"], document["n"]) == (0.5, None)
        function = document["tools"][0]["function"]
        assert (function["name"], function["parameters"]) == ("get_weather", json.loads(parameters))
        expect(workbench.effective).to_contain_text("get_weather")
        page.get_by_role("button", name="Remove function 1").click()
        assert "tools" not in workbench.document
        expect(page.get_by_role("button", name="Add field")).to_be_focused()

    def test_by_keyboard_alone(self, workbench: Workbench) -> None:
        page = workbench.open(DEMO).page
        tab_to(page, "Text")
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("soup")
        press(page, "Message")
        expect(said(workbench, 1)).to_be_focused()
        page.keyboard.type("and bread")
        page.keyboard.press("Shift+Tab")
        assert focused(page) == "Remove message 2"
        page.keyboard.press("Shift+Tab")
        assert focused(page) == "Move up message 2"
        page.keyboard.press("Enter")
        assert focused(page) == "Move down message 1"
        assert texts(workbench.document) == ["and bread", "soup"]
        page.keyboard.press("ControlOrMeta+Enter")
        expect(workbench.badge).to_be_visible()
        expect(page).to_have_title("soup · NLWeb Playground")

    def test_a_request_without_words_is_not_sent(self, workbench: Workbench) -> None:
        page = workbench.open(DEMO).page
        said(workbench).fill("")
        page.get_by_role("button", name="Send").first.click()
        expect(said(workbench)).to_be_focused()
        expect(page.locator("#tab-request .list .field-error")).to_contain_text("Enter a message")
        assert workbench.run is None

    def test_a_draft_of_either_protocol_outlives_a_reload(self, workbench: Workbench) -> None:
        page = workbench.open("/").page
        workbench.choose_agent("demo-agent-api")
        said(workbench).fill("kept")
        page.reload()
        expect(said(workbench)).to_have_value("kept")
        expect(page.locator("#agent-select")).to_have_value("demo-agent-api")
        page.get_by_role("link", name="New request").click()
        expect(said(workbench)).to_have_value("")
        page.get_by_role("tab", name="kept").click()
        expect(said(workbench)).to_have_value("kept")

    def test_what_is_no_message_is_edited_as_json(self, workbench: Workbench) -> None:
        page = workbench.open(f"{DEMO}&request={quote(json.dumps({'input': ['odd']}))}").page
        field = page.locator('json-field[data-pointer="/input/0"]')
        expect(field.locator("textarea")).to_have_value("odd")
        field.locator(".field-type").select_option("json")
        message = '{"role": "user", "type": "message", "content": "plain"}'
        field.locator("textarea").fill(message)
        content = page.locator('json-field[data-pointer="/input/0/content"] textarea')
        expect(content).to_have_value("plain")


class TestThread:
    def test_a_text_grows_and_a_reload_in_mid_stream_shows_the_same(
        self, workbench: Workbench, scripted: Any
    ) -> None:
        page = workbench.open(f"/?agent={scripted.slug}&text=hello").page
        scripted.begin()
        scripted.piece("Once upon ")
        workbench.send()
        text = page.locator(".msg-text")
        expect(text).to_have_text("Once upon ")
        page.evaluate("document.querySelector('.msg-text').dataset.same = 'yes'")
        scripted.piece("a time\n  <b>")
        expect(text).to_have_text("Once upon a time\n  <b>")
        assert text.get_attribute("data-same") == "yes"
        expect(page.locator(".msg-status")).to_have_text("In progress")
        page.reload()
        expect(text).to_have_text("Once upon a time\n  <b>")
        scripted.piece(" there was")
        expect(text).to_have_text("Once upon a time\n  <b> there was")
        scripted.end("Once upon a time\n  <b> there was")
        completed(workbench)
        expect(page.locator(".msg-status")).to_have_text("Completed")
        expect(page.locator("#run-usage")).to_contain_text("tokens")
        assert page.evaluate("document.querySelector('.msg-text').textContent") == (
            "Once upon a time\n  <b> there was"
        )

    def test_the_demo_thinks_calls_answers_and_shows_cards(self, workbench: Workbench) -> None:
        page = workbench.open(asking("soup with lentils", thinking(workbench))).send().page
        completed(workbench)
        expect(page.locator('.msg[data-family="reasoning"] .msg-text')).to_be_hidden()
        page.locator('.msg[data-family="reasoning"] summary').click()
        expect(page.locator('.msg[data-family="reasoning"] .msg-text')).to_be_visible()
        call = page.locator('.msg[data-family="call"]')
        expect(call).to_contain_text("search_recipes")
        expect(call).to_contain_text("Output")
        expect(page.locator(".msg .mini").first).to_be_visible()
        page.locator('.msg[data-family="said"] .raw-toggle').click()
        expect(page.locator('.msg[data-family="said"] .card-raw pre')).to_contain_text('"content"')


class TestAnswering:
    def test_a_function_call_is_answered_by_hand(self, workbench: Workbench) -> None:
        workbench.open(asking("what is the weather", tools=[WEATHER])).send()
        page = workbench.page
        call = page.locator('.msg[data-family="call"]')
        box = call.get_by_role("textbox")
        box.fill("{sunny")
        call.get_by_text("JSON (validated)").click()
        call.get_by_role("button", name="Answer the call").click()
        expect(call.get_by_role("alert")).to_contain_text("Line 1")
        box.fill('{"sky": "sunny"}')
        call.get_by_text("Request to be sent").click()
        expect(call.locator(".ask-call")).to_contain_text("function_call_output")
        expect(call.locator(".ask-call")).to_contain_text("session_id")
        before = workbench.run
        call.get_by_role("button", name="Answer the call").click()
        expect(page.locator("#response")).not_to_have_attribute("data-run", before or "")
        completed(workbench)
        expect(page.locator(".msg-text").last).to_contain_text("sunny")
        page.locator(".turn-fold > summary").first.click()
        expect(page.locator(".turn .answered")).to_contain_text("sunny")

    def test_two_calls_are_answered_at_once(self, workbench: Workbench) -> None:
        workbench.open(asking("check my pantry and my calendar", tools=[PANTRY, CALENDAR])).send()
        page = workbench.page
        calls = page.locator('.msg[data-family="call"]')
        first, second = calls.nth(0), calls.nth(1)
        first.get_by_text("Request to be sent").click()
        first.get_by_role("textbox").fill("eggs")
        second.get_by_role("textbox").fill("{oops")
        second.get_by_text("JSON (validated)").click()
        expect(first.locator(".ask-call")).to_contain_text("get_calendar: Line 1")
        first.get_by_role("button", name="Answer 2 calls").click()
        expect(second.get_by_role("alert")).to_contain_text("Line 1")
        expect(second.get_by_role("textbox")).to_be_focused()
        expect(first.get_by_role("textbox")).to_have_value("eggs")
        second.get_by_role("textbox").fill('["flour"]')
        before = workbench.run
        second.get_by_role("button", name="Answer 2 calls").click()
        expect(page.locator("#response")).not_to_have_attribute("data-run", before or "")
        completed(workbench)
        said = page.locator(".msg-text").last
        expect(said).to_contain_text("get_pantry returned: eggs. get_calendar returned: flour.")
        page.locator(".turn-fold > summary").first.click()
        expect(page.locator(".turn .answered")).to_have_count(2)

    def test_an_approval_is_refused_with_a_reason(self, workbench: Workbench) -> None:
        workbench.open(asking("order the ingredients")).send()
        page = workbench.page
        asked = page.locator('.msg[data-family="approval"]')
        expect(asked).to_contain_text("cart_add")
        asked.get_by_role("textbox", name="Reason").fill("too much")
        before = workbench.run
        asked.get_by_role("button", name="Deny").click()
        expect(page.locator("#response")).not_to_have_attribute("data-run", before or "")
        completed(workbench)
        wire = workbench.tab("Wire")
        expect(wire).to_contain_text('"approve": false')
        expect(wire).to_contain_text("too much")

    def test_what_follows_carries_the_session(self, workbench: Workbench) -> None:
        workbench.open(asking("hello")).send()
        page = workbench.page
        completed(workbench)
        expect(page.locator("#follow-up-context")).to_contain_text("Includes the session")
        page.get_by_label("Ask a follow-up").fill("what did I ask you?")
        page.get_by_role("button", name="Ask", exact=True).click()
        expect(page.locator(".msg-text").last).to_contain_text("hello")
        session = workbench.tab("Session")
        expect(session).to_contain_text("session_id")


def test_accessible_in_every_state(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still, playground).open(asking("what is the weather", tools=[WEATHER]))
    for name in ("max_tokens", "session_id", "effort"):
        workbench.add_field(name)
    assert findings(still) == [], "the form"
    workbench.send()
    expect(still.get_by_role("button", name="Answer the call")).to_be_visible()
    for name, part in (
        ("Timeline", ".mark"),
        ("Events", "#event-rows > *"),
        ("Results", "#cards > *"),
    ):
        expect(workbench.tab(name).locator(part).first).to_be_visible()
        assert findings(still) == [], name
    workbench.open(asking("soup with lentils", thinking(workbench))).send()
    completed(workbench)
    still.locator(".msg-fold > summary").click()
    assert findings(still, both_themes=True) == [], "an answer"
