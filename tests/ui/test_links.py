"""URLs of agents that may become links."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.ui.formatting import is_local_path, safe_url


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTPS://Example.com/Path?q=1&r=a%20b#frag",
        "http://127.0.0.1:8000/",
        "http://[::1]:8000/x",
        "https://example.com/ünïcode",
        "https://example.com/?next=javascript:alert(1)",
    ],
)
def test_web_addresses_are_links_as_they_are(url: str) -> None:
    assert safe_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)", "\x01javascript:1",
        " javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
        "blob:https://example.com/1", "ftp://example.com/", "mailto:a@example.com",
        "//example.com/x", "/relative", "relative", "#fragment", "?query", "",
        "https:/example.com", "https:example.com", "https://", "http:///example.com",
        "https:\\\\example.com", "https://example.com\\@evil.example", "https://exa mple.com",
        "https://example.com/\n", "https://example.com/\t", "https://example.com/\x00",
        "http://[::1", "http://[zz]/", "https://example.com/" + "a" * 4000,
        None, 1, True, ["https://example.com"], {"url": "https://example.com"}, b"https://a.example",
    ],
)  # fmt: skip
def test_everything_else_is_none(url: Any) -> None:
    assert safe_url(url) is None


@pytest.mark.parametrize(
    ("value", "is_local"),
    [
        ("/demo/", True), ("/reference/nlweb/0.55/#ask-request/query", True), ("/rules/", True),
        ("/", False), ("/?q=a", False), ("/collections/mine/deletion/", False),
        ("/demo/../collections/mine/deletion/", False), ("/demo/%2e%2e/collections/", False),
        ("//example.com/x", False), ("/\\example.com", False), ("\\/example.com", False),
        ("/\t/example.com", False), (" /x", False), ("x", False), ("", False), ("#x", False),
        ("/demo/" + "a" * 4000, False), ("https://example.com/", False),
    ],
)  # fmt: skip
def test_paths_of_this_playground(value: str, is_local: bool) -> None:
    assert is_local_path(value) is is_local


@given(st.text() | st.from_regex(r"\A[a-z]{0,6}:?[/\\]{0,3}[a-z@:\[\].]{0,9}", fullmatch=True))
def test_it_never_raises(url: str) -> None:
    assert safe_url(url) in (None, url)
