"""A link to a run and to a collection, opened by somebody else."""

from __future__ import annotations

import re

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


def test_a_collection_is_shared_and_copied(still: Page, playground: PlaygroundServer) -> None:
    page = still
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
