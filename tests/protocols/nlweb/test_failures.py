from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.nlweb.failures import EXPLAINED, explain, retry_after_seconds
from playground.protocols.nlweb.versions import VERSIONS

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"


def is_one_sentence(text: str) -> bool:
    return text[0].isupper() and text.endswith(".") and ". " not in text


@pytest.mark.parametrize(
    "code",
    sorted(
        {code for version in VERSIONS for code in version.traits["error_codes"]}
        | {"INVALID_PARAMETER", "CANCELLED"}
        | {"INVALID_REQUEST", "MISSING_FIELD", "INVALID_ACTION"}
    ),
)
def test_every_code_is_explained(code: str) -> None:
    explanation = explain(code)
    assert explanation is not None
    assert is_one_sentence(explanation.meaning)
    assert is_one_sentence(explanation.advice)
    assert explain(f" {code.lower()} ") is explanation


def test_each_code_has_words_of_its_own() -> None:
    assert len({explanation.meaning for explanation in EXPLAINED.values()}) == len(EXPLAINED)
    assert len({explanation.advice for explanation in EXPLAINED.values()}) == len(EXPLAINED)


def test_what_was_cancelled_need_not_have_been_a_task() -> None:
    """Over MCP a question that was declined ends so, where no promise ever was."""
    explanation = explain("CANCELLED")
    assert explanation
    assert "task" not in explanation.meaning
    assert "token" not in explanation.advice.partition("if it was a promise")[0]
    assert "if it was a promise" in explanation.advice


@pytest.mark.parametrize("code", ["", "OUT_OF_EGGS", "NO RESULTS", "HTTP 404", "x" * 100_000])
def test_an_unknown_code_is_not(code: str) -> None:
    assert explain(code) is None


@pytest.mark.parametrize(
    ("value", "now", "seconds"),
    [
        ("120", DATE, 120.0),
        (" 0 ", "no date", 0.0),
        ("1.5", DATE, 1.5),
        ("9" * 18, DATE, float("9" * 18)),
        ("Sun, 06 Nov 1994 08:50:07 GMT", DATE, 30.0),
        ("Sunday, 06-Nov-94 08:50:07 GMT", DATE, 30.0),
        ("Sun Nov  6 08:50:07 1994", DATE, 30.0),
        ("Sun, 06 Nov 1994 09:50:07 +0100", DATE, 30.0),
        ("Sun, 06 Nov 1994 08:49:00 GMT", DATE, 0.0),
        ("Thu, 01 Jan 1970 00:01:00 GMT", 15.0, 45.0),
    ],
)
def test_retry_after(value: str, now: str | float, seconds: float) -> None:
    assert retry_after_seconds(value, now) == seconds


@pytest.mark.parametrize(
    ("value", "now"),
    [
        ("", DATE),
        ("-5", DATE),
        ("soon", DATE),
        ("1e9", DATE),
        ("9" * 400, DATE),
        ("٣", DATE),
        (DATE, ""),
        (DATE, "yesterday"),
        ("Sun, 99 Nov 99999999999999999999 08:49:37 GMT", DATE),
    ],
)
def test_a_retry_after_that_cannot_be_read(value: str, now: str) -> None:
    assert retry_after_seconds(value, now) is None


@given(
    st.text(max_size=40) | st.from_regex(r"\A\w{3}, \d+ Nov -?\d+ \d+:\d+:\d* [+-]\d+\Z"),
    st.text(max_size=40) | st.just(DATE) | st.floats(0, 1e10),
)
def test_any_retry_after(value: str, now: str | float) -> None:
    seconds = retry_after_seconds(value, now)
    assert seconds is None or seconds >= 0
