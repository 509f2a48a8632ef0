"""Rules as rows of a table: where to look, what holds there, how to fix it.

A row has selectors, functions from a transcript to places, and tests, functions from the value of a
place to whether it keeps the rule:

    row("promise-progress", "The progress of a promise is a number from 0 to 1.",
        (must("4.1.2"), should("HTTP examples 4")), present(promises, "progress"),
        {number(0, 1): "Set progress to a number from 0 to 1, for example 0.5 for 50%."},
        why="Progress is a fraction, not a percentage and not a string."),

The rule applies if a selector yields a place; if it applies more often, `when` says so. A selector
may yield the violations alone, with the test `never`: then `when` says where the rule applies. A
rule that compares several values, or depends on their order, has a function in place of selectors
and tests, which yields its violations:

    rule("promise-kept", "A task that was answered or cancelled is not promised again.",
        must("4.2"), promise_kept, when=lambda t: _awaits(t, "checkin"),
        why="A promise means that the task is still running."),
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Generic, NamedTuple

from playground.conformance.rule import (
    Level,
    Requirement,
    Rule,
    RuleIssue,
    T,
    Violation,
    always,
    missing,
)
from playground.protocols.json_pointer import escape, unescape

#: The value at the place of a member that an object does not have.
MISSING: Any = object()

#: Frame, pointer and value, as in a `Location`; a plain tuple takes a third of its time.
Place = tuple[int | None, str, Any]
Selector = Callable[[T], Iterable[Place]]
#: Returns whether a rule applies, or yields something if it does.
Condition = Callable[[T], bool | Iterable[Place]]
#: Returns something true for a value that keeps the rule; it depends on nothing else.
Test = Callable[[Any], object]
Check = Callable[[T], Iterator[RuleIssue]]
#: The requirement of all versions, or one for each, the latest version first; None for no rule.
Requirements = Requirement | tuple[Requirement | None, ...]


class Fix(NamedTuple):
    """A message for violations with more than a text."""

    message: str
    #: Returns the level of the violation; None for that of the rule.
    level: Callable[[Any, Place], Level | None] = lambda _, __: None
    #: Whether the part of a response that was not received may have what is missing.
    may_follow: bool = False


#: The sentence of the first test that fails. `{name}` stands for the last step of its
#: pointer, `{actual}` for the type of its value and `{value}` for the start of a string.
Tests = Mapping[Test, str | Fix]


class RuleFactory(Generic[T]):
    """The rules of one protocol that share a prefix of their ids, versions and a condition."""

    def __init__(
        self, prefix: str, versions: tuple[str, ...], when: Callable[[T], bool] = always
    ) -> None:
        """`versions` are the names of the versions, the latest first."""
        self._prefix = prefix
        self._versions = versions
        self._when = when

    def rule(
        self,
        name: str,
        title: str,
        requirements: Requirements,
        check: Check[T],
        *,
        why: str,
        when: Condition[T] = always,
        needs_complete_response: bool = False,
        fallback: bool = False,
    ) -> Rule[T]:
        """Return a rule on what a function finds in a transcript."""
        if isinstance(requirements, Requirement):
            requirements = (requirements,) * len(self._versions)
        by_version = dict(zip(self._versions, requirements, strict=True))
        required = {version: one for version, one in by_version.items() if one is not None}

        def applies(t: T) -> bool:
            if not self._when(t):
                return False
            found = when(t)
            return found if isinstance(found, bool) else any(True for _ in found)

        flags = needs_complete_response, fallback
        return Rule(self._prefix + name, title, required, check, why, applies, *flags)

    def row(
        self,
        name: str,
        title: str,
        requirements: Requirements,
        select: Selector[T],
        tests: Tests,
        *more: tuple[Selector[T], Tests],
        why: str,
        when: Condition[T] | None = None,
        needs_complete_response: bool = False,
    ) -> Rule[T]:
        """Return a rule on the values of places, each by itself.

        `more` has other places with their own tests; they are reported after the first ones.
        """
        checks = [(each, tuple(pairs.items())) for each, pairs in ((select, tests), *more)]

        def places(t: T) -> Iterable[Place]:
            return chain.from_iterable(selector(t) for selector, _ in checks)

        def check(t: T) -> Iterator[RuleIssue]:
            for selector, pairs in checks:
                for place in selector(t):
                    for test, fix in pairs:
                        if not test(place[2]):
                            yield _issue(t, fix, place)
                            break

        return self.rule(
            name,
            title,
            requirements,
            check,
            why=why,
            when=when or places,
            needs_complete_response=needs_complete_response,
        )


def _issue(t: Any, fix: str | Fix, place: Place) -> RuleIssue:
    fix = Fix(fix) if isinstance(fix, str) else fix
    message, (seq, pointer, value) = fix.message, place
    if "{" in message:
        actual = "missing" if value is MISSING else type_with_article(value)
        message = message.replace("{actual}", actual)
        message = message.replace("{name}", unescape(pointer.rpartition("/")[2]))
        message = message.replace("{value}", value[:60] if isinstance(value, str) else "")
    if fix.may_follow:
        return missing(t, message, seq, pointer)
    return Violation(message, seq, pointer, fix.level(t, place))


# Selectors


def those(select: Selector[T], test: Test) -> Selector[T]:
    """Select the places with a value that passes a test."""
    return lambda t: (place for place in select(t) if test(place[2]))


def objects(select: Selector[T]) -> Selector[T]:
    return lambda t: (place for place in select(t) if isinstance(place[2], dict))


def members(select: Selector[T], *names: str) -> Selector[T]:
    """Select members of the objects among the places; `MISSING` for those they do not have."""
    steps = [(name, f"/{escape(name)}") for name in names]
    return lambda t: (
        (seq, pointer + step, value.get(name, MISSING))
        for seq, pointer, value in select(t)
        if isinstance(value, dict)
        for name, step in steps
    )


def present(select: Selector[T], *names: str) -> Selector[T]:
    """Select members of the objects among the places, as far as they have them."""
    steps = [(name, f"/{escape(name)}") for name in names]
    return lambda t: (
        (seq, pointer + step, value[name])
        for seq, pointer, value in select(t)
        if isinstance(value, dict)
        for name, step in steps
        if name in value
    )


def elements(select: Selector[T], limit: int | None = None) -> Selector[T]:
    """Select the elements of the arrays among the places: at most `limit` of each."""
    return lambda t: (
        (seq, f"{pointer}/{at}", element)
        for seq, pointer, value in select(t)
        if isinstance(value, list)
        for at, element in enumerate(value[:limit])
    )


# Tests, and types of JSON values

_NAMES = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def type_with_article(value: Any) -> str:
    return _NAMES.get(type(value), "something else")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite JSON number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; 1.0 is one, as JSON has one number type."""
    return type(value) is int or (type(value) is float and value.is_integer())


def is_nonempty_text(value: Any) -> bool:
    """Return whether a value is a string with more than whitespace."""
    return isinstance(value, str) and bool(value.strip())


def is_given(value: Any) -> bool:
    """Return whether an object has the member."""
    return value is not MISSING


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


def is_array(value: Any) -> bool:
    return isinstance(value, list)


def is_string(value: Any) -> bool:
    return isinstance(value, str)


def is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def number(low: float, high: float) -> Test:
    return lambda value: is_number(value) and low <= value <= high


def integer(low: float) -> Test:
    return lambda value: is_integer(value) and value >= low


def one_of(*words: str) -> Test:
    return lambda value: isinstance(value, str) and value in words


def never(_: Any) -> bool:
    """Report every place that a selector yields."""
    return False
