"""`send --fail-on` for other protocols: the findings of the end line, and the exit code."""

from __future__ import annotations

import pytest

from tests.commands.test_send_agent_api import replayed, sent


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("level", "code"), [("must", 0), ("should", 4)])
def test_findings_of_the_agent_api(level: str, code: int) -> None:
    """The capture violates recommendations, and no requirement."""
    done, _ = sent("--text", "a", "--output", "jsonl", "--fail-on", level, answer=replayed("text"))
    assert done.returncode == code
    assert {found["rule"] for found in done.json_lines[-1]["findings"]} == {
        "agent-api.content-delta", "agent-api.members-known", "agent-api.initial-status",
        "agent-api.sequence-type", "agent-api.usage",
    }  # fmt: skip
