"""Conformance of the Agent API: every rule passes, except for faults on purpose."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from tests.demo.agent_api.client import CALENDAR, PANTRY, objects, post, user_message
from tests.demo.conformance import VIOLATIONS, problems, recorded, report

pytestmark = pytest.mark.django_db(transaction=True)

QUESTIONS = ("tomato soup", "zzzzz", "???", "What is in my pantry?",
             "Check my pantry and my calendar", *(row.text for row in ROWS))  # fmt: skip


async def said_against(
    text: str, stream: bool, levels: tuple[Level, ...] = VIOLATIONS
) -> dict[str, str]:
    """What a report says against the reply to a text."""
    request: dict[str, Any] = {
        "input": [user_message(text)],
        "stream": stream,
        "tools": [PANTRY, CALENDAR],
        "session_id": "s",
    }
    frames = await recorded(await post(request))
    return problems(report(frames, request, "1", protocol="agent-api", operation=""), levels)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("text", QUESTIONS)
async def test_handlers_conform(text: str, stream: bool) -> None:
    assert await said_against(text, stream) == {}


#: The rules that each fault on purpose breaks.
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
async def test_what_is_broken_breaks_its_rules(name: str) -> None:
    found = await said_against(f"broken: {name}", True, tuple(Level))
    assert {rule.removeprefix("agent-api.") for rule in found} == EXPECTED[name]
    last = (await objects(user_message(f"broken: {name}")))[-1]
    ends = last.get("object") == "response" and last["status"] == "completed"
    assert ends == BROKEN[name].ends
    whole = await post({"input": [user_message(f"broken: {name}")], "stream": False})
    assert whole.json()


async def test_other_names_are_questions() -> None:
    assert await said_against("broken: heart", True) == {}
