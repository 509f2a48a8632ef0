"""`make examples`: fixtures/misbehaving.json, a saved request for each row of the scenarios."""

from __future__ import annotations

import json
from typing import Any

from playground.demo.scenarios import GROUPS
from playground.demo.scenarios.parts import VERSION
from playground.demo.scenarios.scenario import Scenario
from tests.support.playground_server import ROOT

PATH = ROOT / "fixtures" / "misbehaving.json"
SLUG = "misbehaving"
NAME = "Agents that misbehave"
DESCRIPTION = """\
Each request goes to a scripted agent that does one thing wrong, or one valid but rare thing. The \
notes describe what the agent does and how the playground shows it.

Use these agents to see every final state of a run, or to test your own client: their URLs are \
below the demo agent's URL.
"""
#: Slugs of the folders; they stay when a group is renamed, so that an import finds them.
FOLDERS = {
    "Streams, transfers and HTTP": "streams-transfers-and-http",
    "Answers": "answers",
    "Elicitation": "questions",
    "Promises": "promises",
    "Actions": "actions",
    "Errors": "refusals",
}
#: Between the positions of two neighbours.
STEP = 1024


def text() -> str:
    """Return the text of the file."""
    collection = row("collection", name=NAME, slug=SLUG, description=DESCRIPTION)
    folders = [
        row("folder", collection=[SLUG], name=title, slug=FOLDERS[title], position=at * STEP)
        for at, title in enumerate(GROUPS, 1)
    ]
    requests = [
        saved_request(scenario, FOLDERS[title], at * STEP)
        for title, scenarios in GROUPS.items()
        for at, scenario in enumerate(scenarios, 1)
    ]
    return json.dumps([collection, *folders, *requests], indent=2, ensure_ascii=False) + "\n"


def saved_request(scenario: Scenario, folder: str, position: int) -> dict[str, Any]:
    """Return the request to a scenario, with its end as expectations."""
    shown = scenario.demonstrates[0].lower() + scenario.demonstrates[1:]
    return row(
        "savedrequest",
        collection=[SLUG],
        folder=[SLUG, folder],
        name=scenario.title,
        slug=scenario.slug,
        position=position,
        agent="demo",
        address=f"/demo/scenarios/{scenario.slug}/ask{scenario.query}",
        protocol="nlweb",
        binding="http",
        version=VERSION,
        document={
            "query": {"text": "soup"},
            "prefer": {"streaming": True},
            "meta": {"version": VERSION},
        },
        notes=f"{scenario.description}\n\nIn the playground: {shown}",
        expectations=[
            {"type": "state", "equals": scenario.closed_state or scenario.state},
            {"type": "outcome", "equals": scenario.outcome},
        ],
    )


def row(model: str, **fields: Any) -> dict[str, Any]:
    """Return an object of a fixture."""
    return {"model": f"playground.{model}", "fields": fields}


if __name__ == "__main__":
    PATH.write_text(text(), "utf-8")
