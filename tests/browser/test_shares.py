"""A link to a run and to a collection, opened by somebody else."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.keyboard import press
from tests.browser.scripted_agent import scripted_agent
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer


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


def test_a_run_in_a_private_window(workbench: Workbench, browser: Browser) -> None:
    link = share(answered(workbench, "soup to be shared"))
    private = browser.new_context()
    page = private.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("soup to be shared")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.get_by_text("Shared · read-only")).to_be_visible()
    page.locator("#share-wire > summary").click()
    expect(page.locator("#share-wire")).to_contain_text("POST /demo/ask")
    page.get_by_role("link", name="Open in the workbench").click()
    expect(page.locator('json-field[data-pointer="/query/text"] textarea')).to_have_value(
        "soup to be shared"
    )
    # It is a copy to be sent, and nothing was sent.
    assert not page.locator("#response").get_attribute("data-run")
    private.close()


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
    assert not complaints
    private.close()


def test_a_link_that_is_revoked_opens_nothing(workbench: Workbench, browser: Browser) -> None:
    page = answered(workbench, "soup to be taken back")
    link = share(page)
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Shared links")
    private = browser.new_context()
    other = private.new_page()
    response = other.goto(link)
    assert response is not None
    assert response.status == 404
    private.close()


def test_a_collection_is_copied(workbench: Workbench, browser: Browser) -> None:
    page = workbench.page
    page.goto(f"{workbench.server.url}/shares/new/?collection=tour")
    page.get_by_role("button", name="Create link").click()
    link = page.get_by_label("Link to the collection").input_value()
    private = browser.new_context()
    other = private.new_page()
    other.goto(link)
    other.locator(".share-request > summary").first.click()
    expect(other.get_by_text("The state is completed").first).to_be_visible()
    other.get_by_role("button", name="Copy to my collections").click()
    expect(other).to_have_url(re.compile(r"/collections/a-tour-of-the-demo-agent(-\d+)?/$"))
    private.close()


def test_the_pages_are_accessible(still: Page, playground: PlaygroundServer) -> None:
    workbench = Workbench(still.context.new_page(), playground)
    link: Any = share(answered(workbench, "soup for everybody"))
    made = workbench.page.url
    for address in (link, made, f"{workbench.server.url}/shares/"):
        still.goto(address)
        assert not findings(still, both_themes=True), address
    workbench.page.goto(f"{workbench.server.url}/shares/new/?collection=tour")
    workbench.page.get_by_role("button", name="Create link").click()
    still.goto(workbench.page.get_by_label("Link to the collection").input_value())
    for summary in still.locator(".share-request > summary").all()[:3]:
        summary.click()
    assert not findings(still, both_themes=True)
