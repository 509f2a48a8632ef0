"""The Agent API in the pages: composing, a text that grows, calls and approvals by hand."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.keyboard import focused, press, tab_to
from tests.browser.scripted_agent import scripted_agent
from tests.browser.workbench import Workbench

DEMO = "/?agent=demo-agent-api"
PROTOCOL = {"protocol": "agent-api", "version": "1"}
PANTRY = {"type": "function", "function": {"name": "get_pantry"}}
CALENDAR = {"type": "function", "function": {"name": "get_calendar"}}


def asking(text: str, agent: str, **rest: Any) -> str:
    """The address of a request to the demo agent."""
    message = {"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}
    return f"/?agent={agent}&request={quote(json.dumps({'input': [message], **rest}))}"


def quick(workbench: Workbench, more: str = "") -> str:
    """Add the demo agent that makes no pauses between its words; return its slug."""
    url = f"{workbench.server.url}/demo/agent-api?pace=0{more}"
    return client_of(workbench.server).add_agent("QuickAgent", url, **PROTOCOL)


def said(workbench: Workbench, number: int = 0) -> Any:
    """The text of a message in the composer."""
    pointer = f"/input/{number}/content/0/text"
    return workbench.page.locator(f'json-field[data-pointer="{pointer}"] textarea')


def texts(document: dict[str, Any]) -> list[str]:
    return [part["text"] for message in document["input"] for part in message["content"]]


@pytest.fixture
def scripted(workbench: Workbench) -> Any:
    """A scripted agent, known to the playground."""
    with scripted_agent() as found:
        found.slug = client_of(workbench.server).add_agent("ScriptedAgent", found.url, **PROTOCOL)
        yield found


def test_messages_parameters_and_a_function_by_mouse(workbench: Workbench) -> None:
    workbench.open("/?agent=demo").compose("soup with lentils")
    page = workbench.page
    # Another protocol brings its own request with the same words.
    workbench.choose_agent("demo-agent-api")
    expect(workbench.text).to_be_hidden()
    expect(said(workbench)).to_have_value("soup with lentils")
    expect(workbench.effective).to_contain_text("/demo/agent-api")
    said(workbench).fill("")
    page.get_by_role("button", name="Send").first.click()
    expect(said(workbench)).to_be_focused()
    expect(page.locator("#tab-request .list .field-error")).to_contain_text("Enter a message")
    assert workbench.run is None
    said(workbench).fill("what is the weather")
    workbench.choose_agent("demo")
    expect(workbench.text).to_have_value("soup with lentils")
    workbench.choose_agent("demo-agent-api")
    expect(said(workbench)).to_have_value("what is the weather")

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
    workbench.add_field("tools")
    expect(page.get_by_role("group", name="Function 1")).to_be_visible()
    page.keyboard.type("get_weather")
    # While the request is incomplete, the line of the last complete one fits, too.
    temperature = page.locator('json-field[data-pointer="/temperature"] input:visible')
    temperature.fill("0.")
    expect(page.locator("request-composer[data-stale]")).to_be_attached()
    assert workbench.effective.evaluate("line => line.scrollWidth - line.clientWidth") == 0
    temperature.fill("0.5")
    parameters = '{"type": "object", "properties": {"city": {"type": "string"}}}'
    page.locator('json-field[data-pointer$="/parameters"] textarea:visible').fill(parameters)
    assert findings(page, "#compose") == []
    document = workbench.document
    assert [message["role"] for message in document["input"]] == ["system", "user"]
    assert document["input"][1]["content"] == [
        {"type": "text", "text": "what is the weather"},
        {"type": "image", "image_url": "https://example.com/soup.jpg"},
    ]
    assert (document["temperature"], document["n"], document["effort"]) == (0.5, None, "low")
    function = document["tools"][0]["function"]
    assert (function["name"], function["parameters"]) == ("get_weather", json.loads(parameters))
    expect(workbench.effective).to_contain_text("get_weather")
    page.get_by_role("button", name="Remove function 1").click()
    assert "tools" not in workbench.document
    expect(page.get_by_role("button", name="Add field")).to_be_focused()

    # A draft outlives a reload, and a new request beside it.
    page.reload()
    expect(said(workbench, 1)).to_have_value("what is the weather")
    expect(page.locator("#agent-select")).to_have_value("demo-agent-api")
    page.get_by_role("link", name="New request").click()
    expect(said(workbench)).to_have_value("")
    page.get_by_role("tab", name="what is the weather").click()
    expect(said(workbench, 1)).to_have_value("what is the weather")
    workbench.open("/?agent=demo")
    expect(page.locator("#agent-select")).to_have_value("demo")


def test_by_keyboard_alone(workbench: Workbench) -> None:
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
    # What is no message is edited as JSON.
    workbench.open(f"{DEMO}&request={quote(json.dumps({'input': ['odd']}))}")
    field = page.locator('json-field[data-pointer="/input/0"]')
    expect(field.locator("textarea")).to_have_value("odd")
    field.locator(".field-type").select_option("json")
    field.locator("textarea").fill('{"role": "user", "type": "message", "content": "plain"}')
    content = page.locator('json-field[data-pointer="/input/0/content"] textarea')
    expect(content).to_have_value("plain")


def test_a_text_grows_and_a_reload_in_mid_stream_shows_the_same(
    workbench: Workbench, scripted: Any
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
    workbench.ended()
    expect(page.locator(".msg-status")).to_have_text("Completed")
    expect(page.locator("#run-usage")).to_contain_text("tokens")
    assert page.evaluate("document.querySelector('.msg-text').textContent") == (
        "Once upon a time\n  <b> there was"
    )


def test_the_demo_thinks_calls_answers_and_shows_cards(workbench: Workbench) -> None:
    page = workbench.page
    workbench.open(asking("soup with lentils", quick(workbench, "&extensions=1"))).send().ended()
    reasoning, call, answer = (
        page.locator(f'.msg[data-family="{family}"]') for family in ("reasoning", "call", "said")
    )
    expect(reasoning.locator(".msg-text")).to_be_hidden()
    reasoning.locator("summary").click()
    expect(reasoning.locator(".msg-text")).to_be_visible()
    expect(call).to_contain_text("search_recipes")
    expect(call).to_contain_text("Output")
    expect(answer.locator(".mini").first).to_be_visible()
    assert findings(page, both_themes=True) == []
    answer.locator(".raw-toggle").click()
    expect(answer.locator(".card-raw pre")).to_contain_text('"content"')


def test_two_calls_are_answered_at_once(workbench: Workbench) -> None:
    page = workbench.page
    agent = quick(workbench)
    question = asking("check my pantry and my calendar", agent, tools=[PANTRY, CALENDAR])
    workbench.open(question).send()
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
    for name, part in (
        ("Timeline", ".mark"),
        ("Events", "#event-rows > *"),
        ("Results", "#cards > *"),
    ):
        expect(workbench.tab(name).locator(part).first).to_be_visible()
        assert findings(page, f"#tab-{name.lower()}") == [], name
    second.get_by_role("textbox").fill('["flour"]')
    before = workbench.run
    second.get_by_role("button", name="Answer 2 calls").click()
    workbench.next_run(before).ended()
    said = page.locator(".msg-text").last
    expect(said).to_contain_text("get_pantry returned: eggs. get_calendar returned: flour.")
    page.locator(".turn-fold > summary").first.click()
    expect(page.locator(".turn .answered")).to_have_count(2)
