"""`twin`: one request two ways, from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.models import Agent, Run
from tests.support.commands import run_command
from tests.support.servers import RESET, reply, serving


class TestDemoAgent:
    def test_over_both_bindings_it_says_the_same(self, demo: str) -> None:
        done = run_command(
            "twin", "demo", "demo", "--text", "tomato soup", "--binding", "http",
            "--binding", "mcp", "--output", "json",
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        told = json.loads(done.stdout)
        assert (told["same"], told["total"]) == (True, 0)
        assert (told["left"]["binding"], told["right"]["binding"]) == ("http", "mcp")
        assert told["right"]["url"] == f"{demo}/demo/mcp"
        assert told["results"][0] == told["results"][1] > 0

    @pytest.mark.usefixtures("demo")
    def test_as_two_versions_the_differences_are_explained(self) -> None:
        done = run_command(
            "twin", "demo", "demo", "--text", "soup", "--version", "0.54", "--version", "0.55"
        )
        assert "NLWeb 0.54 over HTTP" in done.stdout
        assert "NLWeb 0.55 over HTTP" in done.stdout
        assert "Each response names its own version: NLWeb 0.54 and NLWeb 0.55." in done.stdout
        assert done.returncode == 0, done.stdout + done.stderr


def answer(*items: Any) -> bytes:
    body = {"_meta": {"response_type": "answer"}, "results": list(items)}
    return reply(json.dumps(body).encode())


@pytest.mark.django_db(transaction=True)
class TestOthers:
    def test_differences_with_their_places(self) -> None:
        soup, evil = {"name": "Soup", "n": 1}, {"name": "\x1b[2J", "n": 3}
        with serving(answer(soup, evil)) as left, serving(answer({**soup, "n": 2})) as right:
            done = run_command("twin", left.url, right.url, "--text", "a")
        assert done.returncode == 1, done.stderr
        lines = done.stdout.splitlines()
        assert " changed Result “Soup” /n: 1 → 2" in lines
        assert lines[-1] == "2 differences"
        assert "\x1b" not in done.stdout

    def test_a_document_from_stdin_goes_to_both(self) -> None:
        document = {"query": {"text": "ü"}, "meta": {"version": "0.54", "user": "a"}}
        with serving(answer()) as left, serving(answer()) as right:
            done = run_command(
                "twin", left.url, right.url, "--request", "-", "--version", "0.54",
                "--version", "0.55", "--output", "json", stdin=json.dumps(document),
            )  # fmt: skip
        assert done.returncode == 0, done.stdout
        bodies = [json.loads(s.requests[0].partition(b"\r\n\r\n")[2]) for s in (left, right)]
        assert bodies[0] == document
        assert bodies[1] == {**document, "meta": {"version": "0.55", "user": "a"}}

    def test_what_did_not_come_whole_is_not_compared(self) -> None:
        with serving(answer()) as left, serving(RESET) as right:
            both = (left.url, right.url)
            done = run_command("twin", *both, "--text", "a")
            told = run_command("twin", *both, "--text", "a", "--output", "json", "--timeout", "20")
        assert (done.returncode, told.returncode) == (3, 3), done.stderr
        assert "The run on the right did not complete (no response)" in done.stdout
        document = json.loads(told.stdout)
        assert document["reasons"]
        assert document["right"]["state"] == "failed"
        assert "same" not in document


USAGE: list[tuple[list[str], str]] = [
    (["demo"], "arguments are required: agent"),
    (["demo", "nobody", "--text", "a"], "Unknown agent “nobody”. Saved agents: demo, chat"),
    (["demo", "chat", "--text", "a"], "use different protocols"),
    (["demo", "demo"], "/query/text: The query requires text."),
    (["demo", "demo", "--text", "a", "--request", "x"], "not allowed with"),
    (["demo", "demo", "--request", "no-such-file"], "No such file"),
    (["demo", "demo", "--text", "a", "--version", "9"], "--version must be one of"),
    (
        ["demo", "demo", "--text", "a", "--binding", "pigeon"],
        "--binding pigeon does not support NLWeb",
    ),
    (["chat", "chat", "--text", "a", "--binding", "mcp"], "mcp does not support Agent API"),
    (["demo", "demo", "--text", "a", *["--binding", "http"] * 3], "can be given at most twice"),
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_mistakes_exit_with_two(arguments: list[str], message: str) -> None:
    Agent.objects.create(name="Demo", url="http://127.0.0.1:1")
    Agent.objects.create(name="Chat", url="http://127.0.0.1:1", protocol="agent-api", version="1")
    done = run_command("twin", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not Run.objects.exists()


def test_sending_over_a_binding(demo: str) -> None:
    for agent in ("demo", f"{demo}/demo/mcp"):
        done = run_command("send", agent, "--text", "tomato soup", "--binding", "mcp")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "[Recipe]" in done.stdout
    done = run_command("send", "demo", "--text", "a", "--binding", "pigeon")
    assert done.returncode == 2
