"""HTTP calls and their origins."""

from __future__ import annotations

import pytest

from playground.protocols.calls import HttpCall


def test_the_origin_of_a_call_is_that_of_its_url() -> None:
    assert HttpCall("GET", "https://agent.example:443@evil.example:8443/").origin == (
        "https://evil.example:8443"
    )
    assert HttpCall("GET", "kitchen").origin == ""


class TestCall:
    @pytest.mark.parametrize(
        "url", ["https://a.example.com:8443/x?y", "https://a.example.com:8443"]
    )
    def test_origin(self, url: str) -> None:
        assert HttpCall("POST", url).origin == "https://a.example.com:8443"
