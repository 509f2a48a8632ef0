"""Requests hold what must not be shown, and a log shows whatever it is given."""

from __future__ import annotations

import pytest

from playground.engine.preparation import Composition
from playground.engine.request import (
    PreparedRequest,
    Secret,
    WireValues,
    action_request,
    automatic_reply,
    request_to,
)
from playground.models import Agent, Run
from playground.protocols.exchange import Target
from playground.variables import Substituted

CANARY = "canary-4711"
HEADERS = (("X-Anything", CANARY),)
TARGET = Target("http://a.example", headers=HEADERS)
AGENT = Agent(name="A", url="http://a.example", auth_secret=CANARY)
RUN = Run(agent=AGENT, url=AGENT.url, request={})
STORED = {"key": "{{token}}"}
WIRE = WireValues(STORED, {"key": CANARY}, HEADERS, f"http://a.example/{CANARY}",
                  (Secret("token", CANARY),), (CANARY,))  # fmt: skip

HOLDING = {
    "Target": TARGET,
    "Secret": Secret("token", CANARY),
    "WireValues": WIRE,
    "Composition": Composition({}, HEADERS, AGENT),
    "Substituted": Substituted(CANARY, "{{token}}"),
}
REQUESTS = {
    "to an agent": request_to(AGENT, {}, HEADERS),
    "with secrets": request_to(AGENT, STORED, HEADERS, wire=WIRE),
    "of an action": action_request(AGENT, {}, "http://a.example", headers=HEADERS),
    "in reply to a server": automatic_reply(RUN, TARGET, {"key": CANARY}, [CANARY]),
}


@pytest.mark.parametrize("name", HOLDING)
def test_none_shows_a_credential(name: str) -> None:
    assert CANARY not in repr(HOLDING[name])
    assert name in repr(HOLDING[name])


@pytest.mark.parametrize("name", REQUESTS)
def test_a_prepared_request_shows_no_credential(name: str) -> None:
    assert CANARY not in repr(REQUESTS[name])
    assert "PreparedRequest" in repr(REQUESTS[name])
    assert CANARY in REQUESTS[name].redact


def with_auth(**fields: str) -> Agent:
    return Agent(name="A", url="https://a.example/ask", auth="bearer", auth_secret=CANARY,
                 headers=[["X-Tenant", "t"]], **fields)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, ()),
        ({"headers": [("X-A", "1")]}, (("X-A", "1"),)),
        ({"as_agent": True}, (("Authorization", f"Bearer {CANARY}"),)),
        (
            {"as_agent": True, "headers": [("X-A", "1")]},
            (("Authorization", f"Bearer {CANARY}"), ("X-A", "1")),
        ),
        (
            {"as_agent": True, "headers": [("authorization", "mine")]},
            (("authorization", "mine"),),
        ),
    ],
)
def test_an_action_takes_along_what_it_is_told_to(options: dict, sent: tuple) -> None:  # type: ignore[type-arg]
    prepared: PreparedRequest = action_request(
        with_auth(), {"action": "x"}, "https://a.example/do", **options
    )
    assert prepared.target.headers == sent
    assert (prepared.target.protocol, prepared.target.version) == ("action", "")
    assert CANARY in prepared.redact


@pytest.mark.parametrize(
    "url",
    ["http://a.example/do", "https://b.example/do", "https://a.example:444/do",
     "https://a.example.evil/do"],
)  # fmt: skip
def test_an_agents_credentials_go_to_its_own_origin_only(url: str) -> None:
    with pytest.raises(ValueError, match="own origin only"):
        action_request(with_auth(), {}, url, as_agent=True)
    assert action_request(with_auth(), {}, url).target.headers == ()
