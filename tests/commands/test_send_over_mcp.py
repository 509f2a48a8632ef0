"""`send --binding mcp`: elicitation of MCP, with answers from a file and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from playground.models import Agent
from tests.support import mcp_servers
from tests.support.commands import Result, run_command
from tests.support.mcp_servers import Recipes, Wishes, serving

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
