from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from playground.protocols.a2a import card
from playground.protocols.a2a.card import Interface, Skill, read_card, well_known
from tests.protocols.a2a.conversation import AGENT, CARD_03, CARD_10, capture
from tests.support import json_values

NAMES = [
    "name", "description", "url", "protocolVersion", "preferredTransport", "additionalInterfaces",
    "supportedInterfaces", "protocolBinding", "skills", "id", "capabilities", "streaming",
    "pushNotifications",
    "security", "securityRequirements", "schemes", "transport",
]  # fmt: skip


def interface(version: str, transport: str = "JSONRPC", url: str = AGENT) -> dict[str, Any]:
    return {"url": url, "protocolBinding": transport, "protocolVersion": version}


class TestRecordedCards:
    def test_version_0_3(self) -> None:
        found = read_card(json.loads(capture("v03_agent_card")[1]))
        assert (found.name, found.url) == ("Recipe agent v0.3", "http://127.0.0.1:9210/")
        assert found.version
        assert (found.version.name, found.streaming) == ("0.3", True)
        assert found.skills == (Skill("ask", "ask", "Ask about recipes"),)
        assert found.problems == ()

    def test_version_1_0_beside_0_3(self) -> None:
        found = read_card(json.loads(capture("v1_agent_card")[1]))
        assert [(each.transport, each.version) for each in found.interfaces] == [
            ("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"),
        ]  # fmt: skip
        assert found.version
        assert (found.url, found.version.name) == ("http://127.0.0.1:9208/a2a", "1.0")


@pytest.mark.parametrize(
    ("listed", "version", "url"),
    [
        ([interface("0.3"), interface("1.0", url="http://b.example/")], "1.0", "http://b.example/"),
        ([interface("1.0"), interface("1.0", url="http://b.example/")], "1.0", AGENT),
        ([interface("2.0"), interface("0.2.6")], "0.3", AGENT),
        ([interface("1.0", "GRPC"), interface("0.3", "jsonrpc")], "0.3", AGENT),
        ([interface("1.0.1")], "1.0", AGENT),
    ],
)
def test_the_interface_of_the_highest_version_is_chosen(
    listed: list[Any], version: str, url: str
) -> None:
    found = read_card({"name": "x", "supportedInterfaces": listed, "skills": []})
    assert found.version
    assert (found.version.name, found.url) == (version, url)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            {"supportedInterfaces": [interface("1.0", "GRPC")], "skills": []},
            "only unsupported interfaces: GRPC 1.0",
        ),
        (
            {"url": AGENT, "protocolVersion": "9", "skills": []},
            "only unsupported interfaces: JSONRPC 9",
        ),
        ({"url": 7, "skills": []}, "has no URL"),
        ({"url": AGENT}, "no array of skills"),
        ({"url": AGENT, "skills": [{"id": str(n)} for n in range(201)]}, "the first 200 were read"),
        ([], "has no URL"),
    ],
)
def test_what_is_wrong_with_a_card(value: Any, said: str) -> None:
    assert said in " ".join(read_card(value).problems)


def test_the_older_shape_has_more_interfaces() -> None:
    more = [{"url": "http://b.example/", "transport": "GRPC"}, {"transport": "JSONRPC"}, 5]
    found = read_card({**CARD_03, "preferredTransport": "HTTP+JSON", "additionalInterfaces": more})
    assert found.interfaces == (
        Interface(AGENT, "HTTP+JSON", "0.3.0"), Interface("http://b.example/", "GRPC", "0.3.0"),
    )  # fmt: skip
    assert found.chosen is None


@pytest.mark.parametrize(
    "security",
    [
        {"security": [{"bearer": []}, {"key": []}]},
        {"securityRequirements": [{"schemes": {"bearer": {"list": []}}}, {"schemes": {"key": {}}}]},
    ],
)
def test_ways_to_show_who_is_asking(security: dict[str, Any]) -> None:
    assert read_card({**CARD_10, **security}).security == ("bearer", "key")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (AGENT, AGENT + "/", True),
        ("http://A.example", "http://a.example:80/", True),
        ("https://a.example", "https://a.example:443", True),
        ("http://a.example", "https://a.example", False),
        ("http://a.example", "http://a.example:8080", False),
        ("http://a.example/x", "http://a.example/y", False),
        ("http://a.example/?x=1", "http://a.example/?x=2", False),
        ("http://a.example/", "http://me@a.example/", False),
        ("nonsense", "nonsense", False),
        ("http://[", "http://[", False),
    ],
)
def test_one_address_in_two_spellings(one: str, other: str, same: bool) -> None:
    assert card.is_same(one, other) is same


@given(json_values.values(NAMES, ["JSONRPC", "1.0", "0.3", AGENT]))
def test_no_value_is_too_odd_for_a_card(value: Any) -> None:
    found = read_card(value)
    assert bool(found.url) == (found.version is not None)
    assert found.chosen is not None or found.problems
    assert isinstance(card.is_card(value), bool)


@pytest.mark.parametrize(
    ("url", "places"),
    [
        ("http://a.example", ["/.well-known/agent-card.json", "/.well-known/agent.json"]),
        ("http://a.example/", ["/.well-known/agent-card.json", "/.well-known/agent.json"]),
        (
            "http://a.example/x/y?z#f",
            [
                "/.well-known/agent-card.json", "/x/y/.well-known/agent-card.json",
                "/.well-known/agent.json", "/x/y/.well-known/agent.json",
            ],
        ),
        ("http://a.example/x/.well-known/agent-card.json", ["/x/.well-known/agent-card.json"]),
    ],
)  # fmt: skip
def test_where_a_card_may_be(url: str, places: list[str]) -> None:
    assert [place.removeprefix("http://a.example") for place in well_known(url)] == places


@pytest.mark.parametrize(
    "url", ["", "ftp://a.example/", "kitchen", "http://", "http://[::1", "//a"]
)
def test_there_is_no_card_where_there_is_no_address(url: str) -> None:
    assert well_known(url) == ()
