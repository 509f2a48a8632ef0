"""`send --binding mcp`: elicitation of MCP, with answers from a file and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Result, run_command
from tests.support.mcp_servers import Recipes, serving

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
