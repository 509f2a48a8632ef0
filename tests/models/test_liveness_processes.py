"""Runs of processes that were killed, told apart from runs in progress."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.markup import read
from tests.support.playground_server import ROOT, PlaygroundServer

pytestmark = pytest.mark.process


class Page:
    """The workbench as a client without scripts sees it."""

    def __init__(self, server: PlaygroundServer) -> None:
        self.http = httpx.Client(base_url=server.url, timeout=20)
        self.http.get("/")
        self.http.headers["X-CSRFToken"] = self.http.cookies["playground_csrf"]

    def ask(self, name: str, path: str, text: str) -> str:
        """Send a question to an agent at a path of this server; the address of its run."""
        return self.ask_at(name, str(self.http.base_url).rstrip("/") + path, text)

    def ask_at(self, name: str, url: str, text: str) -> str:
        """Send a question to an agent anywhere; the address of its run."""
        fields = {"name": name, "url": url, "version": "0.55",
                  "auth": "none", "headers": "[]"}  # fmt: skip
        assert self.http.post("/agents/", data=fields).status_code == 302
        document = json.dumps({"query": {"text": text}})
        sent = self.http.post("/runs/", data={"agent": name, "document": document})
        assert sent.status_code == 302, sent.text
        return sent.headers["Location"]

    def found(self, text: str) -> list[str]:
        """The addresses of the runs with a text, the newest first."""
        html = self.http.get("/runs/", params={"q": text}).text
        return re.findall(r'href="(/runs/[^"?]+/)"', html)

    def results(self, url: str) -> int:
        found = re.search(r'data-stat="results">(\d+)<', self.http.get(url).text)
        assert found
        return int(found[1])

    def promise(self, url: str) -> str:
        """How it stands with the promise of a run."""
        page = read(self.http.get(url).text)
        found = [e.attributes.get("data-status") for e in page.elements
                 if "promise-status" in (e.attributes.get("class") or "").split()]  # fmt: skip
        return str(found[0]) if found else ""

    def badge(self, url: str) -> str:
        (badge,) = [
            e
            for e in read(self.http.get(url).text).elements
            if e.attributes.get("id") == "run-badge"
        ]
        return str(badge.attributes["data-state"])


def until(condition: Callable[[], bool], seconds: float = 20) -> float:
    """Wait for something that another process does; return the seconds that it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it did not happen"
        time.sleep(0.05)
    return time.monotonic() - began


@contextlib.contextmanager
def command_line(
    server: PlaygroundServer, agent: PlaygroundServer
) -> Iterator[subprocess.Popen[str]]:
    """`send` under way in a process of its own, on the data of `server`."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "send",
         f"{agent.url}/demo/scenarios/endless/ask?every=0.1", "--text", "of a stopped command"],
        cwd=ROOT, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=20)


def test_a_server_that_is_killed_in_mid_stream(
    playground: PlaygroundServer, tmp_path: Path
) -> None:
    """Its runs are interrupted, its promises are polled again, and runs of commands go on."""
    # The agent of the command is another playground: this one is going to be killed.
    with PlaygroundServer(tmp_path) as server, command_line(server, playground) as process:
        page = Page(server)
        until(lambda: bool(page.found("stopped command")))
        (of_command,) = page.found("stopped command")
        until(lambda: page.results(of_command) >= 2)
        url = page.ask("endless", "/demo/scenarios/endless", "soup")
        promised = page.ask("planner", "/demo/ask?pace=0.5", "a weekly meal plan for two")
        until(lambda: page.results(url) >= 5)
        seen = page.results(url)
        assert page.badge(url) == "streaming"
        until(lambda: page.promise(promised) == "polling")
        server.stop(signal.SIGKILL)
        server.start()

        again = Page(server)
        assert again.badge(url) == "interrupted"
        assert again.results(url) >= seen
        html = again.http.get(url).text
        assert "The playground stopped while this run was in progress" in " ".join(html.split())
        assert "ws-connect" not in html
        cards = [e for e in read(html).find("article") if e.attributes.get("class") == "card"]
        assert len(cards) == again.results(url)
        wire = again.http.get(f"{url}wire.txt").text
        assert wire.count("event: result\n") == again.results(url)

        before = again.results(of_command)
        assert again.badge(of_command) == "streaming"
        until(lambda: again.results(of_command) > before)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 3
        assert again.badge(of_command) == "cancelled"

        # The promise was followed, and is followed again.
        assert again.badge(promised) == "completed"
        until(lambda: again.promise(promised) == "fulfilled")
        assert "Monday" in again.http.get(promised).text


def test_a_command_that_is_killed(playground: PlaygroundServer) -> None:
    with command_line(playground, playground) as process:
        page = Page(playground)
        until(lambda: bool(page.found("stopped command")))
        url = page.found("stopped command")[0]
        until(lambda: page.results(url) >= 1)
        process.kill()
        process.wait()
        assert page.badge(url) == "interrupted"
