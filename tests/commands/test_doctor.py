"""`doctor`: announcement, report and exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from playground.models import Agent
from tests.support.commands import run_command
from tests.support.replay import replaying
from tests.support.servers import free_port


def test_an_agent_that_is_well(demo: str) -> None:
    done = run_command("doctor", "demo")
    assert (done.returncode, "POST " in done.stderr) == (0, True)
    lines = done.stdout.splitlines()
    assert lines[0] == f"Connection of {demo}/demo"
    assert lines[2] == f"Found: NLWeb 0.55 at {demo}/demo"
    assert "passed   /ask: /demo/ask is NLWeb 0.55." in lines


@pytest.mark.process
@pytest.mark.django_db(transaction=True)
def test_the_agent_of_the_guide() -> None:
    guide = Path(__file__).parents[2].joinpath("docs", "guide.md").read_text()
    [code] = re.findall(r"```python\n(import json\n.*?)```", guide, re.DOTALL)
    port = str(free_port())
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([sys.executable, "-c", code.replace("9000", port)]) as agent:
        try:
            with httpx.Client(transport=httpx.HTTPTransport(retries=10), trust_env=False) as client:
                client.get(url)  # Until it listens.
            assert f"Found: NLWeb 0.55 at {url}" in run_command("doctor", url).stdout
            done = run_command("send", url, "--text", "Hello")
            assert (done.returncode, "You asked: Hello" in done.stdout) == (0, True), done
        finally:
            agent.terminate()


@pytest.mark.django_db(transaction=True)
def test_an_address_that_is_down_as_json() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    done = run_command("doctor", url, "--output", "json")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert (report["url"], report["state"], report["found"]) == (url, "done", None)
    assert [step["name"] for step in report["steps"] if step["status"] == "failed"] == ["tcp"]


def test_what_it_is_taken_for(demo: str) -> None:
    done = run_command("doctor", f"{demo}/demo/mcp", "--binding", "mcp")
    assert done.returncode == 0, done.stdout
    assert f"Found: NLWeb 0.55 over MCP 2026-07-28 at {demo}/demo/mcp" in done.stdout
    assert "Fix:" in run_command("doctor", f"{demo}/demo/mcp").stdout


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "Unknown agent “nobody”. Saved agents: demo"),
        ("ftp://a.example", "The URL must start with http:// or https://."),
    ],
)
def test_what_it_cannot_examine(name: str, words: str) -> None:
    Agent.objects.create(name="Demo", url="http://127.0.0.1:1")
    done = run_command("doctor", name)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


@pytest.mark.django_db(transaction=True)
def test_a_terminal_finds_nothing_to_obey() -> None:
    body = b'{"name": "\\u001b[31mred", "skills": [{"id": "\\u009b2J"}], "url": "http://b.example"}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with replaying(head % len(body) + body) as url:
        done = run_command("doctor", url)
    assert "[31mred: A2A" in done.stdout
    assert not set("\x1b\x9b") & set(done.stdout)
