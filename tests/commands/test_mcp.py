"""Commands over MCP: elicitation, with answers from a file and without, and sessions.

There is one session for each conversation, used by all its runs, and ended.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import Field

from playground.models import Agent, McpSession
from tests.commands.test_run_collection import fixture
from tests.support import mcp_servers, servers
from tests.support.commands import Result, run_command
from tests.support.mcp_servers import Recipes, Wishes, serving
from tests.support.servers import closing, reply

pytestmark = pytest.mark.django_db(transaction=True)


def send(url: str, *arguments: str) -> Result:
    return run_command(
        "send", url, "--binding", "mcp", "--text", "eggs", "--output", "jsonl", *arguments
    )


def answers(folder: Path, **values: Any) -> str:
    path = folder / "answers.json"
    path.write_text(json.dumps(values))
    return str(path)


@pytest.mark.parametrize("generation", ["", "initialize"])
def test_answers_from_a_file(tmp_path: Path, generation: str) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation=generation) as url:
        done = send(url, "--answers", answers(tmp_path, diet="vegan", guests=3))
    assert done.returncode == 0, done.stdout + done.stderr
    assert recipes.heard == [("accept", {"diet": "vegan", "guests": 3})]
    end = done.json_lines[-1]
    assert (end["state"], end["outcome"]) == ("completed", "answer")


def test_without_answers_a_call_that_waits_is_told_that_nobody_decides() -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation="initialize") as url:
        done = send(url)
    assert recipes.heard == [("cancel", None)]
    end = done.json_lines[-1]
    assert (end["state"], end["outcome"]) == ("completed", "answer")


@pytest.mark.parametrize("generation", ["", "initialize"])
def test_answers_that_do_not_fit_are_not_sent(tmp_path: Path, generation: str) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation=generation) as url:
        done = send(url, "--answers", answers(tmp_path, diet="vegan", guests=30))
    assert done.returncode == 2
    assert "guests: Enter a whole number from 1 to 12." in done.stderr
    assert recipes.heard == ([("cancel", None)] if generation else [])


class TitledWishes(Wishes):
    """Wishes whose options have titles."""

    diet: str = Field(
        json_schema_extra={
            "oneOf": [{"const": "vn", "title": "Vegan food"}, {"const": "any", "title": "Any food"}]
        }
    )


def test_choices_are_printed_by_their_titles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_servers, "Wishes", TitledWishes)
    recipes = Recipes(asks=True)
    chosen = ("--answers", answers(tmp_path, diet="vn", guests=3))
    with serving(recipes) as url:
        done = run_command("send", url, "--binding", "mcp", "--text", "eggs", *chosen)
        lines = send(url, *chosen).json_lines
    assert "diet: Diet (Vegan food / Any food)" in done.stdout
    assert "→  diet: Vegan food, guests: 3" in done.stdout
    assert recipes.heard[0] == ("accept", {"diet": "vn", "guests": 3})
    (asked,) = [line for line in lines if line["type"] == "elicitation"]
    assert asked["questions"][0]["options"] == ["vn", "any"]
    assert asked["questions"][0]["labels"] == ["Vegan food", "Any food"]


@pytest.mark.parametrize(
    ("generation", "names"),
    [
        ("", ["mcp server/discover"]),
        ("initialize", ["mcp server/discover", "mcp initialize"]),
    ],
)
def test_the_handshake_has_a_type_of_its_own(generation: str, names: list[str]) -> None:
    with serving(Recipes(), generation=generation) as url:
        lines = send(url).json_lines
    assert [line["name"] for line in lines if line["type"] == "handshake"] == names
    unknown = [line["name"] for line in lines if line["type"] == "unknown"]
    assert not [name for name in unknown if name.startswith("mcp")]


class TestVersionOfMcp:
    """`--mcp-version` chooses the generation; `--tool` the tool."""

    def test_counts_although_the_agent_was_seen_in_another(self) -> None:
        with serving(Recipes()) as url:
            Agent.objects.create(name="recipes", url=url, binding="mcp")
            command = ("send", "recipes", "--text", "eggs", "--output", "jsonl")
            found = []
            for more in ([], ["--mcp-version", "2025-06-18"], []):
                done = run_command(*command, *more)
                assert done.returncode == 0, done.stdout + done.stderr
                names = [str(line.get("name")) for line in done.json_lines]
                found.append([name for name in names if name.startswith("mcp ")])
        assert found == [["mcp server/discover"], ["mcp initialize"], []]

    def test_the_tool_can_be_named(self) -> None:
        with serving(Recipes()) as url:
            done = send(url, "--tool", "break")
        assert "Error executing tool break" in done.stdout


def promising(request: bytes) -> servers.Script:
    """A server with sessions, whose tool `ask` promises what `await` has in the end."""
    head, _, body = request.partition(b"\r\n\r\n")
    if head.startswith(b"DELETE "):
        return [closing(reply(b""))]
    message = json.loads(body)
    method = message["method"]
    if "id" not in message:
        return [closing(reply(b"", status="202 Accepted"))]
    answer: dict[str, Any] = {"error": {"code": -32601, "message": "No."}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "soup"}}}
    elif method == "tools/list":
        answer = {"result": {"tools": [{"name": "ask"}, {"name": "await"}]}}
    elif method == "tools/call":
        meta: dict[str, Any] = {"response_type": "promise", "version": "0.55"}
        promise = {"token": "p", "expected_time": 1}
        nlweb: dict[str, Any] = {"_meta": meta, "promise": promise}
        if message["params"]["name"] == "await":
            nlweb = {"_meta": {**meta, "response_type": "answer"}, "results": []}
        answer = {"result": {"content": [{"type": "text", "text": json.dumps(nlweb)}]}}
    response = reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())
    if method == "initialize":
        response = response.replace(
            b"\r\n\r\n", b"\r\nMcp-Session-Id: %s\r\n\r\n" % uuid4().hex.encode(), 1
        )
    return [closing(response)]


def calls_of(requests: list[bytes]) -> dict[str, list[str]]:
    """The methods of the calls of each session, "" for those without one."""
    found: dict[str, list[str]] = {}
    for request in requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line.partition(b": ") for line in head.split(b"\r\n")]
        session = next(
            (value.decode() for name, _, value in lines if name == b"Mcp-Session-Id"), ""
        )
        found.setdefault(session, []).append(json.loads(body)["method"] if body else "DELETE")
    return found


@pytest.mark.slow
def test_a_promise_is_followed_in_the_session_of_its_request() -> None:
    with servers.serving(answer=promising) as server:
        done = run_command(
            "send", server.url, "--binding", "mcp", "--text", "eggs", "--output", "jsonl",
            "--follow",
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.json_lines[-1]["outcome"] == "answer"
    found = calls_of(server.requests)
    assert found.pop("") == ["server/discover", "initialize"]
    (calls,) = found.values()
    assert calls == [
        "notifications/initialized", "tools/list", "tools/call", "tools/list", "tools/call",
        "DELETE",
    ]  # fmt: skip
    assert not McpSession.objects.exists()


def test_both_sides_of_a_twin_end_theirs() -> None:
    with servers.serving(answer=promising) as server:
        done = run_command("twin", server.url, server.url, "--text", "a", "--binding", "mcp")
    assert done.returncode == 0, done.stdout + done.stderr
    found = calls_of(server.requests)
    assert found.pop("").count("initialize") == 2
    assert [calls[-1] for calls in found.values()] == ["DELETE", "DELETE"]
    assert not McpSession.objects.exists()


def test_a_collection_run_ends_those_of_all_its_requests(tmp_path: Path) -> None:
    with servers.serving(answer=promising) as server:
        requests = [{"address": server.url, "binding": "mcp"} for _ in range(3)]
        done = run_command("run_collection", fixture(tmp_path, *requests))
    assert done.returncode == 0, done.stdout + done.stderr
    found = calls_of(server.requests)
    assert found.pop("").count("initialize") == 3
    assert [calls[-1] for calls in found.values()] == ["DELETE"] * 3
    assert not McpSession.objects.exists()
