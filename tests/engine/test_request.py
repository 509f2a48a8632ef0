"""Prepared requests: no representation shows a credential, and copies keep the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any

import pytest

from playground.engine.preparation import RequestTemplate
from playground.engine.request import (
    PreparedRequest,
    WireValues,
    action_request,
    automatic_response,
    request_to,
)
from playground.engine.secrets import Secret
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
    "RequestTemplate": RequestTemplate({}, HEADERS, AGENT),
    "Substituted": Substituted(CANARY, "{{token}}"),
}
REQUESTS = {
    "to an agent": request_to(AGENT, {}, HEADERS),
    "with secrets": request_to(AGENT, STORED, HEADERS, wire=WIRE),
    "of an action": action_request(AGENT, {}, "http://a.example", headers=HEADERS),
    "in reply to a server": automatic_response(RUN, TARGET, {"key": CANARY}, [CANARY]),
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


#: How a request is changed, and what of both its halves is another one then.
CHANGES: dict[str, tuple[Callable[[PreparedRequest], PreparedRequest], dict[str, Any]]] = {
    "with_change": (
        lambda made: made.with_change(lambda document: {**document, "n": 1}),
        {"request": {"key": "{{token}}", "n": 1}, "wire_document": {"key": CANARY, "n": 1}},
    ),
    "with_document": (
        lambda made: made.with_document({"other": "a {{token}} {{city}}"}),
        {
            "request": {"other": "a {{token}} {{city}}"},
            "wire_document": {"other": f"a {CANARY} {{{{city}}}}"},
        },
    ),
    "with_url": (
        lambda made: made.with_url("http://a.example/x?key={{token}}"),
        {
            "url": "http://a.example/x?key={{token}}",
            "target.url": f"http://a.example/x?key={CANARY}",
            "redacted_target.url": "http://a.example/x?key={{token}}",
        },
    ),
    "in_version": (
        lambda made: made.in_version("0.54"),
        {"target.version": "0.54", "redacted_target.version": "0.54"},
    ),
    "resuming": (
        lambda made: made.resuming({"kind": "input"}),
        {"target.resume": {"kind": "input"}, "redacted_target.resume": {"kind": "input"}},
    ),
}
LOOKED_AT = [
    "agent", "request", "url", "headers", "auth", "provenance", "wire_document", "redact",
    *(f"{which}.{name}" for which in ("target", "redacted_target")
      for name in ("url", "protocol", "binding", "version", "headers", "handshake", "resume")),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_leaves_all_else_as_it_is(change: str) -> None:
    how, changed = CHANGES[change]
    agent = Agent(name="A", url="http://a.example", auth="bearer", auth_secret="own-secret")
    secret = Secret("token", CANARY, ("http://a.example",))
    wire = WireValues(STORED, {"key": CANARY}, [("X-Key", CANARY)], agent.url, (secret,))
    before = request_to(agent, STORED, [("X-Key", "{{token}}")], wire=wire)
    after = how(before)
    for path in LOOKED_AT:
        read = attrgetter(path)
        assert read(after) == changed.get(path, read(before)), path
    assert after.errors() == before.errors() == []
    assert CANARY not in repr(after) + str(after.redacted_target)


def test_another_document_is_not_sent_beside_the_one_that_is_stored() -> None:
    with pytest.raises(ValueError, match="with_document"):
        replace(request_to(AGENT, STORED, wire=WIRE), request={})


def test_without_secrets_what_is_stored_is_sent() -> None:
    prepared = request_to(AGENT, STORED, HEADERS)
    assert prepared.wire_document is prepared.request
    assert prepared.redacted_target is prepared.target
    assert prepared.with_url("http://b.example/").target.url == "http://b.example/"


@pytest.mark.parametrize(
    ("options", "own_way"),
    [({}, True), ({"version": "0.54"}, True), ({"wire": WIRE}, False),
     ({"wire": WIRE, "auth": {"type": "none"}}, False)],
)  # fmt: skip
def test_a_session_of_the_agent_is_for_its_own_credentials_only(
    options: dict[str, Any], own_way: bool
) -> None:
    agent = with_auth(handshake={"session": "s"})
    target = request_to(agent, STORED, **options).target
    assert target.handshake == ({"session": "s"} if own_way else None)
    names = {name for name, _ in target.headers}
    assert ("Authorization" in names) is ("auth" not in options)


def test_a_reply_to_a_server_goes_out_as_its_run_did() -> None:
    reply = automatic_response(RUN, TARGET, {"key": CANARY}, [CANARY])
    assert reply.target is TARGET
    assert (reply.request, reply.url) == (RUN.request, RUN.url)
    assert reply.wire_document == {"key": CANARY}
    assert automatic_response(RUN, TARGET, None, ()).wire_document is RUN.request
