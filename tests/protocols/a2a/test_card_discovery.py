from __future__ import annotations

import pytest

from playground.protocols.a2a.card_discovery import well_known


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
