"""A socket that is left on purpose, and one that is lost: what the page says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import ConsoleMessage, Page, WebSocketRoute, expect

from tests.browser.sockets import Gateway, lost_socket
from tests.browser.test_live_view import COUNT_SOCKETS, is_contiguous, last_frame
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

#: Resolves once the first socket of the page has closed.
CLOSED = """() => new Promise((done) => {
  const [first] = window.sockets;
  if (first.readyState === WebSocket.CLOSED) done();
  else first.addEventListener("close", () => done());
})"""


@pytest.fixture
def gateway(playground: PlaygroundServer) -> Iterator[Gateway]:
    gateway = Gateway(playground.url)
    yield gateway
    gateway.close()


@pytest.fixture
def errors(page: Page) -> list[str]:
    """All errors that the page logs, the expected ones as well."""
    logged: list[str] = []

    def keep(message: ConsoleMessage) -> None:
        if message.type == "error":
            logged.append(message.text)

    page.on("console", keep)
    return logged


@pytest.fixture
def connecting(page: Page, workbench: Workbench, gateway: Gateway) -> Workbench:
    """The workbench with a run whose socket does not stand yet."""
    page.add_init_script(COUNT_SOCKETS)
    workbench.scenario("endless")
    page.goto(gateway.url)
    # A preview that the next one aborts would be logged, too.
    expect(workbench.effective).to_contain_text("POST")
    workbench.compose("soup").send()
    assert gateway.waiting.wait(10)
    return workbench


def test_one_that_is_left_for_another_tab(
    page: Page, connecting: Workbench, gateway: Gateway, errors: list[str]
) -> None:
    page.get_by_role("link", name="New request").first.click()
    expect(page.locator("#response")).not_to_have_attribute("data-run", connecting.run or "-")
    gateway.open.set()
    page.evaluate(CLOSED)
    assert errors == []


def test_one_whose_run_is_followed_by_another(
    page: Page, connecting: Workbench, gateway: Gateway, errors: list[str]
) -> None:
    connecting.send()
    gateway.open.set()
    page.evaluate(CLOSED)
    assert errors == []
    expect(connecting.cards.nth(2)).to_be_visible()


def test_one_whose_page_is_left(page: Page, connecting: Workbench, errors: list[str]) -> None:
    page.goto(f"{connecting.server.url}/collections/")
    expect(page.locator("main")).to_be_visible()
    assert errors == []


def test_one_that_gets_no_answer_is_tried_again(
    connecting: Workbench, gateway: Gateway, errors: list[str], complaints: list[str]
) -> None:
    with lost_socket(complaints):
        gateway.refusals = 1
        gateway.open.set()
        expect(connecting.cards.nth(2)).to_be_visible()
    assert any(text.startswith("WebSocket connection") for text in errors)


def wait_for_sockets(page: Page, opened: list[WebSocketRoute], count: int) -> None:
    """Wait until the page has opened so many."""
    for _ in range(100):
        if len(opened) >= count:
            break
        page.wait_for_timeout(100)
    assert len(opened) == count


def test_one_that_the_server_closes_for_now(page: Page, workbench: Workbench) -> None:
    """Because too much waited for it, reading failed, or the server stops."""
    opened: list[WebSocketRoute] = []

    def pass_on(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        opened.append(socket)

    page.route_web_socket(re.compile("/ws/runs/"), pass_on)
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(1)).to_be_visible()
    for code in (4408, 4500, 4503):
        stood_still = last_frame(workbench)
        opened[-1].close(code=code)
        wait_for_sockets(page, opened, len(opened) + 1)
        expect(page.locator("#run-cursor")).not_to_have_attribute("data-last", stood_still)
        expect(page.locator("#run-lost")).to_be_empty()
    page.get_by_role("button", name="Stop").click()
    expect(workbench.badge).to_have_text("Cancelled")
    assert len(opened) == 4
    assert is_contiguous(workbench.seqs())


@pytest.mark.own_context
def test_one_whose_run_cannot_be_read_again_and_again(page: Page, workbench: Workbench) -> None:
    """The page says so until a message arrives, and tries less and less often."""
    opened: list[WebSocketRoute] = []

    def fail_twice(socket: WebSocketRoute) -> None:
        opened.append(socket)
        if len(opened) <= 2:
            socket.close(code=4500)
        else:
            socket.connect_to_server()

    page.clock.install()
    page.route_web_socket(re.compile("/ws/runs/"), fail_twice)
    lost = page.locator("#run-lost")
    workbench.scenario("endless").send()
    expect(lost).to_have_text("The playground could not read the run. Trying again…")
    # The second pause is between 1 and 2 seconds long, although the socket had been opened.
    for milliseconds, sockets in ((1_000, 2), (400, 2), (1_600, 3)):
        page.clock.run_for(milliseconds)
        wait_for_sockets(page, opened, sockets)
        if sockets < 3:
            expect(lost).not_to_be_empty()
    expect(lost).to_be_empty()
    expect(workbench.cards.first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(workbench.badge).to_have_text("Cancelled")
