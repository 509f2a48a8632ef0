"""Where an agent is over the other binding: by rule, and never at another origin."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.origins import (
    base_path,
    normalize_url,
    same_origin,
    url_label,
    url_over_binding,
)

HERE = "http://a.example"


@pytest.mark.parametrize(
    ("binding", "own", "url", "others", "expected"),
    [
        # Its own binding: its own address, whatever else there is.
        ("http", "http", f"{HERE}/ask", [("http", f"{HERE}/other")], f"{HERE}/ask"),
        ("mcp", "mcp", f"{HERE}/x", [], f"{HERE}/x"),
        # Derived.
        ("mcp", "http", HERE, [], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/", [], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/api/ask", [], f"{HERE}/api/mcp"),
        ("mcp", "http", f"{HERE}/api/await/", [], f"{HERE}/api/mcp"),
        ("mcp", "http", f"{HERE}/task", [], f"{HERE}/task/mcp"),
        ("mcp", "http", f"{HERE}/ask?key=1#top", [], f"{HERE}/mcp?key=1"),
        ("mcp", "http", f"{HERE}/mcp", [], f"{HERE}/mcp"),
        ("http", "mcp", f"{HERE}/mcp", [], HERE),
        ("http", "mcp", f"{HERE}/demo/mcp/", [], f"{HERE}/demo"),
        ("http", "mcp", f"{HERE}/server", [], f"{HERE}/server"),
        # Another agent of the same origin.
        ("mcp", "http", f"{HERE}/ask", [("mcp", f"{HERE}/tools")], f"{HERE}/tools"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "HTTP://A.example:80/t")], "HTTP://A.example:80/t"),
        ("mcp", "http", f"{HERE}/ask", [("http", f"{HERE}/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "http://b.example/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", "https://a.example/tools")], f"{HERE}/mcp"),
        ("mcp", "http", f"{HERE}/ask", [("mcp", f"{HERE}:8080/tools")], f"{HERE}/mcp"),
        # Several: the nearest, and among equals the first.
        (
            "mcp", "http", f"{HERE}/b/ask",
            [("mcp", f"{HERE}/a/mcp"), ("mcp", f"{HERE}/b/mcp")], f"{HERE}/b/mcp",
        ),
        (
            "mcp", "http", f"{HERE}/ask",
            [("mcp", f"{HERE}/x"), ("mcp", f"{HERE}/y")], f"{HERE}/x",
        ),
        # Nonsense, here and there.
        ("mcp", "http", "http://[::1", [("mcp", "http://[::1")], "http://[::1"),
        ("mcp", "http", HERE, [("mcp", "http://[::1"), ("mcp", "http://a:x")], f"{HERE}/mcp"),
        ("mcp", "http", "", [], "/mcp"),
    ],
)  # fmt: skip
def test_the_rule(
    binding: str, own: str, url: str, others: list[tuple[str, str]], expected: str
) -> None:
    assert url_over_binding(binding, url, own, others) == expected


bindings = st.sampled_from(["http", "mcp"])
addresses = st.sampled_from(
    [HERE, f"{HERE}/a/mcp", f"{HERE}:80/b", f"{HERE}:81", "https://a.example", "http://b.example/m"]
)


@given(bindings, bindings, addresses, st.lists(st.tuples(bindings, addresses)))
def test_a_new_origin_never_arises(
    binding: str, own: str, url: str, others: list[tuple[str, str]]
) -> None:
    assert same_origin(url_over_binding(binding, url, own, others), url)


@given(bindings, bindings, st.text(), st.lists(st.tuples(bindings, st.text())))
def test_any_text_has_an_address(
    binding: str, own: str, url: str, others: list[tuple[str, str]]
) -> None:
    assert isinstance(url_over_binding(binding, url, own, others), str)


@pytest.mark.parametrize(
    ("path", "base"),
    [("", ""), ("/", ""), ("/ask", ""), ("/a/ask/", "/a"), ("/a/mcp", "/a"), ("/mask", "/mask")],
)
def test_base(path: str, base: str) -> None:
    assert base_path(path) == base


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (HERE, f"{HERE}/"),
        (HERE, "HTTP://A.Example:80"),
        ("https://a.example/ask", "https://a.example:443/ask#top"),
        ("http://[::1]:8000/", "http://[::1]:8000"),
    ],
)
def test_the_same_address_in_other_words(one: str, other: str) -> None:
    assert normalize_url(one) == normalize_url(other)


@pytest.mark.parametrize(
    "other",
    ["https://a.example", f"{HERE}:8000", f"{HERE}/ask", f"{HERE}/Ask", f"{HERE}?site=b"],
)
def test_other_addresses(other: str) -> None:
    assert normalize_url(HERE) != normalize_url(other)
    assert len({url_label(each, 80) for each in (f"{HERE}/x", other)}) == 2


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (HERE, "a.example"),
        ("https://A.example:443/", "a.example"),
        ("http://a.example:8000", "a.example:8000"),
        ("http://[::1]:8000/ask/", "[::1]:8000/ask"),
        (f"{HERE}/soups/ask?site=b#top", "a.example/soups/ask?site=b"),
        ("http://a.example:99999/", "http://a.example:99999/"),
        ("nonsense", "nonsense"),
        ("http://us\u2100er@a.example/", "http://us\u2100er@a.example/"),
        (f"{HERE}/{'x' * 90}/soups/ask", f"a.example/{'x' * 30}…{'x' * 29}/soups/ask"),
    ],
)
def test_the_name_of_an_agent_at_an_address(url: str, name: str) -> None:
    assert url_label(url, 80) == name


@pytest.mark.parametrize("url", ["http://us\u2100er@a.example/", "nonsense"])
def test_nonsense_stays_as_it_is(url: str) -> None:
    assert normalize_url(url) == url


@given(st.text(), st.integers(2, 90))
def test_any_text_has_a_name_and_a_normal_form(text: str, most: int) -> None:
    assert len(url_label(text, most)) <= most
    assert normalize_url(normalize_url(text)) == normalize_url(text)
