"""Links: one brings a request along and sends nothing; one to a run or collection is shared."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Request, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.keyboard import clipboard_text, paste, press
from tests.browser.scripted_agent import scripted_agent
from tests.browser.test_tabs import tabs
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

REQUEST = {
    "agent": "an-agent-only-the-sender-has",
    "address": "https://other.example/agent",
    "version": "0.54",
    "document": {"query": {"text": "<img src=x onerror=alert(1)>"}},
    "headers": [["Authorization", "Bearer literal"], ["X-Note", "kept"]],
}


def in_base64(value: Any) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def banner(page: Page) -> Locator:
    return page.get_by_role("note").filter(has_text="This request was opened from a link.")


def sends(page: Page) -> list[str]:
    """What is posted from now on that would send a request."""
    found: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST" and re.search(r"/(runs|twins)/$", request.url):
            found.append(request.url)

    page.on("request", note)
    return found


def test_a_whole_request_in_the_fragment(workbench: Workbench) -> None:
    page = workbench.page
    sent = sends(page)
    workbench.open().compose("work of one's own")
    page.goto(f"{workbench.server.url}/#request={in_base64(REQUEST)}")
    expect(banner(page)).to_contain_text("Target: https://other.example")
    expect(banner(page)).to_contain_text("new origin")
    expect(banner(page)).to_contain_text("credentials were removed: Authorization")
    expect(workbench.text).to_have_value("<img src=x onerror=alert(1)>")
    expect(page.locator("#address")).to_have_value("https://other.example/agent")
    expect(workbench.effective).to_contain_text("kept")
    expect(page).to_have_url(re.compile(r"/$"))
    assert "literal" not in page.content()
    assert findings(page, both_themes=True) == [], "a link"
    page.get_by_role("button", name="All open requests").click()
    expect(page.locator("#open-menu")).to_be_visible()
    assert findings(page) == [], "the menu"
    page.keyboard.press("Escape")
    tabs(workbench).nth(0).click()
    expect(workbench.text).to_have_value("work of one's own")
    expect(banner(page)).to_be_hidden()
    tabs(workbench).nth(1).click()
    banner(page).get_by_role("button", name="Dismiss").click()
    expect(banner(page)).to_be_hidden()
    page.reload()
    expect(workbench.effective).to_contain_text("https://other.example/agent")
    expect(tabs(workbench)).to_have_count(2)
    expect(banner(page)).to_be_hidden()
    # An agent that is only called the same is not the one that is meant.
    page.goto(f"{workbench.server.url}/agents/")
    request = REQUEST | {"agent": "demo"}
    page.goto(f"{workbench.server.url}/#request={in_base64(request)}")
    expect(banner(page)).to_contain_text("Target: https://other.example")
    expect(page.locator("#agent-select")).to_have_value("")
    page.goto(f"{workbench.server.url}/agents/")
    page.goto(
        f"{workbench.server.url}/#request="
        + in_base64(request | {"address": f"{workbench.server.url}/demo"})
    )
    expect(banner(page)).to_contain_text(f"Target: {workbench.server.url}")
    expect(page.locator("#agent-select")).to_have_value("demo")
    assert sent == []


def test_a_link_in_the_query_is_sent_by_its_reader_alone(workbench: Workbench) -> None:
    sent = sends(workbench.page)
    page = workbench.open("/?agent=demo&text=soup+with+lentils&streaming=0").page
    expect(banner(page)).to_contain_text(f"Target: {workbench.server.url}")
    expect(page).to_have_url(f"{workbench.server.url}/")
    page.reload()
    expect(banner(page)).to_be_visible()
    expect(workbench.text).to_have_value("soup with lentils")
    assert workbench.document["prefer"] == {"streaming": False}
    assert sent == []
    workbench.send()
    expect(banner(page)).to_be_hidden()
    assert len(sent) == 1


def test_what_is_no_request_is_said_until_it_is_read(workbench: Workbench) -> None:
    """The page asks the server for this and that when it opens, and is answered."""
    page = workbench.page
    page.goto(f"{workbench.server.url}/#request={in_base64([1])}")
    expect(workbench.effective).to_contain_text("POST")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_role("alert")).to_contain_text("The link was not opened.")
    workbench.compose("something else")
    expect(workbench.effective).to_contain_text("something else")
    expect(page.get_by_role("alert")).to_contain_text("The link was not opened.")
    expect(tabs(workbench)).to_have_count(1)


def test_a_link_to_the_request_holds_all_of_it(workbench: Workbench) -> None:
    page = workbench.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    workbench.open().compose("to be passed on", site="recipes")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("copy a link")
    page.keyboard.press("Enter")
    expect(page.locator("toast-note").last).to_contain_text("Link copied.")
    link = clipboard_text(page)
    other = Workbench(page.context.new_page(), workbench.server)
    other.page.goto(link)
    expect(other.text).to_have_value("to be passed on")
    expect(banner(other.page)).to_be_visible()
    assert other.document["query"]["site"] == "recipes"


def test_a_curl_command_fills_the_request(workbench: Workbench) -> None:
    page = workbench.open().page
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("curl")
    page.keyboard.press("Enter")
    target = page.locator("#target-input")
    expect(target).to_be_focused()
    url = f"{workbench.server.url}/demo/ask"
    body = '{"query": {"text": "pasted soup"}}'
    paste(target, f"curl '{url}' \\\n  -H 'X-Note: kept' -d '{body}' -o out.json")
    note = page.locator("#address-note")
    expect(note).to_contain_text("The command was not imported.")
    expect(note).to_contain_text("which is not supported")
    paste(target, f"curl '{url}' \\\n  -H 'X-Note: kept' -d '{body}' --compressed")
    expect(note).to_contain_text("Imported from cURL")
    expect(note).to_contain_text("--compressed")
    expect(page.locator("#target-list")).to_be_hidden()
    expect(workbench.text).to_have_value("pasted soup")
    expect(workbench.effective).to_contain_text("X-Note")
    workbench.send()
    expect(workbench.badge).to_have_attribute("data-state", "completed")


def test_a_request_authenticates_in_its_own_way(workbench: Workbench) -> None:
    page = workbench.open().page
    page.get_by_role("tab", name="Auth").click()
    page.get_by_label("Authentication").select_option("api_key")
    page.get_by_label("Secret", exact=True).fill("kitchen_key")
    expect(workbench.effective).to_contain_text("kitchen_key")
    page.reload()
    page.get_by_role("tab", name="Auth").click()
    expect(page.get_by_label("Secret", exact=True)).to_have_value("kitchen_key")
    page.get_by_label("Authentication").select_option("")
    expect(page.get_by_label("Secret", exact=True)).to_be_hidden()
    expect(workbench.effective).not_to_contain_text("kitchen_key")


def share(page: Page) -> str:
    """Make a link to the run that is shown, by keyboard, and return it."""
    press(page, "Share")
    expect(page.get_by_role("heading", level=1)).to_have_text("Share this run")
    press(page, "Create link")
    expect(page.get_by_role("heading", level=1)).to_have_text("Link created")
    return page.get_by_label("Link to the run").input_value()


def answered(workbench: Workbench, text: str) -> Page:
    workbench.open("/?agent=demo").compose(text).send()
    expect(workbench.badge).to_have_text("Completed")
    return workbench.page


def test_a_run_in_progress_is_followed(workbench: Workbench, browser: Browser) -> None:
    private = browser.new_context(color_scheme="light", reduced_motion="reduce")
    reader = private.new_page()
    complaints: list[str] = []
    reader.on("pageerror", lambda error: complaints.append(str(error)))
    reader.on(
        "console", lambda said: complaints.append(said.text) if said.type == "error" else None
    )
    with scripted_agent() as agent:
        protocol = {"protocol": "agent-api", "version": "1"}
        slug = client_of(workbench.server).add_agent("Storyteller", agent.url, **protocol)
        agent.begin()
        agent.piece("Once upon ")
        workbench.open(f"/?agent={slug}&text=story").send()
        expect(workbench.cards).to_contain_text("Once upon")
        reader.goto(share(workbench.page))
        expect(reader.locator("#run-badge")).to_have_text("Streaming")
        expect(reader.locator("#cards")).to_contain_text("Once upon")
        expect(reader.get_by_text("Live: this page is updated automatically.")).to_be_visible()
        agent.piece("a time")
        expect(reader.locator("#cards")).to_contain_text("Once upon a time")
        assert not findings(reader, both_themes=True)
        agent.end("Once upon a time.")
        expect(reader.locator("#run-badge")).to_have_text("Completed")
    expect(reader.get_by_text("Live:")).to_be_hidden()
    expect(reader.locator("#cards .msg")).to_have_count(1)
    reader.locator("#share-wire > summary").click()
    expect(reader.locator("#share-wire")).to_contain_text("POST /process")
    reader.locator("#share-events > summary").click()
    expect(reader.locator("#share-events td").first).to_be_visible()
    reader.locator("#cards summary", has_text="JSON").click()
    expect(reader.locator("#cards pre").first).to_contain_text("Once upon a time.")
    assert not findings(reader, both_themes=True)
    # It is a copy that is opened, to be sent.
    reader.get_by_role("link", name="Open in the workbench").click()
    expect(reader.locator("#composer")).to_be_visible()
    assert not reader.locator("#response").get_attribute("data-run")
    assert not complaints
    private.close()


def test_a_collection_is_shared_and_copied(page: Page, playground: PlaygroundServer) -> None:
    page.goto(f"{playground.url}/shares/new/?collection=tour")
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label("Link to the collection").input_value()
    assert not findings(page, both_themes=True), "made"
    page.goto(f"{playground.url}/shares/")
    assert not findings(page, both_themes=True), "list"
    page.context.clear_cookies()
    page.goto(link)
    for summary in page.locator(".share-request > summary").all()[:3]:
        summary.click()
    expect(page.get_by_text("The state is completed").first).to_be_visible()
    assert not findings(page, both_themes=True), "shared"
    page.get_by_role("button", name="Copy to my collections").click()
    expect(page).to_have_url(re.compile(r"/collections/a-tour-of-the-demo-agent(-\d+)?/$"))
