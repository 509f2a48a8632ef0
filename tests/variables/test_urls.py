"""Values in URLs: each stays within its part."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.variables import Substituted, Substitution, Value, VariableError

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
TABLE = {
    "base": Value("https://agent.example/api"),
    "host": Value("127.0.0.1:8000"),
    "scheme": Value("https"),
    "path": Value("/a b?c#d"),
    "port": Value(8443),
    "evil": Value("evil.example/"),
    "login": Value("me@evil.example"),
    "token": Value("s3 cret/", secret=True),
}


def url(template: str, **more: Value) -> Substituted:
    return Substitution({**TABLE, **more}.get, moment=MOMENT).url(template)


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ("https://agent.example/ask", "https://agent.example/ask"),
        ("{{base}}/ask", "https://agent.example/api/ask"),
        ("{{base}}", "https://agent.example/api"),
        ("{{scheme}}://{{host}}/ask", "https://127.0.0.1:8000/ask"),
        ("https://agent.example:{{port}}/", "https://agent.example:8443/"),
        ("http://{{host}}?q={{path}}", "http://127.0.0.1:8000?q=%2Fa%20b%3Fc%23d"),
        ("{{base}}{{path}}", "https://agent.example/api%2Fa%20b%3Fc%23d"),
        ("https://agent.example/{{evil}}", "https://agent.example/evil.example%2F"),
        ("https://agent.example/{{nobody}}", "https://agent.example/{{nobody}}"),
    ],
)
def test_where_a_value_stands_decides_how_it_is_written(template: str, sent: str) -> None:
    assert url(template) == Substituted(sent, sent)


@pytest.mark.parametrize(
    "template",
    ["https://{{evil}}agent.example/", "https://{{login}}/", "https://agent.example{{path}}",
     "https:{{path}}", "http{{path}}"],
)  # fmt: skip
def test_a_value_cannot_move_where_the_host_ends(template: str) -> None:
    with pytest.raises(VariableError, match="host"):
        url(template)


@pytest.mark.parametrize("template", ["{{token}}", "https://{{token}}/", "https://a.{{token}}"])
def test_a_secret_never_says_the_host(template: str) -> None:
    with pytest.raises(VariableError, match="secret") as caught:
        url(template)
    assert "cret/" not in str(caught.value)


def test_a_secret_in_the_query_is_kept_as_its_name() -> None:
    found = url("{{base}}?key={{token}}&q={{port}}")
    assert found.wire == "https://agent.example/api?key=s3%20cret%2F&q=8443"
    assert found.stored == "https://agent.example/api?key={{token}}&q=8443"


@given(st.text(max_size=40))
def test_no_value_reaches_beyond_its_place_in_the_query(value: str) -> None:
    sent = url("https://agent.example/ask?q={{x}}&r=1", x=Value(value)).wire
    parts = urlsplit(sent)
    assert (parts.netloc, parts.path, parts.fragment) == ("agent.example", "/ask", "")
    assert unquote(parts.query.removeprefix("q=").removesuffix("&r=1")) == value


@given(st.text(max_size=40))
def test_no_value_in_the_host_brings_along_a_login_or_a_path(value: str) -> None:
    try:
        sent = url("https://{{x}}.agent.example/ask", x=Value(value)).wire
    except VariableError:
        return
    assert sent.endswith(".agent.example/ask")
    assert not set(sent.removeprefix("https://").removesuffix("/ask")) & set("/?#@\\")
