"""Findings of the report about each fault on purpose."""

from __future__ import annotations

import pytest

from playground.conformance import Level
from playground.demo.agent_api.malformed import BROKEN
from tests.demo.agent_api.test_views_conformance import problems

pytestmark = pytest.mark.django_db(transaction=True)

EXPECTED: dict[str, set[str]] = {
    # The announced message stays open, and is not the one in the output.
    "unknown message": {
        "message-announced", "message-ended", "content-ended", "messages-in-output",
    },
    "index gap": {"content-index-gapless"},
    "late content": {"content-after-end", "content-after-message"},
    "wrong sum": {"delta-sum"},
    "unclosed message": {"message-ended", "content-ended", "messages-in-output"},
    "unknown type": {"message-type-known", "content-type-known", "role-known"},
    "bare error": {"bare-error", "error-object", "error-status"},
    "no numbers": {"sequence-present"},
    "wrong numbers": {"sequence-type", "sequence-increasing", "sequence-gapless"},
    "backwards": {"status-transitions"},
    "after the end": {"nothing-after-end"},
    "silence": {"response-ended", "message-ended", "content-ended"},
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
async def test_each_breaks_its_rules(name: str) -> None:
    found = await problems(f"broken: {name}", True, tuple(Level))
    rules = {each.partition(" ")[0].removeprefix("agent-api.") for each in found}
    assert rules == EXPECTED[name]
