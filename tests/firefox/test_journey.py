"""The journey of a user in Firefox: journey.js, which drives it with puppeteer-core.

Chromium has the tests of tests/browser. This one is for what the two do differently.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.client import Client
from tests.support.playground_server import ROOT, PlaygroundServer

JOURNEY = Path(__file__).with_name("journey.js")
STEPS = (
    "first send",
    "new tab beside the last one",
    "stream, and reload in mid-stream",
    "follow-up",
    "elicitation",
    "promise",
    "action",
    "save",
    "theme",
)


def firefox() -> str:
    """Return the path of Firefox; skip the test without it or without puppeteer-core."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    if not found:
        pytest.skip("no Firefox: apt-get install firefox-esr, or the like")
    if not (ROOT / "node_modules/puppeteer-core").is_dir():
        pytest.skip("no puppeteer-core: npm ci")
    return found


def node() -> str:
    """Return the path of the system's Node, or of the Python wheel's."""
    own = Path(sys.executable).parent
    return shutil.which("node", path=f"{os.environ['PATH']}{os.pathsep}{own}") or "node"


@pytest.mark.firefox
@pytest.mark.timeout(180)
def test_the_journey_of_a_user(playground: PlaygroundServer, tmp_path: Path) -> None:
    browser = firefox()
    client = Client(playground.url)
    demo = f"{playground.url}/demo/ask"
    assert client.add_agent("quick", f"{demo}?pace=0.1") == "quick"
    assert client.add_agent("slow", f"{demo}?pace=10") == "slow"
    ended = subprocess.run(
        [node(), str(JOURNEY), browser, playground.url, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stderr}\nScreenshot: {tmp_path}/failed.png"
    assert [line.partition(":")[0] for line in ended.stdout.splitlines()] == [*STEPS]
