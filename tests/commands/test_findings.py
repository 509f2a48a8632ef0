"""`send --fail-on` for other protocols: the findings of the end line, and the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_agent_api import replayed, sent
from tests.commands.test_send import parsed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("findings")


@pytest.mark.parametrize(("level", "code"), [("must", 0), ("should", 4)])
async def test_findings_of_the_agent_api(folder: Path, level: str, code: int) -> None:
    """The capture deviates in what should be, and in nothing that must be."""
    done, _ = await sent(
        folder, "--text", "a", "--output", "jsonl", "--fail-on", level, answer=replayed("text")
    )
    assert done.returncode == code
    assert {found["rule"] for found in parsed(done)[-1]["findings"]} == {
        "agent-api.content-delta", "agent-api.members-known", "agent-api.initial-status",
        "agent-api.sequence-type", "agent-api.usage",
    }  # fmt: skip
