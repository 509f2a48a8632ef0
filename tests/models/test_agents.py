"""Labels and slugs of agents."""

from __future__ import annotations

import pytest

from playground.models import Agent

pytestmark = pytest.mark.database


@pytest.mark.parametrize(
    ("protocol", "binding", "version", "told"),
    [
        ("nlweb", "http", "0.55", "0.55"),
        ("nlweb", "mcp", "0.54", "0.54 MCP"),
        ("nlweb", "http", "legacy", "older"),
        ("agent-api", "http", "1", "Agent API"),
    ],
)
def test_an_agent_says_what_it_speaks(protocol: str, binding: str, version: str, told: str) -> None:
    assert Agent(protocol=protocol, binding=binding, version=version).protocol_label == told
