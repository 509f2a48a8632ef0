"""What the demo breaks on purpose over the Agent API is what the report says of it."""

from __future__ import annotations

import pytest

from playground.conformance import Level
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.corpus import Corpus
from tests.demo.test_agent_api_conforming import problems

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
    "unknown type": {"message-type-known", "content-type-known", "role-known", "members-known"},
    "bare error": {"bare-error", "error-object", "error-status"},
    "no numbers": {"sequence-present"},
    "wrong numbers": {"sequence-type", "sequence-increasing", "sequence-gapless"},
    "backwards": {"status-transitions"},
    "after the end": {"nothing-after-end"},
    "silence": {"response-ended", "message-ended", "content-ended"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def known(corpus: Corpus) -> Corpus:
    return corpus


@pytest.mark.parametrize("name", BROKEN)
async def test_each_breaks_its_rules(name: str) -> None:
    found = await problems(f"broken: {name}", True, tuple(Level))
    rules = {each.partition(" ")[0].removeprefix("agent-api.") for each in found}
    assert rules == EXPECTED[name]
