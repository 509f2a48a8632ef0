"""The grammar of URIs, with examples of RFC 3986 and RFC 3987."""

from __future__ import annotations

import pytest

from playground.conformance.uris import is_uri, is_uri_reference

URIS = [
    "ftp://ftp.is.co.za/rfc/rfc1808.txt",
    "http://www.ietf.org/rfc/rfc2396.txt",
    "ldap://[2001:db8::7]/c=GB?objectClass?one",
    "mailto:John.Doe@example.com",
    "tel:+1-816-555-1212",
    "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    "ui://widget/recipes.html",
    "https://example.com/a%20b?c=d&e[]=f#g".replace("[]", "%5B%5D"),
    "https://r\u00e9sum\u00e9.example.org/\u6599\u7406",
]
REFERENCES = ["/a", "a/b", "../c", "?q=1", "#top", "//example.com/a"]
NEITHER = [
    "",
    "no such url",
    "https://example.com/a b",
    "https://example.com/{id}",
    "https://example.com/%zz",
    "https://example.com/#a#b",
    "https://example.com/<a>",
    'https://example.com/"',
    "https://example.com/\n",
    "https://example.com/\\a",
    "https://example.com/\ufffd\ud800",
]


@pytest.mark.parametrize("text", URIS)
def test_uri(text: str) -> None:
    assert is_uri(text)
    assert is_uri_reference(text)


@pytest.mark.parametrize("text", REFERENCES)
def test_relative_reference(text: str) -> None:
    assert not is_uri(text)
    assert is_uri_reference(text)


@pytest.mark.parametrize("text", NEITHER)
def test_neither(text: str) -> None:
    assert not is_uri(text)
    assert not is_uri_reference(text)


@pytest.mark.parametrize("text", ["a" * 1_000_000 + " ", "https://" + "a%" * 500_000])
def test_long_text_takes_linear_time(text: str) -> None:
    assert not is_uri_reference(text)
