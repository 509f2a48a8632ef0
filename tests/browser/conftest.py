"""Pages in a real Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import launch_options
from tests.browser.workbench import Workbench
from tests.playground_server import PlaygroundServer

expect.set_options(timeout=10_000)

#: What Chromium itself says of answers that are meant: a form with mistakes (422), a conflict
#: (409), a file that a test has withheld, a page left while it loads.
EXPECTED = re.compile(
    r"status of 4(09|22)|resource: net::ERR_(FAILED|INTERNET_DISC)|htmx:(sendAbort|afterRequest)"
)

_ELSEWHERE = re.compile(r"^https?://(?!127\.0\.0\.1[:/])")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium where there is one."""
    return {**browser_type_launch_args, **launch_options()}


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
    """No page may log an error: exceptions and refusals of the content security policy.

    Nothing but this machine is asked for anything: pictures that agents link to are withheld.
    """
    found: list[str] = []
    page.context.route(_ELSEWHERE, lambda route: route.abort())
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on(
        "console",
        lambda message: (
            found.append(message.text)
            if message.type == "error" and not EXPECTED.search(message.text)
            else None
        ),
    )
    yield found
    assert not found, found


@pytest.fixture
def workbench(page: Page, playground: PlaygroundServer) -> Workbench:
    """The workbench of the shared playground, not opened yet."""
    return Workbench(page, playground)


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser) -> Any:
    """A page in one of the themes, with nothing moving."""
    context = browser.new_context(color_scheme=request.param, reduced_motion="reduce")
    yield context.new_page()
    context.close()
