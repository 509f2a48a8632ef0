"""Scripted agents, most of which misbehave on purpose, each at its own URL.

The URLs, the demo page and the tests are generated from one table, `scenarios.json`. A row says
what its scenario sends; one that takes more than a row has a function in `scripts` or `actions`.
A scenario reads nothing from the database and ends when its client disconnects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playground.demo.scenarios import actions as actions
from playground.demo.scenarios import scripts as scripts
from playground.demo.scenarios.promises import Promise
from playground.demo.scenarios.scenario import Scenario


def _scenario(row: Mapping[str, Any]) -> Scenario:
    promise = Promise(**row["promise"]) if "promise" in row else None
    return Scenario(**{**row, "promise": promise})


#: The rows by the title of their group, in the order of the demo page.
GROUPS: Mapping[str, Sequence[Scenario]] = {
    group["title"]: tuple(map(_scenario, group["scenarios"]))
    for group in json.loads(Path(__file__).with_name("scenarios.json").read_text("utf-8"))
}
SCENARIOS: Mapping[str, Scenario] = {
    scenario.slug: scenario for rows in GROUPS.values() for scenario in rows
}
