"""Rules as rows: where a row applies, and what it reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from playground.conformance.rule import (
    Inconclusive,
    Level,
    RuleIssue,
    Violation,
    info,
    must,
    should,
)
from playground.conformance.shape import (
    Fix,
    Place,
    RuleFactory,
    Selector,
    Tests,
    elements,
    integer,
    is_given,
    is_object,
    is_string,
    members,
    never,
    number,
    objects,
    one_of,
    present,
)


@dataclass
class Answer:
    """One JSON value, in frame 7."""

    value: Any
    version: str = "2"
    is_complete: bool = True
    overflowed: bool = False

    def resolve_pointer(self, seq: int | None, pointer: str) -> str:
        return pointer


FACTORY = RuleFactory[Answer]("some.", ("2", "1"), lambda t: t.value is not None)
FACTS = ("name", "A title.")


def whole(t: Answer) -> Iterator[Place]:
    yield 7, "", t.value


def row(select: Selector[Answer], tests: Tests, **options: Any) -> Any:
    return FACTORY.row(*FACTS, must("1"), select, tests, why="A reason.", **options)


@pytest.mark.parametrize(
    ("select", "value", "expected"),
    [
        pytest.param(whole, 1, [("", 1)], id="whole"),
        pytest.param(objects(whole), [], [], id="no object"),
        pytest.param(objects(whole), {}, [("", {})], id="an object"),
        pytest.param(elements(whole), {"a": 1}, [], id="no array"),
        pytest.param(elements(whole), [4, 5], [("/0", 4), ("/1", 5)], id="elements"),
        pytest.param(elements(whole, 1), [4, 5], [("/0", 4)], id="the first elements"),
        pytest.param(present(whole, "a", "b"), {"b": None}, [("/b", None)], id="present member"),
        pytest.param(present(whole, "a/b"), {"a/b": 1}, [("/a~1b", 1)], id="escaped name"),
        pytest.param(present(whole, "a"), "a", [], id="no members of a string"),
        pytest.param(present(elements(whole), "a"), [{}, {"a": 1}], [("/1/a", 1)], id="nested"),
    ],
)
def test_selectors(select: Selector[Answer], value: Any, expected: list[tuple[str, Any]]) -> None:
    found = list(select(Answer(value)))
    assert found == [(7, *place) for place in expected]


@pytest.mark.parametrize(
    ("test", "good", "bad"),
    [
        (number(0, 1), [0, 0.5, 1], [-1, 2, True, "0", float("nan"), None]),
        (integer(0), [0, 1.0, 10**30], [-1, 0.5, True, "1", None]),
        (one_of("a", "b"), ["a", "b"], ["c", ["a"], None]),
        (is_object, [{}], [[], None]),
    ],
)
def test_tests(test: Any, good: list[Any], bad: list[Any]) -> None:
    assert all(test(value) for value in good)
    assert not any(test(value) for value in [*bad, *_members({}, "a")])


def _members(value: Any, name: str) -> Iterator[Any]:
    """Yield what a test gets for a member that an object does not have."""
    return (found for _, _, found in members(whole, name)(Answer(value)))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a~": "x"}, None),
        ({}, "a~ is missing."),
        ({"a~": 1}, "a~ is a number."),
        ({"a~": "y" * 99}, f"{'y' * 60} is not it."),
        ([], None),
    ],
)
def test_the_first_test_that_fails_is_reported(value: Any, message: str | None) -> None:
    tests: Tests = {
        is_given: "{name} is missing.",
        is_string: "{name} is {actual}.",
        one_of("x"): "{value} is not it.",
    }
    found = list(row(members(whole, "a~"), tests).check(Answer(value)))
    assert found == ([Violation(message, 7, "/a~0")] if message else [])


@pytest.mark.parametrize(
    ("value", "when", "applies"),
    [
        pytest.param({"a": 1}, None, True, id="a place"),
        pytest.param({"b": 1}, None, False, id="no place"),
        pytest.param({"b": 1}, objects(whole), True, id="when is a wider selector"),
        pytest.param({"b": 1}, lambda t: "b" in t.value, True, id="when is a condition"),
        pytest.param({"a": 1}, lambda t: "b" in t.value, False, id="a condition that is not met"),
        pytest.param(None, whole, False, id="the condition of the factory"),
    ],
)
def test_a_row_applies_if_there_is_a_place(value: Any, when: Any, applies: bool) -> None:
    assert row(present(whole, "a"), {never: "No."}, when=when).when(Answer(value)) is applies


def test_a_row_may_look_at_several_places() -> None:
    made = FACTORY.row(
        *FACTS,
        must("1"),
        present(whole, "a"),
        {is_string: "{name}"},
        (present(whole, "b"), {is_object: "{name}"}),
        why="",
    )
    assert [issue.message for issue in made.check(Answer({"b": 1, "a": 1}))] == ["a", "b"]
    assert made.when(Answer({"b": 1}))


def milder_before(t: Answer, _: Place) -> Level | None:
    return Level.INFO if t.version == "1" else None


@pytest.mark.parametrize(
    ("answer", "fix", "expected"),
    [
        (Answer(1, "2"), Fix("No.", milder_before), Violation("No.", 7)),
        (Answer(1, "1"), Fix("No.", milder_before), Violation("No.", 7, level=Level.INFO)),
        (Answer(1), Fix("No.", may_follow=True), Violation("No.", 7)),
        (Answer(1, is_complete=False), Fix("No."), Violation("No.", 7)),
    ],
)
def test_levels_and_completeness(answer: Answer, fix: Fix, expected: RuleIssue) -> None:
    assert list(row(whole, {never: fix}).check(answer)) == [expected]


def test_what_may_follow_is_inconclusive() -> None:
    made = row(whole, {never: Fix("No.", may_follow=True)})
    (issue,) = made.check(Answer(1, is_complete=False))
    assert isinstance(issue, Inconclusive)


@pytest.mark.parametrize(
    ("requirements", "expected"),
    [
        (must("1"), {"2": must("1"), "1": must("1")}),
        ((must("1"), should("2")), {"2": must("1"), "1": should("2")}),
        ((None, info("2")), {"1": info("2")}),
    ],
)
def test_requirements_by_version(requirements: Any, expected: Any) -> None:
    made = FACTORY.row(*FACTS, requirements, whole, {never: "No."}, why="A reason.")
    assert made.requirements == expected
    assert (made.id, made.title, made.why) == ("some.name", "A title.", "A reason.")
