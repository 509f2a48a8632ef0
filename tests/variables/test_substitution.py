"""Substitution: one pass, two forms, linear time; in URLs each value stays within its part."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.variables.names import is_name, literal, names_in
from playground.variables.substitution import Substituted, Substitution, Value, VariableError
from tests.support.json_values import TEXTS, values

MOMENT = datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)
TABLE: Mapping[str, Value] = {
    "city": Value("Paris"),
    "tricky": Value("{{city}} & {{nobody}}"),
    "size": Value(3),
    "tree": Value({"a": [1, None, True]}),
    "nothing": Value(None),
    "token": Value("s3cret", secret=True),
}
NAMED = [f"{{{{{name}}}}}" for name in (*TABLE, "nobody", "$uuid", "$braces")]


def work(**options: Any) -> Substitution:
    return Substitution(TABLE.get, moment=MOMENT, **options)


@pytest.mark.parametrize(
    ("template", "sent"),
    [
        ("{{city}}", "Paris"),
        ("in {{ city }}!", "in Paris!"),
        ("{{\tcity\t}}", "Paris"),
        ("{{tricky}}", "{{city}} & {{nobody}}"),
        ("<{{tricky}}>", "<{{city}} & {{nobody}}>"),
        ("{{size}}", 3),
        ("{{size}} items", "3 items"),
        ("{{tree}}", {"a": [1, None, True]}),
        ("x {{tree}}", 'x {"a":[1,null,true]}'),
        ("{{nothing}}", None),
        ("a{{nothing}}", "anull"),
        ("{{{city}}}", "{Paris}"),
        ("{{city}}{{city}}", "ParisParis"),
        ("{{}} {{two words}} {{ci", "{{}} {{two words}} {{ci"),
        ("{{$braces}}city}}", "{{city}}"),
        ("{{$timestamp}}", 1772600767),
        ("at {{$timestamp}}", "at 1772600767"),
        ("{{$isoTimestamp}}", "2026-03-04T05:06:07.089Z"),
        ({"a": ["{{size}}", {"{{city}}": 1.5}]}, {"a": [3, {"Paris": 1.5}]}),
        ([True, None, 7], [True, None, 7]),
    ],
)
def test_what_is_sent(template: Any, sent: Any) -> None:
    done = work()
    found = done.json(template)
    assert found.wire == found.stored == sent
    assert not done.unresolved


def test_every_occurrence_of_a_uuid_is_another() -> None:
    first, second = work().json(["{{$uuid}}", "{{$uuid}}"]).wire
    assert UUID(first) != UUID(second)


def test_a_secret_is_sent_and_its_placeholder_kept() -> None:
    done = work()
    found = done.json({"key": "{{token}}", "text": "a {{ token }} {{city}}"})
    assert found.wire == {"key": "s3cret", "text": "a s3cret Paris"}
    assert found.stored == {"key": "{{token}}", "text": "a {{ token }} Paris"}
    assert done.secrets == ("token",)
    assert done.used == ("token", "city")
    assert "s3cret" not in repr(found) + repr(TABLE)


def test_names_without_a_value_are_found_with_their_places() -> None:
    template = {"a/b": ["{{x}}", "y {{y}} {{x}}"], "m~n": {"{{z}}": 1}, "$": "{{$other}}"}
    done = work()
    assert done.json(template).wire == template
    assert done.unresolved == [
        ("/a~1b/0", "x"),
        ("/a~1b/1", "y"),
        ("/a~1b/1", "x"),
        ("/m~0n/{{z}}", "z"),
        ("/$", "$other"),
    ]


def test_two_names_of_an_object_must_not_become_one() -> None:
    with pytest.raises(VariableError, match="duplicate name"):
        work().json({"{{city}}": 1, "Paris": 2})


def test_what_is_too_large_or_too_deep_is_refused() -> None:
    with pytest.raises(VariableError, match="too large"):
        work(most=100).json(["{{city}}"] * 21)
    assert work(most=100).json(["{{city}}"] * 20).wire == ["Paris"] * 20
    deep: Any = "{{city}}"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(VariableError, match="deep"):
        work().json(deep)
    assert names_in(deep) == ["city"]


@pytest.mark.parametrize("text", ["{{" * 200_000, "{{a" * 100_000, "{{" + " " * 300_000 + "a}}"])
def test_hostile_text_is_read_once(text: str) -> None:
    assert work().json(text).wire == text


@pytest.mark.parametrize(
    ("name", "fine"),
    [("a", True), ("A-b_c.9", True), ("x" * 80, True), ("x" * 81, False), ("", False),
     ("a b", False), ("$uuid", False), ("ä", False), ("a\n", False)],
)  # fmt: skip
def test_what_a_variable_can_be_called(name: str, fine: bool) -> None:
    assert is_name(name) is fine


@given(values(["a", *NAMED], NAMED))
def test_what_has_no_names_in_it_stays_as_it_is(value: Any) -> None:
    done = work()
    found = done.json(literal(value))
    assert found.wire == found.stored == value
    assert not done.unresolved


@given(values(["a"], NAMED))
def test_names_are_those_that_are_used_or_lack_a_value(value: Any) -> None:
    done = work()
    done.json(value)
    lacking = {name for _, name in done.unresolved}
    assert set(names_in(value)) == set(done.used) | lacking
    assert set(done.secrets) <= {"token"}


@given(values(["a"], NAMED))
def test_what_is_kept_never_holds_a_secret(value: Any) -> None:
    assert "s3cret" not in str(work().json(value).stored)


@given(TEXTS, st.text(max_size=30))
def test_a_value_goes_out_as_it_is(name_like: str, value: str) -> None:
    done = Substitution({"x": Value(value)}.get, moment=MOMENT)
    assert done.json("{{x}}").wire == value
    text = done.json(f"{name_like}|{{{{x}}}}")
    assert text.wire == f"{name_like}|{value}"


def test_only_the_names_to_be_kept_stay_placeholders() -> None:
    written = literal({"a": "{{token}} {{city}}", "{{size}}": ["{{ x }}"]}, keep=["token"])
    assert written == {
        "a": "{{token}} {{$braces}}city}}",
        "{{$braces}}size}}": ["{{$braces}} x }}"],
    }


URL_PARTS = {
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
    return Substitution({**URL_PARTS, **more}.get, moment=MOMENT).url(template)


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
