"""Replies of real agents, shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.workbench import Workbench
from tests.support.replay import REPLIES, replaying, reply_bytes

#: What stands on the page: words, and where.
SHOWN = {
    "ask_json": ("#cards", "Veggie-Packed Scrambled Eggs"),
    "ask_stream": ("#cards", "Lentil Bolognese"),
    "ask_stream_elicitation": (".ask", "What is your sauce type?"),
    "rawsocket_stream_failure_midstream": (".problem", "HTTP/1.1 200 OK"),
    "get_stream": ("#cards", "Crème Brûlée 🥚"),
}


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.stem)
def test_a_captured_reply_is_shown(workbench: Workbench, path: Path) -> None:
    place, words = SHOWN[path.stem]
    with replaying(reply_bytes(path)) as url:
        workbench.add_agent(f"Replay {path.stem}", url).send()
        expect(workbench.page.locator("#tab-results").locator(place)).to_contain_text(words)
    if path.stem.startswith("rawsocket"):
        expect(workbench.badge).to_have_text("Truncated")
        # The event that came before the break is on the screen.
        events = workbench.tab("Events")
        expect(events.locator('li[data-kind="started"]')).to_have_count(1)
    else:
        expect(workbench.badge).to_have_attribute("data-state", "completed")
