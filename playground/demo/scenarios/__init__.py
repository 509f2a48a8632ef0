"""Scripted agents, most of which misbehave on purpose, each at its own URL.

The URLs, the demo page and the tests are generated from one table; each row is in the module
of its scenario. A scenario reads nothing from the database and ends when its client disconnects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playground.demo.scenarios import actions, elicitations, events, http, promises, timing
from playground.demo.scenarios.scenario import Scenario

#: The rows by the title of their group, in the order of the demo page.
GROUPS: Mapping[str, Sequence[Scenario]] = {
    "Streams, transfers and HTTP": (*events.ROWS, *timing.ROWS, *http.ROWS),
    "Answers": events.ANSWERS,
    "Elicitation": elicitations.ROWS,
    "Promises": promises.ROWS,
    "Actions": actions.ROWS,
    "Errors": http.REFUSALS,
}
SCENARIOS: Mapping[str, Scenario] = {
    scenario.slug: scenario for rows in GROUPS.values() for scenario in rows
}
