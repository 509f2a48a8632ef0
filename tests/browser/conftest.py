"""Pages in a real Chromium."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import launch_options

expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium where there is one."""
    return {**browser_type_launch_args, **launch_options()}


@pytest.fixture(autouse=True)
def complaints(page: Page) -> Any:
    """No page may log an error: exceptions and refusals of the content security policy."""
    found: list[str] = []
    page.on("pageerror", lambda error: found.append(str(error)))
    page.on(
        "console",
        lambda message: found.append(message.text)
        if message.type == "error" and "WebSocket connection" not in message.text
        else None,
    )
    yield found
    assert not found, found
