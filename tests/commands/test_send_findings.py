"""`send --fail-on` for other protocols: the findings of the end line, and the exit code."""

from __future__ import annotations

import pytest

from tests.commands.test_send_agent_api import replayed, sent, stream
from tests.support.agent_api_examples import SEQUENCE


@pytest.mark.django_db(transaction=True)
def test_findings_of_the_agent_api() -> None:
    # The session of the captured response.
    session = ("--set", "session_id=sess-1")
    given = ("--text", "a", *session, "--output", "jsonl", "--fail-on", "must")
    done, _ = sent(*given, answer=replayed("text"))
    assert done.returncode == 4
    assert {found["rule"] for found in done.json_lines[-1]["findings"]} == {
        "agent-api.content-delta", "agent-api.members-known", "agent-api.initial-status",
        "agent-api.sequence-type", "agent-api.usage",
    }  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("level", "code"), [("must", 0), ("should", 4)])
def test_a_recommendation(level: str, code: int) -> None:
    """A message that begins with in_progress violates no requirement."""
    objects = [*SEQUENCE[:1], {**SEQUENCE[1], "status": "in_progress"}, *SEQUENCE[2:]]
    done, _ = sent("--text", "a", "--fail-on", level, answer=stream(*objects))
    assert done.returncode == code
