"""Prepared requests: no representation shows a credential, and copies keep the rest."""

from __future__ import annotations

from typing import Any

import pytest

from playground.engine.preparation import RequestTemplate
from playground.engine.request import (
    PreparedRequest,
    Secret,
    action_request,
    request_of_run,
    request_to,
)
from playground.models import Agent, Run
from playground.protocols.exchange import Target
from playground.variables.substitution import Substituted

CANARY = "canary-4711"
HEADERS = (("X-Anything", CANARY),)
TARGET = Target("http://a.example", headers=HEADERS)
AGENT = Agent(name="A", url="http://a.example", auth_secret=CANARY)
RUN = Run(agent=AGENT, url=AGENT.url, request={})
STORED = {"key": "{{token}}"}
SENT = {
    "wire": ({"key": CANARY}, HEADERS, f"http://a.example/{CANARY}"),
    "secrets": (Secret("token", CANARY),),
    "other_credentials": (CANARY,),
}

#: All that holds a credential on its way to an agent.
HOLDING = {
    "Target": TARGET,
    "Secret": Secret("token", CANARY),
    "RequestTemplate": RequestTemplate({}, HEADERS, AGENT),
    "Substituted": Substituted(CANARY, "{{token}}"),
    "PreparedRequest to an agent": request_to(AGENT, {}, HEADERS),
    "PreparedRequest with secrets": request_to(AGENT, STORED, HEADERS, **SENT),
    "PreparedRequest of an action": action_request(AGENT, {}, "http://a.example", headers=HEADERS),
    "PreparedRequest in reply": request_of_run(RUN, TARGET, {"key": CANARY}, [CANARY]),
}


@pytest.mark.parametrize("name", HOLDING)
def test_no_representation_shows_a_credential(name: str) -> None:
    shown = repr(HOLDING[name])
    assert CANARY not in shown
    assert name.partition(" ")[0] in shown
    if isinstance(prepared := HOLDING[name], PreparedRequest):
        assert CANARY in prepared.redact


def test_another_document_is_sent_with_the_same_secrets() -> None:
    made = request_to(AGENT, STORED, **SENT)
    other = made.with_document({"other": "a {{token}} {{city}}"})
    assert other.request == {"other": "a {{token}} {{city}}"}
    assert other.document == {"other": f"a {CANARY} {{{{city}}}}"}


def with_auth(**fields: Any) -> Agent:
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
def test_an_action_takes_along_what_it_is_told_to(
    options: dict[str, Any], sent: tuple[tuple[str, str], ...]
) -> None:
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
    with pytest.raises(ValueError, match="to its own origin"):
        action_request(with_auth(), {}, url, as_agent=True)
    assert action_request(with_auth(), {}, url).target.headers == ()


@pytest.mark.parametrize(
    ("options", "own_way"),
    [({}, True), ({"version": "0.54"}, True), (SENT, False),
     ({**SENT, "auth": {"type": "none"}}, False)],
)  # fmt: skip
def test_a_session_of_the_agent_is_for_its_own_credentials_only(
    options: dict[str, Any], own_way: bool
) -> None:
    agent = with_auth(handshake={"session": "s"})
    target = request_to(agent, STORED, **options).target
    assert target.handshake == ({"session": "s"} if own_way else None)
    names = {name for name, _ in target.headers}
    assert ("Authorization" in names) is ("auth" not in options)
