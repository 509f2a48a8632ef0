"""`send --binding mcp`: the questions of MCP itself, with answers from a file and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import Recipes, serving
from tests.playground_server import PlaygroundServer


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp")
    assert PlaygroundServer(path).manage("migrate", "-v", "0").returncode == 0
    return path


def send(data: Path, url: str, *arguments: str) -> tuple[Any, list[dict[str, Any]]]:
    """What the command returned, and its lines."""
    done = PlaygroundServer(data).manage(
        "send", url, "--binding", "mcp", "--text", "eggs", "--output", "jsonl", *arguments
    )
    return done, [json.loads(line) for line in done.stdout.splitlines()]


def answers(folder: Path, **values: Any) -> str:
    path = folder / "answers.json"
    path.write_text(json.dumps(values))
    return str(path)


@pytest.mark.parametrize("generation", ["", "initialize"])
def test_answers_from_a_file(data: Path, tmp_path: Path, generation: str) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation=generation) as url:
        done, lines = send(data, url, "--answers", answers(tmp_path, diet="vegan", guests=3))
    assert done.returncode == 0, done.stdout + done.stderr
    assert recipes.heard == [("accept", {"diet": "vegan", "guests": 3})]
    assert (lines[-1]["state"], lines[-1]["outcome"]) == ("completed", "answer")


def test_without_answers_a_call_that_waits_is_told_that_nobody_decides(data: Path) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation="initialize") as url:
        _, lines = send(data, url)
    assert recipes.heard == [("cancel", None)]
    assert (lines[-1]["state"], lines[-1]["outcome"]) == ("completed", "answer")


@pytest.mark.parametrize("generation", ["", "initialize"])
def test_answers_that_do_not_fit_are_not_sent(data: Path, tmp_path: Path, generation: str) -> None:
    recipes = Recipes(asks=True)
    with serving(recipes, generation=generation) as url:
        done, _ = send(data, url, "--answers", answers(tmp_path, diet="vegan", guests=30))
    assert done.returncode == 2
    assert "guests: Give a whole number from 1 to 12." in done.stderr
    assert recipes.heard == ([("cancel", None)] if generation else [])
