"""Numbers of query strings and forms."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from playground.base.query_params import MAX_INT, int_param


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 0),
        ("n=", 0),
        ("n=7", 7),
        ("n=0", 0),
        ("n=007", 7),
        ("n=3&n=7", 7),
        ("m=7", 0),
        # Written in another way.
        ("n=-7", 0),
        ("n=%2B7", 0),
        ("n=7.0", 0),
        ("n=1e3", 0),
        ("n=1_000", 0),
        ("n=0x10", 0),
        ("n=+7", 0),
        ("n=7+", 0),
        ("n=%0A7", 0),
        ("n=x", 0),
        ("n=NaN", 0),
        ("n=7%00", 0),
        # Digits that are not ASCII.
        ("n=%D9%A7", 0),
        ("n=%C2%B2", 0),
        ("n=%EF%BC%97", 0),
        # Large ones.
        ("n=999999999", MAX_INT),
        ("n=1000000000", 0),
        ("n=" + "9" * 5000, 0),
        ("n=0000000007", 0),
    ],
)
def test_the_number_of_a_field(query: str, number: int) -> None:
    assert int_param(QueryDict(query), "n", 0) == number


@pytest.mark.parametrize(
    ("text", "limits", "number"),
    [
        ("7", {"maximum": 7}, 7),
        ("8", {"maximum": 7}, None),
        ("10", {"maximum": 7}, None),
        ("07", {"maximum": 7}, None),
        ("7", {"minimum": 7}, 7),
        ("6", {"minimum": 7}, None),
        ("0", {"minimum": 1}, None),
    ],
)
def test_one_outside_of_its_limits_is_none(
    text: str, limits: dict[str, Any], number: int | None
) -> None:
    assert int_param({"n": text}, "n", None, **limits) == number


@pytest.mark.parametrize("default", [None, 0, 1, "all"])
def test_the_default_is_the_callers(default: Any) -> None:
    assert int_param({"n": "x"}, "n", default) is default
    assert int_param({}, "n", default) is default
