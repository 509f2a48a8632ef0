"""A collection is run: watched, reloaded in between, stopped; its page in both themes."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.keyboard import press
from tests.support.collection_files import collection_items
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import Server, reply, serve

ANSWER = reply(json.dumps({"results": [{"name": "Soup"}]}).encode())


class Gate:
    """An agent that answers what it is let answer, on a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._run(),))
        self._thread.start()
        self._ready.wait(10)

    async def _run(self) -> None:
        self._open, self._done = asyncio.Event(), asyncio.Event()
        async with serve(answer=self._answer) as self.server:
            self._ready.set()
            await self._done.wait()

    def _answer(self, request: bytes) -> Any:
        return [self._open, ANSWER] if b"wait" in request else [ANSWER]

    server: Server

    def open(self) -> None:
        """Let those that wait be answered."""
        self._loop.call_soon_threadsafe(self._open.set)

    def close(self) -> None:
        """End it."""
        self.open()
        self._loop.call_soon_threadsafe(self._done.set)
        self._thread.join(10)


@pytest.fixture
def gate() -> Iterator[Gate]:
    found = Gate()
    yield found
    found.close()


def collect(playground: PlaygroundServer, name: str, url: str, *texts: str) -> str:
    """Import a collection of requests with these texts; returns its address."""
    requests = (
        {
            "name": text, "slug": f"r{number}", "address": url,
            "document": {"query": {"text": text}},
            "expectations": [
                {"type": "json", "path": "$.results[0].name", "equals": text.split()[0]}
            ],
        }
        for number, text in enumerate(texts, 1)
    )  # fmt: skip
    items = collection_items(name, requests)
    return f"{playground.url}{client_of(playground).import_collection(items)}"


def begin(page: Page, address: str) -> None:
    """Run the collection from its page."""
    page.goto(address)
    page.get_by_role("link", name="Run…").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#collection-run-progress")).to_be_visible()


def test_it_is_watched_over_a_reload(page: Page, playground: PlaygroundServer, gate: Gate) -> None:
    page.goto(collect(playground, "Watched", gate.server.url, "Soup", "wait", "Soup again"))
    page.get_by_role("link", name="Run…").click()
    assert not findings(page, both_themes=True)
    page.get_by_role("button", name="Run", exact=True).click()
    first, second, third = (page.locator(f"#step-{number}") for number in (1, 2, 3))
    expect(first).to_have_attribute("data-verdict", "met")
    expect(second).to_have_attribute("data-verdict", "running")
    expect(third).to_have_attribute("data-verdict", "waiting")
    page.reload()
    expect(second).to_have_attribute("data-verdict", "running")
    gate.open()
    expect(second).to_have_attribute("data-verdict", "unmet")
    expect(third).to_have_attribute("data-verdict", "met")
    expect(page.locator("#collection-run-progress")).to_contain_text("Failed")
    expect(page.locator(".history-group").first).to_contain_text("1 failed, 2 of 3 passed")
    # What was not met stands open, with what was wanted and what came.
    expect(second).to_contain_text('equals "wait"')
    expect(second).to_contain_text('"Soup"')
    first.locator("summary").click()
    assert not findings(page, both_themes=True)
    page.get_by_role("link", name="Failed or not sent").click()
    expect(page.locator(".collection-run-step")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("link", name="JUnit").click()
    assert "testsuites" in download.value.path().read_text()
    page.get_by_role("link", name="Open the run of wait").click()
    expect(page.locator("#response")).to_be_visible()
    page.goto(f"{playground.url}/collection-runs/?collection=watched")
    assert not findings(page, both_themes=True)


def test_a_dead_connection_is_said_and_its_end_too(
    page: Page, playground: PlaygroundServer, gate: Gate
) -> None:
    sockets: list[WebSocketRoute] = []

    def hold(socket: WebSocketRoute) -> None:
        # The second one is not answered, and the third one is.
        if len(sockets) != 1:
            socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/collection-runs/"), hold)
    begin(page, collect(playground, "Cut", gate.server.url, "wait", "Soup"))
    standing, note = page.locator("#collection-run-progress"), page.locator("#run-lost")
    expect(page.locator("#step-1")).to_have_attribute("data-verdict", "running")
    expect(note).to_be_empty()
    page.evaluate("htmx.config.wsReconnectDelay = () => 2000")
    sockets[0].close(code=1011)
    expect(note).to_contain_text("reconnecting")
    expect(note).to_be_empty()
    sockets[1].close(code=1011)
    expect(note).to_contain_text("reconnecting")
    gate.open()
    expect(standing).to_contain_text("Failed")
    # Nothing more is to come: that the socket has gone is no news.
    expect(standing).to_have_attribute("data-settled", "")
    expect(note).to_be_empty()


def test_it_is_started_with_a_value_and_stopped_by_keyboard(
    page: Page, playground: PlaygroundServer, gate: Gate
) -> None:
    address = collect(playground, "Chosen", "http://127.0.0.1:9", "Tea", "{{dish}}", "Soup")
    page.set_viewport_size({"width": 1366, "height": 700})
    page.goto(address)
    page.get_by_role("link", name="Run…").click()
    # The form is longer than the window: its buttons stay in view.
    run = page.get_by_role("button", name="Run", exact=True)
    expect(run).to_be_in_viewport(ratio=1)
    page.get_by_text("Select requests").click()
    chosen = page.get_by_role("checkbox", name="{{dish}}")
    chosen.check()
    page.get_by_role("checkbox", name="Soup").check()
    page.get_by_label("Variables").fill("no value")
    page.get_by_label("or URL").fill(gate.server.url)
    run.click()
    # What was given is kept, with what is wrong with it.
    expect(page.locator("#variables-error")).to_contain_text("Line 1")
    expect(chosen).to_be_checked()
    page.get_by_label("Variables").fill("dish=wait")
    run.click()
    expect(page.locator("#step-1")).to_have_attribute("data-verdict", "running")
    expect(page.locator(".collection-run-step")).to_have_count(2)
    press(page, "Stop")
    expect(page.locator("#collection-run-progress")).to_contain_text("Stopped")
    expect(page.locator("#step-1")).to_have_attribute("data-verdict", "stopped")
    expect(page.locator("#step-2")).to_have_attribute("data-verdict", "skipped")
    expect(page.locator('[data-stat="done"]')).to_have_text("0 of 2")
    expect(page.locator("#collection-run-announce")).to_have_text(
        "Stopped: 0 of 2 requests done, 0 passed, 1 stopped, 1 skipped."
    )
    expect(page.get_by_text("The run was stopped. 0 of 2 requests passed.")).to_be_visible()
    expect(page.get_by_role("link", name="Run again…")).to_be_visible()
    assert b'"text": "wait"' in gate.server.requests[0]
