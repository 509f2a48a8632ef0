"""Drafts hold what must not be shown, and a log shows whatever it is given."""

from __future__ import annotations

import pytest

from playground.engine.composing import Composition
from playground.engine.drafts import ActionDraft, Draft, ErrandDraft
from playground.models import Agent
from playground.protocols.exchange import Target
from playground.variables import Both

CANARY = "canary-4711"
HEADERS = (("X-Anything", CANARY),)
TARGET = Target("http://a.example", headers=HEADERS)
AGENT = Agent(name="A", url="http://a.example", auth_secret=CANARY)


@pytest.mark.parametrize(
    "held",
    [
        TARGET,
        Draft(AGENT, {}, HEADERS),
        ActionDraft(AGENT, {}, "http://a.example", headers=HEADERS),
        ErrandDraft(AGENT, {}, TARGET, [CANARY], {"key": CANARY}, "http://a.example", HEADERS),
        Composition({}, HEADERS, AGENT),
        Both(CANARY, "{{token}}"),
    ],
    ids=lambda held: type(held).__name__,
)
def test_none_shows_a_credential(held: object) -> None:
    assert CANARY not in repr(held)
    assert type(held).__name__ in repr(held)
