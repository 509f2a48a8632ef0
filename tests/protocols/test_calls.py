"""Where a call goes."""

from __future__ import annotations

from playground.protocols.calls import HttpCall


def test_the_origin_of_a_call_is_that_of_its_url() -> None:
    assert HttpCall("GET", "https://agent.example:443@evil.example:8443/").origin == (
        "https://evil.example:8443"
    )
    assert HttpCall("GET", "kitchen").origin == ""
