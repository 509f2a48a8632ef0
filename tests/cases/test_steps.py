"""Schemas, paths and headers of unusual size: the work for them is bounded."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from playground.conformance.mcp.input_schemas import MAX_STEPS, InputSchema, UncheckedError
from playground.expectations import RunFacts, StepLimit, capture, evaluate
from playground.expectations.step_limit import MAX_ALL_STEPS
from playground.lesson_format.lesson import StepCheck, Subject, evaluate_check
from tests.cases import ask
from tests.support.commands import run_command
from tests.support.servers import reply

DRAFTS = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


def steps_of(schema: dict[str, Any], value: Any = None) -> int:
    """The steps of a validation, and that they are no more than allowed."""
    checked, found = InputSchema(schema), 0
    take = checked._take

    def count(steps: int) -> None:
        nonlocal found
        found += steps
        take(steps)

    checked._take = count  # type: ignore[method-assign]
    with contextlib.suppress(UncheckedError):
        _ = checked.invalid_part() if value is None else checked.rejection(value)
    assert found <= MAX_STEPS + 1_000
    return found


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_metaschema_counts(draft: str) -> None:
    """Every part of a schema is validated, in every dialect."""
    few, many = (
        steps_of(
            {"$schema": draft, "properties": {f"p{n}": {"type": "string"} for n in range(size)}}
        )
        for size in (20, 200)
    )
    assert few > 5 * 20
    assert 8 * few < many < 12 * few
    assert steps_of({"$schema": draft, "anyOf": [{}] * 1_900}) > 1_900 * 5


@pytest.mark.parametrize("draft", DRAFTS)
def test_elements_are_compared_by_keys(draft: str) -> None:
    objects = [{"a": number} for number in range(900)]
    assert steps_of({"$schema": draft, "enum": objects}) < 10_000
    unique = {"properties": {"l": {"allOf": [{"uniqueItems": True}] * 400}}, "$schema": draft}
    assert steps_of(unique, {"l": objects}) > MAX_STEPS  # And ends there.
    mixed = [each for number in range(5_000) for each in (number, f"a{number}")]
    single = {"properties": {"l": {"uniqueItems": True}}, "$schema": draft}
    assert steps_of(single, {"l": mixed}) < 2 * len(mixed)


@pytest.mark.parametrize(
    ("items", "is_unique"),
    [
        ([1, True, 0, False, "1", None, "", [], {}], True),
        ([1, 1.0], False),
        ([[1, {"a": [True]}], [1.0, {"a": [True]}]], False),
        ([[1, {"a": [True]}], [1, {"a": [1]}]], True),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([["a", "b"], ["b", "a"]], True),
        (["a", "b", "a"], False),
        ([[True], [1]], True),
        ("aa", True),
    ],
)
def test_what_is_unique_is_as_in_json_schema(items: Any, is_unique: bool) -> None:
    schema = InputSchema({"properties": {"l": {"uniqueItems": True}}})
    rejected = schema.rejection({"l": items})
    assert (rejected is None) is is_unique
    if rejected:
        assert rejected.path == ("properties", "l", "uniqueItems")
    assert (
        InputSchema({"properties": {"l": {"uniqueItems": False}}}).rejection({"l": items}) is None
    )


#: A path that visits each value below each value.
HEAVY = "$..[?count(@..*) > {}]"
DOCUMENT = {"l": [{"a": number, "b": [number] * 3} for number in range(700)]}


def heavy(count: int, first: int = 10_000) -> list[dict[str, Any]]:
    return [
        {"type": "json", "path": HEAVY.format(first + number), "exists": False}
        for number in range(count)
    ]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps that were taken."""
    found = [0]
    take = StepLimit.take

    def count(limit: StepLimit, steps: int = 1) -> None:
        found[0] += steps
        take(limit, steps)

    monkeypatch.setattr(StepLimit, "take", count)
    monkeypatch.setattr("playground.expectations.step_limit.MAX_ALL_STEPS", MAX_ALL_STEPS // 10)
    monkeypatch.setattr(StepLimit.__init__, "__defaults__", (MAX_ALL_STEPS // 10,))
    return found


def test_expectations_and_captures_of_a_run_share_one_bound(taken: list[int]) -> None:
    limit = StepLimit()
    facts = RunFacts(state="completed", outcome="answer", document=DOCUMENT)
    checks = evaluate(heavy(50), facts, limit)
    captured, problems = capture({f"v{n}": HEAVY.format(n) for n in range(50)}, DOCUMENT, limit)
    assert checks[0].met
    assert checks[-1].met is None
    assert (captured, len(problems)) == ({}, 50)
    assert taken[0] < MAX_ALL_STEPS // 10 + 1_000


def test_so_do_all_requests_that_a_lesson_checks(taken: list[int]) -> None:
    check = StepCheck(request=tuple(heavy(20)))
    evaluate_check(check, [Subject(DOCUMENT) for _ in range(50)])
    assert taken[0] < MAX_ALL_STEPS // 10 + 20_000


def test_headers_of_a_request_are_bounded() -> None:
    def headers(*sizes: int) -> tuple[str, ...]:
        pairs = [f"X-{number}: {'a' * size}" for number, size in enumerate(sizes)]
        return tuple(part for pair in pairs for part in ("--header", pair))

    answer = ask(reply(b"{}"), arguments=headers(16_000, 16_000, 16_000))
    assert len(answer.requests) == 1
    refused = ask(reply(b"{}"), arguments=headers(13_200, 13_201, *[13_200] * 3))
    assert refused.requests == []
    assert refused.ending[0] == "refused"
    (error,) = refused.of("error")
    assert "13,208 of them in X-1." in error["cause"]
    assert "65,536" in error["cause"]
    assert "a" * 100 not in error["cause"]


def test_one_header_is_bounded() -> None:
    for name in ("X-Long", "X-" + "n" * 20_000):
        done = run_command(
            "send", "http://127.0.0.1:9/", "--text", "x", "--header", f"{name}: {'a' * 20_000}"
        )
        assert done.returncode == 2
        assert "16,384" in done.stderr
        assert "X-" in done.stderr
        assert len(done.stderr) < 500
