"""Pages in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import WITHOUT_WINDOWS, launch_options
from tests.browser.client import client_of
from tests.browser.workbench import Workbench
from tests.support.playground_server import PlaygroundServer

expect.set_options(timeout=10_000)

#: What Chromium itself says of answers that are meant: a form with mistakes (422), a conflict
#: (409), a file that a test has withheld, a page left while it loads.
EXPECTED = re.compile(
    r"status of 4(09|22)|resource: net::ERR_(FAILED|INTERNET_DISC)|htmx:(sendAbort|afterRequest)"
)

#: Nothing but this machine is found: pictures that agents link to are withheld.
_ARGUMENTS = ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
_WITHHELD = "net::ERR_NAME_NOT_RESOLVED"


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium where there is one."""
    options = launch_options(WITHOUT_WINDOWS)
    return {**browser_type_launch_args, **options, "args": [*options["args"], *_ARGUMENTS]}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Pages of somebody who prefers that nothing moves.

    An animation is drawn sixty times a second, without a graphics card by the processor; and
    what moves is clicked only when it stands still.
    """
    return {**browser_context_args, "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def shared_context(
    browser: Browser, browser_context_args: dict[str, Any], playground: PlaygroundServer
) -> Iterator[BrowserContext]:
    """The context of all tests that need no other, with its cache of scripts and styles.

    Its first page stays open, and with it the process that shows the playground's pages.
    """
    context = browser.new_context(**browser_context_args)
    context.new_page().goto(f"{playground.url}/schemas/nlweb/0.55/item.json")
    yield context
    context.close()


@pytest.fixture
def context(
    request: pytest.FixtureRequest,
    browser: Browser,
    browser_context_args: dict[str, Any],
    shared_context: BrowserContext,
) -> Iterator[BrowserContext]:
    """The shared context, as new: without cookies, drafts or permissions.

    A clock that a test has installed would stay in it.
    """
    if request.node.get_closest_marker("own_context"):
        with browser.new_context(**browser_context_args) as own:
            yield own
        return
    first, *_ = shared_context.pages
    first.evaluate("localStorage.clear()")
    shared_context.clear_cookies()
    assert not first.evaluate("'__pwClock' in globalThis"), "a test has installed a clock"
    yield shared_context
    shared_context.set_offline(False)
    shared_context.clear_permissions()
    for page in shared_context.pages:
        if page != first:
            page.close()


@pytest.fixture(scope="package", autouse=True)
def orm_beside_playwright() -> Iterator[None]:
    """Let the ORM in while these tests run.

    Playwright's synchronous interface keeps an event loop running in the main thread, and
    Django would refuse the ORM there although nothing else runs on that loop.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(autouse=True)
def complaints(page: Page) -> Any:
    """No page may log an error: exceptions and refusals of the content security policy."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on(
        "console",
        lambda message: (
            found.append(message.text)
            if message.type == "error"
            and not EXPECTED.search(message.text)
            and _WITHHELD not in message.text
            else None
        ),
    )
    yield found
    assert not found, found


@pytest.fixture
def workbench(page: Page, playground: PlaygroundServer) -> Workbench:
    """The workbench of the shared playground, not opened yet."""
    return Workbench(page, playground)


@pytest.fixture(autouse=True)
def tidy(playground: PlaygroundServer) -> Iterator[None]:
    """Remove the agents that a test has added, so that no later page lists them."""
    yield
    client_of(playground).remove_agents()
