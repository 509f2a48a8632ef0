"""The results of a stream and their places: section 6.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from playground.conformance.response_parts import DecodedPayload
from playground.conformance.rule import RuleIssue, Violation, info, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_integer, type_with_article


def _results(t: Transcript) -> list[DecodedPayload]:
    return [message for message in t.messages if message.name == "result" and message.readable]


def _has_results(t: Transcript) -> bool:
    return t.streamed and any(message.name == "result" for message in t.messages)


def _places(t: Transcript) -> list[tuple[int, int]]:
    """(frame, index) of the results that have a usable one."""
    pairs = [(message.seq, message.members.get("index")) for message in _results(t)]
    return [(seq, int(index)) for seq, index in pairs if _is_place(index)]


def _is_place(index: Any) -> TypeGuard[int]:
    return (type(index) is int or is_integer(index)) and index >= 0


def _has_places(t: Transcript) -> bool:
    return t.streamed and any(_is_place(m.members.get("index")) for m in _results(t))


@rule(
    "result-event",
    "The event result holds an item.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_results,
)
def result_event(t: Transcript) -> Iterator[RuleIssue]:
    """One item each, wrapped together with its index."""
    for message in _results(t):
        if not isinstance(message.payload, dict):
            said = type_with_article(message.payload)
            yield Violation(f"The data are {said}. Make them an object.", message.seq)
        elif "item" not in message.payload:
            yield Violation(
                'Put the result into item: {"index": …, "item": …}.', message.seq, "/item"
            )


@rule(
    "result-index",
    "The index of a result is a whole number, 0 or more.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_results,
)
def result_index(t: Transcript) -> Iterator[RuleIssue]:
    """Its place in the final array of results."""
    for message in _results(t):
        if message.members and not _is_place(message.members.get("index")):
            yield Violation(
                "Set index to the result's place in the final array, a whole number from 0.",
                message.seq,
                "/index",
            )


@rule(
    "result-index-unique",
    "No two results have the same index.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_places,
    needs_complete_response=True,
)
def result_index_unique(t: Transcript) -> Iterator[RuleIssue]:
    """Two results cannot stand in one place of an array."""
    seen: set[int] = set()
    for seq, index in _places(t):
        if index in seen:
            message = f"Index {_short(index)} was taken already. Give each result its own."
            yield Violation(message, seq, "/index")
        seen.add(index)


@rule(
    "result-index-gapless",
    "The indexes of all results leave no gap.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=_has_places,
    needs_complete_response=True,
)
def result_index_gapless(t: Transcript) -> Iterator[RuleIssue]:
    """Positions in an array run from 0; the specification does not say that all must come."""
    if not t.is_complete:
        return  # What is missing may have been on its way.
    expected = 0
    for index, seq in sorted({index: seq for seq, index in _places(t)}.items()):
        if index > expected:
            yield Violation(
                f"Before this one index {_short(expected)} is missing. Count from 0 without gaps.",
                seq,
                "/index",
            )
        expected = index + 1


@rule(
    "result-order",
    "Results come in the order of their index.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=_has_places,
    needs_complete_response=True,
)
def result_order(t: Transcript) -> Iterator[RuleIssue]:
    """They need not: clients put them in order."""
    highest = -1
    for seq, index in _places(t):
        if index < highest:
            yield Violation(
                f"Index {_short(index)} came after {_short(highest)}, which is allowed: clients "
                "have to put results in order.",
                seq,
                "/index",
            )
        highest = max(highest, index)


def _short(number: int) -> str:
    """A number in words that fit into a sentence, however large it is."""
    return str(number) if number < 10**15 else "beyond 10^15"


RULES = (result_event, result_index, result_index_unique, result_index_gapless, result_order)
