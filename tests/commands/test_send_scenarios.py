"""`send` against every misbehaving agent: each run ends as the table of the scenarios says."""

from __future__ import annotations

import pytest

from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.scenario import Scenario
from tests.support.commands import run_command
from tests.support.playground_server import PlaygroundServer


def exit_code(scenario: Scenario) -> int:
    if scenario.state != "completed":
        return 3
    return 1 if scenario.outcome == "failure" else 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slug", SCENARIOS)
def test_each_ends_as_the_table_says(playground: PlaygroundServer, slug: str) -> None:
    scenario = SCENARIOS[slug]
    done = run_command(
        "send", f"{playground.url}/demo/scenarios/{slug}/ask?every=0.02",
        "--text", "soup", "--output", "jsonl", "--timeout", "2" if scenario.is_endless else "60",
    )  # fmt: skip
    lines = done.json_lines
    end = lines[-1]
    ending = ("end", scenario.state, scenario.outcome)
    assert (end["type"], end["state"], end["outcome"]) == ending, done.stderr
    assert done.returncode == exit_code(scenario)
    printed = sum(line["type"] == "result" for line in lines)
    assert printed == end["results"]
    assert printed > 1 if scenario.results is None else printed == scenario.results
    errors = [
        " ".join(filter(None, (line["stage"], line["limit"])))
        for line in lines
        if line["type"] == "error"
    ]
    assert errors == [problem for problem in [scenario.problem] if problem]
    assert done.stderr == ""
