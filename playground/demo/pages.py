"""What the demo's page says, made from the tables that the agent runs on."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from playground.demo.examples import GROUPS
from playground.demo.failures import CODES
from playground.demo.guides import guides
from playground.demo.scenarios import GROUPS as SCENARIO_GROUPS


def context(origin: str) -> dict[str, Any]:
    """What the template needs; `origin` is where the demo is reached, without a slash."""
    return {
        "ask_url": origin + reverse("demo-ask"),
        "await_url": origin + reverse("demo-await"),
        "cart_url": origin + reverse("demo-cart"),
        "cookbook_url": origin + reverse("demo-cookbook"),
        "groups": GROUPS,
        "guides": guides(origin),
        "codes": CODES.items(),
        "chapters": [
            (title, [(row, origin + reverse("demo-scenario", args=[row.slug])) for row in rows])
            for title, rows in SCENARIO_GROUPS.items()
        ],
    }
