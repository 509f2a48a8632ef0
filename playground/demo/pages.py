"""What the demo's page says: all of it made from the tables that the agent runs on."""

from __future__ import annotations

from typing import Any


def context(origin: str) -> dict[str, Any]:
    """What the template needs; `origin` is where the demo is reached, without a slash."""
    return {"origin": origin}
