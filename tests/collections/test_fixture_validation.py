"""Validation of a file's fields, beside the tests of whole files in `test_fixture_parser`."""

from __future__ import annotations

from playground.collections.fixture_validation import expectation_errors, validate_field


def test_expectations_that_come_again_are_judged_once() -> None:
    expectation_errors.cache_clear()
    row = [{"type": "nothing"}]
    first, second = (list(validate_field("expectations", row)) for _ in range(2))
    assert first == second
    assert [pointer for pointer, _ in first] == ["/0/type"]
    assert (expectation_errors.cache_info().hits, expectation_errors.cache_info().currsize) == (
        1,
        1,
    )


def test_a_large_expectation_is_not_kept_in_memory() -> None:
    expectation_errors.cache_clear()
    large = [{"type": "code", "equals": "x" * 100_000}, {"type": "nothing", "is": "x" * 100_000}]
    found = list(validate_field("expectations", large))
    assert [pointer for pointer, _ in found if pointer.startswith("/1")] == ["/1/type"]
    assert expectation_errors.cache_info().currsize == 0
