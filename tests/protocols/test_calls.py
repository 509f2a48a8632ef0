"""Where a call goes."""

from __future__ import annotations

import pytest

from playground.protocols.calls import Call, origin_of


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://agent.example/ask?a=b#c", "https://agent.example"),
        ("http://agent.example:8080", "http://agent.example:8080"),
        ("http://[::1]:8000/ask", "http://[::1]:8000"),
        ("https://agent.example@evil.example/", "https://evil.example"),
        ("https://agent.example:443@evil.example:8443/", "https://evil.example:8443"),
        ("https://a@agent.example@evil.example", "https://evil.example"),
        ("https://agent.example@/", ""),
        ("javascript:alert(1)", ""),
        ("http://[::1/", ""),
        ("kitchen", ""),
        ("", ""),
    ],
)
def test_an_origin_names_nobody_who_logs_in(url: str, origin: str) -> None:
    assert origin_of(url) == origin
    assert Call("GET", url).origin == origin
