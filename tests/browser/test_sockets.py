"""The page while a run goes on: what it shows, and sockets that it leaves or loses."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import ConsoleMessage, Page, WebSocketRoute, expect

from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

#: What Chromium logs of a socket that fails, and htmx: the bare event.
_LOST = re.compile(r"^WebSocket connection|^\[object Event\]$")


@contextlib.contextmanager
def lost_socket(complaints: list[str]) -> Iterator[None]:
    """Expect that a socket fails inside: what is logged of it is no complaint."""
    yield
    complaints[:] = [text for text in complaints if not _LOST.search(text)]


class Gateway:
    """A way to the playground on which the handshake of a socket waits."""

    def __init__(self, url: str) -> None:
        self._target = (urlsplit(url).hostname, urlsplit(url).port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        #: Set when a handshake waits.
        self.waiting = threading.Event()
        #: Set, handshakes go through.
        self.open = threading.Event()
        #: How many of them get no answer.
        self.refusals = 0
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        self.open.set()
        self._listening.close()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._connect, args=[near], daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            head = near.recv(65536)
            if b"\r\nupgrade: websocket" in head.lower():
                self.waiting.set()
                self.open.wait(60)
                if self.refusals:
                    self.refusals -= 1
                    near.close()
                    return
            far = socket.create_connection(self._target)
            self._ends += [near, far]
            far.sendall(head)
            threading.Thread(target=self._pipe, args=[far, near], daemon=True).start()
            self._pipe(near, far)

    def _pipe(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


COUNT_SOCKETS = """
  window.sockets = [];
  const Original = window.WebSocket;
  window.WebSocket = class extends Original {
    constructor(...args) { super(...args); window.sockets.push(this); }
  };
"""


def is_contiguous(numbers: list[int]) -> bool:
    return bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def last_frame(workbench: Workbench) -> str:
    """How far the page is; of its cards it has a window, which may be full."""
    return workbench.page.locator("#run-cursor").get_attribute("data-last") or ""


def test_a_run_in_two_tabs_over_a_reload_until_it_is_stopped_by_key(
    page: Page, workbench: Workbench
) -> None:
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(3)).to_be_visible()
    before = workbench.seqs()
    page.reload()
    expect(workbench.badge).to_have_text("Streaming")
    after = workbench.seqs()
    assert after[: len(before)] == before
    seen = last_frame(workbench)
    expect(page.locator("#run-cursor")).not_to_have_attribute("data-last", seen)
    other = Workbench(page.context.new_page(), workbench.server)
    other.page.goto(page.url)
    expect(other.cards.nth(4)).to_be_visible()
    # Stopped in one, seen in both, and not an error.
    page.bring_to_front()
    page.keyboard.press("Escape")
    for each in (workbench, other):
        expect(each.badge).to_have_attribute("data-state", "cancelled")
        expect(each.page.locator("#run-ending")).to_contain_text("You stopped this run")
        expect(each.page.get_by_role("button", name="Stop")).to_have_count(0)
        expect(each.page.locator("run-cursor[data-final]")).to_be_attached()
    assert workbench.seqs() == other.seqs()
    assert is_contiguous(other.seqs())


def test_a_dropped_socket_comes_back_without_loss(
    page: Page, workbench: Workbench, complaints: list[str]
) -> None:
    page.add_init_script(COUNT_SOCKETS)
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(2)).to_be_visible()
    # 4000: what a client may say. The extension connects again for abnormal ends only, so
    # the drop is made where it happens in life: in the network.
    with lost_socket(complaints):
        page.context.set_offline(True)
        page.evaluate(
            "window.sockets.at(-1).dispatchEvent(new CloseEvent('close', { code: 1006 }))"
        )
        page.evaluate("window.sockets.at(-1).close()")
        stood_still = last_frame(workbench)
        page.context.set_offline(False)
        expect(workbench.page.locator("#run-cursor")).not_to_have_attribute(
            "data-last", stood_still
        )
    assert page.evaluate("window.sockets.length") > 1
    assert is_contiguous(workbench.seqs())
    page.get_by_role("button", name="Stop").click()
    expect(workbench.badge).to_have_text("Cancelled")


def test_a_flood_is_counted_windowed_and_reachable(workbench: Workbench) -> None:
    workbench.scenario("flood").send()
    expect(workbench.badge).to_have_text("Completed", timeout=60_000)
    assert workbench.figure("results") == 20_000
    more = workbench.page.locator("#tab-results [data-more]")
    expect(more).to_have_text(re.compile(r"1\d,\d{3} more"))
    loaded = workbench.cards.count()
    assert loaded < 400
    more.scroll_into_view_if_needed()
    expect(workbench.cards.nth(loaded + 10)).to_be_attached()
    assert is_contiguous(workbench.seqs())
    events = workbench.tab("Events")
    expect(events.locator("li").nth(100)).to_be_attached()
    assert events.locator("li").count() < 1000


def test_results_out_of_order_can_be_read_by_index(workbench: Workbench) -> None:
    workbench.scenario("out-of-order").send()
    expect(workbench.badge).to_have_text("Completed")
    results = workbench.page.locator("#tab-results")
    indexes = results.locator(".card-index")
    expect(indexes).to_have_text(["#3", "#0", "#4", "#1", "#2"])
    results.locator("[data-order]").select_option("index")
    expect(indexes).to_have_text(["#0", "#1", "#2", "#3", "#4"])
    panel = workbench.tab("Events")
    panel.get_by_label("Sort events by").select_option("index")
    expect(panel.locator("li").first.locator(".card-index")).to_have_text("#0")
    numbers = [int(text[1:]) for text in panel.locator(".card-index").all_text_contents()]
    assert numbers == sorted(numbers)


def test_a_response_byte_for_byte(workbench: Workbench) -> None:
    page = workbench.open().send().page
    expect(page.locator("run-cursor[data-final]")).to_be_attached()
    card = workbench.cards.first
    card.get_by_role("button", name="JSON").click()
    expect(card.locator("pre")).to_contain_text('"@type"')
    panel = workbench.tab("Events")
    panel.locator('li[data-kind="result"] button').first.click()
    expect(page.locator("#event-detail")).to_contain_text("event: result")
    panel = workbench.tab("Wire")
    expect(panel).to_contain_text("POST /demo/ask HTTP/1.1")
    expect(panel).to_contain_text("event: complete")
    panel.get_by_role("button", name="As parsed by httpx-sse").click()
    expect(panel).to_contain_text("as parsed by httpx-sse")
    # The labels of the time axis keep apart on a phone.
    page.set_viewport_size({"width": 390, "height": 844})
    labels = workbench.tab("Timeline").locator(".tick-label:visible")
    expect(labels.first).to_have_text("0 ms")
    found = labels.evaluate_all(
        "labels => labels.map(each => each.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    # However long the run took: every other label has gone, and its line has stayed.
    lines = page.locator("#tab-timeline .tick").count()
    assert (len(found), lines >= 4) == ((lines + 1) // 2, True)
    assert all(before[1] < after[0] for before, after in pairwise(found))


def test_the_reader_is_not_dragged_along(workbench: Workbench) -> None:
    workbench.page.set_viewport_size({"width": 1440, "height": 500})
    workbench.scenario("endless").send()
    expect(workbench.cards.nth(5)).to_be_attached()
    panel = workbench.page.locator(".transcript")
    panel.evaluate("panel => { panel.scrollTop = 20 }")
    expect(workbench.page.locator(".pill")).to_contain_text("new")
    assert panel.evaluate("panel => panel.scrollTop") == 20
    workbench.page.locator(".pill").click()
    expect(workbench.page.locator(".pill")).to_have_count(0)
    workbench.page.keyboard.press("Escape")
    expect(workbench.badge).to_have_text("Cancelled")


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
