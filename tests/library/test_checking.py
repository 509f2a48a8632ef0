"""The checks of a file's fields, beside what `test_parsing` says of whole files."""

from __future__ import annotations

from playground.library.checking import check_field, known_findings


def test_expectations_that_come_again_are_judged_once() -> None:
    known_findings.cache_clear()
    row = [{"type": "nothing"}]
    first, second = (list(check_field("expectations", row)) for _ in range(2))
    assert first == second
    assert [pointer for pointer, _ in first] == ["/0/type"]
    assert (known_findings.cache_info().hits, known_findings.cache_info().currsize) == (1, 1)


def test_a_large_expectation_is_not_kept_in_memory() -> None:
    known_findings.cache_clear()
    large = [{"type": "code", "equals": "x" * 100_000}, {"type": "nothing", "is": "x" * 100_000}]
    found = list(check_field("expectations", large))
    assert [pointer for pointer, _ in found if pointer.startswith("/1")] == ["/1/type"]
    assert known_findings.cache_info().currsize == 0
